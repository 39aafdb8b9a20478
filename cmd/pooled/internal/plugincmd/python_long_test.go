//go:build long

package plugincmd_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/gguf"
)

// pooled is the program, built for a test, with a home of its own.
type pooled struct{ program, home string }

func buildPooled(t *testing.T) pooled {
	t.Helper()
	p := pooled{filepath.Join(t.TempDir(), "pooled"), t.TempDir()}
	build := exec.Command("go", "build", "-o", p.program, "./cmd/pooled")
	build.Dir = checkout
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return p
}

// try returns what a command prints to standard output and to standard error.
func (p pooled) try(dir string, args ...string) (out, errs string, err error) {
	cmd := exec.Command(p.program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "POOLED_HOME="+p.home)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// run returns what a command prints to standard output; it must succeed.
func (p pooled) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, errs, err := p.try(dir, args...)
	if err != nil {
		t.Fatalf("pooled %s: %v\n%s%s", strings.Join(args, " "), err, out, errs)
	}
	return out
}

// install runs the script of the Python examples; without Python or its packages the test is skipped.
func install(t *testing.T, name, folder string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: python3 is not installed")
	}
	out, err := exec.Command(python, filepath.Join(checkout, "examples/plugins/python/install.py"), name, folder).CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 3 {
		t.Skipf("SKIPPED: pip cannot install what the example needs:\n%s", out)
	}
	if err != nil {
		t.Fatalf("install.py %s: %v\n%s", name, err, out)
	}
}

// multipliers are those of Granite. All are powers of two, so that moving them into the weights changes no bit.
type multipliers struct{ embedding, residual, query, logits float32 }

