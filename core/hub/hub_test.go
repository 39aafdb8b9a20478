package hub_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/engine/enginetest"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/model"
)

// device is a candidate that must not be opened.
func device(backend, name string, memory int64, software bool) hub.Available {
	return hub.Available{
		Device: engine.Device{Backend: backend, Name: name, Memory: memory, Software: software},
		Open:   func(context.Context) (engine.Backend, error) { return nil, errors.New("opened") },
	}
}

func TestPick(t *testing.T) {
	cpu, small, big := device("cpu", "Ryzen", 32<<30, false), device("webgpu", "Small GPU", 4<<30, false), device("webgpu", "Big GPU", 24<<30, false)
	soft := device("webgpu", "llvmpipe", 0, true)
	for _, c := range []struct {
		name   string
		all    []hub.Available
		want   hub.Want
		device string
		reason string
	}{
		{"a GPU before the CPU", []hub.Available{cpu, small}, hub.Want{}, "Small GPU", "it is a GPU"},
		{"the GPU with more memory", []hub.Available{cpu, small, big}, hub.Want{Backend: "auto"}, "Big GPU", "it is a GPU"},
		{"the CPU before an emulated GPU", []hub.Available{soft, cpu}, hub.Want{}, "Ryzen", "emulated in software"},
		{"the CPU alone", []hub.Available{cpu}, hub.Want{}, "Ryzen", "no GPU was found"},
		{"the CPU when asked", []hub.Available{cpu, big}, hub.Want{Backend: "cpu"}, "Ryzen", "asked for"},
		{"an emulated GPU when asked", []hub.Available{cpu, soft}, hub.Want{Backend: "webgpu"}, "llvmpipe", "asked for"},
		{"by name, in any case", []hub.Available{cpu, big, small}, hub.Want{Adapter: "SMALL"}, "Small GPU", "asked for"},
		{"a real GPU before an emulated one", []hub.Available{soft, small}, hub.Want{Backend: "webgpu"}, "Small GPU", "asked for"},
	} {
		got, err := hub.Pick(c.all, c.want)
		if err != nil || got.Device.Name != c.device || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: got %s because %q (%v), want %s because %q", c.name, got.Device.Name, got.Reason, err, c.device, c.reason)
		}
	}
	for _, c := range []struct {
		name string
		all  []hub.Available
		want hub.Want
	}{
		{"nothing", nil, hub.Want{}},
		{"only an emulated GPU, not asked for", []hub.Available{soft}, hub.Want{}},
		{"no such name", []hub.Available{cpu}, hub.Want{Adapter: "nvidia"}},
		{"no GPU", []hub.Available{cpu}, hub.Want{Backend: "webgpu"}},
		{"no such backend", []hub.Available{cpu}, hub.Want{Backend: "cuda"}},
	} {
		if _, err := hub.Pick(c.all, c.want); !errors.Is(err, hub.ErrNoDevice) {
			t.Errorf("%s: got %v, want %v", c.name, err, hub.ErrNoDevice)
		}
	}
}

// testFamily plans any file of architecture "test" as an embedding and a head.
type testFamily struct{ context int }

func (testFamily) Info() model.Info {
	return model.Info{Name: "test", Architectures: []string{"test"}, Contract: model.ContractVersion}
}

func (f testFamily) Plan(_ context.Context, md *model.Metadata) (*model.Plan, error) {
	const hidden, vocab = 8, 260
	b := model.NewBuilder("test", md.Architecture, hidden, vocab, f.context)
	b.Embed(func(o *model.Ops, t model.Value) model.Value { return o.Embed(t, "embed", 1) })
	b.Layer(func(o *model.Ops, x model.Value) model.Value {
		s := model.AttentionShape{Heads: 1, KVHeads: 1, KeyDim: hidden, ValueDim: hidden, Scale: 1}
		return o.Add(x, o.Attention(x, x, x, s))
	})
	b.Head(func(o *model.Ops, x model.Value) model.Value { return o.Linear(x, "embed", vocab, hidden) })
	return b.Plan(), nil
}

