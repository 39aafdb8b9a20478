package console

import (
	"context"
	"fmt"
	"io"
	"os"
)

// MaxInput bounds what is read of the input at once. Units: bytes.
const MaxInput = 64 << 20

// Input reads the whole input.
func (c *Console) Input() ([]byte, error) { return readAll(c.In, "standard input", MaxInput) }

// Named reads a file that a person named, or the input for "-"; a pipe, too, which may be without a writer for as long as it
// likes: the end of ctx ends the wait.
//
// Errors: the context's, those of the system, a file of more than limit bytes.
func (c *Console) Named(ctx context.Context, name string, limit int64) ([]byte, error) {
	type content struct {
		data []byte
		err  error
	}
	read := make(chan content, 1)
	go func() {
		var got content
		if name == "-" {
			got.data, got.err = readAll(c.In, "standard input", limit)
		} else if f, err := os.Open(name); err != nil {
			got.err = err
		} else {
			got.data, got.err = readAll(f, name, limit)
			f.Close()
		}
		read <- got
	}()
	select {
	case got := <-read:
		return got.data, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return b, nil
}
