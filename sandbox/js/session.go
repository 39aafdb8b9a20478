package js

import (
	"container/list"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pooled/pooled/sandbox/js/qjs"
)

// epoch is what the virtual clock shows when a program starts.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// clockStep is how far each reading moves the virtual clock, so that a program
// that polls the time until some delay has passed comes to an end.
const clockStep = 10 * time.Microsecond

// SessionOptions say what a Session may do and where its output goes.
type SessionOptions struct {
	Limits       Limits
	Capabilities Capabilities
	// Console receives every line as it is written; it may be nil.
	Console func(Line)
	// Host answers the guest functions that an Image's sources define beyond
	// the prelude's own. It must not call the session.
	Host func(name string, args []string) (string, error)
	// Normalize and Load serve import; see qjs.Hooks.
	Normalize func(base, name string) (string, error)
	Load      func(name string) (string, error)
}

// Session is one machine started from an Image, with the limits, clock and
// console of one run. Run uses it for scripts; package page builds a document on it.
//
// Owns: the machine, until Close. Not safe for concurrent use.
type Session struct {
	// VM is the machine itself.
	VM *qjs.VM

	ctx     context.Context
	o       SessionOptions
	control qjs.Handle
	opcodes map[string]qjs.Handle
	start   time.Time
	soft    time.Time // when the program is interrupted
	virtual time.Duration
	console []Line
	written int64
	calls   int64
	stop    Stop

	// Promises that were rejected unheard, the oldest first, and where each is by its identity.
	unheard *list.List
	waiting map[uint32]*list.Element
}

type rejection struct {
	promise, reason qjs.Handle
	identity        uint32
}

// maxUnheard bounds the rejected promises that wait for a handler, each of which costs the host some memory, too.
const maxUnheard = 1 << 18

// NewSession starts a machine from an image; nil is the image of the prelude alone.
//
// Errors: ErrLimits; qjs.ErrMemory when the image does not fit the memory limit.
func (rt *Runtime) NewSession(ctx context.Context, image *Image, o SessionOptions) (*Session, error) {
	var err error
	if o.Limits, err = o.Limits.withDefaults(); err != nil {
		return nil, err
	}
	if image == nil {
		image = rt.base
	}
	s := &Session{ctx: ctx, o: o, control: image.control, opcodes: map[string]qjs.Handle{}, start: time.Now()}
	s.unheard, s.waiting = list.New(), map[uint32]*list.Element{}
	s.Extend(o.Limits.Time)
	s.VM, err = rt.engine.Restore(ctx, image.snapshot, qjs.Options{Memory: uint32(o.Limits.Memory), Stack: uint32(o.Limits.Stack)}, qjs.Hooks{
		Admit:     s.admit,
		Call:      s.call,
		Interrupt: s.interrupt,
		Tick:      s.tick,
		Now:       s.now,
		Random:    func(b []byte) { clear(b) },
		Normalize: s.normalize,
		Load:      s.load,
		Reject:    s.reject,
	})
	if err != nil {
		return nil, err
	}
	if _, err := s.Control("start", s.startText()); err != nil {
		s.VM.Close()
		return nil, err
	}
	return s, nil
}

// Close releases the machine.
func (s *Session) Close() { s.VM.Close() }

// Extend gives the program d of wall time from now on.
func (s *Session) Extend(d time.Duration) { s.soft = time.Now().Add(d) }

