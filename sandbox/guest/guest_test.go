package guest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestModulesAreTheRecordedOnes is what ./build --check does first; the rest of it needs Rust.
func TestModulesAreTheRecordedOnes(t *testing.T) {
	sums, err := os.ReadFile("SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	for name, module := range map[string][]byte{"template.wasm": Template, "grammar.wasm": Grammar} {
		want := fmt.Sprintf("%x  %s\n", sha256.Sum256(module), name)
		if !strings.Contains(string(sums), want) {
			t.Errorf("%s is not the module of SHA256SUMS; run ./build", name)
		}
		for _, folder := range []string{"/home/", "/root/", "/Users/", "/tmp/"} {
			if bytes.Contains(module, []byte(folder)) {
				t.Errorf("%s names a folder of the machine that built it (%s)", name, folder)
			}
		}
	}
	if size := len(Template) + len(Grammar); size > 5_000_000 {
		t.Errorf("the modules take %d bytes, want less than 5 MB", size)
	}
}

// TestNotice wants a notice for every crate that the lock file names and that is linked in.
func TestNotice(t *testing.T) {
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile("Cargo.lock")
	if err != nil {
		t.Fatal(err)
	}
	for _, crate := range []string{"llguidance", "toktrie", "derivre", "serde_json", "indexmap", "regex-syntax"} {
		_, rest, ok := strings.Cut(string(lock), "name = \""+crate+"\"\nversion = \"")
		version, _, _ := strings.Cut(rest, `"`)
		if !ok || !strings.Contains(string(notice), "\n"+crate+" "+version+": ") {
			t.Errorf("NOTICE does not name %s %s; run ./build", crate, version)
		}
	}
}
