package worktrees_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// found is a problem's text for a person.
type found struct {
	kind, task string
	fix        bool
	says       string // a part of the text or of the hint
}

// reports checks that exactly these problems are found, and that each can be repaired or has a way
// out for a person.
func (s *scene) reports(want ...found) []doctor.Problem {
	s.t.Helper()
	all := s.problems()
	left := slices.Clone(want)
	for _, p := range all {
		at := slices.IndexFunc(left, func(w found) bool {
			return w.kind == p.Kind && w.task == p.Task && w.fix == (p.Fix != nil) && contains(p.Text+" | "+p.Hint, w.says)
		})
		if at < 0 || p.Fix == nil && p.Hint == "" || p.Text == "" {
			s.t.Errorf("found %+v", p)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	for _, w := range left {
		s.t.Errorf("not found: %+v", w)
	}
	return all
}

// claimedAt records a claim whose base this clone may lack.
func (s *scene) claimedAt(id, task, base string) {
	s.t.Helper()
	clone := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
	s.do(s.as(id), &board.Claim{About: about(task), Clone: clone, BaseCommit: base})
}

// abandons has a human abandon a task.
func (s *scene) abandons(task string) {
	s.t.Helper()
	s.do(human(), &board.Block{About: about(task), Reason: "stop"})
	testrun.Must(worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Abandon{About: about(task), Reason: "not needed"}))(s.t)
}

// TestNowhereHere covers work of which this clone has no commit: a person is told what to bring.
func TestNowhereHere(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	s.claimedAt("coder-1", "one", strings.Repeat("1", 40))
	s.claimedAt("coder-2", "two", strings.Repeat("2", 40))
	s.breaks(taskRef("two"), "garbage\n")
	s.reports(
		found{doctor.MissingBranch, "one", false, "bring task/one back from where it is"},
		found{doctor.MissingWorktree, "one", true, "one is CLAIMED"},
		found{doctor.BrokenRef, "two", false, "bring task/two back from where it is"},
	)
	s.refused(second(worktrees.Create(s.ctx, s.b, "one", nil)), board.CodeMissing, "the work of one is not in this clone | git liza sync")
	s.check(os.Remove(filepath.Join(s.b.Repo().CommonDir(), taskRef("two"))))
}

// TestMissingBranchOnly covers a branch that is missing while its worktree is there: only the
// worktree's own reflog knows later commits.
func TestMissingBranchOnly(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
	s.work("one", "b.txt", "b\n")
	s.git(s.path("one"), "checkout", "-q", "-b", "own")
	s.deletes(taskRef("one"))
	s.check(os.Remove(filepath.Join(s.gitDirOf("two"), "logs", "HEAD")))
	s.deletes(taskRef("two"))
	s.reports(
		found{doctor.MissingBranch, "one", false, "git branch task/one " + s.git(s.path("one"), "rev-parse", "HEAD")},
		found{doctor.MissingBranch, "two", false, "bring task/two back from where it is"},
	)
}

// TestWrongBranch checks that a detached worktree is not put on its branch in the middle of a
// merge, nor while a person has the branch checked out. During a rebase it's no problem.
func TestWrongBranch(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"), ready("rebase"), claimed("coder-3", "rebase"))
	s.work("rebase", "a.txt", "x\n")
	s.git(s.path("rebase"), "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")
	for _, task := range []string{"one", "two"} {
		s.git(s.path(task), "checkout", "-q", "--detach")
	}
	merging := filepath.Join(s.gitDirOf("one"), "MERGE_HEAD")
	s.check(os.WriteFile(merging, []byte(s.git(s.dir, "rev-parse", "integration")+"\n"), 0o644))
	side := filepath.Join(t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", side, "task/two")
	s.reports(
		found{doctor.WrongBranch, "one", false, "on a detached HEAD, not on task/one"},
		found{doctor.WrongBranch, "two", false, "git -C .worktrees/two checkout task/two"},
	)
	s.check(os.Remove(merging))
	s.git(s.dir, "worktree", "remove", side)
	s.mended(doctor.WrongBranch, doctor.WrongBranch)
}

// TestFolders checks what is reported of the entries of .worktrees that belong to nobody here.
func TestFolders(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"), claimed("coder-1", "two"), ready("three"), claimed("coder-2", "three"))
	s.abandons("three")
	s.check(os.RemoveAll(s.path("two")))
	for _, folder := range []string{"one", "two", "Not a task!"} {
		s.write(s.path(folder), "notes.txt", "a person's\n")
	}
	s.check(os.MkdirAll(s.path("three"), 0o755)) // empty: in nobody's way
	left := filepath.Join(s.dir, ".worktrees", ".gone-aaaa")
	s.write(left, "notes.txt", "whose?\n")
	s.write(filepath.Join(s.dir, ".worktrees", ".gone-bbbb"), "notes.txt", "of a process that is still there\n")
	then := time.Now().Add(-25 * time.Hour)
	s.check(os.Chtimes(left, then, then))
	s.reports(
		found{doctor.UnknownWorktree, "one", false, "git liza worktree repair"},
		found{doctor.MissingWorktree, "two", false, "move it elsewhere"},
		found{doctor.UnknownWorktree, "", false, "belongs to no task of this board"},
		found{doctor.LeftWorktree, "", false, "it was a task's worktree once"},
	)
	s.check(os.RemoveAll(s.path("two")))
	testrun.Must(worktrees.Create(s.ctx, s.b, "two", nil))(s.t)
}

// TestRegistrationsOfOurs checks that git forgets a worktree of ours that is gone, unless it is there
// again, and that one outside of .worktrees is left to a person.
func TestRegistrationsOfOurs(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	outside := filepath.Join(t.TempDir(), "one") // whose name is all that it has in common with the task's
	s.git(s.dir, "worktree", "add", "-q", "--detach", outside)
	s.check(os.RemoveAll(outside))
	s.check(os.RemoveAll(s.path("one")))
	s.reports(found{doctor.MissingWorktree, "one", true, "its worktree is missing"}, found{doctor.PrunableWorktree, "", false, outside})
	s.git(s.dir, "worktree", "prune")
	testrun.Must(worktrees.Create(s.ctx, s.b, "one", nil))(s.t)
	s.check(s.b.Repo().Worktree(s.path("gone")).Add(s.ctx, s.ref("refs/heads/integration")))
	away := filepath.Join(t.TempDir(), "away")
	s.check(os.Rename(s.path("gone"), away))
	problems := s.reports(found{doctor.PrunableWorktree, "", true, "which is not there"})
	s.check(os.Rename(away, s.path("gone")))
	testrun.Must(fixAll(s.ctx, problems))(s.t)
	s.lies("gone", "one")
	s.check(os.RemoveAll(s.path("gone")))
	s.write(s.path("gone"), "a.txt", "somebody's\n")
	testrun.Must(fixAll(s.ctx, problems))(s.t)
	testrun.Contains(t, s.git(s.dir, "worktree", "list"), s.path("gone"), "what belongs to somebody's files is forgotten")
	s.check(os.RemoveAll(s.path("gone")))
	testrun.Must(fixAll(s.ctx, problems))(s.t)
	s.lies("one")
}

// TestHeldLock checks that a lock which a process may hold is left to a person.
func TestHeldLock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells who is left")
	}
	s := newScene(t)
	waits := exec.Command("git", "-C", s.dir, "update-ref", "--stdin")
	in := testrun.Must(waits.StdinPipe())(s.t)
	out := testrun.Must(waits.StdoutPipe())(s.t)
	s.check(waits.Start())
	testrun.Must(in.Write([]byte("start\n")))(s.t)
	_, err := out.Read(make([]byte, 64)) // it runs
	s.check(err)
	lock := filepath.Join(s.b.Repo().CommonDir(), "refs", "heads", "one.lock")
	s.check(os.WriteFile(lock, nil, 0o644))
	later := time.Now().Add(time.Hour) // its age says nothing
	s.check(os.Chtimes(lock, later, later))
	half := filepath.Join(s.b.Repo().CommonDir(), "worktrees", "half")
	s.check(os.MkdirAll(half, 0o755))
	s.check(os.Chtimes(half, later, later))
	s.reports(found{doctor.StaleLock, "", false, "make sure that no git process runs in this repository"},
		found{doctor.DamagedRecord, "", false, "wait until no git process works in this repository"})
	s.check(in.Close())
	s.check(waits.Wait())
	s.check(os.Remove(half))
	s.mended(doctor.StaleLock)
}

