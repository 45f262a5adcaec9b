//go:build linux

package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLeftLocks checks that a lock left by a killed git does not stop a writer, even if unrelated
// programs are named git.
func TestLeftLocks(t *testing.T) {
	ctx := context.Background() // the cases outlive this function
	move := func(r *Repo, commit plumbing.OID) error {
		return r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, "")
	}
	drop := func(r *Repo, commit plumbing.OID) error {
		return r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/liza/x", Old: commit}}, "")
	}
	one := func(r *Repo) string { return filepath.Join(r.TopLevel(), ".worktrees", "one") }
	linked := []string{"worktrees/one/HEAD.lock", "worktrees/one/index.lock", "worktrees/one/ORIG_HEAD.lock"}
	for _, c := range []struct {
		locks []string
		write func(r *Repo, commit plumbing.OID) error
	}{
		{[]string{"refs/heads/liza/y.lock"}, move},
		{[]string{"refs/heads/liza/y.lock", "packed-refs.lock"}, move},
		{[]string{"packed-refs.new"}, drop},
		{[]string{"config.lock"}, func(r *Repo, _ plumbing.OID) error { return r.Settings().Set(ctx, "liza.x", "y") }},
		{[]string{"config.lock"}, func(r *Repo, _ plumbing.OID) error {
			return r.Settings().Edit(func(text []byte) ([]byte, error) { return append(text, "# x\n"...), nil })
		}},
		{[]string{"index.lock"}, func(r *Repo, commit plumbing.OID) error {
			head := plumbing.OID(strings.TrimSpace(native(t, r.TopLevel(), "rev-parse", "HEAD")))
			return r.Worktree(r.TopLevel()).Advance(ctx, head, head)
		}},
		{linked, func(r *Repo, _ plumbing.OID) error { return r.Worktree(one(r)).AttachHead(ctx, "other") }},
		{linked, func(r *Repo, commit plumbing.OID) error { return r.Worktree(one(r)).CheckoutDetached(ctx, commit) }},
		{linked, func(r *Repo, _ plumbing.OID) error {
			later := native(t, r.TopLevel(), "commit-tree", "-p", "main", "-m", "later", "main^{tree}")
			_, err := r.Worktree(one(r)).MergeInto(ctx, plumbing.OID(strings.TrimSpace(later)), "merge", plumbing.Signature{Name: "A", Email: "a@x"})
			return err
		}},
	} {
		r, _, commit := written(t)
		t.Run(strings.Join(c.locks, " "), func(t *testing.T) {
			t.Parallel()
			native(t, r.TopLevel(), "worktree", "add", "-q", "--detach", one(r), "main")
			asGit(t, r.TopLevel(), "git", "daemon", "--reuseaddr")
			asGit(t, r.TopLevel(), "git", "fsmonitor--daemon", "run")
			asGit(t, r.TopLevel(), "git", "liza", "agent", "run")
			asGit(t, r.TopLevel(), "git", "log")
			asGit(t, r.TopLevel(), "git-http-backend")
			asGit(t, t.TempDir(), "git", "gc")
			asGit(t, t.TempDir(), "git-receive-pack")
			native(t, r.TopLevel(), "pack-refs", "--all")
			for _, lock := range c.locks {
				leave(t, r, lock)
			}
			check(t, c.write(hurry(r), commit))
		})
	}
}

// TestLeftLockBesideAnEditor checks that a git which started after a lock was left does not keep a
// writer from removing it, whatever it runs.
func TestLeftLockBesideAnEditor(t *testing.T) {
	for _, command := range []string{"commit", "an-alias"} {
		r, _, commit := written(t)
		path, made := leave(t, r, "refs/heads/liza/y.lock"), time.Now().Add(-12*time.Minute)
		check(t, os.Chtimes(path, made, made))
		asGit(t, r.TopLevel(), "git", command)
		if err := hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, ""); err != nil {
			t.Errorf("%s, begun after the lock: %v", command, err)
		}
	}
}

// TestLeftLockBesideAnOlderEditor checks that a commit which waits in an editor since before a lock
// of the board was left does not keep a writer from removing it, unless it may hold the lock.
func TestLeftLockBesideAnOlderEditor(t *testing.T) {
	for command, held := range map[string]bool{"commit": false, "add": false, "rebase": true, "an-alias": true} {
		r, _, commit := written(t)
		asGit(t, r.TopLevel(), "git", command)
		leave(t, r, "refs/heads/liza/y.lock")
		err := hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, "")
		if errors.Is(err, ErrBusy) != held || !held && err != nil {
			t.Errorf("%s, begun before the lock: %v", command, err)
		}
	}
	r, _, commit := written(t)
	asGit(t, r.TopLevel(), "git", "commit")
	check(t, os.WriteFile(filepath.Join(r.CommonDir(), "HEAD"), []byte("ref: refs/heads/liza/y\n"), 0o644))
	leave(t, r, "refs/heads/liza/y.lock")
	if err := hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, ""); !errors.Is(err, ErrBusy) {
		t.Errorf("a commit on the branch itself: %v", err)
	}
}