// file writes a model of 256 byte tokens, an end token and a template.
func file(t *testing.T, template string) *gguf.File {
	t.Helper()
	w := gguf.NewWriter()
	set := func(key string, v any) {
		if err := w.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	tokens, types := []string{"<unk>", "<s>", "</s>", "<0x00>"}, []int32{2, 3, 3, 6}
	for i := 1; i < 256; i++ {
		tokens, types = append(tokens, "<0x"+strings.ToUpper(string("0123456789abcdef"[i>>4])+string("0123456789abcdef"[i&15]))+">"), append(types, 6)
	}
	set("general.architecture", "test")
	set("tokenizer.ggml.model", "llama")
	set("tokenizer.ggml.tokens", tokens)
	set("tokenizer.ggml.token_type", types)
	set("tokenizer.ggml.scores", make([]float32, len(tokens)))
	set("tokenizer.ggml.eos_token_id", uint32(2))
	if template != "" {
		set("tokenizer.chat_template", template)
	}
	data := make([]byte, 4*260*8)
	if err := w.AddTensor("embed", gguf.F32, []int{260, 8}, data); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := w.WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.ReadBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newHub(t *testing.T, memory int64) *hub.Hub {
	t.Helper()
	h := hub.New(hub.Options{
		Families: model.Families{testFamily{context: 4096}},
		Devices: func(context.Context, hub.Want) []hub.Available {
			return []hub.Available{{
				Device: engine.Device{Backend: "cpu", Name: "script", Memory: memory},
				Open:   func(context.Context) (engine.Backend, error) { return enginetest.NewScript("Hello!\n"), nil },
			}}
		},
		Renderer: func() chat.Renderer { return echo{} },
	})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// echo renders a conversation as its input's own JSON, which is enough to see what was asked for.
type echo struct{}

func (echo) Render(_ context.Context, r chat.RenderRequest) (string, error) {
	return string(r.Input), nil
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int64
		opt    hub.LoadOptions
		want   func(error) bool
	}{
		{"too little memory", 4096, hub.LoadOptions{}, func(err error) bool { var e *hub.MemoryError; return errors.As(err, &e) }},
		{"a context beyond the model's", 1 << 30, hub.LoadOptions{Context: 5000}, func(err error) bool { return strings.Contains(err.Error(), "5000") }},
		{"a device that is not there", 1 << 30, hub.LoadOptions{Want: hub.Want{Backend: "webgpu"}}, func(err error) bool { return errors.Is(err, hub.ErrNoDevice) }},
	} {
		h := newHub(t, c.memory)
		if _, err := h.Load(t.Context(), file(t, ""), "m", c.opt); err == nil || !c.want(err) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// TestInstead loads a second model where there is room for one.
func TestInstead(t *testing.T) {
	h := newHub(t, 40_000)
	load := func(o hub.LoadOptions) (*hub.Model, error) {
		o.Context = 512
		return h.Load(t.Context(), file(t, "x"), "m", o)
	}
	first, err := load(hub.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var full *hub.MemoryError
	if _, err := load(hub.LoadOptions{}); !errors.As(err, &full) || full.Used != first.Weights+first.State {
		t.Errorf("beside it: got %v", err)
	}
	if _, err := load(hub.LoadOptions{Instead: first, Want: hub.Want{Backend: "webgpu"}}); !errors.Is(err, hub.ErrNoDevice) {
		t.Errorf("on no device: got %v", err)
	}
	if _, err := first.NewSlot().Generate(t.Context(), []int32{5}, generate.Options{MaxTokens: 1}, nil, nil); err != nil {
		t.Errorf("after loads that failed: %v", err)
	}
	second, err := load(hub.LoadOptions{Instead: first})
	if err != nil {
		t.Fatalf("in its place: %v", err)
	}
	if _, err := first.NewSlot().Generate(t.Context(), []int32{5}, generate.Options{MaxTokens: 1}, nil, nil); !errors.Is(err, hub.ErrClosed) {
		t.Errorf("the first one: got %v, want %v", err, hub.ErrClosed)
	}
	if _, err := second.NewSlot().Generate(t.Context(), []int32{5}, generate.Options{MaxTokens: 1}, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestBaseModel(t *testing.T) {
	m, err := newHub(t, 0).Load(t.Context(), file(t, ""), "base", hub.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.NewConversation(""); !errors.Is(err, chat.ErrNoTemplate) {
		t.Errorf("a conversation with a base model: got %v, want %v", err, chat.ErrNoTemplate)
	}
}

func TestConversation(t *testing.T) {
	m, err := newHub(t, 0).Load(t.Context(), file(t, "{{ messages }}"), "m", hub.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conv, err := m.NewConversation("be brief")
	if err != nil {
		t.Fatal(err)
	}
	var streamed strings.Builder
	say := func(e event.Event) error {
		if text, ok := e.(event.Text); ok {
			streamed.WriteString(text.Text)
		}
		return nil
	}
	a, err := conv.Send(t.Context(), "hi", generate.Options{MaxTokens: 7}, say)
	if err != nil {
		t.Fatal(err)
	}
	if a.Message.Text != "Hello!\n" || streamed.String() != a.Message.Text || a.Finish != generate.FinishLength {
		t.Errorf("got %q, streamed %q, finished by %s", a.Message.Text, streamed.String(), a.Finish)
	}
	roles := func() (r []string) {
		for _, m := range conv.Messages() {
			r = append(r, m.Role)
		}
		return r
	}
	if want := []string{"system", "user", "assistant"}; !slices.Equal(roles(), want) {
		t.Errorf("roles %v, want %v", roles(), want)
	}

	// Another answer takes the place of the first.
	if _, err := conv.Regenerate(t.Context(), generate.Options{MaxTokens: 2}, nil); err != nil {
		t.Fatal(err)
	}
	if ms := conv.Messages(); len(ms) != 3 || ms[2].Text != "He" {
		t.Errorf("after another answer: %v", ms)
	}

	// A failure leaves the conversation as it was.
	broken := errors.New("broken")
	if _, err := conv.Send(t.Context(), "more", generate.Options{MaxTokens: 4}, func(event.Event) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if len(conv.Messages()) != 3 {
		t.Errorf("a failed turn was kept: %v", conv.Messages())
	}

	// A cancelled answer keeps what came of it.
	ctx, cancel := context.WithCancel(t.Context())
	a, err = conv.Send(ctx, "more", generate.Options{}, func(e event.Event) error {
		if _, ok := e.(event.Text); ok {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || a.Finish != generate.FinishCancelled {
		t.Errorf("got %v, finished by %s", err, a.Finish)
	}
	if ms := conv.Messages(); len(ms) != 5 || ms[4].Text == "" {
		t.Errorf("after a cancelled answer: %v", ms)
	}

	// The conversation is busy while it answers.
	if _, err := conv.Send(t.Context(), "x", generate.Options{MaxTokens: 3}, func(event.Event) error {
		_, err := conv.Send(t.Context(), "y", generate.Options{}, nil)
		if !errors.Is(err, hub.ErrBusy) {
			t.Errorf("a second answer at the same time: got %v, want %v", err, hub.ErrBusy)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
