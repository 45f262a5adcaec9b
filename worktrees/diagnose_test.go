package worktrees_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// stranger makes what a dead process leaves behind: a temporary worktree and its record.
func (s *scene) stranger(name, token, task string, commit plumbing.OID, pid int) string {
	s.t.Helper()
	path := filepath.Join(s.dir, ".worktrees", name+token)
	s.check(s.b.Repo().Settings().Exclude("/.worktrees/"))
	s.check(s.b.Repo().Worktree(path).Add(s.ctx, commit))
	host := testrun.Must(os.Hostname())(s.t)
	data := testrun.Must(json.Marshal(map[string]any{"pid": pid, "host": host, "task": task, "since": s.clock.now()}))(s.t)
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

func (s *scene) claimedBy(id, task string, base plumbing.OID) {
	s.t.Helper()
	clone := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
	s.do(s.as(id), &board.Claim{About: about(task), Clone: clone, BaseCommit: string(base)}, plumbing.RefUpdate{Ref: taskRef(task), New: base})
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
	testrun.Equal(t, s.read(s.path("one"), "set-up.cache"), "costly\n", "the prepared worktree was not used")
	s.lies("one", "two")
	s.submitted("coder-1", "one", "b.txt", "b\n")
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
	s.check(s.b.Repo().Worktree(moved).Move(s.ctx, other))
	s.check(os.Rename(other, moved))
	s.mended("left-worktree", "left-worktree", "left-worktree")
	if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "work.txt") != "w\n" {
		t.Errorf("kept %v", kept)
	}
	s.lies()
}

// TestDamagedRecord checks that a worktree record cut short by a crash is reported and repaired, and
// that one which may still be written is not reported.
func TestDamagedRecord(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	record := s.gitDirOf("one")
	half := filepath.Join(filepath.Dir(record), "half")
	s.check(os.Mkdir(half, 0o755)) // its process may still be running
	now := time.Now()
	if found := s.problems(); len(found) > 0 && time.Since(now) < git.LockAge { // also on a slow machine
		t.Errorf("one that is being written: %+v", found)
	}
	s.check(os.WriteFile(filepath.Join(record, "commondir"), nil, 0o644))
	s.aged(half)
	s.aged(record)
	found, err := doctor.Diagnose(s.ctx, s.b)
	if err != nil || len(found) != 2 || found[0].Kind != doctor.DamagedRecord || found[0].Fix == nil || found[1].Path != half {
		t.Errorf("found %+v %v", found, err)
	}
	cancelled, cancel := context.WithCancel(s.ctx)
	cancel()
	if found, err := doctor.Diagnose(cancelled, s.b); err == nil {
		t.Errorf("cut short, and found %+v", found)
	}
	s.mended("damaged-record", "damaged-record")
	if _, err := os.Lstat(half); err == nil {
		t.Error("a record that was never finished is left")
	}
	s.lies("one")
}

// TestDamagedRecordsAreKept checks that nothing of a worktree is lost with the files of its record
// that a crash has emptied: not the commits of its submodules, nor what it has staged, nor the
// commit that it is at.
func TestDamagedRecordsAreKept(t *testing.T) {
	for name, damaged := range testrun.Some(2, map[string]map[string]string{
		"commondir, gitdir":        {"commondir": "", "gitdir": ""},
		"commondir full of zeroes": {"commondir": "\x00\x00\x00\x00\x00\x00"},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.preExec("coder-1", "one")
			tip := s.work("one", "b.txt", "b\n")
			s.git(s.path("one"), "checkout", "-q", "--detach")
			commit := s.work("one", "b.txt", "c\n")
			s.write(s.path("one"), "staged.txt", "staged\n")
			s.git(s.path("one"), "add", "staged.txt")
			record := s.gitDirOf("one")
			module := filepath.Join(record, "modules", "lib")
			s.git(s.dir, "init", "-q", "--bare", module)
			for file, text := range damaged {
				s.check(os.WriteFile(filepath.Join(record, file), []byte(text), 0o644))
			}
			s.aged(record)
			found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
			if len(found) != 1 || found[0].Kind != doctor.DamagedRecord || found[0].Fix == nil {
				t.Fatalf("found %+v", found)
			}
			for range 2 {
				s.check(found[0].Fix(s.ctx))
			}
			if at := s.git(s.path("one"), "rev-parse", "HEAD"); at != string(commit) || s.ref(taskRef("one")) != tip {
				t.Errorf("it is at %s, not at %s", at, commit)
			}
			testrun.Equal(t, s.git(s.path("one"), "status", "--porcelain"), "A  staged.txt", "it holds")
			if _, err := os.Stat(filepath.Join(module, "HEAD")); err != nil || s.gitDirOf("one") != record {
				t.Errorf("the repository of a submodule: %v", err)
			}
			s.lies("one")
		})
	}
}