// TestLeftLockOnASlowMachine checks that a lock left on the settings goes although the first try to
// write them took longer than a writer waits for locks.
func TestLeftLockOnASlowMachine(t *testing.T) {
	_, r := scratch(t)
	r.patience = Patience{Git: time.Nanosecond, Watch: time.Nanosecond}
	leave(t, r, "config.lock")
	check(t, r.Settings().Set(t.Context(), "liza.x", "y"))
}

// TestIndexLockAfterAJump checks that the lock of an index is that of a commit in the same worktree,
// even if its time says that it was made before that commit started: the clock was set forward.
func TestIndexLockAfterAJump(t *testing.T) {
	ctx, r := scratch(t)
	linked := claim(t, ctx, r, "one")
	index := filepath.Join(LinkedDir(linked), "index.lock")
	apart, top := filepath.Join(t.TempDir(), "apart.git"), filepath.Join(t.TempDir(), "top")
	native(t, r.TopLevel(), "clone", "-q", "--separate-git-dir", apart, ".", top)
	native(t, top, "worktree", "add", "-q", "--detach", filepath.Join(top, "one"))
	for _, c := range []struct {
		dir, command, lock string
		held               bool
	}{
		{r.TopLevel(), "commit", filepath.Join(r.common, "index.lock"), true},
		{r.TopLevel(), "commit", filepath.Join(r.common, "HEAD.lock"), false},
		{r.TopLevel(), "commit", index, false},
		{linked, "commit", index, true},
		{linked, "an-alias", index, false},
		{top, "commit", filepath.Join(apart, "index.lock"), true},
		{top, "commit", filepath.Join(apart, "worktrees", "one", "index.lock"), false},
	} {
		t.Run("", func(t *testing.T) {
			asGit(t, c.dir, "git", c.command)
			made := time.Now().Add(-time.Hour)
			check(t, os.WriteFile(c.lock, nil, 0o644))
			check(t, os.Chtimes(c.lock, made, made))
			repos := []*Repo{r}
			if c.dir == top {
				repos = []*Repo{open(t, ctx, top), open(t, ctx, filepath.Join(top, "one"))}
			}
			for _, r := range repos {
				if err := r.Locks().Left(c.lock, LockAge); errors.As(err, new(*HeldError)) != c.held {
					t.Errorf("in %s, beside git %s in %s, %s: %v", r.TopLevel(), c.command, c.dir, c.lock, err)
				}
			}
		})
	}
}

