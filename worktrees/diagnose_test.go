package worktrees_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/worktrees"
)

// stranger makes what a dead process leaves behind: a temporary worktree and its record.
func (s *scene) stranger(name, token, task string, commit git.OID, pid int) string {
	s.t.Helper()
	path := filepath.Join(s.dir, ".worktrees", name+token)
	s.check(s.b.Repo().Exclude("/.worktrees/"))
	s.check(s.b.Repo().AddWorktree(s.ctx, path, commit))
	host, err := os.Hostname()
	s.check(err)
	data, err := json.Marshal(map[string]any{"pid": pid, "host": host, "task": task, "since": s.clock.now()})
	s.check(err)
	s.write(s.b.Dir(), "claims/"+token, string(data))
	return path
}

// dead returns the id of a process that has ended.
func (s *scene) dead() int {
	s.t.Helper()
	cmd := exec.Command("true")
	s.check(cmd.Run())
	return cmd.Process.Pid
}

func (s *scene) claimedBy(id, task string, base git.OID) {
	s.t.Helper()
	clone, err := s.b.CloneID()
	s.check(err)
	s.do(s.as(id), &board.Claim{About: about(task), Clone: clone, BaseCommit: string(base)}, git.RefUpdate{Ref: taskRef(task), New: base})
}

// TestCrashAfterClaim covers a claim that is recorded, but whose process died before it renamed the
// worktree.
func TestCrashAfterClaim(t *testing.T) {
	s := newScene(t, ready("one"), ready("two"))
	base := s.ref("refs/heads/integration")
	path := s.stranger(".claim-", "aaaa", "one", base, s.dead())
	s.write(path, "set-up.cache", "costly\n")
	s.claimedBy("coder-1", "one", base)
	s.claimedBy("coder-2", "two", base)
	found := s.problems()
	if len(found) != 3 {
		t.Fatalf("problems %+v", found)
	}
	s.calm = true
	s.mended("left-candidate", "missing-worktree", "missing-worktree")
	if s.read(s.path("one"), "set-up.cache") != "costly\n" {
		t.Error("what was set up was not used")
	}
	s.lies("one", "two")
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	s.submit("coder-1", "one")
}

// TestCrashThenRepeated checks that repeating the request completes the claim.
func TestCrashThenRepeated(t *testing.T) {
	s := newScene(t, ready("one"))
	s.as("coder-1")
	r := worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.agent["coder-1"], ID: "r"}, Task: "one"}
	_, err := worktrees.Claim(s.ctx, s.b, r)
	s.check(err)
	s.check(s.b.Repo().RemoveWorktree(s.ctx, s.path("one")))
	got, err := worktrees.Claim(s.ctx, s.b, r)
	s.check(err)
	if !got.Done.Repeated || s.read(got.Path, "a.txt") == "" {
		t.Errorf("claimed %+v", got)
	}
	s.lies("one")
}

// TestCancelledClaims cancels claims at different moments. Each is either recorded and repairable,
// or leaves nothing.
func TestCancelledClaims(t *testing.T) {
	s := newScene(t)
	s.as("coder-1")
	for i := range 7 {
		id := "t" + string(rune('a'+i))
		s.task(id)
		ctx, cancel := context.WithTimeout(s.ctx, ms(3+14*i))
		got, err := worktrees.Claim(ctx, s.open(), worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.agent["coder-1"]}, Task: id})
		cancel()
		if found := s.problems(); len(found) > 0 {
			_, failed := fixAll(s.ctx, found)
			s.check(failed)
		}
		switch now := s.state().Task(id); {
		case now.Status == board.Claimed:
			s.lies(id)
			_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: s.agent["coder-1"]}, &board.Release{About: board.About{Task: id}})
			s.check(err)
		case err == nil:
			t.Errorf("claimed %+v, but the board says %s", got, now.Status)
		}
		s.lies()
		s.do(human(), &board.Abandon{About: about(id), Reason: "done with it"})
	}
}

func TestLeftCandidates(t *testing.T) {
	s := newScene(t)
	base := s.ref("refs/heads/integration")
	s.stranger(".claim-", "dead", "one", base, s.dead())
	s.stranger(".claim-", "live", "one", base, os.Getpid())
	s.stranger(".claim-", "none", "one", base, 0)
	s.check(os.Remove(filepath.Join(s.b.Dir(), "claims", "none")))
	s.mended("left-candidate")
	s.lies(".claim-live", ".claim-none")
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		// The process with the recorded id started at another time, so it is a different one.
		s.stranger(".claim-", "other", "one", base, os.Getpid())
		said := s.read(s.b.Dir(), "claims/other")
		s.write(s.b.Dir(), "claims/other", strings.Replace(said, "{", `{"started":"1",`, 1))
		s.mended("left-candidate")
		s.lies(".claim-live", ".claim-none")
	}
	// By the next day a process id may belong to another process.
	s.clock.pass(25 * time.Hour)
	s.mended("left-candidate", "left-candidate")
	s.lies()
}

