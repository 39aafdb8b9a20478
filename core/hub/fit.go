package hub

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/tokenizer"
)

const (
	// defaultContext is the context of a model that was made for more, when nobody asks for another.
	defaultContext = 32768
	// reserve is the share of a device's memory that stays free, as one part in so many.
	reserve = 10
	// stateShare is the share of a device's memory that the caches of a context that nobody asked for may take.
	stateShare = 4
	// parkShare is the share of what a device has left that conversations may take while others use the engine, as one part
	// in so many; unknownPark is that of a device whose memory is not known. Units: bytes.
	parkShare   = 4
	unknownPark = 256 << 20
)

// Fit is how a model would be loaded.
type Fit struct {
	// Plan is how the model is computed.
	Plan *model.Plan
	// Parts say what computes it.
	Parts []Part
	// Context is the number of positions it would have room for.
	Context int

	tokenizer *tokenizer.Tokenizer
	spare     int64 // bytes that conversations may take while others use the engine
}

// Fit says how a model would be loaded, without reading its weights. It is filled in as far as it came, also beside an error,
// which is the one that Load would give.
//
// Errors: those of [Hub.Load], but for the backend's.
func (h *Hub) Fit(ctx context.Context, f *gguf.File, o LoadOptions) (fit Fit, err error) {
	if fit.Plan, err = h.Plan(ctx, f); err != nil {
		return fit, err
	}
	vocab, err := tokenizer.FromMetadata(f.Get)
	if err != nil {
		return fit, err
	}
	if fit.tokenizer, err = tokenizer.New(vocab); err != nil {
		return fit, err
	}
	if fit.Parts, err = Place(fit.Plan, h.opt.Devices(ctx, o.Want), o.Want); err != nil {
		return fit, err
	}
	d := fit.Parts[0].Device
	fit.Context, fit.spare, err = memory(fit.Plan, f, d, h.used(d, o.Instead), o.Context)
	return fit, err
}

// used returns the bytes that models take on a device, but for one that is about to be closed.
func (h *Hub) used(d engine.Device, but *Model) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := int64(0)
	for _, m := range h.models {
		if m != but && m.Device.ID == d.ID {
			sum += m.Weights + m.State
		}
	}
	return sum
}

// memory returns the context to load a model with beside what others use of the device's memory, and the bytes that
// conversations may take while others use the engine. It refuses a model that does not fit.
func memory(p *model.Plan, f *gguf.File, d engine.Device, used int64, want int) (positions int, spare int64, err error) {
	all := model.LayerRange{End: len(p.Layers)}
	weights := int64(0)
	for _, t := range p.Tensors {
		if ft, ok := f.Tensor(t.Name); ok {
			weights += ft.Bytes()
		}
	}
	positions = want
	if positions <= 0 {
		positions = min(p.Context, defaultContext)
		for positions > 512 && d.Memory > 0 {
			if kv, _ := p.StateBytes(all, positions); kv+p.DraftBytes(positions) <= d.Memory/stateShare {
				break
			}
			positions /= 2
		}
	}
	if positions > p.Context {
		return 0, 0, fmt.Errorf("a context of %d was asked for, but the model was made for %d", positions, p.Context)
	}
	kv, rec := p.StateBytes(all, positions)
	kv += p.DraftBytes(positions)
	if d.Memory <= 0 {
		return positions, unknownPark, nil
	}
	left := d.Memory - d.Memory/reserve - used - weights - kv - rec
	if left < 0 {
		return 0, 0, &MemoryError{
			Weights: weights, State: kv + rec, Used: used, Reserve: d.Memory / reserve, Memory: d.Memory, Context: positions,
		}
	}
	return positions, left / parkShare, nil
}
