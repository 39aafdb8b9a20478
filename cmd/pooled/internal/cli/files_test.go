package cli

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/nano"
)

// TestFilesByContent runs, shows and takes in files whose names are not those that models usually have.
func TestFilesByContent(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ file, name string }{{"UP.GGUF", "UP"}, {"model.bin", "model.bin"}, {"通义 🦙.gguf", "通义-🦙"}, {"Модель", "Модель"}} {
		file, name := c.file, c.name
		if err := os.WriteFile(file, nano.Data(), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ok(t, "Who are you?", "run", "-m", file, "--temp", "0", "--backend", "cpu"); got != whoAmI+"\n" {
			t.Errorf("%s answers %q", file, got)
		}
		if got := ok(t, "", "pull", "./"+file); !strings.Contains(got, name+" is ready") {
			t.Errorf("%s: got %q", file, got)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if got := ok(t, "", "list"); !strings.Contains(got, name) {
			t.Errorf("%s is not in the list:\n%s", name, got)
		}
		if got := ok(t, "", "show", strings.ToUpper(name)); !strings.Contains(got, "qwen35") {
			t.Errorf("%s: got %q", name, got)
		}
		ok(t, "", "rm", name)
	}
}

// TestLongContextBase runs a file with the base of models of a million positions, which is beyond 1e9.
func TestLongContextBase(t *testing.T) {
	key := []byte("qwen35.rope.freq_base")
	data := bytes.Clone(nano.Data())
	at := bytes.Index(data, key)
	if at < 0 {
		t.Fatal("the embedded model has no base")
	}
	binary.LittleEndian.PutUint32(data[at+len(key)+4:], math.Float32bits(3580165449))
	t.Chdir(t.TempDir())
	if err := os.WriteFile("long.gguf", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ok(t, "hi", "run", "-m", "long.gguf", "-n", "4", "--temp", "0", "--backend", "cpu"); got == "" {
		t.Error("no answer")
	}
}

// TestLikeliestAlone draws with --top-p 0, whose set is the likeliest token.
func TestLikeliestAlone(t *testing.T) {
	want := ok(t, "tell me a story", "run", "--temp", "0", "-n", "6", "--backend", "cpu")
	for _, seed := range []string{"1", "2", "3"} {
		if got := ok(t, "tell me a story", "run", "--top-p", "0", "--top-k", "0", "--temp", "1", "--seed", seed, "-n", "6", "--backend", "cpu"); got != want {
			t.Errorf("seed %s gives %q, want %q", seed, got, want)
		}
	}
}