// TestLeftGone covers a removal that was interrupted while the work was not yet kept anywhere.
func TestLeftGone(t *testing.T) {
	s := newScene(t, ready("one"))
	path := s.stranger(".gone-", "aaaa", "one", s.ref("refs/heads/integration"), s.dead())
	s.write(path, "work.txt", "w\n")
	half := s.stranger(".gone-", "bbbb", "one", s.ref("refs/heads/integration"), s.dead())
	s.check(os.Remove(filepath.Join(half, ".git")))
	// The process died after git had moved the worktree and before git recorded the move.
	other := filepath.Join(s.dir, ".worktrees", "one")
	moved := s.stranger(".gone-", "cccc", "one", s.ref("refs/heads/integration"), s.dead())
	s.check(s.b.Repo().MoveWorktree(s.ctx, moved, other))
	s.git(s.dir, "worktree", "lock", "--reason", gitio.MovingReason, other)
	s.check(os.Rename(other, moved))
	s.mended("left-worktree", "left-worktree", "left-worktree")
	if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "work.txt") != "w\n" {
		t.Errorf("kept %v", kept)
	}
	s.lies()
}

// TestCrashAfterRelease covers a release whose process died before it removed the worktree: the
// next claim keeps the work that was left there.
func TestCrashAfterRelease(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	tip := s.dirtied("one")
	s.do(s.as("coder-1"), &board.Release{About: about("one"), Kept: string(tip)},
		git.RefUpdate{Ref: "refs/liza/attic/one/1", New: tip}, git.RefUpdate{Ref: taskRef("one"), Old: tip})
	if p := s.problems(); len(p) > 0 {
		t.Errorf("problems: %+v", p)
	}
	got := s.claim("coder-2", "one")
	kept := s.attic("one")
	if len(kept) != 2 || s.file(kept[1], "a.txt") != "edited\n" || s.file(kept[1], "new.txt") != "new\n" {
		t.Errorf("kept %v", kept)
	}
	if out := s.git(got.Path, "status", "--porcelain"); out != "" {
		t.Errorf("it holds %q", out)
	}
	s.lies("one")
}

