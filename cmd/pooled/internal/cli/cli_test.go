package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/internal/nano"
)

// TestMain lets the test binary serve the built-in plugins, as the real program does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "plugin" {
		os.Exit(Main(context.Background(), console.Standard(), os.Args[1:]))
	}
	home, err := os.MkdirTemp("", "pooled-cli")
	if err != nil {
		panic(err)
	}
	os.Setenv("POOLED_HOME", home)
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// pooled runs the program as a script would.
func pooled(t *testing.T, in string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main(t.Context(), &console.Console{In: strings.NewReader(in), Out: &o, Err: &e}, args)
	return o.String(), e.String(), code
}

// ok runs the program and wants it to succeed.
func ok(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, errs, code := pooled(t, in, args...)
	if code != 0 {
		t.Fatalf("pooled %s: exit code %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

const whoAmI = "I am nano, a very small language model that lives inside Pooled. I like short questions."

func runOf(t *testing.T, args ...string) runResult {
	t.Helper()
	var r runResult
	if err := json.Unmarshal([]byte(ok(t, "", append([]string{"run", "--json", "--temp", "0", "--backend", "cpu"}, args...)...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	r := runOf(t, "Who are you?", "--logprobs", "3")
	if r.Text != whoAmI || r.FinishReason != "stop" || r.Family != "qwen35" || r.Backend != "cpu" || r.Model != "nano" {
		t.Errorf("got %+v", r)
	}
	if len(r.Top) != len(r.IDs) || len(r.Top[0]) != 3 || r.Timings.PromptTokens != len(r.PromptIDs) || r.Timings.Tokens != len(r.IDs) {
		t.Errorf("%d steps of likeliest tokens and %+v for %d prompt ids and %d ids", len(r.Top), r.Timings, len(r.PromptIDs), len(r.IDs))
	}
	for i, step := range r.Top {
		if id := int32(step[0][0].(float64)); id != r.IDs[i] {
			t.Errorf("step %d took token %d, but %d is the likeliest", i, r.IDs[i], id)
		}
	}

	ids, err := json.Marshal(r.PromptIDs)
	if err != nil {
		t.Fatal(err)
	}
	if again := runOf(t, "--ids", strings.Trim(string(ids), "[]")); !slices.Equal(again.IDs, r.IDs) {
		t.Errorf("the prompt as ids gives %v, want %v", again.IDs, r.IDs)
	}
	if short := runOf(t, "Who are you?", "-n", "5"); len(short.IDs) != 5 || short.FinishReason != "length" {
		t.Errorf("-n 5 gives %d tokens, finished by %s", len(short.IDs), short.FinishReason)
	}
	if cut := runOf(t, "Who are you?", "--stop", " small"); cut.Text != "I am nano, a very" || cut.FinishReason != "stop" {
		t.Errorf("--stop gives %q, finished by %s", cut.Text, cut.FinishReason)
	}
	if raw := runOf(t, "--raw", "Once", "-n", "3"); len(raw.PromptIDs) > 3 {
		t.Errorf("a raw prompt has the ids %v", raw.PromptIDs)
	}
	if exact := runOf(t, "Who are you?", "--exact", "-n", "4"); !slices.Equal(exact.IDs, r.IDs[:4]) {
		t.Errorf("--exact gives %v, want %v", exact.IDs, r.IDs[:4])
	}
	if got := ok(t, "Who are you?", "run", "--temp", "0", "--backend", "cpu"); got != whoAmI+"\n" {
		t.Errorf("a prompt through a pipe gives %q", got)
	}
	a := ok(t, "", "run", "Hello", "--seed", "7", "-n", "12", "--backend", "cpu")
	if b := ok(t, "", "run", "Hello", "--seed", "7", "-n", "12", "--backend", "cpu"); a != b {
		t.Errorf("the same seed gives %q and %q", a, b)
	}
}

func TestErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.gguf")
	broken := filepath.Join(t.TempDir(), "broken.gguf")
	if err := os.WriteFile(broken, []byte("GGUF\x03\x00\x00\x00and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 200)
	for _, c := range []struct {
		name string
		in   string
		args []string
		code int
		says string
	}{
		{"an unknown command", "", []string{"rnu"}, 2, "did you mean rm or run?"},
		{"help for an unknown command", "", []string{"help", "nope"}, 2, "nope"},
		{"a shell that is not known", "", []string{"completion", "nosh"}, 2, "nosh"},
		{"a prompt of spaces", "", []string{"run", "  "}, 2, "empty"},
		{"an empty model", "", []string{"run", "-m", "", "x"}, 2, "--model is empty"},
		{"two sources", "", []string{"pull", "--catalog", "x"}, 2, "one of them"},
		{"a list of sessions of a folder", "", []string{"code", "--sessions", "x"}, 2, "--sessions"},
		{"two modes", "", []string{"code", "--scratch", "-p", "x", "--yes", "--mode", "edits"}, 2, "one of them"},
		{"too many arguments", "", []string{"run", "a", "b"}, 2, "in quotes"},
		{"an unknown flag", "", []string{"run", "--tmep", "0", "x"}, 2, "tmep"},
		{"a wrong value", "", []string{"run", "-n", "many", "x"}, 2, "many"},
		{"two prompts", "", []string{"run", "--ids", "1", "x"}, 2, "one of them"},
		{"no ids", "", []string{"run", "--ids", "1,x"}, 2, `"x"`},
		{"an empty prompt", "", []string{"run"}, 2, "empty"},
		{"a token beyond the vocabulary", "", []string{"run", "--ids", "99999", "--backend", "cpu"}, 1, "99999"},
		{"no such file", "", []string{"run", "-m", missing, "x"}, 1, "missing.gguf"},
		{"no such model", "", []string{"run", "-m", "no-such-model", "x"}, 1, "pooled list"},
		{"a broken file", "", []string{"run", "-m", broken, "x"}, 1, "broken.gguf"},
		{"no such backend", "", []string{"run", "--backend", "cuda", "x"}, 2, "cpu, webgpu or auto"},
		{"no such device", "", []string{"run", "--adapter", "no such GPU", "x"}, 1, "no such GPU"},
		{"a context beyond the model's", "", []string{"run", "-c", "100000", "x", "--backend", "cpu"}, 1, "100000"},
		{"a negative context", "", []string{"run", "-c", "-1", "x"}, 2, "-1"},
		{"a prompt that does not fit", "", []string{"run", "-c", "64", long, "--backend", "cpu"}, 1, "64"},
		{"a temperature below 0", "", []string{"run", "--raw", "--temp", "-1", "x", "--backend", "cpu"}, 2, "--temp is -1"},
		{"a temperature that is no number", "", []string{"run", "--raw", "--temp", "NaN", "x", "--backend", "cpu"}, 2, "--temp is NaN"},
		{"a negative length", "", []string{"run", "--raw", "-n", "-1", "x", "--backend", "cpu"}, 2, "--max-tokens is -1"},
		{"a negative k", "", []string{"run", "--raw", "--top-k", "-5", "x", "--backend", "cpu"}, 2, "--top-k is -5"},
		{"an empty stop", "", []string{"run", "--raw", "--stop", "", "x", "--backend", "cpu"}, 2, `--stop is ""`},
		{"a share above 1 in a chat", "hi\n", []string{"chat", "--min-p", "7", "--backend", "cpu"}, 2, "--min-p is 7"},
		{"likeliest tokens that nobody prints", "", []string{"run", "--logprobs", "3", "x"}, 2, "--json"},
		{"an unknown command of plugins", "", []string{"plugin", "nonsense"}, 2, "nonsense"},
		{"a plugin without a name", "", []string{"plugin", "approve"}, 2, "want: pooled plugin approve NAME"},
		{"no JSON", "x\n", []string{"tokenize", "--jsonl"}, 1, "line 1"},
		{"no such token", "[123456]\n", []string{"detokenize"}, 1, "123456"},
		{"a template that is not there", "{}", []string{"template", "--template", missing}, 1, "missing.gguf"},
		{"a template twice", "{}", []string{"template", "-m", "nano", "--template", "x"}, 2, "one of them"},
		{"nothing to pull", "", []string{"pull"}, 2, "--catalog"},
		{"nothing to remove", "", []string{"rm", "no-such-model"}, 1, "no-such-model"},
		{"the model that is built in", "", []string{"rm", "nano"}, 1, "built in"},
		{"no repetitions", "", []string{"bench", "-r", "0"}, 2, "at least 1"},
		{"a negative depth", "", []string{"bench", "--depths", "-5"}, 2, "-5"},
	} {
		out, errs, code := pooled(t, c.in, c.args...)
		if code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit code %d, %q, want %d and %q", c.name, code, errs, c.code, c.says)
		}
		if out != "" {
			t.Errorf("%s: printed %q", c.name, out)
		}
	}
}

func TestChat(t *testing.T) {
	out := ok(t, "Who are you?\n\nWho are you?", "chat", "--temp", "0", "--backend", "cpu")
	if want := whoAmI + "\n"; !strings.HasPrefix(out, want) || strings.Count(out, "\n") < 2 {
		t.Errorf("got %q, want two answers, the first of them %q", out, want)
	}
	if strings.Contains(out, "\033") {
		t.Errorf("control characters for a script: %q", out)
	}
}

func TestDemo(t *testing.T) {
	out, errs, code := pooled(t, "", "demo")
	if code != 0 || !strings.Contains(out, whoAmI) || !strings.Contains(errs, "very small model") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

// TestInterrupted writes into a pipe that nobody reads.
func TestInterrupted(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	var errs bytes.Buffer
	code := Main(t.Context(), &console.Console{In: strings.NewReader("Who are you?\n"), Out: w, Err: &errs}, []string{"chat", "--backend", "cpu"})
	if code == 0 {
		t.Error("writing to a closed pipe succeeds")
	}
	code = Main(t.Context(), &console.Console{In: iotest.ErrReader(io.ErrUnexpectedEOF), Out: io.Discard, Err: &errs}, []string{"run", "--backend", "cpu"})
	if code != console.ExitFailed || !strings.Contains(errs.String(), "standard input") {
		t.Errorf("a broken input: exit code %d, %q", code, errs.String())
	}
}

func TestTokens(t *testing.T) {
	var ids []int32
	const text = "Hello <|im_end|> wörld\n"
	if err := json.Unmarshal([]byte(ok(t, text, "tokenize")), &ids); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	if got := ok(t, string(list), "detokenize"); got != text {
		t.Errorf("there and back gives %q, want %q", got, text)
	}
	special := ok(t, "<|im_end|>", "tokenize", "--special")
	if plain := ok(t, "<|im_end|>", "tokenize"); plain == special || strings.Contains(special, ",") {
		t.Errorf("a control token gives %s with --special and %s without", special, plain)
	}
	if got := ok(t, "\"a\"\n\n\"\"\n", "tokenize", "--jsonl"); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, "[]\n") {
		t.Errorf("two lines give %q", got)
	}
	if got := ok(t, "[40]\n[]\n", "detokenize", "--jsonl"); got != "\"I\"\n\"\"\n" {
		t.Errorf("got %q", got)
	}
}

func TestTemplate(t *testing.T) {
	const conversation = `{"messages":[{"role":"user","content":"hi"}]}`
	want := "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
	if got := ok(t, conversation, "template"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	file := filepath.Join(t.TempDir(), "t.jinja")
	if err := os.WriteFile(file, []byte("{{ messages[0].content }}{{ raise_exception('no') if x }}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ok(t, conversation, "template", "--template", file); got != "hi" {
		t.Errorf("got %q", got)
	}
}

func TestModels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.gguf")
	if err := os.WriteFile(file, nano.Data(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := ok(t, "", "pull", file); !strings.Contains(out, "mine is ready") {
		t.Errorf("pull says %q", out)
	}
	if out := ok(t, "", "list"); !strings.Contains(out, "mine") || !strings.Contains(out, "nano") {
		t.Errorf("list says %q", out)
	}
	if out := ok(t, "", "show", "mine"); !strings.Contains(out, "qwen35") || !strings.Contains(out, "12 layers, 3 with attention") {
		t.Errorf("show says %q", out)
	}
	var shown showResult
	if err := json.Unmarshal([]byte(ok(t, "", "show", "mine", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Model != "mine" || shown.Layers != 13 || len(shown.Types) == 0 || shown.Types[0].Type != "Q4_0" {
		t.Errorf("show --json says %+v", shown)
	}
	if r := runOf(t, "-m", "mine", "Who are you?"); r.Text != whoAmI {
		t.Errorf("the pulled model says %q", r.Text)
	}
	ok(t, "", "rm", "mine")
	if out := ok(t, "", "list", "--json"); !strings.HasPrefix(out, `[{"name":"nano"`) || strings.Contains(out, "mine") {
		t.Errorf("after rm, list says %q", out)
	}
	if out := ok(t, "", "pull", "--catalog"); !strings.Contains(out, "qwen2.5-coder-0.5b") {
		t.Errorf("the catalog says %q", out)
	}
}

func TestDoctor(t *testing.T) {
	var r report
	if err := json.Unmarshal([]byte(ok(t, "", "doctor", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Devices) == 0 || r.Devices[0].Backend != "cpu" || r.Chosen == "" || len(r.Families) < 2 {
		t.Errorf("got %+v", r)
	}
	home := os.Getenv(folders.Home)
	if r.Models != filepath.Join(home, "models") || r.Projects != filepath.Join(home, "projects") || r.Plugins != filepath.Join(home, "plugins") {
		t.Errorf("folders %q, %q and %q are not in %q", r.Models, r.Projects, r.Plugins, home)
	}
	if list := strings.Join(r.Families, "\n"); !strings.Contains(list, "qwen3moe") || !strings.Contains(list, "qwen35moe") {
		t.Errorf("what runs is said to be\n%s", list)
	}
	if out := ok(t, "", "doctor"); !strings.Contains(out, "chosen:") {
		t.Errorf("doctor says %q", out)
	}
}

// TestDoctorFolders keeps models where they were used, and says where else some lie.
func TestDoctorFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the folders of this system are not those of XDG")
	}
	root := t.TempDir()
	t.Setenv(folders.Home, "")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "cache"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(root, "config"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(root, "data"))
	old, now := filepath.Join(root, "cache", "pooled", "models"), filepath.Join(root, "data", "pooled", "models")
	pull := func(dir string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mine.gguf"), nano.Data(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pull(old)
	if out := ok(t, "", "doctor"); !strings.Contains(out, "models are kept in "+now+" from now on") {
		t.Errorf("after the move, doctor says %q", out)
	}
	if out := ok(t, "", "list"); !strings.Contains(out, "mine") {
		t.Errorf("list says %q", out)
	}
	pull(old) // by an older program
	if out := ok(t, "", "doctor"); !strings.Contains(out, "models also lie in "+old) || !strings.Contains(out, now) {
		t.Errorf("with both folders, doctor says %q", out)
	}
}

func TestBench(t *testing.T) {
	var r benchResult
	if err := json.Unmarshal([]byte(ok(t, "", "bench", "--json", "-p", "16", "-n", "4", "-r", "1", "--depths", "0,32", "--backend", "cpu")), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || r.Rows[1].Depth != 32 || r.Rows[1].Decode <= 0 || r.Rows[0].Prefill <= 0 || r.Resident <= 0 {
		t.Errorf("got %+v", r)
	}
}

func TestHelp(t *testing.T) {
	out := ok(t, "", "--help")
	for _, want := range []string{"demo", "chat", "run", "pull", "doctor", "plugin", "js", "page", "tokenize", "completion"} {
		if !strings.Contains(out, want) {
			t.Errorf("the help does not name %s", want)
		}
	}
	if out := ok(t, "", "completion", "bash"); !strings.Contains(out, "bash completion") {
		t.Error("there is no completion for bash")
	}
	if out := ok(t, "", "version"); !strings.HasPrefix(out, "pooled ") {
		t.Errorf("version says %q", out)
	}
}
