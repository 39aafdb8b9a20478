package export

import (
	"errors"
	"fmt"
)

// Errors of an export.
var (
	// ErrExists says that the file that is to be written is there already.
	ErrExists = errors.New("it is there already; name another file")
	// ErrForm says that a name does not tell what to write.
	ErrForm = errors.New("want a name that ends in .zip or .html")
	// ErrLarge says that what is to be read or written is over a limit.
	ErrLarge = errors.New("it is too large")
)

// Reasons for which something is not in an export.
var (
	errRemote  = errors.New("it is not in the project")
	errLoads   = errors.New("a script loads it while it runs")
	errNames   = errors.New("a script names it, and may load it while it runs")
	errMissing = errors.New("there is no such file")
	errKind    = errors.New("it is not a file")
	errCircle  = errors.New("files that refer to each other in a circle cannot be put in")
	errDeep    = fmt.Errorf("files refer to each other more than %d deep", maxDepth)
	errSteps   = fmt.Errorf("the page refers to files more than %d times", maxSteps)
	errFiles   = fmt.Errorf("it is one of more than %d files", maxFiles)
	errRoom    = fmt.Errorf("the page would have more than %d MB", maxPage>>20)
	errRead    = fmt.Errorf("the files that the page refers to have more than %d MB", maxRead>>20)
	errArchive = fmt.Errorf("the archive would hold more than %d MB", maxArchive>>20)
)
