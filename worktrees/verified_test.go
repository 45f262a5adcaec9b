//go:build unix

package worktrees_test

import (
	"os"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

// TestVerified: a submission runs the command that proves it, on the commit that it submits.
func TestVerified(t *testing.T) {
	s := newScene(t, ready("one"), claimed("coder-1", "one"))
	s.preExec("coder-1", "one")
	s.work("one", "b.txt", "b\n")
	submit := func(command string) (*gitboard.Done, []string, error) {
		return worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as("coder-1")}, Task: "one", Verified: command})
	}
	s.write(s.path("one"), "c.txt", "c\n")
	_, _, err := submit("touch ../ran")
	s.refused(err, "dirty", "c.txt")
	if _, err := os.Stat(s.path("ran")); err == nil {
		t.Error("the command ran on work that can't be submitted")
	}
	s.commitAll(s.path("one"), "the rest"+s.trailers("one"))
	_, _, err = submit("echo x >b.txt")
	s.refused(err, "dirty", "b.txt")
	s.write(s.path("one"), "b.txt", "b\n")
	_, _, err = submit("git -c core.hooksPath=/dev/null -c user.name=Ada -c user.email=a@example.org commit -q --allow-empty -m more")
	s.refused(err, "stale", "the validation ran on")
	_, warnings, err := submit("cat b.txt; echo key AKIA${x}IOSFODNN7EXAMPLQ >/dev/null; exit 3")
	s.check(err)
	if got := s.state().Task("one").Last(board.EventReady).Verified; got.Exit != 3 || got.Output != "b" || !strings.Contains(strings.Join(warnings, " "), "the validation failed") {
		t.Errorf("%+v, %v", got, warnings)
	}
}
