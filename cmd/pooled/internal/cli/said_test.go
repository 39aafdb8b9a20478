package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/nano"
)

// changed writes nano with a text of its metadata, the first behind the key, changed for one that is no longer, and returns
// the file's name.
func changed(t *testing.T, key, from, to string) string {
	t.Helper()
	data := bytes.Clone(nano.Data())
	at := max(0, bytes.Index(data, []byte(key)))
	n := bytes.Index(data[at:], []byte(from))
	if n < 0 || len(to) > len(from) {
		t.Fatalf("%q is not behind %s, or shorter than what takes its place", from, key)
	}
	copy(data[at+n:], to+strings.Repeat(" ", len(from)-len(to)))
	name := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestShowSays holds what show says of a model to what run does with it.
func TestShowSays(t *testing.T) {
	name := changed(t, "tokenizer.ggml.pre", "qwen35", "qwen36")
	_, errs, code := pooled(t, "", "run", "-m", name, "--backend", "cpu", "hi")
	reason, ok1 := strings.CutPrefix(strings.TrimSpace(errs), "pooled: "+name+": ")
	if code != 1 || !ok1 {
		t.Fatalf("run ends with %d: %s", code, errs)
	}
	if out := ok(t, "", "show", name); !strings.Contains(out, "runs here         no: "+reason) || !strings.Contains(out, "family ") {
		t.Errorf("show says:\n%s\nrun says: %s", out, reason)
	}
	if out := ok(t, "", "show"); !strings.Contains(out, "runs here         on ") {
		t.Errorf("show says of nano:\n%s", out)
	}
}

// TestTemplateSays holds what template prints to what run gives the model.
func TestTemplateSays(t *testing.T) {
	name := changed(t, "tokenizer.chat_template", `{%- if tools %}{{- '<|im_start|>system\nTools: ' }}`,
		`{{eos_token}}{{strftime_now('%Y')}}{%- if tools %}`)
	said := ok(t, `{"messages":[{"role":"user","content":"hi"}],"add_generation_prompt":true}`, "template", "-m", name)
	ids, err := json.Marshal(runOf(t, "-m", name, "hi", "-n", "1").PromptIDs)
	if err != nil {
		t.Fatal(err)
	}
	if given := ok(t, string(ids), "detokenize", "-m", name, "--special"); said != given {
		t.Errorf("template prints %q, and run gives %q", said, given)
	}
	if !strings.HasPrefix(said, "<|") || strings.HasPrefix(said, "<|im_start|>") {
		t.Errorf("the special token is not in %q", said)
	}
}
