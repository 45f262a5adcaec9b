package worktrees_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// aged sets the time of a file or directory to half an hour ago, before any git process that is
// running now has started.
func (s *scene) aged(path string) {
	s.t.Helper()
	then := time.Now().Add(-30 * time.Minute)
	s.check(os.Chtimes(path, then, then))
}

func (s *scene) gitDirOf(task string) string {
	return strings.TrimSpace(s.git(s.path(task), "rev-parse", "--absolute-git-dir"))
}

// TestRecordWithoutCommit covers a git that was killed while adding a worktree, before that had a
// commit: git then neither fetches nor packs.
func TestRecordWithoutCommit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc tells who is left")
	}
	s := newScene(t, ready("one"))
	path := s.stranger(".claim-", "aaaa", "one", s.ref("refs/heads/integration"), s.dead())
	record := strings.TrimSpace(s.git(path, "rev-parse", "--absolute-git-dir"))
	head := filepath.Join(record, "HEAD")
	s.check(os.WriteFile(head, []byte(string(plumbing.ZeroOID)+"\n"), 0o644))
	s.aged(head)
	found := testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	if len(found) != 2 || found[0].Kind != doctor.DamagedRecord || found[0].Fix != nil || !strings.Contains(found[0].Hint, "git rev-parse HEAD >") {
		t.Fatalf("a record that was worked with: %+v", found)
	}
	for _, name := range []string{"index", "logs", "ORIG_HEAD", "refs", "made-by-git-liza"} { // git writes them later
		s.check(os.RemoveAll(filepath.Join(record, name)))
	}
	found = testrun.Must(doctor.Diagnose(s.ctx, s.b))(s.t)
	if len(found) != 1 || found[0].Kind != doctor.DamagedRecord || found[0].Fix == nil {
		t.Fatalf("found %+v", found)
	}
	s.check(found[0].Fix(s.ctx))
	s.git(s.dir, "rev-list", "--all")
	s.mended("left-candidate")
	s.claim("coder-1", "one")
}

// TestFixNotBegun covers an integration fix whose process was killed before it merged integration
// into the task branch.
func TestFixNotBegun(t *testing.T) {
	s := newScene(t, ready("one"), ready("other"), approved("coder-1", "one", "b.txt", "mine\n"), approved("coder-3", "other", "b.txt", "theirs\n"))
	s.merge("other")
	if got := s.merge("one"); got.Merged {
		t.Fatal("it does not conflict")
	}
	got := s.claim("coder-2", "one")
	marked := s.read(got.Path, "b.txt")
	s.git(got.Path, "merge", "--abort")
	s.mended("fix-not-begun")
	if _, err := os.Stat(filepath.Join(s.gitDirOf("one"), "MERGE_HEAD")); err != nil || s.read(got.Path, "b.txt") != marked {
		t.Errorf("integration was not brought in: %v", err)
	}
	// A git that was killed during the merge left half of its files, and no MERGE_HEAD.
	s.git(got.Path, "merge", "--abort")
	s.write(got.Path, "b.txt", marked[:len(marked)/2])
	s.write(got.Path, "other_test.txt", "a test\n")
	found := s.problems()
	if len(found) != 1 || found[0].Kind != doctor.FixNotBegun || found[0].Fix != nil || !contains(found[0].Text, "b.txt") || !contains(found[0].Hint, "stash push --include-untracked") {
		t.Fatalf("found %+v", found)
	}
	s.git(got.Path, "stash", "push", "--quiet", "--include-untracked")
	s.mended("fix-not-begun")
	s.write(got.Path, "b.txt", "both\n")
	s.commitAll(got.Path, "merged")
	s.mended()
}

