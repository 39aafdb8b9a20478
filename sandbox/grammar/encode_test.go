package grammar

import (
	"context"
	"testing"

	"github.com/pooled/pooled/core/tokenizer"
)

// TestEncodeIsBounded hands the host texts that it does not take; none reaches the memory, which is nil.
func TestEncodeIsBounded(t *testing.T) {
	known := context.WithValue(t.Context(), encoderKey{}, &tokenizer.Tokenizer{})
	cancelled, cancel := context.WithCancel(known)
	cancel()
	for name, ctx := range map[string]context.Context{"no tokenizer": t.Context(), "out of time": cancelled} {
		if got := encode(ctx, nil, []uint32{0, 1, 0, 1}); got != ^uint32(0) {
			t.Errorf("%s: got %d tokens", name, got)
		}
	}
	if got := encode(known, nil, []uint32{0, maxForced + 1, 0, 1}); got != ^uint32(0) {
		t.Errorf("a long text: got %d tokens", got)
	}
}