// TestLeftLocks: wherever a killed git has left a lock, doctor finds it. While one of a reflog is
// there, git gc fails.
func TestLeftLocks(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	record := testrun.Must(filepath.Rel(s.b.Repo().CommonDir(), s.gitDirOf("one")))(s.t)
	now := time.Now()
	locks := []string{
		"index.lock", "info/sparse-checkout.lock", "objects/maintenance.lock", "logs/HEAD.lock", "logs/refs/heads/integration.lock",
		"refs/heads/liza/state.lock", "refs/heads/modules/one.lock", record + "/HEAD.lock", record + "/logs/HEAD.lock",
	}
	for _, lock := range locks {
		s.write(s.b.Repo().CommonDir(), lock, "")
	}
	if p := s.problems(); len(p) > 0 && time.Since(now) < git.LockAge { // also on a slow machine
		t.Errorf("new locks: %+v", p)
	}
	for _, lock := range locks {
		s.aged(filepath.Join(s.b.Repo().CommonDir(), lock))
	}
	s.mended(slices.Repeat([]string{doctor.StaleLock}, len(locks))...)
	for _, lock := range locks {
		if _, err := os.Lstat(filepath.Join(s.b.Repo().CommonDir(), lock)); err == nil {
			t.Errorf("%s is still there", lock)
		}
	}
	s.git(s.dir, "gc", "-q")
}

