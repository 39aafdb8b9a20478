//go:build amd64 || arm64

package plugin

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's struct seccomp_data. The low half of an argument comes first on the processors here.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// x32 marks the calls of the x32 interface of amd64.
const x32 = 0x40000000

// withoutNetwork makes the calling thread, and what it starts, fail to open sockets other than Unix ones; with listen, and
// other than TCP ones over IPv4. Landlock leaves those out that are neither TCP nor Unix, such as UDP and MPTCP, whatever
// they may do. It needs PR_SET_NO_NEW_PRIVS.
//
// Source: Linux, Documentation/userspace-api/seccomp_filter.rst.
func withoutNetwork(listen bool) error {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	// skip goes on yes or no instructions further.
	skip := func(cmp uint16, value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | cmp | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	allow, refuse := end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_ERRNO|uint32(unix.EACCES))
	program := []unix.SockFilter{
		load(dataArch),
		skip(unix.BPF_JEQ, arch, 1, 0),
		end(unix.SECCOMP_RET_KILL_PROCESS),
		load(dataCall),
		skip(unix.BPF_JGE, x32, 3, 0),
		skip(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 2, 0), // it opens sockets, too
		skip(unix.BPF_JEQ, unix.SYS_SOCKET, 2, 0),
		allow, // every other call
		refuse,
		load(dataArgs), // the domain
		skip(unix.BPF_JEQ, unix.AF_UNIX, 0, 1),
		allow,
	}
	if listen {
		program = append(program,
			skip(unix.BPF_JEQ, unix.AF_INET, 0, 6),
			load(dataArgs+8), // the type, with flags
			unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf},
			skip(unix.BPF_JEQ, unix.SOCK_STREAM, 0, 3),
			load(dataArgs+16), // the protocol
			skip(unix.BPF_JEQ, 0, 2, 0),
			skip(unix.BPF_JEQ, unix.IPPROTO_TCP, 1, 0),
			refuse,
			allow,
		)
	} else {
		program = append(program, refuse)
	}
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&f)), 0, 0); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
