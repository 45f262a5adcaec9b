package merge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/bits"
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
)

func run(t *testing.T, dir string, args ...string) plumbing.OID {
	t.Helper()
	return plumbing.OID(testrun.RunGit(t, dir, args...))
}

// shared shares a board by a new remote.
func shared(t *testing.T, ctx context.Context, b *gitboard.Board) (hub string) {
	t.Helper()
	hub = filepath.Join(t.TempDir(), "hub.git")
	run(t, "", "init", "-q", "--bare", hub)
	run(t, b.Repo().TopLevel(), "remote", "add", "origin", hub)
	must(t, b.Sharing().Share(ctx, "origin"))
	return hub
}

// TestFollowKeepsOwnCommits checks that the integration branch is fast-forwarded to the remote's,
// and that commits made on it only here are left alone and reported.
func TestFollowKeepsOwnCommits(t *testing.T) {
	ctx, first, _, base := boarded(t)
	const branch = "refs/heads/integration"
	top, other := first.Repo().TopLevel(), filepath.Join(t.TempDir(), "other")
	run(t, "", "clone", "-q", shared(t, ctx, first), other)
	second := testrun.Must(gitboard.Open(ctx, other, gitboard.Options{}))(t)
	t.Cleanup(func() { second.Close() })
	must(t, second.Sharing().Join(ctx, "origin"))

	follow := func() Followed {
		t.Helper()
		return testrun.Must(Follow(ctx, second, gitboard.Moment{}))(t)
	}
	at := base
	forward := func() {
		t.Helper()
		next := run(t, top, "commit-tree", "-p", string(at), "-m", "landed", string(at)+"^{tree}")
		must(t, first.Log().Store().UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: branch, Old: at, New: next}}, "landed"))
		at = next
	}
	// Interrupted at any place it says so, and a landing after it, too.
	forward()
	insist(t, ctx, func(ctx context.Context) error {
		_, err := Follow(ctx, second, gitboard.Moment{})
		return err
	})
	landing := run(t, other, "commit-tree", "-p", "integration", "-m", "landing", "integration^{tree}")
	insist(t, ctx, func(ctx context.Context) error {
		_, err := Land(ctx, second, LandRequest{Request: gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org"), ID: "landing"}, Commit: string(landing)})
		return err
	})
	testrun.Must(Follow(ctx, first, gitboard.Moment{}))(t)
	at = run(t, top, "rev-parse", branch)
	if there := run(t, other, "rev-parse", branch); at != landing || there != landing {
		t.Errorf("%s landed at %s there, at %s here", landing, there, at)
	}
	forward()
	if f := follow(); !f.Moved || len(f.Warnings) > 0 || run(t, other, "rev-parse", branch) != at {
		t.Errorf("%+v: integration is at %s, not at %s", f, run(t, other, "rev-parse", branch), at)
	}
	// A local change that is in the way is left alone, and so is integration.
	run(t, other, "checkout", "-q", "integration")
	in := func(dir, name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(in(other, "new.txt"), []byte("mine\n"), 0o644))
	must(t, os.WriteFile(in(top, "new.txt"), []byte("theirs\n"), 0o644))
	run(t, top, "add", "new.txt")
	next := run(t, top, "commit-tree", "-p", string(at), "-m", "landed", string(run(t, top, "write-tree")))
	must(t, first.Log().Store().UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: branch, Old: at, New: next}}, "landed"))
	if f := follow(); f.Moved || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "new.txt") || run(t, other, "rev-parse", branch) != at {
		t.Errorf("with a change in the way: %+v", f)
	}
	must(t, os.Remove(in(other, "new.txt")))
	if at = next; !follow().Moved || run(t, other, "status", "--porcelain") != "" {
		t.Errorf("without it: %s", run(t, other, "status", "--porcelain"))
	}
	run(t, other, "checkout", "-q", "--detach")
	own := run(t, other, "commit-tree", "-p", string(at), "-m", "mine", string(at)+"^{tree}")
	run(t, other, "-c", "core.hooksPath="+os.DevNull, "update-ref", branch, string(own))
	forward()
	f := follow()
	if f.Moved || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "has commits here that origin lacks") {
		t.Errorf("%+v", f)
	}
	if left := run(t, other, "rev-parse", branch); left != own {
		t.Errorf("own commits are overwritten: integration is at %s, not at %s", left, own)
	}
}

// locks has a git hold a ref's lock until release.
func locks(t *testing.T, top, ref string) (release func()) {
	t.Helper()
	cmd := exec.Command("git", "-C", top, "update-ref", "--stdin")
	in := testrun.Must(cmd.StdinPipe())(t)
	out := testrun.Must(cmd.StdoutPipe())(t)
	must(t, cmd.Start())
	testrun.Must(fmt.Fprintf(in, "start\nverify %s %s\nprepare\n", ref, run(t, top, "rev-parse", ref)))(t)
	for said := bufio.NewScanner(out); said.Scan() && said.Text() != "prepare: ok"; {
	}
	return func() { must(t, errors.Join(in.Close(), cmd.Wait())) }
}

