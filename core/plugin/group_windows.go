package plugin

import (
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object, which ends with its last handle: that of this process.
type group struct{ job windows.Handle }

func (*group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// started puts the process into a job. Where that fails, the process still notices the end of this one by its standard
// input.
func (g *group) started(p *os.Process) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = p.WithHandle(func(h uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(h)) })
	}
	if err != nil {
		windows.CloseHandle(job)
		return
	}
	g.job = job
}

func (g *group) kill(p *os.Process) {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		windows.CloseHandle(g.job)
		g.job = 0
	}
	_ = p.Kill()
}

// systemEnv is what a program of this system cannot do without: sockets need SystemRoot.
func systemEnv() []string { return []string{"SystemRoot=" + os.Getenv("SystemRoot")} }
