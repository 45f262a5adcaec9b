package worktrees

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// lockAge is when a lock file counts as left by a process that died.
const lockAge = 10 * time.Minute

// abandoned reports whether nobody can hold any more what was last written at a time: it is older than any git
// operation on it takes, and no git that has run since then is left. known is false where that can't be seen.
func abandoned(written, now time.Time, age time.Duration) (abandoned, known bool) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	boot := bootTime()
	if err != nil || len(processes) == 0 || boot.IsZero() {
		return false, false
	}
	if now.Sub(written) < age {
		return false, true
	}
	return !slices.ContainsFunc(processes, func(dir string) bool {
		started, is := gitProcess(dir)
		const grain = 2 * time.Second // of the boot's time
		return is && boot.Add(started).Before(written.Add(grain))
	}), true
}

// gitProcess reads of a process whether it is a git that may write, and when it started, since the boot.
func gitProcess(dir string) (started time.Duration, is bool) {
	name, ticks, ok := processStat(dir)
	if !ok || name != "git" && !strings.HasPrefix(name, "git-") || name == "git-liza" { // which leaves files to git
		return 0, false
	}
	if line, _ := os.ReadFile(filepath.Join(dir, "cmdline")); strings.Contains(string(line), "\x00cat-file\x00") {
		return 0, false // it reads
	}
	const second = 100 // a tick is 10 ms on every Linux
	n, err := strconv.ParseInt(ticks, 10, 64)
	if err != nil {
		return 0, true
	}
	return time.Duration(n) * time.Second / second, true
}

// processStat reads a process's name, and when it started, in ticks since the boot (proc(5)). It is not ok for a
// process that has ended, and where there is no /proc.
func processStat(dir string) (name, started string, ok bool) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return "", "", false
	}
	_, rest, _ := strings.Cut(string(stat), "(")
	end := strings.LastIndex(rest, ")")
	if end < 0 {
		return "", "", false
	}
	name = rest[:end]
	const starttime = 22 - 3
	if fields := strings.Fields(rest[end+1:]); len(fields) > starttime {
		started = fields[starttime]
	}
	return name, started, true
}

// bootTime is when this machine was started, zero where that can't be read.
func bootTime() time.Time {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(data)) {
		if text, is := strings.CutPrefix(line, "btime "); is {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err == nil {
				return time.Unix(n, 0)
			}
		}
	}
	return time.Time{}
}