// writeModel writes a tiny model: of the architecture llama with the multipliers in its weights, or of granite with them as
// metadata.
func writeModel(t *testing.T, architecture string, m multipliers) string {
	t.Helper()
	const hidden, inner, heads, kv, head, layers = 64, 96, 4, 2, 16, 2
	tokens, types := []string{"<unk>", "<s>", "</s>"}, []int32{2, 3, 3}
	const hex = "0123456789ABCDEF"
	for i := range 256 {
		tokens, types = append(tokens, "<0x"+hex[i>>4:i>>4+1]+hex[i&15:i&15+1]+">"), append(types, 6)
	}
	w := gguf.NewWriter()
	set := func(key string, v any) {
		if err := w.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	set("general.architecture", architecture)
	set("tokenizer.ggml.model", "llama")
	set("tokenizer.ggml.tokens", tokens)
	set("tokenizer.ggml.token_type", types)
	set("tokenizer.ggml.scores", make([]float32, len(tokens)))
	for key, v := range map[string]any{
		"block_count": layers, "embedding_length": hidden, "feed_forward_length": inner, "context_length": 256,
		"attention.head_count": heads, "attention.head_count_kv": kv, "attention.layer_norm_rms_epsilon": float32(1e-5),
		"rope.dimension_count": head, "rope.freq_base": float32(5e6),
	} {
		set(architecture+"."+key, v)
	}
	if architecture == "granite" {
		set("granite.embedding_scale", m.embedding)
		set("granite.residual_scale", m.residual)
		set("granite.attention.scale", m.query/float32(math.Sqrt(head)))
		set("granite.logit_scale", m.logits)
		m = multipliers{1, 1, 1, 1}
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same weights for every architecture
	add := func(name string, scale float32, shape ...int) {
		n := shape[0]
		for _, d := range shape[1:] {
			n *= d
		}
		var data []byte
		for range n {
			x := float32(random.NormFloat64() / math.Sqrt(hidden))
			if len(shape) == 1 {
				x = 1 + x
			}
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x*scale))
		}
		if err := w.AddTensor(name, gguf.F32, shape, data); err != nil {
			t.Fatal(err)
		}
	}
	add("token_embd.weight", m.embedding, len(tokens), hidden)
	add("output.weight", 1/m.logits, len(tokens), hidden)
	add("output_norm.weight", 1, hidden)
	for _, blk := range []string{"blk.0.", "blk.1."} {
		add(blk+"attn_norm.weight", 1, hidden)
		add(blk+"attn_q.weight", m.query, heads*head, hidden)
		add(blk+"attn_k.weight", 1, kv*head, hidden)
		add(blk+"attn_v.weight", 1, kv*head, hidden)
		add(blk+"attn_output.weight", m.residual, hidden, heads*head)
		add(blk+"ffn_norm.weight", 1, hidden)
		add(blk+"ffn_gate.weight", 1, inner, hidden)
		add(blk+"ffn_up.weight", 1, inner, hidden)
		add(blk+"ffn_down.weight", m.residual, hidden, inner)
	}
	name := filepath.Join(t.TempDir(), architecture+".gguf")
	f, err := os.Create(name)
	if err == nil {
		_, err = w.WriteTo(f)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPython installs both plugins that are written in Python, as their README says, and uses them through the program: the
// family computes the same bits as the built-in one does on weights that hold its multipliers.
func TestPython(t *testing.T) {
	p := buildPooled(t)
	folder := filepath.Join(p.home, "plugins")
	for _, name := range []string{"granite", "tables"} {
		install(t, name, folder)
	}
	m := multipliers{embedding: 4, residual: 0.5, query: 2, logits: 0.25}
	granite, llama, plain := writeModel(t, "granite", m), writeModel(t, "llama", m), writeModel(t, "llama", multipliers{1, 1, 1, 1})

	out := p.run(t, "", "plugin", "check", filepath.Join(folder, "granite"), "--model", granite)
	for _, want := range []string{"granite plans granite (contract 1)", "ok    tiny is planned", "ok    granite.gguf is planned", "All requirements hold."} {
		if !strings.Contains(out, want) {
			t.Errorf("check granite: no %q in\n%s", want, out)
		}
	}
	out = p.run(t, "", "plugin", "check", filepath.Join(folder, "tables"))
	if !strings.Contains(out, "tables has the tools summarize_table (read) (contract 2)") || !strings.Contains(out, "All requirements hold.") {
		t.Errorf("check tables:\n%s", out)
	}
	if out := p.run(t, "", "plugin", "approve", "granite", "--yes"); !strings.Contains(out, "It plans granite.") {
		t.Errorf("approve granite:\n%s", out)
	}
	if out := p.run(t, "", "plugin", "approve", "tables", "--yes"); !strings.Contains(out, "It adds the tools summarize_table (read).") {
		t.Errorf("approve tables:\n%s", out)
	}

	answer := func(model string) string {
		out := p.run(t, "", "run", "-m", model, "--backend", "cpu", "--ids", "1,75,104,111,111,114", "--ignore-end", "--temp", "0", "-n", "24", "--json", "--logprobs", "8")
		var r struct {
			IDs []int32            `json:"ids"`
			Top [][][2]json.Number `json:"top"` // of each step the likeliest tokens and their log-probabilities, in full
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.IDs) != 24 || len(r.Top) != 24 {
			t.Fatalf("%v, %d tokens and %d steps in\n%s", err, len(r.IDs), len(r.Top), out)
		}
		return fmt.Sprint(r)
	}
	got, want := answer(granite), answer(llama)
	if got != want {
		t.Errorf("the plugin computes\n%s\nthe built-in family\n%s", got, want)
	}
	if answer(plain) == want {
		t.Error("the multipliers make no difference")
	}

	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "birds.csv"), []byte("name,wingspan\nswift,40\nkite,\nwren,15\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out = p.run(t, project, "plugin", "call", "tables", "summarize_table", `{"path": "birds.csv"}`, "--yes")
	if want := "birds.csv: 3 rows, 2 columns\nname: text, 3 different\nwingspan: number, 15 to 40, mean 27.5, 1 missing\n"; out != want {
		t.Errorf("the tool says\n%s\nwant\n%s", out, want)
	}

	// An exception that nobody catches shows its trace.
	source := filepath.Join(folder, "granite", "lib", "plan.py")
	text, err := os.ReadFile(source)
	if err == nil {
		err = os.WriteFile(source, bytes.Replace(text, []byte("for tensor in self.plan.tensors:"), []byte("for tensor in self.plan.tensor:"), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, errs, err := p.try("", "plugin", "check", filepath.Join(folder, "granite"))
	for _, want := range []string{"FAIL  tiny is planned\n", "asked to plan: an exception ended the call: ", "plan.py\", line ", "AttributeError: tensor"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("a family with a mistake: no %q in\n%s%s", want, out, errs)
		}
	}
}