// TestBoardRefLock checks which locks are those of refs that no commit in a worktree moves.
func TestBoardRefLock(t *testing.T) {
	ctx, r := scratch(t)
	head := filepath.Join(LinkedDir(claim(t, ctx, r, "one")), "HEAD")
	for name, want := range map[string]bool{
		"refs/liza/x.lock": true, "refs/heads/liza/state.lock": true, "refs/heads/main.lock": false, "refs/heads/main/liza.lock": false,
		"refs/tags/liza/x.lock": false, "packed-refs.lock": false, "logs/refs/liza/x.lock": false, "refs/liza.lock": false,
	} {
		if got := r.isBoardRefLock(filepath.Join(r.common, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if r.isBoardRefLock(filepath.FromSlash(name)) {
			t.Errorf("%s is elsewhere", name)
		}
	}
	is := func(when string, want bool) {
		t.Helper()
		if got := r.isBoardRefLock(filepath.Join(r.common, "refs/liza/x.lock")); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	was := readIn(t, filepath.Dir(head), "HEAD")
	check(t, os.WriteFile(head, []byte("ref: refs/heads/liza/state\n"), 0o644))
	is("with the board checked out", false)
	check(t, os.Remove(head))
	check(t, os.Mkdir(head, 0o755))
	is("where what is checked out can't be read", false)
	check(t, os.Remove(head))
	check(t, os.WriteFile(head, []byte(was), 0o644))
	is("again", true)
}

// TestClearRefLocks checks that a lock is cleared while a git runs that started after the lock was
// made, such as the one that runs the server's hook. A lock made after that git started is kept,
// and so is one made just now.
func TestClearRefLocks(t *testing.T) {
	_, r := scratch(t)
	asGit(t, r.TopLevel(), "git-receive-pack")
	const ref = "refs/heads/liza/state"
	r.Locks().ClearRefs(0, ref) // there is none
	for age, left := range map[time.Duration]bool{0: true, time.Minute: false} {
		path, made := leave(t, r, ref+".lock"), time.Now().Add(-age)
		check(t, os.Chtimes(path, made, made))
		r.Locks().ClearRefs(5*time.Second, "refs/heads/other", ref)
		if _, err := os.Stat(path); (err == nil) != left {
			t.Errorf("made %v ago: %v", age, err)
		}
	}
	path, made := leave(t, r, ref+".lock"), time.Now().Add(-time.Hour)
	check(t, os.Chtimes(path, made, made))
	r.Locks().ClearRefs(2*time.Hour, ref)
	must[os.FileInfo](t)(os.Stat(path))
}

// TestStoppedWriter checks that the error of a writer names the git that a writer stopped in the
// middle of a transaction keeps waiting with its locks.
func TestStoppedWriter(t *testing.T) {
	r, _, commit := written(t)
	first := exec.Command(os.Args[0], "-test.run", "^TestStops$")
	first.Env = append(os.Environ(), "STOPS="+r.TopLevel(), "STOPS_AT="+string(commit))
	first.Stderr = os.Stderr
	check(t, first.Start())
	t.Cleanup(func() { _ = first.Process.Kill() })
	var how syscall.WaitStatus
	_, err := syscall.Wait4(first.Process.Pid, &how, syscall.WUNTRACED, nil)
	check(t, err)
	if !how.Stopped() {
		t.Fatalf("it has not stopped: %v", how)
	}
	lock := filepath.Join(r.CommonDir(), "refs/heads/liza/y.lock")
	if _, err := os.Stat(lock); err != nil {
		t.Fatal(err)
	}
	other := plumbing.OID(strings.TrimSpace(native(t, r.TopLevel(), "rev-parse", "HEAD")))
	busy := (*BusyError)(nil)
	err = hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: other}}, "")
	if !errors.As(err, &busy) || !strings.HasPrefix(busy.By, "git update-ref, process ") || !strings.Contains(err.Error(), busy.By) {
		t.Errorf("%v", err)
	}
	check(t, first.Process.Signal(syscall.SIGCONT))
	check(t, first.Wait())
	if now := must[plumbing.OID](t)(r.Ref(t.Context(), "refs/heads/liza/y")); now != commit {
		t.Errorf("the ref is at %s, not at %s", now, commit)
	}
}

// TestStops is the writer of TestStoppedWriter. It stops itself when git holds the locks.
func TestStops(t *testing.T) {
	dir := os.Getenv("STOPS")
	if dir == "" {
		t.Skip("TestStoppedWriter asks for it")
	}
	r := open(t, t.Context(), dir)
	updates := []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: plumbing.OID(os.Getenv("STOPS_AT"))}}
	input, err := transaction(updates)
	check(t, err)
	s, err := r.command("update-ref", flags(r.refSettings(), []string{"update-ref", "--stdin", "-z"})...).session(t.Context())
	check(t, err)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	stop := func() error {
		err := syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-continued // this thread may run a moment longer
		return err
	}
	check(t, s.commit(t.Context(), input, stop))
}

// TestLockBesideAMove checks that a lock is noticed even if another ref of the transaction has
// moved. Otherwise a writer whose own heartbeat moves its lease would lose every race.
func TestLockBesideAMove(t *testing.T) {
	r, _, commit := written(t)
	lock := leave(t, r, "refs/heads/liza/y.lock")
	err := hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{
		{Ref: "refs/heads/liza/y", New: commit}, {Ref: "refs/heads/liza/x", Old: plumbing.OID(strings.Repeat("1", 40)), New: commit},
	}, "")
	if !errors.Is(err, ErrRefMoved) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is still there")
	}
}

