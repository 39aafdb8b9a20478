package cpu_test

import (
	"testing"

	"github.com/pooled/pooled/core/engine/enginetest"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

func TestConformance(t *testing.T) {
	b := cpu.New(2)
	defer b.Close()
	families := []model.Family{dense.Family{}, qwen35.Family{}}
	t.Run("exact", func(t *testing.T) {
		// The references keep float32 keys and values, we float16: that alone makes differences of up to 7e-3.
		enginetest.Run(t, enginetest.Options{Backend: b, Families: families, Exact: true, Drafts: true, MaxDiff: 1.5e-2, MaxNMSE: 1e-6})
	})
	t.Run("rounded", func(t *testing.T) {
		enginetest.Run(t, enginetest.Options{Backend: b, Families: families, Every: 3})
	})
}
