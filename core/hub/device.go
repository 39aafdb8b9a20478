package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/engine"
)

// Auto leaves the choice of a backend to [Pick].
const Auto = "auto"

// Backends lists what a person may ask for.
func Backends() []string { return []string{engine.CPU, engine.WebGPU, Auto} }

// Available is a device that a model could run on.
type Available struct {
	Device engine.Device
	// Open starts a backend on it.
	Open func(ctx context.Context) (engine.Backend, error)
}

// Choice is a candidate and why it was chosen.
type Choice struct {
	Available
	// Reason is a sentence for people.
	Reason string
}

// Want says which device a person asked for.
type Want struct {
	// Backend is one of [Backends]; empty is [Auto].
	Backend string
	// Adapter is part of a device's name, in any case, or empty.
	Adapter string
	// Threads is the number of CPU threads, 0 for one a core. It counts for the first model that runs on the CPU.
	Threads int
}

// Pick chooses a device: the one that was asked for, else a real GPU, else the CPU. A GPU that is emulated in software
// is far slower than the CPU itself and is only taken when it was asked for.
//
// Errors: [ErrNoDevice] with what there is.
func Pick(all []Available, w Want) (Choice, error) {
	if w.Backend == "" {
		w.Backend = Auto
	}
	if !slices.Contains(Backends(), w.Backend) {
		return Choice{}, fmt.Errorf("%w: %q is no backend; there are %s", ErrNoDevice, w.Backend, strings.Join(Backends(), ", "))
	}
	asked := w.Adapter != "" || w.Backend != Auto
	var fit []Available
	skipped := false
	for _, c := range all {
		d := c.Device
		if w.Backend != Auto && d.Backend != w.Backend {
			continue
		}
		if w.Adapter != "" && !strings.Contains(strings.ToLower(d.Name), strings.ToLower(w.Adapter)) {
			continue
		}
		if d.Software && !asked {
			skipped = true
			continue
		}
		fit = append(fit, c)
	}
	if len(fit) == 0 {
		return Choice{}, fmt.Errorf("%w: %s; %s", ErrNoDevice, w, listing(all))
	}
	best := fit[0]
	for _, c := range fit[1:] {
		if rank(c.Device) > rank(best.Device) {
			best = c
		}
	}
	reason := "it is the only device"
	switch {
	case asked:
		reason = "it was asked for"
	case best.Device.Backend == engine.WebGPU:
		reason = "it is a GPU"
	case skipped:
		reason = "the only GPU is emulated in software, which is slower"
	case best.Device.Backend == engine.CPU:
		reason = "no GPU was found"
	}
	return Choice{best, reason}, nil
}

// rank orders devices: real GPUs by memory, then the CPU, then emulated GPUs.
func rank(d engine.Device) int64 {
	switch {
	case d.Software:
		return 0
	case d.Backend == engine.CPU:
		return 1
	}
	return 2 + d.Memory
}

// String describes what was asked for.
func (w Want) String() string {
	s := "a device"
	if w.Backend != "" && w.Backend != Auto {
		s = "a " + w.Backend + " device"
	}
	if w.Adapter != "" {
		s += fmt.Sprintf(" named %q", w.Adapter)
	}
	return s + " was asked for"
}

func listing(all []Available) string {
	if len(all) == 0 {
		return "there is none"
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = fmt.Sprintf("%s (%s)", c.Device.Name, c.Device.Backend)
	}
	return "there are " + strings.Join(names, ", ")
}
