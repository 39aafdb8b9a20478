package js

import "errors"

var (
	// ErrLimits says that a limit is out of range.
	ErrLimits = errors.New("js: invalid limits")
	// ErrCapability says that a capability does not exist.
	ErrCapability = errors.New("unknown capability")

	errNoFiles = errors.New("imports are not available here: no file tree was given")
	errImage   = errors.New("js: damaged memory image")
	errGrace   = errors.New("the program did not react to the interrupt")
)