// TestMergeLeaseOf checks what is reported of a merge lease that nobody holds any more, and that a
// lease which somebody has taken since is not taken away.
func TestMergeLeaseOf(t *testing.T) {
	s := newScene(t)
	held := lease.Content{Lease: board.Lease{Agent: plumbing.MergeHolder, Session: "code-reviewer-2/x", Heartbeat: board.At(s.clock.now()), Expires: board.At(s.clock.now().Add(time.Minute))}}
	testrun.Must(lease.Beat(s.ctx, s.b.Repo(), nil, held))(s.t)
	s.clock.pass(time.Minute)
	old := s.reports(found{doctor.ExpiredMerge, "", true, "the lease of code-reviewer-2, who merged a human's commit, expired at"})
	was := testrun.Must(lease.Read(s.ctx, s.b.Repo(), plumbing.MergeHolder))(s.t)
	held.Expires, held.Tasks = board.At(s.clock.now().Add(time.Minute)), []string{"one", "two"}
	now := testrun.Must(lease.Beat(s.ctx, s.b.Repo(), was, held))(s.t)
	s.reports()
	if process := strings.Fields(string(proc.This())); len(process) > 0 {
		process[0] = strconv.Itoa(s.dead())
		held.Process = proc.ID(strings.Join(process, " "))
		now = testrun.Must(lease.Beat(s.ctx, s.b.Repo(), now, held))(s.t)
		s.reports(found{doctor.ExpiredMerge, "", true, "the process by which code-reviewer-2 merged one, two has ended"})
	}
	_, err := fixAll(s.ctx, old)
	if s.check(err); s.lease(plumbing.MergeHolder).OID != now.OID {
		t.Error("the lease of another merge is gone")
	}
	// Of a machine whose clock is fast: with it, the lease is live for as long.
	fast := s.clock.now().Add(30 * time.Hour)
	held.Process, held.Heartbeat, held.Expires = "", board.At(fast), board.At(fast.Add(time.Minute))
	testrun.Must(lease.Beat(s.ctx, s.b.Repo(), now, held))(s.t)
	s.reports(found{doctor.ExpiredMerge, "", true, "the lease of code-reviewer-2, who merges one, two, is 30h00m ahead of this clock: until it expires or is renewed"})
	_, err = merge.Land(s.ctx, s.b, merge.LandRequest{Request: gitboard.Request{Actor: human()}, Commit: s.git(s.dir, "commit-tree", "-p", "integration", "-m", "next", "integration^{tree}")})
	s.refused(err, board.CodeBusy, "its clock is 30h00m ahead of this one")
	s.mended(doctor.ExpiredMerge)
	now = testrun.Must(lease.Beat(s.ctx, s.b.Repo(), nil, held))(s.t)
	none := plumbing.NewObject(plumbing.BlobObject, []byte("not a lease\n"))
	s.check(s.b.Repo().WriteObjects(s.ctx, []plumbing.Object{none}))
	s.check(s.b.Repo().UpdateRefs(s.ctx, []plumbing.RefUpdate{{Ref: plumbing.LeaseRef(plumbing.MergeHolder), Old: now.OID, New: none.OID}}, ""))
	s.reports(found{doctor.ExpiredMerge, "", true, "the lease of merges can't be read"})
	s.mended(doctor.ExpiredMerge)
}

