package js

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// shared is the runtime of all tests here: what one program does to it would
// show in another.
var shared *Runtime

func TestMain(m *testing.M) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "pooled-js-test")
	if err == nil {
		shared, err = NewRuntime(ctx, RuntimeOptions{CacheDir: dir})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = shared.Close(ctx)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func run(t testing.TB, code string) *Result {
	t.Helper()
	res, err := shared.Run(t.Context(), Program{Code: code}, Limits{Time: time.Minute}, Capabilities{})
	if err != nil {
		t.Fatalf("Run(%q): %v", code, err)
	}
	return res
}