// TestHeldLock checks that a lock that a process of this repository may hold is kept.
func TestHeldLock(t *testing.T) {
	r, _, commit := written(t)
	asGit(t, r.TopLevel(), "git", "gc")
	lock := leave(t, r, "refs/heads/liza/y.lock")
	err := hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, "")
	if !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	long := time.Now().Add(-time.Hour)
	if err := r.Locks().Clear(lock, LockAge); !errors.As(err, new(*HeldError)) {
		t.Errorf("a young one: %v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
	// The lock is older than that process, or its time is in the future because a clock jumped.
	check(t, os.Chtimes(lock, long, long))
	if err := r.Locks().Left(lock, LockAge); err != nil {
		t.Error(err)
	}
	check(t, os.Chtimes(lock, time.Now().Add(24*time.Hour), time.Now().Add(24*time.Hour)))
	if err := r.Locks().Left(lock, LockAge); err == nil || !strings.Contains(err.Error(), "git gc, process ") {
		t.Error(err)
	}
}

// TestLockBesideAHook checks that a git which waits for its hook proc-receive holds no lock, as it
// has not begun to move refs, and that one which waits for another hook may.
func TestLockBesideAHook(t *testing.T) {
	for hook, held := range map[string]bool{"proc-receive": false, "reference-transaction": true} {
		r, _, _ := written(t)
		check(t, os.WriteFile(filepath.Join(r.CommonDir(), "hook"), []byte(untilEnd), 0o644)) // what git-liza runs
		call := shellNamed(t, "git-liza") + " hook --server -- " + hook + "; exit 0"
		runShell(t, r.CommonDir(), shellNamed(t, "git-receive-pack"), "-c", call)
		lock, later := leave(t, r, "refs/heads/liza/y.lock"), time.Now().Add(time.Hour)
		check(t, os.Chtimes(lock, later, later)) // so that the processes alone decide
		if err := r.Locks().Left(lock, LockAge); errors.As(err, new(*HeldError)) != held {
			t.Errorf("beside %s: %v", hook, err)
		}
	}
}

// TestLockOfASilentFetch checks that a left lock stops no fetch that is given up on before git
// gives up waiting for the lock.
func TestLockOfASilentFetch(t *testing.T) {
	testrun.NotShort(t)
	r, _, commit := written(t)
	hub := t.TempDir()
	native(t, hub, "init", "-q", "--bare")
	native(t, r.TopLevel(), "push", "-q", hub, string(commit)+":refs/heads/y")
	native(t, r.TopLevel(), "remote", "add", "hub", hub)
	hurry(r).patience.Git = time.Minute
	m := must[*Remote](t)(r.Remote(t.Context(), "hub"))
	m.patience = 5 * time.Second
	leave(t, r, "refs/liza/y.lock")
	check(t, m.Fetch(t.Context(), false, false, "refs/heads/y:refs/liza/y"))
}

// TestLockOutsideASandbox checks that a process in a sandbox keeps every lock: it sees other
// processes than its supervisor, so it can't know who holds a lock.
func TestLockOutsideASandbox(t *testing.T) {
	r, _, commit := written(t)
	hurry(r).environ = environ{ProcessSpaceVar + "=pid:[1]"}
	lock := leave(t, r, "refs/heads/liza/y.lock")
	if err := r.UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, ""); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Error(err)
	}
	r.environ = environ{ProcessSpaceVar + "=" + proc.Space()}
	check(t, r.UpdateRefs(t.Context(), []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, ""))
}

// TestProcesses checks which processes count as a git that may write to a repository.
func TestProcesses(t *testing.T) {
	r, _, _ := written(t)
	tree := filepath.Join(t.TempDir(), "a tree")
	native(t, r.TopLevel(), "worktree", "add", "-q", "--detach", tree)
	elsewhere := t.TempDir()
	for _, c := range []struct {
		name, dir string
		args      []string
		want      bool
	}{
		{"git", r.TopLevel(), []string{"one"}, true},
		{"git-receive-pack", r.CommonDir(), nil, true},
		{"git", tree, []string{"two"}, true},
		{"git", elsewhere, []string{"--git-dir=" + r.CommonDir(), "three"}, true},
		{"git", elsewhere, []string{"four"}, false},
		{"git-liza", r.TopLevel(), []string{"five"}, false},
		{"gitk", r.TopLevel(), []string{"six"}, false},
		{"git", r.TopLevel(), []string{"liza"}, false},
	} {
		before := len(must2(r.processes()))
		asGit(t, c.dir, c.name, c.args...)
		if is := len(must2(r.processes())) > before; is != c.want {
			t.Errorf("%s %v: %v", c.name, c.args, is)
		}
	}
}

// TestLongNames checks that a command is known by its whole name, of which Linux lists 15 bytes.
func TestLongNames(t *testing.T) {
	for words, want := range map[string]string{"git-receive-pack hub.git": "receive-pack", "/bin/sh git-receive-pack": "receive-pac", "receive-packer": "receive-pac"} {
		if got := nameOfCommand("git-receive-pac", strings.Fields(words)); got != want {
			t.Errorf("%s is %s", words, got)
		}
	}
}

func must2(all []gitProcess, _ bool) []gitProcess { return all }
