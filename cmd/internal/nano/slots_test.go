package nano_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// TestSlots lets two conversations take turns at one engine. Each must be answered as if it were alone, and go on from what
// was computed for it.
func TestSlots(t *testing.T) {
	h := hub.New(hub.Options{
		Families: model.Families{qwen35.Family{}},
		Devices: func(context.Context, hub.Want) []hub.Available {
			return []hub.Available{{
				Device: cpu.Describe(2),
				Open:   func(context.Context) (engine.Backend, error) { return cpu.New(2), nil },
			}}
		},
		Renderer: func() chat.Renderer { return nil },
	})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	m, err := h.Load(t.Context(), open(t), "nano", hub.LoadOptions{Context: 1024})
	if err != nil {
		t.Fatal(err)
	}
	all := goldens(t)
	prompts := [][]int32{all[1].Prompt, all[2].Prompt}
	// talk gives n answers of each conversation, in turn or one conversation after the other.
	talk := func(n int, inTurn bool) (answers [2][][]int32, reused [2][]int) {
		slots := [2]*hub.Slot{m.NewSlot(), m.NewSlot()}
		held := [2][]int32{slices.Clone(prompts[0]), slices.Clone(prompts[1])}
		ask := func(i int) {
			r, err := slots[i].Generate(t.Context(), held[i], generate.Options{MaxTokens: 40, IgnoreEOG: true}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			held[i] = append(append(held[i], r.IDs...), prompts[i]...)
			answers[i], reused[i] = append(answers[i], r.IDs), append(reused[i], r.Reused)
		}
		for k := range 2 * n {
			if inTurn {
				ask(k % 2)
			} else {
				ask(k / n)
			}
		}
		return answers, reused
	}
	want, alone := talk(4, false)
	got, reused := talk(4, true)
	for i := range want {
		for k := range want[i] {
			if !slices.Equal(got[i][k], want[i][k]) {
				t.Errorf("conversation %d, answer %d: got %v, alone %v", i, k, got[i][k], want[i][k])
			}
		}
		if !slices.Equal(reused[i][1:], alone[i][1:]) || reused[i][1] < 50 {
			t.Errorf("conversation %d reused %v, alone %v", i, reused[i], alone[i])
		}
	}
}
