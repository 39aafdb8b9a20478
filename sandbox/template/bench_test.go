package template

import (
	"context"
	"testing"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

// BenchmarkRender renders the reference conversations one after the other.
func BenchmarkRender(b *testing.B) {
	ref := loadReference(b)
	r := newRenderer(b)
	var all []chat.RenderRequest
	for name, template := range ref.Templates {
		for conversation := range template.Cases {
			all = append(all, chat.RenderRequest{Template: template.Template, Input: ref.input(b, name, conversation)})
		}
	}
	b.ResetTimer()
	for i := range b.N {
		_, _ = r.Render(context.Background(), all[i%len(all)]) // some conversations are refused
	}
}

// BenchmarkStart measures from nothing to the first rendered prompt.
func BenchmarkStart(b *testing.B) {
	ref := loadReference(b)
	req := chat.RenderRequest{Template: ref.Templates["qwen3.5"].Template, Input: ref.input(b, "qwen3.5", "user")}
	start := func(b *testing.B, cache *wasmhost.Cache, warm bool) {
		b.Helper()
		r := New(Options{Cache: cache, Instances: 1})
		if warm {
			if err := r.Warm(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := r.Render(context.Background(), req); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.Run("cold", func(b *testing.B) {
		for range b.N {
			start(b, nil, false)
		}
	})
	b.Run("cold-native", func(b *testing.B) {
		for range b.N {
			start(b, nil, true)
		}
	})
	b.Run("warm", func(b *testing.B) {
		dir := b.TempDir() + "/wasm"
		for range b.N {
			b.StopTimer()
			cache, err := wasmhost.OpenCache(dir)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			start(b, cache, false)
			b.StopTimer()
			_ = cache.Close()
			b.StartTimer()
		}
	})
}
