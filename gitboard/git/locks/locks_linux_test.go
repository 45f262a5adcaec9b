package locks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// scene returns a repository, as far as its locks and processes go, with one worktree.
func scene(t *testing.T) (r *Repo, worktree string) {
	t.Helper()
	common, worktree := t.TempDir(), t.TempDir()
	mkdir := func(dir string) error { return os.MkdirAll(dir, 0o755) }
	return &Repo{
		Common: common, Places: func() []string { return []string{common, worktree} },
		Patience: Patience{Git: 10 * time.Millisecond, Watch: 50 * time.Millisecond},
		Queue:    func(path string) (*queue.File, error) { return queue.Open(path, mkdir) },
	}, worktree
}

// leave makes a lock file as a killed git leaves it.
func leave(t *testing.T, r *Repo, name string) string {
	t.Helper()
	path := filepath.Join(r.Common, filepath.FromSlash(name))
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, nil, 0o644))
	return path
}

// TestProcesses checks which processes work on a repository, and which of them can be ignored.
func TestProcesses(t *testing.T) {
	r, worktree := scene(t)
	elsewhere, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(r.Common, link))
	runs(t, r.Common, "git-receive-pack")
	runs(t, worktree, "git", "log")
	runs(t, elsewhere, "git", "--git-dir="+r.Common, "one")
	runs(t, elsewhere, "git", "--git-dir="+link, "two")
	runs(t, elsewhere, "git", "gc")
	runs(t, r.Common, "git-liza", "note")
	runs(t, r.Common, "git", "liza")
	runs(t, r.Common, "gitk")
	found, known := r.Processes()
	var names []string
	for _, p := range found {
		if !p.Reads() {
			names = append(names, p.Command)
		}
	}
	if !known || len(found) != 4 || len(names) != 3 {
		t.Errorf("found %+v, of which %q write", found, names)
	}
	r.Blind = true
	if _, known := r.Processes(); known {
		t.Error("a process in a sandbox sees all")
	}
}

// TestNames checks what is read of a command line.
func TestNames(t *testing.T) {
	for line, want := range map[string]string{"git -c a=b --no-pager -C x gc": "gc", "git --exec-path gc": "gc", "git": "", "git --git-dir x": ""} {
		testrun.Equal(t, nameOfCommand("git", strings.Fields(line)), want, "%s is", line)
	}
	for words, want := range map[string]string{"git-receive-pack hub.git": "receive-pack", "/bin/sh git-receive-pack": "receive-pac"} {
		testrun.Equal(t, nameOfCommand("git-receive-pac", strings.Fields(words)), want, "%s is", words)
	}
	for line, want := range map[string]string{"git --git-dir": "/env", "git --git-dir x": "x", "git --git-dir=y": "y", "git": "/env"} {
		testrun.Equal(t, gitDirOf(strings.Fields(line), []string{"A=b", "GIT_DIR=/env"}), want, "%s works in", line)
	}
}

// TestAwait: a lock without a holder is removed, and one that a process may hold stays and is named.
func TestAwait(t *testing.T) {
	r, worktree := scene(t)
	if r.Await(t.Context(), errors.New("no lock")) || r.Find("x.lock") != nil {
		t.Error("there is no lock")
	}
	lock := leave(t, r, "refs/heads/x.lock")
	runs(t, worktree, "git", "log")
	if err := r.Find("refs/heads/*.lock"); !r.Await(t.Context(), err) || exists(lock) || !r.Await(t.Context(), err) {
		t.Errorf("it is left: %v", err)
	}
	runs(t, worktree, "git", "gc")
	leave(t, r, "refs/heads/x.lock")
	err := r.Find("refs/heads/x.lock")
	if r.Await(t.Context(), err) || !exists(lock) || !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "x.lock (git gc, process ") || !r.Outlasts(err) {
		t.Errorf("it is held: %v", err)
	}
	old := time.Now().Add(-time.Hour)
	check(t, os.Chtimes(lock, old, old))
	check(t, r.Left(lock, Age)) // by a process that ended before that one began
	jumped := time.Now().Add(time.Hour)
	check(t, os.Chtimes(lock, jumped, jumped))
	if err := r.Left(lock, Age); err == nil || !strings.Contains(err.Error(), "git gc, process ") {
		t.Errorf("made when a clock was ahead: %v", err)
	}
	r.Blind = true
	if r.Await(t.Context(), &BusyError{Paths: []string{lock}}) || !exists(lock) {
		t.Error("it was removed by a process that does not see all others")
	}
}

// TestClear checks that a lock is removed only if it is old, the one that was seen, and no other
// process removes locks.
func TestClear(t *testing.T) {
	r, _ := scene(t)
	path := leave(t, r, "refs/heads/x.lock")
	was := testrun.Must(os.Lstat(path))(t)
	if err := r.Clear(path, time.Hour); !errors.As(err, new(*HeldError)) || !exists(path) {
		t.Errorf("a young lock: %v", err)
	}
	turn := testrun.Must(r.Queue(filepath.Join(r.Common, "liza", "unlocking")))(t)
	check(t, turn.Try())
	if err := r.Clear(path, 0); !errors.As(err, new(*HeldError)) || !exists(path) {
		t.Errorf("beside another: %v", err)
	}
	check(t, turn.Close())
	then := was.ModTime().Add(-time.Hour)
	check(t, os.Chtimes(path, then, then))
	check(t, r.remove(path, was, proc.Uptime()))
	if !exists(path) {
		t.Error("another lock was removed")
	}
	r.ClearRefs(2*time.Hour, "refs/heads/x")
	if !exists(path) {
		t.Error("it is too young")
	}
	r.ClearRefs(0, "refs/heads/y", "refs/heads/x")
	if exists(path) {
		t.Error("it is still there")
	}
	check(t, errors.Join(r.Left(path, 0), r.Clear(path, 0)))
	check(t, os.RemoveAll(filepath.Join(r.Common, "liza")))
	check(t, os.WriteFile(filepath.Join(r.Common, "liza"), nil, 0o644))
	if err := r.Clear(leave(t, r, "y.lock"), 0); !errors.As(err, new(*disk.StorageError)) {
		t.Errorf("without a queue: %v", err)
	}
}

var check, runs, exists = testrun.Check, testrun.RunNamed, testrun.Exists