// TestRecordOfNoWorktree checks that doctor names a record that leads to no worktree, and leaves it to
// a human.
func TestRecordOfNoWorktree(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	record := s.gitDirOf("one")
	s.check(os.Rename(s.path("one"), s.path("away")))
	for _, file := range []string{"commondir", "gitdir"} {
		s.check(os.WriteFile(filepath.Join(record, file), nil, 0o644))
	}
	s.check(os.Remove(filepath.Join(s.path("away"), ".git")))
	s.aged(record)
	if found := s.problems(); len(found) == 0 || found[0].Kind != doctor.DamagedRecord || found[0].Fix != nil || !contains(found[0].Hint, "moves it out") {
		t.Errorf("found %+v", found)
	}
	s.check(os.RemoveAll(s.path("away")))
}

// TestLostHead checks that doctor names a worktree whose HEAD is empty, and that its hint puts the
// worktree on its task's branch again.
func TestLostHead(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	commit := s.work("one", "b.txt", "b\n")
	s.write(s.path("one"), "work.txt", "w\n")
	s.check(os.WriteFile(filepath.Join(s.gitDirOf("one"), "HEAD"), nil, 0o644))
	_, command, _ := strings.Cut(s.reports(found{doctor.DamagedWorktree, "one", false, "has lost its HEAD"})[0].Hint, ": ")
	s.check(exec.Command("sh", "-c", command).Run())
	if head, branch, err := s.b.Repo().Worktree(s.path("one")).Head(s.ctx); head != commit || branch != taskRef("one") || err != nil {
		t.Errorf("it is at %s on %s, %v", head, branch, err)
	}
	testrun.Equal(t, s.git(s.path("one"), "status", "--porcelain"), "?? work.txt", "it holds")
	s.lies("one")
}

// TestCrossedWorktree checks that a worktree whose .git is a copy of its neighbour's is not taken for
// that one, and gets its own back.
func TestCrossedWorktree(t *testing.T) {
	for name, ended := range testrun.Some(2, map[string]bool{"claimed": false, "abandoned": true}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"), ready("two"), claimed("coder-2", "two"))
			s.write(s.path("one"), "work.txt", "w\n")
			s.write(s.path("one"), ".git", s.read(s.path("two"), ".git"))
			if ended {
				s.do(human(), &board.Block{About: about("one"), Reason: "stop"})
				s.do(human(), &board.Abandon{About: about("one"), Reason: "not needed"})
			} else {
				if _, err := s.trySubmit("coder-1", "one"); err == nil {
					t.Error("the neighbour's work was submitted")
				}
			}
			was := s.ref(taskRef("one"))
			if !ended {
				s.refused(second(worktrees.Create(s.ctx, s.b, "one", nil)), board.CodeInTheWay, "was not made by git liza")
			}
			v := testrun.Must(s.b.View(s.ctx))(s.t)
			_ = worktrees.Tidy(s.ctx, s.b, v, human(), "one")
			testrun.Equal(t, s.ref(taskRef("one")), was, "its branch is gone")
			kind := doctor.MissingWorktree
			if ended {
				kind = doctor.UnknownWorktree
			}
			s.reports(found{kind, "one", false, "git liza worktree repair"})
			s.check(worktrees.Repair(s.ctx, s.b))
			if !s.b.Repo().Records().Owns(s.path("one")) || !s.b.Repo().Records().Owns(s.path("two")) || s.read(s.path("one"), "work.txt") != "w\n" {
				t.Error("the worktrees are not repaired")
			}
			if !ended {
				s.lies("one", "two")
				return
			}
			s.mended("left-worktree")
			if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "work.txt") != "w\n" {
				t.Errorf("kept %v", kept)
			}
			s.lies("two")
		})
	}
}

