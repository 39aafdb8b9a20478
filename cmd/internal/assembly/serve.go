package assembly

// Serve serves the built-in plugin that the arguments of a program ask for, until the host is done with it. A host starts
// its own program once more with "plugin serve KIND/NAME". Serve reports whether the arguments say that.
func Serve(args []string) (served bool, err error) {
	if len(args) != 3 || args[0] != "plugin" || args[1] != "serve" {
		return false, nil
	}
	w := New(Options{})
	defer w.Close()
	return true, w.Catalog().Serve(args[2])
}
