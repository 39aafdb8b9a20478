package cli

import (
	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/weights"
)

// flagValues are the flags that know a few values.
var flagValues = map[string][]string{
	"backend": {"auto", "cpu", "webgpu"},
	"mode":    {"ask", "edits", "all"},
	"start":   {"blank", "page", "app", "game"},
	"allow":   {"clock", "random"},
}

// complete teaches the shell the values of flags, and the names of models and plugins.
func (c *commands) complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		for flag, values := range flagValues {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag is there, and once
			}
		}
		if cmd.Flags().Lookup("model") != nil {
			_ = cmd.RegisterFlagCompletionFunc("model", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return append(c.modelNames(), nano.Name), cobra.ShellCompDirectiveDefault
			})
		}
		switch cmd.Name() {
		case "show", "rm":
			cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return c.modelNames(), cobra.ShellCompDirectiveDefault
			}
		case "pull":
			cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				var names []string
				for _, e := range weights.Catalog() {
					names = append(names, e.Name)
				}
				return names, cobra.ShellCompDirectiveDefault
			}
		}
	}
}

// modelNames lists the models that were pulled.
func (c *commands) modelNames() []string {
	s, err := c.wire.Store()
	if err != nil {
		return nil
	}
	models, err := s.List()
	if err != nil {
		return nil
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}
