package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pooled/pooled/ui/internal/uitest"
)

const words = "the quick brown fox jumps over a lazy dog while seven wizards box with jugs of ink and **paper** "

// BenchmarkLayout lays a chat of 2,000 messages of 500 characters out.
func BenchmarkLayout(b *testing.B) {
	w := open(b, size, "tiny")
	for i := range 1000 {
		w.engine.Answer(uitest.Script{Text: fmt.Sprintf("%d: ", i) + strings.Repeat(words, 6)[:490]})
		w.view.App.Send(fmt.Sprintf("%d: ", i) + strings.Repeat(words, 6)[:490])
		for w.view.App.Answering() {
			<-w.wake
			w.view.App.Update()
		}
	}
	w.settle(b)
	b.ReportAllocs()
	for b.Loop() {
		w.Frame()
	}
}

// BenchmarkStream lays out an answer of 20,000 characters in 40 paragraphs, word by word.
func BenchmarkStream(b *testing.B) {
	for name, sep := range map[string]string{"paragraphs": "\n\n", "one paragraph": " "} {
		b.Run(name, func(b *testing.B) {
			w := open(b, size, "tiny")
			w.engine.Step = make(chan struct{})
			text := strings.Repeat(strings.Repeat(words, 5)+sep, 42)
			w.engine.Answer(uitest.Script{Text: text + strings.Repeat("word ", b.N+1)})
			w.view.App.Send("write")
			for range strings.Count(text, " ") {
				w.engine.Step <- struct{}{}
			}
			w.Frame()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				w.engine.Step <- struct{}{}
				w.Frame()
			}
		})
	}
}
