package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group. The kernel kills its leader when the thread that started it ends, see [start].
type group struct{}

func (group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func (group) started(*os.Process) {}

func (group) kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// systemEnv is what a program of this system cannot do without: a script that begins with "#!/usr/bin/env" needs a path.
func systemEnv() []string { return []string{"PATH=/usr/local/bin:/usr/bin:/bin"} }