// TestLeaseOfAFastClock: a lease that was renewed with a clock that is ahead keeps a task from
// everybody else for as long, so it is reported until it is renewed with a right one.
func TestLeaseOfAFastClock(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.reports()
	fast := s.clock.now().Add(30 * time.Hour)
	held := s.lease("coder-1")
	next := held.Content
	next.Heartbeat, next.Expires = board.At(fast), board.At(fast.Add(5*time.Minute))
	testrun.Must(lease.Beat(s.ctx, s.b.Repo(), held, next))(s.t)
	s.reports(found{doctor.ClockSkew, "", false, "the lease of coder-1 is 30h00m ahead of this clock: until it expires or is renewed, nobody else gets one"})
	_, err := s.claims(s.b, "coder-2", "one")
	s.refused(err, board.CodeWrongState, "the lease of coder-1 ends at "+string(next.Expires)+", by a clock that is 30h00m ahead of this one")
	testrun.Must(s.b.Sessions().Heartbeat(s.ctx, s.as("coder-1"), 0))(s.t)
	s.reports()
}

// TestBranchNamedLikeATask checks that a person's branch is not taken for a task's because of the
// task's name, and that a branch that a person has checked out is not reported as left.
func TestBranchNamedLikeATask(t *testing.T) {
	s := newScene(t, ready("task"), claimed("coder-1", "task"))
	s.abandons("task")
	s.git(s.dir, "branch", "task", "main")
	s.reports()
	s.git(s.dir, "branch", "-D", "task")
	side := filepath.Join(t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", "-b", "task/task", side, "main")
	s.reports()
	s.git(s.dir, "worktree", "remove", side)
	s.mended(doctor.LeftBranch)
}

// TestUnfinishedRecord checks that a record is not taken for one that was left while it may still
// be on its way to its place.
func TestUnfinishedRecord(t *testing.T) {
	s := newScene(t)
	s.write(s.b.Dir(), "claims/.aaaa-1", "{")
	s.reports()
	then := begin.Add(-2 * time.Minute)
	s.check(os.Chtimes(filepath.Join(s.b.Dir(), "claims", ".aaaa-1"), then, then))
	s.mended(doctor.LeftRecord)
}

// TestMovedTests checks that a project that was renamed, or copied, tests merges in a place of its
// own, where the hooks are on, and that its former place is removed.
func TestMovedTests(t *testing.T) {
	s := newScene(t, twoApproved()...)
	s.git(s.dir, "worktree", "remove", s.path("two"))
	s.check(install.Install(s.ctx, s.b.Repo(), install.Setup{}))
	s.set("integration_test", "git config core.hooksPath")
	s.merge("one")
	before, former := s.dir, s.testPlace()
	s.dir = before + "-copy"
	s.check(os.CopyFS(s.dir, os.DirFS(before)))
	tested := func() {
		t.Helper()
		s.b = s.open()
		s.check(install.Install(s.ctx, s.b.Repo(), install.Setup{}))
		if got := s.merge("two"); !got.Merged {
			t.Fatalf("%+v", got)
		}
		s.lies()
	}
	tested()
	if _, err := os.Stat(former); err != nil {
		t.Errorf("the original has lost its place: %v", err)
	}
	s.check(merge.DropTests(s.ctx, s.b))
	s.lies()
	s.dir = before + "-renamed"
	s.check(os.Rename(before, s.dir))
	tested()
	if _, err := os.Stat(filepath.Dir(former)); err == nil {
		t.Error("the former place is left")
	}
	place := s.testPlace()
	s.check(merge.DropTests(s.ctx, s.b))
	if _, err := os.Stat(filepath.Dir(place)); err == nil {
		t.Error("the last place is left")
	}
}

// TestMovedProject checks that git's record of a worktree is repaired, and not forgotten, after the
// project's directory was renamed: what is staged there is in no other place. A record that git has
// deleted is named, with the way out.
func TestMovedProject(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "staged.txt", "v1\n")
	s.git(s.path("one"), "add", "staged.txt")
	before := s.dir
	s.dir = before + "-renamed"
	s.check(os.Rename(before, s.dir))
	s.b = s.open()
	found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	testrun.Must(fixAll(s.ctx, found))(s.t)
	testrun.Equal(t, s.git(s.path("one"), "show", ":staged.txt"), "v1", "staged is")
	s.git(s.dir, "clone", "-q", s.dir, s.path("clone")) // is nothing to repair
	s.check(worktrees.Repair(s.ctx, s.b))
	s.check(os.RemoveAll(s.path("clone")))
	s.lies("one")
	s.check(os.RemoveAll(records.LinkedDir(s.path("one")))) // as git worktree prune does before a repair
	s.refused(worktrees.Repair(s.ctx, s.b), board.CodeInTheWay, "git has deleted its record of the worktree "+s.path("one"))
	s.check(os.Rename(s.path("one"), filepath.Join(t.TempDir(), "one")))
	s.mended("missing-worktree")
}
