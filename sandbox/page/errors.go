package page

import "errors"

var (
	// ErrEntry says that the page itself could not be read.
	ErrEntry = errors.New("page: cannot open the entry file")
	// ErrAction says that an action could not be done: nothing matches, a field is
	// disabled, or the action does not exist.
	ErrAction = errors.New("page: cannot do that")
	// ErrStopped says that a limit ended the page before; Report says which.
	ErrStopped = errors.New("page: stopped")

	// errDeep goes to the script around one that has no stack left to report its error.
	errDeep = errors.New("too much recursion")
	// errParse says that markup is too much for the host's parser: the guest's own parses it then.
	errParse = errors.New("page: the markup takes too long to parse")
)
