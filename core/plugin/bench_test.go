//go:build unix

package plugin_test

import (
	"path/filepath"
	"testing"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
)

// BenchmarkStart measures from nothing to the first plan and the end of the process: this program started again without
// TLS, and a dropped-in one with mutual TLS.
func BenchmarkStart(b *testing.B) {
	b.Run("builtin", func(b *testing.B) {
		for b.Loop() {
			c := plugin.NewCatalog("", model.Families{family{name: "served"}}, plugin.Options{})
			f, err := c.Family(b.Context(), "served")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Plan(b.Context(), tinyFile("served")); err != nil {
				b.Fatal(err)
			}
			c.Close()
		}
	})
	b.Run("dropped", func(b *testing.B) {
		path := filepath.Join(folder(b, "good"), "good")
		for b.Loop() {
			f, err := plugin.Open(b.Context(), path, nil, plugin.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Plan(b.Context(), tinyFile("good-arch")); err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}

// BenchmarkPlan measures a call to a running plugin.
func BenchmarkPlan(b *testing.B) {
	c := plugin.NewCatalog("", model.Families{family{name: "served"}}, plugin.Options{})
	defer c.Close()
	f, err := c.Family(b.Context(), "served")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.Plan(b.Context(), tinyFile("served")); err != nil {
			b.Fatal(err)
		}
	}
}
