package page

import (
	"context"
	"embed"
	"fmt"

	guestjs "github.com/pooled/pooled/sandbox/guest-js"
	"github.com/pooled/pooled/sandbox/js"
)

//go:embed guest/*.js
var guestFiles embed.FS

// guestOrder is the order in which the guest's files run, after happy-dom.
var guestOrder = []string{
	"window", "mend", "nodes", "select", "absent", "sound", "net", "load",
	"forms", "fields", "validity", "elements", "serialize", "markup", "document", "frames", "submit", "overlay",
	"properties", "values", "shorthands", "style", "media", "sheet", "compute", "defaults", "cascade",
	"text", "layout", "observers", "canvas", "view", "act",
}

// bootMemory is what happy-dom may use while it boots. Units: bytes.
const bootMemory = 128 << 20

// Runtime opens pages. Booting the DOM takes about half a second; its memory
// image is kept in the engine's cache folder, so only the first runtime pays.
//
// Owns: nothing that needs closing; the js.Runtime must outlive it. Safe for
// concurrent use.
type Runtime struct {
	engine *js.Runtime
	image  *js.Image
}

// NewRuntime boots the DOM on an engine, or takes its image from the cache.
func NewRuntime(ctx context.Context, engine *js.Runtime) (*Runtime, error) {
	sources := []js.Source{{Name: "happy-dom.js", Code: guestjs.HappyDOM}}
	for _, name := range guestOrder {
		b, err := guestFiles.ReadFile("guest/" + name + ".js")
		if err != nil {
			return nil, err
		}
		sources = append(sources, js.Source{Name: name + ".js", Code: string(b)})
	}
	image, err := engine.Image(ctx, bootMemory, sources...)
	if err != nil {
		return nil, fmt.Errorf("page guest: %w", err)
	}
	return &Runtime{engine, image}, nil
}