// TestFollowLater checks what keeps this clone from following, and that it is no failure: changes
// in a checkout that a crash has left behind, and a lock. A branch that is missing here is made.
func TestFollowLater(t *testing.T) {
	ctx, b, _, base := boarded(t)
	const branch = "refs/heads/integration"
	top := b.Repo().TopLevel()
	shared(t, ctx, b)
	next := commitOn(t, b, base, "b.txt", "b\n")
	later := commitOn(t, b, next, "c.txt", "c\n")
	run(t, top, "checkout", "-q", "integration")
	hurried, err := gitboard.Open(ctx, top, gitboard.Options{Patience: git.Patience{Git: time.Millisecond, Watch: time.Millisecond}})
	must(t, err)
	defer hurried.Close()
	lands := func(commit plumbing.OID) {
		run(t, top, "push", "-q", "--no-verify", "origin", string(commit)+":"+branch)
	}
	announcedHere := func() []string {
		names, _ := filepath.Glob(filepath.Join(b.Dir(), forwardDir, "*"))
		return names
	}

	lands(next)
	release := locks(t, top, branch)
	f, err := Follow(ctx, hurried, gitboard.Moment{})
	if err != nil || f.Moved || len(announcedHere()) > 0 {
		t.Errorf("another process has the lock: %+v (%v), announced are %q", f, err, announcedHere())
	}
	release()
	if f, err := Follow(ctx, b, gitboard.Moment{}); err != nil || !f.Moved || len(f.BroughtForward) != 1 {
		t.Errorf("it has none: %+v (%v)", f, err)
	}

	// A crash left the checkout behind, and a human has added a file that integration has, too.
	must(t, announce(b, []string{top}, next, later))
	setIntegration(t, b, later)
	lands(later)
	must(t, os.WriteFile(filepath.Join(top, "c.txt"), []byte("a human's\n"), 0o644))
	f, err = Follow(ctx, b, gitboard.Moment{})
	if err != nil || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "changes there are in the way: c.txt") {
		t.Errorf("a change is in the way: %+v (%v)", f, err)
	}
	if text, err := os.ReadFile(filepath.Join(top, "c.txt")); string(text) != "a human's\n" {
		t.Errorf("the human's file has %q (%v)", text, err)
	}

	run(t, top, "checkout", "-q", "--force", "--detach", string(base))
	run(t, top, "-c", "core.hooksPath="+os.DevNull, "update-ref", "-d", branch)
	if f, err := Follow(ctx, b, gitboard.Moment{}); err != nil || !f.Moved || run(t, top, "rev-parse", branch) != later {
		t.Errorf("the branch is missing here: %+v (%v)", f, err)
	}
}

func TestSearch(t *testing.T) {
	for candidates := 1; candidates <= 33; candidates++ {
		for bad := 0; bad <= candidates; bad++ { // the first failing candidate, counted from 1; 0 if none fails
			s, runs, asked := newSearch(candidates), 0, map[int]bool{}
			for n := s.next(); n > 0; n = s.next() {
				if asked[n] {
					t.Fatalf("%d candidates, %d bad: %d asked twice", candidates, bad, n)
				}
				asked[n] = true
				runs++
				s.learn(n, bad == 0 || n < bad)
			}
			if (s.red <= s.candidates) != (bad > 0) || bad > 0 && s.green != bad-1 || bad == 0 && s.green != candidates {
				t.Errorf("%d candidates, %d bad: found %+v", candidates, bad, s)
			}
			most := 1
			if bad > 0 {
				most += bits.Len(uint(candidates - 1)) // log2, rounded up
			}
			if runs > most {
				t.Errorf("%d candidates, %d bad: %d runs, more than %d", candidates, bad, runs, most)
			}
		}
	}
}

// TestSearchCut checks what is tested of a train that can't be tested from some candidate on.
func TestSearchCut(t *testing.T) {
	const candidates = 8
	for untestable := 1; untestable <= candidates; untestable++ {
		for bad := 1; bad < untestable; bad++ { // of those that can be tested
			s := newSearch(candidates)
			var asked []int
			for n := s.next(); n > 0 && (n > 1 || untestable > 1); n = s.next() {
				if asked = append(asked, n); len(asked) > candidates {
					t.Fatalf("%d untestable, %d bad: asked for %v", untestable, bad, asked)
				}
				if n >= untestable {
					s.cut(n)
				} else {
					s.learn(n, n < bad)
				}
			}
			if last := asked[len(asked)-1]; s.green >= bad || s.candidates < bad && s.green != s.candidates || s.candidates >= bad && s.green != bad-1 || last >= untestable {
				t.Errorf("%d untestable, %d bad: found %+v by %v", untestable, bad, s, asked)
			}
		}
	}
}

// TestReason checks that a failed merge says what failed.
func TestReason(t *testing.T) {
	for want, r := range map[string]Result{
		"it conflicts with integration":                      {Failure: board.FailConflict, Test: &worktrees.FailedError{}},
		(&worktrees.FailedError{Name: "x", Exit: 3}).Error(): {Failure: board.FailTest, Test: &worktrees.FailedError{Name: "x", Exit: 3}},
		"the integration test failed":                        {Failure: board.FailTest},
	} {
		testrun.Equal(t, r.Reason(), want, "the value")
	}
}
