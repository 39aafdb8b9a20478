package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/pooled/pooled/core/filelock"
)

// held are the locks of this process: the platforms without file locks need them.
var held sync.Map

// lock makes this process the only one that changes a model, until unlock is called.
//
// Errors: [BusyError].
func (s *Store) lock(name string) (unlock func(), err error) {
	dir := filepath.Join(s.dir, ".lock")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, key(name))
	if _, taken := held.LoadOrStore(path, true); taken {
		return nil, &BusyError{Name: name, PID: os.Getpid()}
	}
	defer func() {
		if err != nil {
			held.Delete(path)
		}
	}()
	// The file stays when the lock is given up: removing it would let two processes lock two files of one name.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	busy, err := filelock.Try(f)
	if busy {
		err = &BusyError{Name: name, PID: readPID(f)}
	} else if err != nil {
		err = fmt.Errorf("locking %s: %w", path, err)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if err := f.Truncate(0); err == nil {
		// The number is for messages only.
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	return func() {
		_ = f.Truncate(0)
		f.Close()
		held.Delete(path)
	}, nil
}

func readPID(f *os.File) int {
	b := make([]byte, 20)
	n, _ := f.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