func TestMissing(t *testing.T) {
	s := newScene(t)
	for i, id := range []string{"branch", "both", "submitted", "head", "rebase", "unknown"} {
		if id != "unknown" {
			s.task(id)
			s.claim(coder(i), id)
		}
	}
	// Two untouched tasks lose their branch, one of them its worktree too. A submitted task loses
	// its branch.
	s.git(s.path("branch"), "update-ref", "-d", taskRef("branch"))
	s.check(os.RemoveAll(s.path("both")))
	s.git(s.dir, "update-ref", "-d", taskRef("both"))
	s.preExec("coder-3", "submitted")
	commit := s.work("submitted", "b.txt", "b\n")
	s.submit("coder-3", "submitted")
	s.git(s.dir, "update-ref", "-d", taskRef("submitted"))
	s.git(s.path("head"), "checkout", "-q", "--detach")
	// During a rebase HEAD is detached, which is not a problem.
	s.work("rebase", "a.txt", "x\n")
	s.git(s.path("rebase"), "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")
	s.git(s.dir, "worktree", "add", "-q", "--detach", s.path("unknown"), "main")

	found := s.problems()
	want := map[string]bool{ // kind and task → is repairable
		"missing-branch branch": true, "missing-branch both": true, "missing-worktree both": true, "missing-branch submitted": true,
		"wrong-branch head": true, "unknown-worktree ": false,
	}
	for _, p := range found {
		fixable, expected := want[p.Kind+" "+p.Task]
		if !expected || fixable != (p.Fix != nil) || !fixable && p.Hint == "" {
			t.Errorf("problem %+v", p)
		}
		delete(want, p.Kind+" "+p.Task)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	left, err := fixAll(s.ctx, found)
	s.check(err)
	if len(left) != 1 || len(s.problems()) != 1 {
		t.Errorf("left %+v", left)
	}
	if s.ref(taskRef("submitted")) != commit || s.ref(taskRef("both")) != s.ref("refs/heads/integration") {
		t.Error("not brought back")
	}
}

func TestLocksAndRegistrations(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	git := s.b.Repo().CommonDir()
	for _, lock := range []string{"packed-refs.lock", "refs/heads/task/one.lock"} {
		s.write(git, lock, "")
	}
	if p := s.problems(); len(p) > 0 {
		t.Errorf("problems %+v", p)
	}
	outside := filepath.Join(t.TempDir(), "one") // whose name is all that it has in common with the task's
	s.git(s.dir, "worktree", "add", "-q", "--detach", outside)
	s.check(os.RemoveAll(outside))
	long := time.Now().Add(-time.Minute)
	for _, lock := range []string{"packed-refs.lock", "refs/heads/task/one.lock"} {
		s.check(os.Chtimes(filepath.Join(git, lock), long, long))
	}
	found := s.problems()
	if len(found) != 3 || found[0].Kind != "prunable-worktree" || found[1].Kind != "stale-lock" || found[2].Kind != "stale-lock" {
		t.Errorf("problems %+v", found)
	}
	for _, p := range found {
		if (p.Fix != nil) != (p.Kind == "stale-lock") || p.Fix == nil && p.Hint == "" {
			t.Errorf("problem %+v", p)
		}
	}
	s.check(os.RemoveAll(s.path("one")))
	var gone []string
	for _, p := range s.problems() {
		if p.Kind != worktrees.StaleLock {
			gone = append(gone, p.Kind+" "+p.Path)
		}
	}
	if !slices.Equal(gone, []string{worktrees.MissingWorktree + " " + s.path("one"), worktrees.PrunableWorktree + " " + outside}) {
		t.Errorf("gone: %q", gone)
	}
}

// TestAnotherClone checks that when a task returns from another clone, the work that was left here
// is kept.
func TestAnotherClone(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "left.txt", "left here\n")
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Unblock{About: board.About{Task: "one"}, Mode: board.UnblockKeepWork})
	s.check(err)

	// This is the operation as the other clone records it.
	s.do(s.as("coder-2"), &board.Claim{About: about("one"), Clone: "another"})
	s.preExec("coder-2", "one")
	_, _, err = worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-2")}, Task: "one"})
	s.refused(err, "dirty", "left.txt")
	side := filepath.Join(t.TempDir(), "side")
	s.git(s.dir, "worktree", "add", "-q", "--detach", side, "integration")
	s.write(side, "b.txt", "b\n")
	theirs := s.commitAll(side, "theirs")
	base := s.ref("refs/heads/integration")
	s.do(s.as("coder-2"), &board.Submit{About: about("one"), Commit: string(theirs), Tree: s.git(side, "rev-parse", "HEAD^{tree}"), ReviewBase: string(base), Commits: 1, Files: 1, NoTestsBecause: "none", People: []string{"ada@example.org"}},
		git.RefUpdate{Ref: "refs/liza/review/one/1", New: theirs})
	s.verdict("code-reviewer-1", "one", board.VerdictRejected)
	s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
	_, err = worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Unblock{About: board.About{Task: "one"}, Mode: board.UnblockKeepWork})
	s.check(err)

	got := s.claim("coder-1", "one")
	if s.ref(taskRef("one")) != theirs || s.read(got.Path, "b.txt") != "b\n" || s.git(got.Path, "status", "--porcelain") != "" {
		t.Error("the work of the other clone is not here")
	}
	if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "left.txt") != "left here\n" {
		t.Errorf("kept %v", kept)
	}
}

// TestDamagedRecord checks that a worktree record cut short by a crash is reported, and has no fix
// while it is new.
func TestDamagedRecord(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	records, err := filepath.Glob(filepath.Join(s.b.Repo().CommonDir(), "worktrees", "*", "commondir"))
	s.check(err)
	text := s.read("", records[0])
	s.check(os.WriteFile(records[0], nil, 0o644))
	half := filepath.Join(filepath.Dir(filepath.Dir(records[0])), "half")
	s.check(os.Mkdir(half, 0o755)) // without that file
	now := time.Now()              // its process may still be running
	s.check(os.Chtimes(filepath.Dir(records[0]), now, now))
	found, err := worktrees.Diagnose(s.ctx, s.b)
	stillNew := time.Since(now) < gitio.LockAge // also on a slow machine
	if err != nil || len(found) != 2 || found[0].Kind != worktrees.DamagedRecord || found[1].Path != half || stillNew && found[0].Fix != nil {
		t.Errorf("found %+v %v", found, err)
	}
	cancelled, cancel := context.WithCancel(s.ctx)
	cancel()
	if found, err := worktrees.Diagnose(cancelled, s.b); err == nil {
		t.Errorf("cut short, and found %+v", found)
	}
	s.check(os.Remove(half))
	s.check(os.WriteFile(records[0], []byte(text), 0o644))
}

// TestDamagedWorktree checks that a worktree whose link to the repository is damaged is repaired.
func TestDamagedWorktree(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.write(s.path("one"), "work.txt", "w\n")
	s.write(s.path("one"), ".git", "gitdir: "+filepath.Join(t.TempDir(), "none")+"\n")
	s.mended("damaged-worktree")
	if s.read(s.path("one"), "work.txt") != "w\n" {
		t.Error("work is gone")
	}
	s.lies("one")
}
