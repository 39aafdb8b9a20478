package engine

import (
	"errors"
	"fmt"
)

// Errors of sessions and backends.
var (
	// ErrContextFull is wrapped when a batch does not fit behind the positions held.
	ErrContextFull = errors.New("the context is full")
	// ErrDeviceLost is wrapped when the device is gone; the session is unusable, and a new one may work.
	ErrDeviceLost = errors.New("the device was lost")
	// ErrClosed is returned by every call on a closed session.
	ErrClosed = errors.New("the session is closed")
	// ErrOutOfMemory is wrapped when weights or state do not fit the device.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrBatch is wrapped when a batch asks for what cannot be; nothing was computed.
	ErrBatch = errors.New("the batch is malformed")
	// ErrKept is wrapped when more than [MaxKept] positions would be kept.
	ErrKept = errors.New("too many positions are kept")
	// ErrNoCheckpoint is wrapped when a batch names a checkpoint that is not there.
	ErrNoCheckpoint = errors.New("there is no such checkpoint")
	// ErrNoUndo is returned when there is no lap that could be taken back.
	ErrNoUndo = errors.New("there is no lap to take back")
	// ErrEmptied is wrapped when a restore failed half-way: the session holds no position, but its checkpoints.
	ErrEmptied = errors.New("the restore failed and nothing is held")
	// ErrChain is wrapped when the parts of a chain do not fit together.
	ErrChain = errors.New("the parts of the chain do not fit together")
	// ErrEncoding is wrapped when bytes are no batch or no result, or one beyond the bounds.
	ErrEncoding = errors.New("malformed lap")
)

// PositionError says that a session cannot go back to a position. Nothing was changed.
type PositionError struct {
	// Pos is the position asked for, Len how many are held.
	Pos, Len int
	// Latest is the latest position up to Pos that the session can go to.
	Latest int
}

// Error names the three positions.
func (e *PositionError) Error() string {
	return fmt.Sprintf("a session that holds %d positions cannot go to position %d, but to %d", e.Len, e.Pos, e.Latest)
}

// BudgetError says that a checkpoint does not fit [Config.CheckpointBytes]. Nothing was changed.
type BudgetError struct {
	// Need is what the checkpoints of the batch take, Held what others hold. Units: bytes.
	Need, Held int64
	// Budget is what all may take together. Units: bytes.
	Budget int64
}

// Error names the three sizes.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("checkpoints of %d bytes do not fit: others hold %d and all may hold %d", e.Need, e.Held, e.Budget)
}

// BrokenError says that the parts of a chain stand at different places, because a lap failed and could not be taken back.
// The chain refuses every further lap.
type BrokenError struct {
	// Part is the number of the part that could not take the lap back, from 0.
	Part int
	// Cause is why the lap was to be taken back; nil when the caller asked for it.
	Cause error
	// Err is why that failed.
	Err error
}

// Error names the part and both reasons.
func (e *BrokenError) Error() string {
	s := fmt.Sprintf("part %d of the chain could not take a lap back: %v", e.Part+1, e.Err)
	if e.Cause != nil {
		s += fmt.Sprintf(" (which had failed: %v)", e.Cause)
	}
	return s
}

// Unwrap returns both reasons.
func (e *BrokenError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Cause, e.Err}
}