// TestDamagedIndex checks that doctor names a damaged index, and that its hint makes another one and
// keeps the files and an open merge.
func TestDamagedIndex(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	commit := s.work("one", "b.txt", "b\n")
	s.write(s.path("one"), "b.txt", "changed\n")
	s.write(s.path("one"), "new.txt", "new\n")
	record := s.gitDirOf("one")
	s.write(record, "MERGE_HEAD", string(commit)+"\n")
	index := s.read(record, "index")
	s.write(record, "index", index[:len(index)-30])
	command, _, _ := strings.Cut(s.reports(found{doctor.DamagedWorktree, "one", false, "index"})[0].Hint, " makes another")
	s.check(exec.Command("sh", "-c", command).Run())
	testrun.Equal(t, s.git(s.path("one"), "status", "--porcelain"), " M b.txt\n?? new.txt", "it holds")
	if s.read(record, "MERGE_HEAD") == "" || s.read(s.path("one"), "b.txt") != "changed\n" {
		t.Error("something was lost")
	}
}

// TestDamagedClone checks that a clone whose id is damaged or lost takes it back from the tasks whose
// worktrees are here, and gets another one only if they don't say.
func TestDamagedClone(t *testing.T) {
	for name, c := range testrun.Some(2, map[string]struct {
		damage string // the file's content; "gone" for no file
		tasks  func(s *scene)
		former bool
	}{
		"zeroes":            {string(make([]byte, 17)), nil, true},
		"gone":              {"gone", nil, true},
		"beside one review": {"x", func(s *scene) { s.reviewed("another") }, true},
		"for one review":    {"x", func(s *scene) { s.reviewed("another"); s.check(os.RemoveAll(s.path("one"))) }, false},
		"they differ": {"x", func(s *scene) {
			s.task("another")
			s.claim("coder-2", "another")
			s.do(human(), &board.Block{About: about("another"), Reason: "stop"})
			s.do(human(), &board.Unblock{About: about("another"), Mode: board.UnblockKeepWork})
			s.do(s.as("coder-2"), &board.Claim{About: about("another"), Clone: "00000000000000bb"})
		}, false},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			id := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
			if c.tasks != nil {
				c.tasks(s)
			}
			file := filepath.Join(s.b.Dir(), "clone")
			s.check(os.Remove(file))
			if c.damage != "gone" {
				s.check(os.WriteFile(file, []byte(c.damage), 0o644))
			}
			got, err := s.open().Clone().ID(s.ctx)
			if (got == id) != c.former || len(got) != 16 || err != nil {
				t.Errorf("it is %q, and was %q: %v", got, id, err)
			}
			writer := testrun.Must(gitboard.Open(s.ctx, s.dir, gitboard.Options{Now: s.clock.now, Writes: true}))(s.t)
			defer writer.Close()
			if same, err := writer.Clone().ID(s.ctx); same != got || err != nil || strings.TrimSpace(s.read("", file)) != got {
				t.Errorf("it is %q, and then %q: %v", got, same, err)
			}
		})
	}
}

// reviewed has the work of a task of another clone checked out here for its review.
func (s *scene) reviewed(task string) {
	s.t.Helper()
	s.task(task)
	s.do(s.as("coder-2"), &board.Claim{About: about(task), Clone: "00000000000000aa", BaseCommit: string(s.ref("refs/heads/integration"))})
	s.check(s.b.Repo().Worktree(s.path(task)).Add(s.ctx, s.ref("refs/heads/integration")))
}
