package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What is done to files, by the version of Landlock that knows it.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readTree  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeTree = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	allFiles = readTree | writeTree | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// netPort is the kernel's struct landlock_net_port_attr, and ruleNetPort the kind of its rule.
type netPort struct{ access, port uint64 }

const ruleNetPort = 2

// systemFolders are what a program needs to start: its loader and libraries.
var systemFolders = []string{"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime"}

// confine takes every right but r from the calling thread and from what it starts; it cannot be taken back. program may
// be read and run, socket written.
//
// Source: Linux, Documentation/userspace-api/landlock.rst.
func (r *reach) confine(program, socket string) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil // this kernel has none
	}
	l := landlock{version: version, files: allFiles}
	if version < 2 {
		l.files &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version < 3 {
		l.files &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < 5 {
		l.files &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: l.files}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(attr.Scoped)
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Quiet_access_fs)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	l.fd = fd
	if err := l.allow(r, program, socket); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return withoutNetwork(r.listen)
}

// landlock is a set of rules that is being made.
type landlock struct {
	fd, version uintptr
	files       uint64 // the rights that are governed
}

func (l *landlock) allow(r *reach, program, socket string) error {
	for _, p := range systemFolders {
		if err := l.path(p, readTree); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return err
	}
	err = errors.Join(l.path(program, readFile), l.path(socket, readTree|writeTree),
		l.path("/dev/null", readFile|unix.LANDLOCK_ACCESS_FS_WRITE_FILE), l.path("/dev/urandom", readFile))
	for _, p := range r.read {
		err = errors.Join(err, l.path(p, readTree))
	}
	for _, p := range r.write {
		err = errors.Join(err, l.path(p, readTree|writeTree))
	}
	if r.listen && l.version >= 4 {
		// Port 0 stands for those that the system picks.
		rule := netPort{access: unix.LANDLOCK_ACCESS_NET_BIND_TCP}
		err = errors.Join(err, l.rule(ruleNetPort, unsafe.Pointer(&rule)))
	}
	return err
}

// path allows access to a file, or to a folder and all below it.
func (l *landlock) path(p string, access uint64) error {
	fd, err := unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: p, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access & l.files, Parent_fd: int32(fd)}
	return l.rule(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule))
}

func (l *landlock) rule(kind uintptr, rule unsafe.Pointer) error {
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, l.fd, kind, uintptr(rule), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
