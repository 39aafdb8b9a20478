package model

import (
	"errors"
	"fmt"
)

var (
	// ErrUnsupported is wrapped by a family's error for a file that it recognises and cannot compute.
	ErrUnsupported = errors.New("not supported")
	// ErrFault is wrapped when the family is to blame, not the file: it panicked, crashed, hung, or made a bad plan.
	ErrFault = errors.New("the model family is at fault")
	// ErrNoFamily is wrapped when no family plans an architecture.
	ErrNoFamily = errors.New("no model family for this architecture")
)

// MetadataError says which key or tensor of a file is not as a family needs it.
type MetadataError struct {
	// Name is the metadata key or the tensor.
	Name string
	// Reason says what is wrong with it.
	Reason string
	// Unsupported says that the file is well formed and asks for something that the family cannot compute; the error
	// then wraps [ErrUnsupported].
	Unsupported bool
}

func (e *MetadataError) Error() string {
	if e.Unsupported {
		return fmt.Sprintf("%s: %s: %v", e.Name, e.Reason, ErrUnsupported)
	}
	return fmt.Sprintf("%s: %s", e.Name, e.Reason)
}

func (e *MetadataError) Unwrap() error {
	if e.Unsupported {
		return ErrUnsupported
	}
	return nil
}

// PlanError says where a plan is wrong.
type PlanError struct {
	// Block is "embed", "layer 3", "head" or empty for the plan as a whole.
	Block string
	// Op is the index of the operation in its block, or −1.
	Op int
	// Kind is the operation's kind when Op is not −1.
	Kind Kind
	// Tensor is the tensor concerned, or empty.
	Tensor string
	// Reason says what is wrong.
	Reason string
}

func (e *PlanError) Error() string {
	s := "plan"
	if e.Block != "" {
		s += ": " + e.Block
	}
	if e.Op >= 0 {
		s += fmt.Sprintf(", op %d (%v)", e.Op, e.Kind)
	}
	if e.Tensor != "" {
		s += ", tensor " + e.Tensor
	}
	return s + ": " + e.Reason
}

// FaultError says that a family is to blame, not the file. It wraps [ErrFault] and Err.
type FaultError struct {
	// Family is the family's name.
	Family string
	// Err says what it did.
	Err error
}

func (e *FaultError) Error() string { return fmt.Sprintf("model family %s: %v", e.Family, e.Err) }

func (e *FaultError) Unwrap() []error { return []error{ErrFault, e.Err} }
