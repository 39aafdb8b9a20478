//go:build unix && !linux

package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group. Its leader notices the end of this process by its standard input.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (group) started(*os.Process) {}

func (group) kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// systemEnv is what a program of this system cannot do without: a script that begins with "#!/usr/bin/env" needs a path.
func systemEnv() []string { return []string{"PATH=/usr/local/bin:/usr/bin:/bin"} }
