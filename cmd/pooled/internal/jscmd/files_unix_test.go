//go:build unix

package jscmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
)

// TestOddFiles puts what is no file, or an endless one, where a program or a page finds files.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("main.js", "for (const f of ['pipe', 'sparse', 'folder', 'zero']) await import('./' + f + '.js').catch((e) => console.log(e.message))")
	put("index.html", "<script src=pipe.js></script><script src=sparse.js></script><img src=pipe.js><p>x</p><script>fetch('pipe.js').catch(() => {})</script>")
	put("sparse.js", "")
	if err := errors.Join(
		os.Truncate(filepath.Join(dir, "sparse.js"), 10<<30), syscall.Mkfifo(filepath.Join(dir, "pipe.js"), 0o600),
		os.Mkdir(filepath.Join(dir, "folder.js"), 0o700), os.Symlink("/dev/zero", filepath.Join(dir, "zero.js")),
	); err != nil {
		t.Fatal(err)
	}
	out, errOut, code := execute(t, "", "js", filepath.Join(dir, "main.js"), "--tree", dir)
	for _, want := range []string{"cannot import pipe.js: ", "named pipe", "cannot import sparse.js: larger than 8 MiB", "cannot import folder.js: ", "cannot import zero.js: "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %q, %q, %d", want, out, errOut, code)
		}
	}
	out, errOut, code = execute(t, "", "page", dir)
	if out != "x\n" || code != 1 || errOut != "missing: pipe.js\nmissing: sparse.js\n" {
		t.Errorf("got %q, %q, %d", out, errOut, code)
	}
	for _, entry := range []string{"pipe.js", "sparse.js", "folder.js", "zero.js"} {
		if _, errOut, code := execute(t, "", "page", dir, "--entry", entry); code != 2 || !strings.Contains(errOut, "cannot open the entry file") {
			t.Errorf("--entry %s: %q, %d", entry, errOut, code)
		}
	}
	if _, errOut, code := execute(t, "", "js", filepath.Join(dir, "sparse.js")); code != 2 || !strings.Contains(errOut, "more than 8388608 bytes") {
		t.Errorf("an endless program: %q, %d", errOut, code)
	}
	// A pipe without a writer is waited for until the person ends that.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &console.Console{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	root := &cobra.Command{Use: "pooled"}
	c.Adopt(root)
	root.AddCommand(NewJS(c, cache))
	root.SetArgs([]string{"js", filepath.Join(dir, "pipe.js")})
	if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe without a writer: %v", err)
	}
	w, err := os.OpenFile(filepath.Join(dir, "pipe.js"), os.O_WRONLY, 0) // lets go of what waits
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
}
