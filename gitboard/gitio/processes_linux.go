package gitio

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes returns the git processes that may work on this repository, except those that only wait
// for git-liza (`git liza ...`). A process of another user counts if its directory can't be read.
// known is false if processes are not visible.
func (r *Repo) processes() (found []gitProcess, known bool) { return r.processesIn("/proc") }

func (r *Repo) processesIn(proc string) (found []gitProcess, known bool) {
	dirs, _ := filepath.Glob(filepath.Join(EscapeGlob(proc), "[0-9]*")) // the pattern is valid
	if len(dirs) == 0 || !seesAll(r.environ) {
		return nil, false
	}
	places := r.places()
	waits := map[int]bool{} // parents of a git-liza
	for _, dir := range dirs {
		stat, ok := readStat(dir)
		switch {
		case !ok || stat.state == "Z":
		case stat.name == "git-liza":
			waits[stat.parent] = waits[stat.parent] || !amidLocks(readWords(dir, "cmdline"))
		case stat.name == "git" || strings.HasPrefix(stat.name, "git-"):
			p := gitProcess{PID: stat.pid, Started: stat.started, User: -1}
			if info, err := os.Stat(dir); err == nil {
				p.User = userOf(info)
			}
			words := readWords(dir, "cmdline")
			p.Command = nameOfCommand(stat.name, words)
			if p.Command == "liza" {
				continue
			}
			if at, works := worksIn(dir, words, places); works {
				p.Dir = at
				found = append(found, p)
			}
		}
	}
	for i := len(found) - 1; i >= 0; i-- {
		if waits[found[i].PID] {
			found = append(found[:i], found[i+1:]...)
		}
	}
	return found, true
}

// amidLocks reports whether the git that has started a git-liza may hold locks meanwhile: if it is
// a hook, except proc-receive, which git runs before it locks anything.
func amidLocks(words []string) bool {
	return len(words) > 1 && words[1] == "hook" && !slices.Contains(words, "proc-receive")
}

// places returns the directories in which git works on this repository: its common directory and
// the tops of its worktrees.
func (r *Repo) places() []string {
	var linked []string
	records, _ := filepath.Glob(filepath.Join(EscapeGlob(r.common), "worktrees", "*"))
	for _, record := range records {
		if link := linkBack(record); link != "" {
			linked = append(linked, filepath.Dir(link))
		}
	}
	main := filepath.Dir(r.common)
	if filepath.Base(r.common) != ".git" {
		main = r.mainTop(linked)
	}
	places := slices.DeleteFunc(append([]string{r.common, main, r.top}, linked...), func(place string) bool { return place == "" })
	for i, place := range places {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			places[i] = real // /proc shows resolved paths
		}
	}
	return places
}

// worksIn returns where a process runs, and reports whether that is in one of the places, or it
// names one as its git directory. If that can't be seen, the answer is true.
func worksIn(dir string, words, places []string) (at string, works bool) {
	at, err := os.Readlink(filepath.Join(dir, "cwd"))
	if err != nil {
		return "", !errors.Is(err, fs.ErrNotExist)
	}
	if within(at, places) {
		return at, true
	}
	gitDir := gitDirOf(words, readWords(dir, "environ"))
	if gitDir == "" {
		return at, false
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(at, gitDir)
	}
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		gitDir = real
	}
	return at, within(gitDir, places)
}

func readWords(dir, file string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, file))
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// userOf returns the user id of a file's owner.
func userOf(file os.FileInfo) int {
	if stat, is := file.Sys().(*syscall.Stat_t); is {
		return int(stat.Uid)
	}
	return -1
}

// procStat is the content of /proc/PID/stat (proc(5)).
type procStat struct {
	pid, parent int
	name, state string
	group       string        // the number of its process group
	ticks       string        // start time, in ticks since the boot
	started     time.Duration // start time since the boot
}

// tick is the unit of times in /proc on every Linux.
const tick = 10 * time.Millisecond

func readStat(dir string) (s procStat, ok bool) {
	stat, _ := os.ReadFile(filepath.Join(dir, "stat")) // empty if the process has ended
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return s, false
	}
	const state, parent, group, start = 0, 1, 2, 19 // indexes after the name; proc(5) numbers state 3

	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) <= start {
		return s, false
	}
	s = procStat{name: string(stat[open+1 : end]), state: fields[state], group: fields[group], ticks: fields[start]}
	s.pid, _ = strconv.Atoi(strings.TrimSpace(string(stat[:open])))
	s.parent, _ = strconv.Atoi(fields[parent])
	n, err := strconv.ParseInt(s.ticks, 10, 64)
	s.started = time.Duration(n) * tick
	return s, err == nil
}

// Birth identifies a process among all that ever have the same pid: by the boot id and its start
// time. It is "" if there is no such process, or if that can't be seen.
func Birth(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	stat, ok := readStat(fmt.Sprintf("/proc/%d", pid))
	if !ok || stat.state == "Z" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + stat.ticks
}

// ProcessSpace identifies the set of processes that are visible here (the pid namespace), or "" if
// it can't be read.
func ProcessSpace() string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return space
}

// ThisProcess identifies this process on this machine: pid, birth, and the namespace of its pid (a
// container has its own). It is "" if that can't be seen.
func ThisProcess() string {
	return identified(os.Getpid(), Birth(os.Getpid()), ProcessSpace())
}

func identified(pid int, born, space string) string {
	if born == "" || space == "" {
		return ""
	}
	return fmt.Sprintf("%d %s %s", pid, born, space)
}

// Ended reports whether the process identified by ThisProcess has certainly ended. It is false for
// a process of another machine, boot or pid namespace, about which nothing is known.
func Ended(process string) bool { return endedBeside(ThisProcess(), process) }

func endedBeside(this, process string) bool {
	field, mine := strings.Fields(process), strings.Fields(this)
	if len(field) != 4 || len(mine) != 4 || field[1] != mine[1] || field[3] != mine[3] {
		return false
	}
	pid, err := strconv.Atoi(field[0])
	if err != nil || pid <= 0 {
		return false
	}
	if stat, seen := readStat(fmt.Sprintf("/proc/%d", pid)); seen {
		return stat.state == "Z" || stat.ticks != field[2]
	}
	// /proc may hide processes of other users.
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// uptime is the time since the boot. Setting the clock does not change it.
func uptime() time.Duration {
	text, _ := os.ReadFile("/proc/uptime")
	word, _, _ := strings.Cut(string(text), " ")
	since, _ := time.ParseDuration(word + "s") // exact, so that it can be compared with start times
	return since
}

// groupLives reports whether a process of a group runs.
func groupLives(group string) bool {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range dirs {
		if s, _ := readStat(dir); s.state != "Z" && s.group == group { // one that has ended has no group
			return true
		}
	}
	return false
}
