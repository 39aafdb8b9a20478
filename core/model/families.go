package model

import (
	"context"
	"fmt"
	"slices"
)

// Families is a list of families of this process; earlier ones win.
type Families []Family

// Family returns the family that plans an architecture, behind [Checked].
//
// Errors: [ErrNoFamily].
func (fs Families) Family(_ context.Context, architecture string) (Family, error) {
	for _, f := range fs {
		if slices.Contains(f.Info().Architectures, architecture) {
			return Checked(f), nil
		}
	}
	return nil, fmt.Errorf("%q: %w", architecture, ErrNoFamily)
}

// Checked returns f with every plan checked by [Plan.Check] and [Plan.CheckFile], so that a plan which it returns can be
// executed. A panic of f becomes an error, too.
//
// Errors: those of f, and a [*FaultError] around a [*PlanError] or a panic.
func Checked(f Family) Family { return checked{f} }

type checked struct{ Family }

func (c checked) Plan(ctx context.Context, md *Metadata) (p *Plan, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, &FaultError{Family: c.Info().Name, Err: fmt.Errorf("it panicked: %v", v)}
		}
	}()
	if p, err = c.Family.Plan(ctx, md); err != nil {
		return nil, err
	}
	if err := c.accept(p, md); err != nil {
		return nil, &FaultError{Family: c.Info().Name, Err: err}
	}
	return p, nil
}

func (c checked) accept(p *Plan, md *Metadata) error {
	if p == nil {
		return &PlanError{Op: -1, Reason: "there is neither a plan nor an error"}
	}
	if name := c.Info().Name; p.Family != name || p.Architecture != md.Architecture {
		return &PlanError{Op: -1, Reason: fmt.Sprintf("says family %q and architecture %q, want %q and %q",
			p.Family, p.Architecture, name, md.Architecture)}
	}
	if _, err := p.Check(); err != nil {
		return err
	}
	return p.CheckFile(md)
}
