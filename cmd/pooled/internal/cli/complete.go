package cli

import (
	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/starter"
	"github.com/pooled/pooled/core/store"
	"github.com/pooled/pooled/sandbox/js"
)

// flagValues returns the flags that know a few values.
func flagValues() map[string][]string {
	values := map[string][]string{"backend": hub.Backends(), "mode": {string(agent.Ask), string(agent.Edits), string(agent.All)}}
	for _, s := range starter.All() {
		values["start"] = append(values["start"], s.Name)
	}
	for _, c := range js.CapabilityNames() {
		values["allow"] = append(values["allow"], c[0])
	}
	return values
}

// complete teaches the shell the values of flags, and the names of models and plugins.
func (c *commands) complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		for flag, values := range flagValues() {
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
				for _, e := range store.Catalog() {
					names = append(names, e.Name)
				}
				return names, cobra.ShellCompDirectiveDefault
			}
		}
	}
}

// modelNames lists the models that were pulled.
func (c *commands) modelNames() []string {
	s, err := c.assembly.Store()
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