// TestClaimNotMovedIn covers a take-over whose process was killed before it replaced the former
// holder's worktree: doctor completes it, and so does the request when it is repeated.
func TestClaimNotMovedIn(t *testing.T) {
	for name, complete := range testrun.Some(2, map[string]func(s *scene){
		"doctor": func(s *scene) {
			s.mended("left-candidate", "missing-worktree")
			if s.read(s.path("one"), "set-up.cache") != "costly\n" {
				s.t.Error("the prepared worktree was not used")
			}
		},
		"the request again": func(s *scene) {
			s.insist(func(ctx context.Context) error {
				_, err := worktrees.Claim(ctx, s.b, worktrees.ClaimRequest{Request: asked(s, "coder-2"), Task: "one"})
				return err
			})
			_, err := fixAll(s.ctx, s.problems()) // the earlier attempt's may be left
			s.check(err)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.write(s.path("one"), "left.txt", "left\n")
			former := strings.TrimSpace(s.read(s.path("one"), ".git"))
			base := s.ref("refs/heads/integration")
			s.clock.pass(time.Hour)
			s.as("coder-2")
			path := s.stranger(".claim-", "aaaa", "one", base, s.dead())
			said := s.read(s.b.Dir(), "claims/aaaa")
			events := len(s.state().Task("one").History)
			s.write(s.b.Dir(), "claims/aaaa", strings.Replace(said, "{", fmt.Sprintf(`{"replaces":{"worktree":%q,"agent":"coder-2","events":%d},`, former, events), 1))
			s.write(path, "set-up.cache", "costly\n")
			if found := s.problems(); len(found) != 1 || found[0].Kind != doctor.LeftCandidate {
				t.Errorf("before the claim: %+v", found)
			}
			clone := testrun.Must(s.b.Clone().ID(s.ctx))(s.t)
			_, err := s.b.Do(s.ctx, asked(s, "coder-2"), func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
				return &board.Claim{About: about("one"), Clone: clone, BaseCommit: string(base)}, []plumbing.RefUpdate{{Ref: taskRef("one"), Old: base, New: base}}, nil
			})
			s.check(err)
			s.stranger(".claim-", "bbbb", "one", base, s.dead()) // of an earlier attempt
			complete(s)
			if _, err := os.Stat(filepath.Join(s.path("one"), "left.txt")); err == nil || s.read(s.path("one"), "a.txt") == "" {
				t.Error("the worktree of the former holder is still there")
			}
			if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "left.txt") != "left\n" {
				t.Errorf("kept %v", kept)
			}
		})
	}
}

// TestMoveNotRecorded covers a process that was killed when it had moved a worktree to its place,
// and git's record of it still named the old one: whoever needs the worktree completes that.
func TestMoveNotRecorded(t *testing.T) {
	for name, needs := range map[string]func(s *scene){
		"doctor": func(s *scene) { s.mended(doctor.DamagedWorktree) },
		"its agent": func(s *scene) {
			testrun.Must(worktrees.Create(s.ctx, s.b, "one", nil))(s.t)
		},
		"a human who releases it": func(s *scene) {
			_, err := worktrees.End(s.ctx, s.b, gitboard.Request{Actor: human()}, &board.Release{About: about("one"), Force: true, Reason: "it is stuck"})
			s.check(err)
			if kept := s.attic("one"); len(kept) != 1 || s.file(kept[0], "new") != "work\n" {
				s.t.Errorf("the attic has %v", kept)
			}
			s.claim("coder-2", "one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, ready("one"), claimed("coder-1", "one"))
			s.write(s.path("one"), "new", "work\n")
			record := s.gitDirOf("one")
			s.write(record, "gitdir", filepath.Join(filepath.Dir(s.path("one")), ".claim-aaaa", ".git")+"\n")
			host := testrun.Must(os.Hostname())(s.t)
			s.write(s.b.Dir(), "claims/aaaa", fmt.Sprintf(`{"pid":%d,"host":%q,"task":"one","since":%q}`, os.Getpid(), host, s.clock.now().Format(time.RFC3339)))
			if _, err := worktrees.Create(s.ctx, s.b, "one", nil); err == nil {
				t.Error("the process that moves it is not waited for")
			}
			s.check(os.Remove(filepath.Join(s.b.Dir(), "claims", "aaaa")))
			needs(s)
			s.mended()
			s.lies("one")
			if out := s.git(s.dir, "worktree", "list", "--porcelain"); strings.Contains(out, "locked") {
				t.Errorf("left: %s", out)
			}
		})
	}
}
