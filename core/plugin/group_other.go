//go:build !unix && !windows

package plugin

import (
	"os"
	"os/exec"
)

// group is empty: this platform has no processes, and families run in this one ([Options.InProcess]).
type group struct{}

func (group) prepare(*exec.Cmd) {}

func (group) started(*os.Process) {}

func (group) kill(*os.Process) {}

func systemEnv() []string { return nil }
