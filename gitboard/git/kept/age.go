package kept

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/proc"
)

const (
	// Fresh is the most time that an operation takes between writing its objects and either
	// moving its refs or noticing by itself that an object is gone.
	Fresh = 10 * time.Second
	// Long is how long the newest Newest files are kept even if no deleting git is visible.
	// One may run where this process can't see it: outside the container, or on another machine.
	Long   = 10 * time.Minute
	Newest = 64
	// Batch is how many files are dropped at once, for which all processes are looked at.
	Batch = 32
	// Blind and Max are the same limits for systems where processes are not visible. Max
	// also ends waiting for plumbing.LastRef to hold what is dropped.
	Blind = time.Hour
	Max   = 1000
	// Every is how often writers check whether objects are missing. They look at Before files
	// from before the last check.
	Every  = 2 * time.Second
	Before = 4
)

// Old returns the files, of all newest first, that may go unless a running git can still delete their
// objects. The last commit that a ref points to stays: it finds the board again if its ref is
// lost.
func Old(all []*File, now time.Time) []*File {
	old := make([]*File, 0, len(all))
	tip := slices.IndexFunc(all, (*File).IsTip)
	for i, k := range all {
		if age := now.Sub(k.Written).Abs(); i != tip && age > Fresh && (i >= Newest || age > Long) {
			old = append(old, k)
		}
	}
	return old
}

// Since returns how many of the files, newest first, were written since the file of a loose ref.
func Since(ref string, files []*File) int {
	info, err := os.Stat(ref)
	if err != nil {
		return len(files)
	}
	n := slices.IndexFunc(files, func(k *File) bool { return k.Written.Before(info.ModTime()) })
	if n < 0 {
		return len(files)
	}
	return n
}

// Lately returns how many of the files, newest first, show whether a git has deleted objects since
// the last check. The deleted objects were unreachable when it began, so that includes the objects
// of the last files before that check, or only later ones.
func Lately(files []*File, last, now time.Time) int {
	if last.After(now) {
		return len(files) // by a clock that was ahead
	}
	since := last.Add(-Fresh) // objects come after their file
	n := slices.IndexFunc(files, func(k *File) bool { return k.Written.Before(since) })
	if n < 0 {
		return len(files)
	}
	return min(n+Before, len(files))
}

// Due reports whether a check of a directory is due, and claims the turn for this process. last is
// the time of the last check.
func Due(dir string, now time.Time) (last time.Time, due bool) {
	mark := filepath.Join(dir, "looked-after")
	info, err := os.Stat(mark)
	if err == nil {
		last = info.ModTime()
		if now.Sub(last).Abs() < Every {
			return last, false
		}
	}
	if os.Chtimes(mark, now, now) == nil {
		return last, true
	}
	file, err := os.OpenFile(mark, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return last, false
	}
	return last, file.Close() == nil
}

// PastDeleting returns the files that were complete, with all that belongs to them, before any
// running git that may delete objects was started.
func PastDeleting(repo *locks.Repo, now time.Time, files []*File) []*File {
	processes, known := repo.Processes()
	runs := proc.Uptime()
	return slices.DeleteFunc(files, func(k *File) bool {
		age := now.Sub(k.Written).Abs()
		if !known {
			return age < Blind && len(files) < Max
		}
		return slices.ContainsFunc(processes, func(p locks.Process) bool {
			return !p.Reads() && runs-p.Started > age-Fresh
		})
	})
}
