package device

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPresent(t *testing.T) {
	for node, want := range map[string]bool{
		"dev/dri/renderD128": true, "dev/nvidia0": true, "dev/nvidiactl": true, "dev/dxg": true, "dev/mali0": true,
		"dev/null": false, "dev/dri/by-path": false, "dev/nvram": false,
	} {
		root := t.TempDir()
		name := filepath.Join(root, filepath.FromSlash(node))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := present(root, nodes); got != want {
			t.Errorf("%s: got %v, want %v", node, got, want)
		}
	}
}
