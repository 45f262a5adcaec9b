package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// verify verifies the history, and that every task has the expected status.
func (s *story) verify() error {
	for _, t := range tasks {
		status, err := s.state(t.id)
		if err != nil {
			return err
		}
		if status != "MERGED" {
			return fmt.Errorf("%s is %s, not MERGED", t.id, status)
		}
		s.result.Merged++
	}
	r, err := s.human.expect(s.ctx, 0, 8, "git", "liza", "verify")
	s.say.ran("human", s.human.taken())
	if err != nil {
		return err
	}
	s.verdict, _, _ = strings.Cut(r.Out, "\n")
	s.result.Verified = true
	return s.act(3, liza("validate"))
}

// land is the human's part: it fast-forwards main to integration and runs the program from there.
func (s *story) land() error {
	if err := s.act(1, git("merge", "--ff-only", "--quiet", "integration")); err != nil {
		return err
	}
	r, err := s.human.expect(s.ctx, 0, 1, "go", "run", ".", "Ann", "  Bob ", "Eve", "--shout")
	s.say.ran("human", s.human.taken())
	if err != nil {
		return err
	}
	if s.result.Output = r.Out; r.Out != "HELLO, ANN, BOB AND EVE!" {
		return fmt.Errorf("the program printed %q", r.Out)
	}
	if err := s.tidy(); err != nil {
		return err
	}
	n, err := s.human.ask(s.ctx, "git", "rev-list", "--count", "liza/state")
	if err != nil {
		return err
	}
	s.result.Operations, err = strconv.Atoi(n)
	return err
}

// tidy removes the worktree in which merges were tested, and checks that nothing is left behind.
func (s *story) tidy() error {
	if err := s.act(1, git("worktree", "remove", "--force", ".worktrees/.integration")); err != nil {
		return err
	}
	dirty, err := s.human.ask(s.ctx, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if dirty != "" {
		return fmt.Errorf("the checkout is not clean:\n%s", dirty)
	}
	return s.act(3, git("worktree", "list"))
}
