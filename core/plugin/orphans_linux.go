package plugin

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A plugin, and whatever it starts, carries in its environment which host started it and which run of which plugin it belongs
// to. So processes that left its group are found when it ends, and those of a host that was killed by the next one.
const (
	hostMark = "POOLED_PLUGIN_HOST="
	runMark  = "POOLED_PLUGIN_RUN="
)

// marks returns the marks of a new run: what to put into its environment, and the one of the run.
func marks() (env []string, run string) {
	run = runMark + rand.Text()
	return []string{hostMark + identity(os.Getpid()), run}, run
}

// identity names a process, also when its number is given again: by the time at which it started. It is empty for one that is
// gone.
func identity(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// Source: proc_pid_stat(5). The name, in parentheses, may hold anything; the state is behind it, and the start the 20th field.
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return strconv.Itoa(pid) + "-" + fields[19]
}

// killRun kills what is left of a run.
func killRun(run string) {
	killWhere(func(entry string) bool { return entry == run })
}

// killOrphans kills what hosts left behind that are gone.
func killOrphans() {
	alive := map[string]bool{}
	killWhere(func(entry string) bool {
		host, ok := strings.CutPrefix(entry, hostMark)
		if !ok || host == "" {
			return false
		}
		if _, known := alive[host]; !known {
			number, _, _ := strings.Cut(host, "-")
			pid, err := strconv.Atoi(number)
			alive[host] = err != nil || identity(pid) == host
		}
		return !alive[host]
	})
}

// killWhere kills the processes with an entry of their environment that f wants, until there are none.
func killWhere(f func(entry string) bool) {
	for range 5 { // one that starts others all the time is not outrun
		found := false
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range environs {
			pid, err := strconv.Atoi(strings.Split(name, "/")[2])
			if err != nil || pid == os.Getpid() {
				continue
			}
			env, err := os.ReadFile(name)
			if err != nil {
				continue // another user's, or gone
			}
			for entry := range bytes.SplitSeq(env, []byte{0}) {
				if f(string(entry)) {
					found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
					break
				}
			}
		}
		if !found {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
