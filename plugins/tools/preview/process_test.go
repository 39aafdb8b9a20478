//go:build unix

package preview

import (
	"path/filepath"
	"testing"

	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
)

// TestProcess serves an app as Pooled does: from a process that may read the project and listen, and little else.
func TestProcess(t *testing.T) {
	c := plugin.NewCatalog("", nil, plugin.Options{Tools: []tool.Set{Set{}}})
	defer c.Close()
	sets, err := c.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "index.html"), counter)
	s, err := sets[0].Open(t.Context(), tool.Project{Root: dir, Cache: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	address := serve(t, s, "{}")
	if resp, body := get(t, "GET", address); resp.StatusCode != 200 || len(body) < len(counter) {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
	r, err := s.Call(t.Context(), tool.Call{Name: "page_click", Arguments: []byte(`{"selector":"#add"}`)})
	if err != nil || r.IsError {
		t.Errorf("page_click: %+v, %v", r, err)
	}
	if _, err := s.Call(t.Context(), tool.Call{Name: "stop_serve"}); err != nil {
		t.Error(err)
	}
	if again := serve(t, s, "{}"); again == "" {
		t.Error("it is not served again")
	}
}
