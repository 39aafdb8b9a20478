//go:build cgo

package page_test

import (
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gioui.org/gpu/headless"

	"github.com/pooled/pooled/ui/internal/uitest"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

const (
	// tolerance is how far a channel of a pixel may be off: drivers differ at the edges of letters.
	tolerance = 4
	// share is the share of the pixels that may be further off.
	share = 0.002
)

// TestPictures draws the window off screen and compares it with stored pictures.
func TestPictures(t *testing.T) {
	t.Run("chat-light", func(t *testing.T) {
		w := open(t, image.Pt(960, 1000), "tiny")
		w.talk(t)
		compare(t, w.Driver, "chat-light.png")
	})
	t.Run("models-dark", func(t *testing.T) {
		w := open(t, image.Pt(960, 720), "toy")
		w.view.ToggleTheme()
		w.view.OpenModels()
		w.settle(t)
		compare(t, w.Driver, "models-dark.png")
	})
}

func compare(t *testing.T, d *uitest.Driver, name string) {
	t.Helper()
	got := picture(t, d)
	path := filepath.Join("testdata", name)
	if *update {
		write(t, path, got)
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if want.Bounds() != got.Bounds() {
		t.Fatalf("size %v, want %v", got.Bounds(), want.Bounds())
	}
	off, peak := 0, 0
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			a, b := got.RGBAAt(x, y), want.At(x, y)
			r, g, bl, _ := b.RGBA()
			m := 0
			for _, v := range [...]int{int(a.R) - int(r>>8), int(a.G) - int(g>>8), int(a.B) - int(bl>>8)} {
				m = max(m, v, -v)
			}
			peak = max(peak, m)
			if m > tolerance {
				off++
			}
		}
	}
	total := got.Rect.Dx() * got.Rect.Dy()
	t.Logf("the greatest difference is %d/255; %d of %d pixels are off by more than %d", peak, off, total, tolerance)
	if float64(off) > share*float64(total) {
		bad := filepath.Join(os.TempDir(), "pooled-"+name)
		write(t, bad, got)
		t.Errorf("%d of %d pixels differ by more than %d/255; the picture is at %s (rewrite with -update)", off, total, tolerance, bad)
	}
}

func write(t *testing.T, path string, img image.Image) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func picture(t *testing.T, d *uitest.Driver) *image.RGBA {
	t.Helper()
	w, err := headless.NewWindow(d.Size.X, d.Size.Y)
	if err != nil {
		t.Skipf("SKIPPED: no pictures are drawn here, because there is neither OpenGL nor Vulkan: %v", err)
	}
	defer w.Release()
	if err := w.Frame(&d.Ops); err != nil {
		t.Fatal(err)
	}
	img := image.NewRGBA(image.Rectangle{Max: d.Size})
	if err := w.Screenshot(img); err != nil {
		t.Fatal(err)
	}
	return img
}
