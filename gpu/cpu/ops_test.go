package cpu_test

import (
	"testing"

	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/gpu/optest"
)

// TestOps runs the table of operations that every backend is held against.
func TestOps(t *testing.T) {
	b := cpu.New(2)
	defer b.Close()
	optest.Run(t, b)
}
