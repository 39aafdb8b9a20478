package tokenizer

import (
	"errors"
	"fmt"
)

var (
	// ErrUnsupported reports a tokenizer that this package does not implement. It is wrapped by [UnsupportedError].
	ErrUnsupported = errors.New("unsupported tokenizer")
	// ErrVocab reports a vocabulary that contradicts itself. It is wrapped by [VocabError].
	ErrVocab = errors.New("invalid vocabulary")
)

// UnsupportedError names the metadata value that no tokenizer here implements.
type UnsupportedError struct {
	Key   string // metadata key, such as "tokenizer.ggml.pre"
	Value string // its value; empty when the key is absent
}

// Error says which value is unsupported and what would help.
func (e *UnsupportedError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%v: the model file has no %s; use a file made by a current converter", ErrUnsupported, e.Key)
	}
	return fmt.Sprintf("%v: %s is %.64q, which this version cannot read", ErrUnsupported, e.Key, e.Value)
}

// Unwrap returns [ErrUnsupported].
func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }

// VocabError says what is wrong in a vocabulary, and where.
type VocabError struct {
	Key    string // metadata key
	Index  int    // element of the array at Key; -1 when it is not about one element
	Reason string
}

// Error says what is wrong and where.
func (e *VocabError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%v: %s: %s", ErrVocab, e.Key, e.Reason)
	}
	return fmt.Sprintf("%v: %s[%d]: %s", ErrVocab, e.Key, e.Index, e.Reason)
}

// Unwrap returns [ErrVocab].
func (e *VocabError) Unwrap() error { return ErrVocab }
