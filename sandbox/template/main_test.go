package template

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/pooled/pooled/sandbox/wasmhost"
)

var shared *Renderer

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "pooled-template")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := func() int {
		defer os.RemoveAll(dir)
		cache, err := wasmhost.OpenCache(dir + "/wasm")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		shared = New(Options{Cache: cache})
		code := m.Run()
		if err := shared.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}()
	os.Exit(code)
}

// newRenderer returns the renderer that all tests share, ready to run native code.
func newRenderer(t testing.TB) *Renderer {
	t.Helper()
	if err := shared.Warm(context.Background()); err != nil {
		t.Fatal(err)
	}
	return shared
}
