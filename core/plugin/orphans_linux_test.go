package plugin_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/plugin"
)

// TestLeavers ends a plugin whose child has a session of its own: in order, and by killing the host.
func TestLeavers(t *testing.T) {
	privateTemp(t)
	program := filepath.Join(folder(t, "leaver"), "leaver")
	start := func() (*plugin.Opened, int) {
		t.Helper()
		f, err := plugin.Open(t.Context(), program, nil, quick)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Plan(t.Context(), tinyFile("leaver"))
		left, bad := strconv.Atoi(err.Error())
		if bad != nil || !alive(left) {
			t.Fatalf("got %v, want the number of a process that runs", err)
		}
		return f, left
	}
	f, left := start()
	f.Close()
	waitGone(t, left)
	noFolders(t)

	host := exec.Command(filepath.Join(folder(t, "careless"), "careless"), program)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	orphan, bad := strconv.Atoi(strings.TrimSpace(line))
	if bad != nil || !alive(orphan) {
		t.Fatalf("the host says %q, want the number of a process that runs", line)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
	if folders, _ := filepath.Glob(filepath.Join(os.TempDir(), "pooled-plugin-*")); len(folders) != 1 {
		t.Errorf("the killed host left %v, want one folder", folders)
	}
	// The next host ends what the killed one left, and nothing of its own.
	f, left = start()
	waitGone(t, orphan)
	other, another := start()
	if !alive(left) {
		t.Error("a process of a host that lives was killed")
	}
	f.Close()
	other.Close()
	waitGone(t, left)
	waitGone(t, another)
	noFolders(t)
}
