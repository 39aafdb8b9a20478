package console

import "github.com/spf13/cobra"

// Adopt makes the command of a program, and those below it, speak through the console. What is wrong with their flags is
// an error of [Usage].
func (c *Console) Adopt(root *cobra.Command) {
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SilenceErrors, root.SilenceUsage = true, true // Run says them
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return WithHelp(cmd, err) })
}

// WithHelp makes err one of [Usage] that says where help is.
func WithHelp(cmd *cobra.Command, err error) error {
	return Usage("%w (see '%s --help')", err, cmd.CommandPath())
}
