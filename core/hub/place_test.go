package hub_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/engine/enginetest"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/model"
)

func TestPlace(t *testing.T) {
	all := []hub.Available{device("cpu", "Ryzen", 32<<30, false), device("webgpu", "GPU", 4<<30, false)}
	p := &model.Plan{Layers: make([]model.Layer, 7)}
	parts, err := hub.Place(p, all, hub.Want{})
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	got := parts[0]
	if got.Device.Name != "GPU" || got.Range != (model.LayerRange{End: 7}) || !got.Embed || !got.Head {
		t.Errorf("got layers %v on %s, embedding %v, head %v", got.Range, got.Device.Name, got.Embed, got.Head)
	}
	if _, err := hub.Place(p, nil, hub.Want{}); !errors.Is(err, hub.ErrNoDevice) {
		t.Errorf("without a device: got %v, want %v", err, hub.ErrNoDevice)
	}
}

// TestOpenOnce loads two models at a time onto a device that takes long to open: the first load is cancelled meanwhile,
// and the hub stays usable all along.
func TestOpenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, gate := 0, make(chan struct{})
		h := hub.New(hub.Options{
			Families: model.Families{testFamily{context: 4096}},
			Devices: func(context.Context, hub.Want) []hub.Available {
				return []hub.Available{{
					Device: engine.Device{Backend: "cpu", Name: "slow"},
					Open: func(ctx context.Context) (engine.Backend, error) {
						opened++
						select {
						case <-ctx.Done():
							return nil, ctx.Err()
						case <-gate:
							return enginetest.NewScript("Hello!\n"), nil
						}
					},
				}}
			},
		})
		first, cancel := context.WithCancel(t.Context())
		errs := make(chan error)
		load := func(ctx context.Context) {
			_, err := h.Load(ctx, file(t, ""), "m", hub.LoadOptions{})
			errs <- err
		}
		go load(first)
		synctest.Wait()
		go load(t.Context())
		go load(t.Context())
		synctest.Wait()
		if opened != 1 {
			t.Errorf("opened %d times at once", opened)
		}
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("the load that was cancelled: got %v", err)
		}
		synctest.Wait()
		if opened != 2 {
			t.Errorf("opened %d times, want once more for those who waited", opened)
		}
		close(gate)
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if opened != 2 {
			t.Errorf("opened %d times", opened)
		}
	})
}

// TestEqualDevices opens two devices of one name, as two equal GPUs are.
func TestEqualDevices(t *testing.T) {
	opened := map[string]int{}
	var all []hub.Available
	for _, id := range []string{"webgpu/0", "webgpu/1"} {
		all = append(all, hub.Available{
			Device: engine.Device{ID: id, Backend: "webgpu", Name: "GPU"},
			Open: func(context.Context) (engine.Backend, error) {
				opened[id]++
				return enginetest.NewScript("Hello!\n"), nil
			},
		})
	}
	next := 0
	h := hub.New(hub.Options{
		Families: model.Families{testFamily{context: 4096}},
		Devices:  func(context.Context, hub.Want) []hub.Available { return all[next : next+1] },
	})
	for _, i := range []int{0, 1, 1} {
		next = i
		if _, err := h.Load(t.Context(), file(t, ""), "m", hub.LoadOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if opened["webgpu/0"] != 1 || opened["webgpu/1"] != 1 {
		t.Errorf("opened %v, want each once", opened)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
