package folders

import "errors"

var (
	// ErrNone says that the system names no folder to keep things in.
	ErrNone = errors.New("this user has no folder for data; set POOLED_HOME to a folder")
	// errLink is why a link is not moved: it may lead on from where it lies.
	errLink = errors.New("it is a link or no folder")
)
