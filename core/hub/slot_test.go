package hub_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
)

// TestManyConversations has many talk to one model at once; each must get its own answers, whole.
func TestManyConversations(t *testing.T) {
	m, err := newHub(t, 0).Load(t.Context(), file(t, "{{ messages }}"), "m", hub.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			conv, err := m.NewConversation(fmt.Sprintf("you are number %d", i))
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 4 {
				a, err := conv.Send(t.Context(), fmt.Sprintf("question %d of %d", n, i), generate.Options{MaxTokens: 7}, nil)
				if err != nil || a.Message.Text != "Hello!\n" {
					t.Errorf("conversation %d: got %q, %v", i, a.Message.Text, err)
				}
			}
			if got, want := len(conv.Messages()), 9; got != want {
				t.Errorf("conversation %d has %d messages, want %d", i, got, want)
			}
		})
	}
	wg.Wait()
}

// held loads a model whose engine is in use until release is called.
func held(t *testing.T) (m *hub.Model, release func()) {
	t.Helper()
	m, err := newHub(t, 0).Load(t.Context(), file(t, "{{ messages }}"), "m", hub.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in, out := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- m.Use(context.Background(), func(ctx context.Context, _ engine.Session) error {
			close(in)
			select {
			case <-out:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}()
	<-in
	var once sync.Once
	release = func() { once.Do(func() { close(out); <-done }) }
	t.Cleanup(release)
	return m, release
}

func TestWaiting(t *testing.T) {
	m, release := held(t)
	ctx, cancel := context.WithCancel(t.Context())
	conv, err := m.NewConversation("")
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan int, 8)
	answered := make(chan generate.Result)
	slot := m.NewSlot()
	go func() {
		r, err := slot.Generate(t.Context(), []int32{4}, generate.Options{MaxTokens: 3}, func(ahead int) { waits <- ahead }, nil)
		if err != nil {
			t.Error(err)
		}
		answered <- r
	}()
	if got := <-waits; got != 1 {
		t.Errorf("told to be behind %d, want 1", got)
	}
	// One who gives up leaves no trace.
	gone := make(chan error)
	go func() {
		a, err := conv.Send(ctx, "hi", generate.Options{}, nil)
		if a.Finish != generate.FinishCancelled {
			t.Errorf("finished by %s", a.Finish)
		}
		gone <- err
	}()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	if r := <-answered; r.Text != "Hel" {
		t.Errorf("got %q", r.Text)
	}
	if got := conv.Messages(); len(got) != 0 {
		t.Errorf("the one who gave up left %v", got)
	}
	if a, err := conv.Send(t.Context(), "hi", generate.Options{MaxTokens: 2}, nil); err != nil || a.Message.Text != "He" {
		t.Errorf("afterwards got %q, %v", a.Message.Text, err)
	}
}

// TestQueuedEvent tells a conversation that others come first, before it tells anything else.
func TestQueuedEvent(t *testing.T) {
	m, release := held(t)
	conv, err := m.NewConversation("")
	if err != nil {
		t.Fatal(err)
	}
	var list []event.Event
	if _, err := conv.Send(t.Context(), "hi", generate.Options{MaxTokens: 3}, func(e event.Event) error {
		list = append(list, e)
		if e == (event.Queued{Position: 1}) {
			go release()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(list) < 2 || list[0] != (event.Queued{Position: 1}) || list[len(list)-1].Type() != "text" {
		t.Errorf("got %+v", list)
	}
}

// TestCloseWhileWaiting closes a model while one has a turn and others wait.
func TestCloseWhileWaiting(t *testing.T) {
	m, _ := held(t)
	var wg sync.WaitGroup
	for range 5 {
		waiting := make(chan struct{}, 8)
		wg.Go(func() {
			_, err := m.NewSlot().Generate(t.Context(), []int32{4}, generate.Options{}, func(int) { waiting <- struct{}{} }, nil)
			if !errors.Is(err, hub.ErrClosed) {
				t.Errorf("got %v, want %v", err, hub.ErrClosed)
			}
		})
		<-waiting
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := m.NewSlot().Generate(t.Context(), []int32{4}, generate.Options{}, nil, nil); !errors.Is(err, hub.ErrClosed) {
		t.Errorf("after the end: got %v, want %v", err, hub.ErrClosed)
	}
}