func (s *Session) startText() string {
	seed := [3]int32{0x706f6f6c, 0x65640000, 1}
	if s.o.Capabilities.Random {
		var b [12]byte
		_, _ = crand.Read(b[:])
		for i := range seed {
			seed[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	text, _ := json.Marshal(map[string]any{"seed": seed, "realRandom": s.o.Capabilities.Random})
	return string(text)
}

// interrupt is the soft stop: it raises an error that the program cannot catch.
func (s *Session) interrupt() bool {
	if s.stop != None {
		return true
	}
	if !time.Now().Before(s.soft) {
		s.stop = Timeout
		return true
	}
	return s.ctx.Err() != nil
}

// Over reports whether the program must end: a limit was hit, its time is over, or it was cancelled. A host that drives a
// session in a loop asks it, for the machine only notices while it runs code.
func (s *Session) Over() bool { return s.interrupt() }

// halt ends the program for a limit that it hit. It is interrupted at its next step; where it does not come to one, its grace
// begins now.
func (s *Session) halt(why Stop) {
	if s.stop == None {
		s.stop, s.soft = why, time.Now()
	}
}

// tick is the hard stop, also inside long built-ins.
func (s *Session) tick() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if time.Since(s.soft) < Grace {
		return nil
	}
	if s.stop == None {
		s.stop = Timeout
	}
	return errGrace
}

func (s *Session) now(monotonic bool) int64 {
	if s.o.Capabilities.Clock {
		if monotonic {
			return int64(time.Since(s.start))
		}
		return time.Now().UnixNano()
	}
	s.virtual += clockStep
	if monotonic {
		return int64(s.virtual)
	}
	return epoch.Add(s.virtual).UnixNano()
}

// Elapsed is the session's own time since its start: virtual unless the clock was granted.
func (s *Session) Elapsed() time.Duration {
	if s.o.Capabilities.Clock {
		return time.Since(s.start)
	}
	return s.virtual
}

// errSpent ends the host call of a program that is over a cap.
var errSpent = errors.New("the output limit of the sandbox is reached")

func (s *Session) count() error {
	if s.calls++; s.calls > s.o.Limits.HostCalls {
		s.halt(Output)
	}
	if s.stop != None {
		return errSpent
	}
	return nil
}

// admit refuses a host call whose texts are longer than the host takes at once.
func (s *Session) admit(n int) error {
	if n > qjs.MaxText {
		s.halt(Output)
	}
	if s.stop != None {
		return errSpent
	}
	return nil
}

// call answers the prelude. args[0] names the function.
func (s *Session) call(_ string, args []string) (string, error) {
	if err := s.count(); err != nil {
		return "", err
	}
	if len(args) == 0 {
		return "", errors.New("a host call needs a name")
	}
	switch name := args[0]; {
	case name == "log" && len(args) == 3:
		return "", s.log(Line{args[1], args[2]})
	case name == "random" && len(args) == 2:
		return s.random(args[1])
	case s.o.Host != nil:
		return s.o.Host(name, args[1:])
	default:
		return "", fmt.Errorf("there is no host function %q", name)
	}
}

// Log writes a console line on the host's behalf, without counting it.
func (s *Session) Log(l Line) {
	s.console = append(s.console, l)
	if s.o.Console != nil {
		s.o.Console(l)
	}
}

// lineCost is what every console line costs beyond its text.
const lineCost = 16

func (s *Session) log(l Line) error {
	s.written += int64(len(l.Level)+len(l.Text)) + lineCost
	if s.written > s.o.Limits.Output {
		s.halt(Output)
		return errSpent
	}
	s.Log(l)
	return nil
}

func (s *Session) random(n string) (string, error) {
	size, err := strconv.Atoi(n)
	if err != nil || size < 0 || size > 1<<16 || !s.o.Capabilities.Random {
		return "", errors.New("no randomness was granted")
	}
	b := make([]byte, size)
	_, _ = crand.Read(b)
	return hex.EncodeToString(b), nil
}

func (s *Session) normalize(base, name string) (string, error) {
	if err := s.count(); err != nil {
		return "", err
	}
	if s.o.Normalize == nil {
		return name, nil
	}
	return s.o.Normalize(base, name)
}

func (s *Session) load(name string) (string, error) {
	if err := s.count(); err != nil {
		return "", err
	}
	if s.o.Load == nil {
		return "", errNoFiles
	}
	return s.o.Load(name)
}

// reject keeps promises that were rejected unheard until the end of the turn. It takes the same time however many there are.
func (s *Session) reject(promise, reason qjs.Handle, handled bool) {
	if promise == 0 || reason == 0 { // there was no memory for the handle
		s.halt(Memory)
		s.VM.Free(promise)
		s.VM.Free(reason)
		return
	}
	id := s.VM.Identity(promise)
	if !handled && s.waiting[id] == nil {
		if len(s.waiting) < maxUnheard {
			s.waiting[id] = s.unheard.PushBack(rejection{promise, reason, id})
			return
		}
		s.halt(Memory)
	}
	if e := s.waiting[id]; e != nil && handled {
		s.VM.Free(s.forget(e))
	}
	s.VM.Free(promise)
	s.VM.Free(reason)
}

// forget drops a rejection and returns its reason, for the caller to free.
func (s *Session) forget(e *list.Element) (reason qjs.Handle) {
	w := s.unheard.Remove(e).(rejection)
	delete(s.waiting, w.identity)
	s.VM.Free(w.promise)
	return w.reason
}

// Rejection takes the reason of the oldest promise that was rejected unheard.
//
// Owns: the caller frees the reason.
func (s *Session) Rejection() (reason qjs.Handle, ok bool) {
	if e := s.unheard.Front(); e != nil {
		return s.forget(e), true
	}
	return 0, false
}

// Resume lets a session that was stopped at the soft limit run for d more, to
// look at what it left behind.
func (s *Session) Resume(d time.Duration) {
	s.stop = None
	s.Extend(d)
}

// Control calls an operation of the prelude with a text.
func (s *Session) Control(op, argument string) (string, error) {
	h, err := s.VM.String(argument)
	if err != nil {
		return "", err
	}
	defer s.VM.Free(h)
	return s.ControlValue(op, h)
}

// ControlValue calls an operation of the prelude with a value.
func (s *Session) ControlValue(op string, argument qjs.Handle) (string, error) {
	name, ok := s.opcodes[op]
	if !ok {
		var err error
		if name, err = s.VM.String(op); err != nil {
			return "", err
		}
		s.opcodes[op] = name
	}
	h, err := s.VM.Call(s.control, name, argument)
	if err != nil {
		return "", err
	}
	defer s.VM.Free(h)
	text, err := s.VM.Text(h)
	if err != nil {
		s.halt(Output)
	}
	return text, err
}

// spare is what the memory limit is raised by to describe an error that ran into it.
const spare = 2 << 20

// WithSpareMemory calls an operation of the prelude with some memory beyond the
// limit, so that an exception that came of hitting it can be handled.
func (s *Session) WithSpareMemory(op string, argument qjs.Handle) (string, error) {
	s.VM.SetMemoryLimit(uint32(s.o.Limits.Memory) + spare)
	defer s.VM.SetMemoryLimit(uint32(s.o.Limits.Memory))
	return s.ControlValue(op, argument)
}

// Describe turns a thrown value into an Error.
func (s *Session) Describe(thrown qjs.Handle) *Error {
	text, err := s.WithSpareMemory("error", thrown)
	e := Error{Name: "Error", Message: "an exception that cannot be shown"}
	shown := err == nil && json.Unmarshal([]byte(text), &e) == nil
	if s.LacksMemory(&e) || !shown && s.full() {
		return &Error{Name: "InternalError", Message: "out of memory"}
	}
	e.Bound()
	e.Locate()
	return &e
}

// LacksMemory reports whether an error is what comes of a lack of memory that left none for an exception: a built-in gives up
// with nothing, and the engine throws null.
func (s *Session) LacksMemory(e *Error) bool {
	return e.Name == "Uncaught" && (e.Message == "[uninitialized]" || e.Message == "null" && s.full())
}

// full reports whether the program has had all of its memory.
func (s *Session) full() bool { return int64(s.VM.MemorySize()) >= s.o.Limits.Memory }

// Failure sorts an error of the machine: a cap that was hit, a JavaScript error, or both.
// The third result is set when the run was cancelled from outside.
func (s *Session) Failure(err error) (Stop, *Error, error) {
	if cerr := s.ctx.Err(); cerr != nil {
		return None, nil, cerr
	}
	var x *qjs.Exception
	switch {
	case s.stop != None:
		return s.stop, nil, nil
	case errors.As(err, &x):
		e := s.Describe(x.Value)
		s.VM.Free(x.Value)
		if s.stop != None {
			return s.stop, nil, nil
		}
		return e.Stop(), e, nil
	case errors.Is(err, qjs.ErrMemory):
		return Memory, nil, nil
	case errors.Is(err, qjs.ErrStack):
		return Stack, nil, nil
	default:
		return None, &Error{Name: "SandboxError", Message: "the JavaScript engine crashed: " + firstLine(err.Error())}, nil
	}
}

// NextTimer waits for the next timer and fires it. It reports false when there
// is none within the virtual time. An exception of the callback is returned.
func (s *Session) NextTimer(horizon time.Duration) (bool, error) {
	text, err := s.Control("due", "")
	if err != nil || text == "" {
		return false, err
	}
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false, nil
	}
	due := time.Duration(ms * float64(time.Millisecond))
	if due > horizon {
		return false, nil
	}
	if s.o.Capabilities.Clock {
		if !s.sleep(due - s.Elapsed()) {
			return false, s.ctx.Err()
		}
	} else {
		s.virtual = max(s.virtual, due)
	}
	_, err = s.Control("fire", "")
	return true, err
}

// Advance moves the virtual clock to a time since the start; a granted real
// clock is waited for.
func (s *Session) Advance(to time.Duration) error {
	if !s.o.Capabilities.Clock {
		s.virtual = max(s.virtual, to)
	} else if d := to - s.Elapsed(); d > 0 && !s.sleep(d) {
		return s.ctx.Err()
	}
	return nil
}

// sleep waits in real time; false means that the wait was cut short.
func (s *Session) sleep(d time.Duration) bool {
	left := time.Until(s.soft)
	timer := time.NewTimer(min(d, left))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
		return false
	}
	if d > left {
		s.stop = Timeout
		return false
	}
	return true
}

// PendingTimers is how many timers are still set.
func (s *Session) PendingTimers() int {
	text, _ := s.Control("pending", "")
	n, _ := strconv.Atoi(text)
	return n
}

// Stopped says which cap was hit so far.
func (s *Session) Stopped() Stop { return s.stop }

// Console returns the lines written so far.
func (s *Session) Console() []Line { return s.console }
