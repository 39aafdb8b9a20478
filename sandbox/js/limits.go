package js

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits cap one run. A zero field means the default of DefaultLimits.
type Limits struct {
	// Time is the wall time until the program is interrupted. One that cannot be
	// interrupted is killed Grace later.
	Time time.Duration
	// Memory is what the program may allocate. Rejected promises that nobody has handled yet cost the host memory, too: more
	// than a quarter of a million count as too much. Units: bytes.
	Memory int64
	// Stack is the depth of its stack. Units: bytes; 512 KiB is the most.
	Stack int64
	// Output bounds the console. Units: bytes.
	Output int64
	// HostCalls bounds console lines, module loads and other calls to the host.
	HostCalls int64
	// VirtualTime is how far timers may move the virtual clock; later ones do
	// not fire.
	VirtualTime time.Duration
	// TimerCalls bounds how many timer callbacks run.
	TimerCalls int
}

// Grace is how long after Limits.Time a program is killed that does not react
// to the interrupt.
const Grace = 500 * time.Millisecond

// DefaultLimits are generous for a script that a person or a model wrote.
func DefaultLimits() Limits {
	return Limits{
		Time:        5 * time.Second,
		Memory:      64 << 20,
		Stack:       256 << 10,
		Output:      1 << 20,
		HostCalls:   100_000,
		VirtualTime: time.Hour,
		TimerCalls:  10_000,
	}
}

// Bounds of Limits.Memory: less does not hold the prelude, more does not fit
// 32-bit addresses comfortably.
const (
	MinMemory = 4 << 20
	MaxMemory = 1 << 30
	maxStack  = 512 << 10
)

func (l Limits) withDefaults() (Limits, error) {
	d := DefaultLimits()
	def(&l.Time, d.Time)
	def(&l.Memory, d.Memory)
	def(&l.Stack, d.Stack)
	def(&l.Output, d.Output)
	def(&l.HostCalls, d.HostCalls)
	def(&l.VirtualTime, d.VirtualTime)
	def(&l.TimerCalls, d.TimerCalls)
	switch {
	case l.Memory < MinMemory || l.Memory > MaxMemory:
		return l, fmt.Errorf("%w: memory of %d bytes is not between %d and %d MiB", ErrLimits, l.Memory, MinMemory>>20, MaxMemory>>20)
	case l.Stack < 0 || l.Stack > maxStack:
		return l, fmt.Errorf("%w: a stack of %d bytes is over %d KiB", ErrLimits, l.Stack, maxStack>>10)
	case l.Time < 0 || l.Output < 0 || l.HostCalls < 0 || l.VirtualTime < 0 || l.TimerCalls < 0:
		return l, fmt.Errorf("%w: a limit is negative", ErrLimits)
	}
	return l, nil
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Capabilities grant what a program does not have by itself.
type Capabilities struct {
	// Clock gives the real time, and makes timers wait for it.
	Clock bool
	// Random seeds Math.random unpredictably and fills
	// crypto.getRandomValues from the operating system.
	Random bool
}

// CapabilityNames lists what ParseCapabilities accepts, with one line of help each.
func CapabilityNames() [][2]string {
	return [][2]string{
		{"clock", "the real time; timers really wait"},
		{"random", "real randomness in Math.random and crypto"},
	}
}

// ParseCapabilities turns names into grants.
//
// Errors: ErrCapability for an unknown name, with the list of known ones.
func ParseCapabilities(names []string) (Capabilities, error) {
	var c Capabilities
	for _, name := range names {
		switch name {
		case "clock":
			c.Clock = true
		case "random":
			c.Random = true
		default:
			var known []string
			for _, k := range CapabilityNames() {
				known = append(known, k[0])
			}
			slices.Sort(known)
			return Capabilities{}, fmt.Errorf("%w %q: the known ones are %s", ErrCapability, name, strings.Join(known, ", "))
		}
	}
	return c, nil
}
