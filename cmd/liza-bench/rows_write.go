package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
)

// benchWrites measures one mutating command as a whole process on a board of 10 tasks.
func benchWrites(l *lab) error {
	s, small, err := l.smallWrites("write", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	submit, err := l.submitting()
	if err != nil {
		return err
	}
	merge, err := l.merging()
	if err != nil {
		return err
	}
	commands := []struct {
		arm
		on  *site
		bar float64
	}{
		{small[0], s, 1.5},
		{small[1], s, 1.5},
		{small[2], s, 1.5},
		{submit.arm, submit.site, 0},
		{merge.arm, merge.site, 3},
	}
	var all []arm
	for _, c := range commands {
		f, err := c.on.floorOf(c.arm)
		if err != nil {
			return err
		}
		all = append(all, f.arm(), c.arm)
	}
	all = append(all, arm{"a Go process", func() (time.Duration, error) { return l.timed(s.dir, nil, l.noop) }, nil}, s.reading("version"))
	got, err := l.measure(l.rounds(), all...)
	if err != nil {
		return err
	}
	for i, c := range commands {
		l.row(c.name+", 10 tasks", got[2*i+1], got[2*i], "F", c.bar, 0)
	}
	last := len(all) - 2
	if err := l.children("merge", merge.arm); err != nil {
		return err
	}
	l.row("version (starts, asks git its version)", got[last+1], got[last], "a Go process", 0, 0)
	return l.netClaim()
}

// netClaim measures a claim less what git worktree add alone takes.
func (l *lab) netClaim() error {
	s, err := l.site("claim", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	claim, checkout := s.claiming()
	f, err := s.floorOf(claim)
	if err != nil {
		return err
	}
	got, err := l.measure(l.rounds(), f.arm(), checkout, claim)
	if err != nil {
		return err
	}
	l.row("claim less the checkout, 10 tasks", got[2].less(got[1]), got[0], "F", 1.7, 0)
	return nil
}

// smallWrites makes a board and the arms of operations that write nothing but the board: a note, a
// block and a verdict.
func (l *lab) smallWrites(name string, size boardSize) (*site, []arm, error) {
	s, err := l.site(name, size)
	if err != nil {
		return nil, nil, err
	}
	sub, err := s.submitted(s.tasks[0])
	if err != nil {
		return nil, nil, err
	}
	other := s.tasks[1]
	if _, err := s.liza("coder-2", "claim", other); err != nil {
		return nil, nil, err
	}
	block := func() (time.Duration, error) {
		return s.liza("coder-2", "block", other, "--reason", fmt.Sprintf("the interface is not settled, draft %d", l.next()), "--question", "Which draft holds?")
	}
	verdict := func() (time.Duration, error) {
		return s.liza("code-reviewer-1", "verdict", sub.task, "APPROVED", "--checked", "tests", "--commit", sub.commit)
	}
	return s, []arm{s.noting("note"), {"block", block, s.restore}, {"verdict", verdict, s.restore}}, s.remember()
}

// placed is an arm with the repository that it works in.
type placed struct {
	arm
	site *site
}

// submitting hands in one commit with one test.
func (l *lab) submitting() (p placed, err error) {
	if p.site, err = l.site("submit", boardSize{tasks: 10}); err != nil {
		return p, err
	}
	sub, err := p.site.worked("coder-1", p.site.tasks[0], 0)
	if err == nil {
		err = p.site.remember()
	}
	p.arm = arm{"submit", func() (time.Duration, error) { return p.site.liza("coder-1", "submit", sub.task) }, p.site.restore}
	return p, err
}

// merging lands one commit by fast-forward, without an integration test. The worktree is removed
// with it, and made again afterwards.
func (l *lab) merging() (p placed, err error) {
	if p.site, err = l.site("merge", boardSize{tasks: 10}); err != nil {
		return p, err
	}
	sub, err := p.site.approved(p.site.tasks[0])
	p.arm = arm{"merge", func() (time.Duration, error) { return p.site.liza("code-reviewer-1", "merge", sub.task) }, func() error { return p.site.unmerge(sub.task) }}
	return p, err
}

// submission is a task whose coder has made a commit.
type submission struct{ task, commit string }

func (s *site) worktree(task string) string { return filepath.Join(s.dir, ".worktrees", task) }

// worked takes a task to where its coder may submit it, by the commands that do so. The coder works
// for so long on it.
func (s *site) worked(coder, task string, work time.Duration) (submission, error) {
	sub := submission{task: task}
	worktree := s.worktree(sub.task)
	err := s.steps([]string{coder, "claim " + sub.task},
		[]string{coder, "pre-exec " + sub.task + " --intent test-then-code --validation go-test --file " + task + "_test.go"})
	if err != nil {
		return sub, err
	}
	time.Sleep(work)
	for _, name := range []string{task + "_test.go", task + ".go"} {
		if err := os.WriteFile(filepath.Join(worktree, name), []byte("package main\n"), 0o644); err != nil {
			return sub, err
		}
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "work"}} {
		if _, err := s.git(append([]string{"-C", worktree}, args...)...); err != nil {
			return sub, err
		}
	}
	sub.commit, err = s.git("-C", worktree, "rev-parse", "HEAD")
	return sub, err
}

// submitted takes a task to its review.
func (s *site) submitted(task string) (submission, error) {
	sub, err := s.worked("coder-1", task, 0)
	if err == nil {
		err = s.steps([]string{"coder-1", "submit " + sub.task}, []string{"code-reviewer-1", "claim-review " + sub.task})
	}
	return sub, err
}

// approved takes a task to its merge.
func (s *site) approved(task string) (submission, error) {
	sub, err := s.submitted(task)
	if err == nil {
		err = s.steps([]string{"code-reviewer-1", "verdict " + task + " APPROVED --checked tests --commit " + sub.commit})
	}
	if err != nil {
		return sub, err
	}
	return sub, s.remember()
}

// unmerge takes back a merge that was just made: the worktrees were removed with it.
func (s *site) unmerge(tasks ...string) error {
	err := s.restore()
	for _, task := range tasks {
		if err == nil {
			_, err = s.git("worktree", "add", "--quiet", s.worktree(task), board.UsualTaskBranches.Of(task))
		}
	}
	if err == nil {
		_, err = s.liza("", "worktree", "repair") // a merge removes only worktrees that are git liza's
	}
	return err
}

// steps runs commands: who runs it, and its words.
func (s *site) steps(list ...[]string) error {
	for _, step := range list {
		if _, err := s.liza(step[0], strings.Fields(step[1])...); err != nil {
			return err
		}
	}
	return nil
}

// benchMillion measures the same note in a repository of a million packed objects.
func benchMillion(l *lab) error {
	small, err := l.site("small", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	large, err := l.site("million", boardSize{tasks: 10})
	if err != nil {
		return err
	}
	const objects = 1_000_000
	start := time.Now()
	if err := large.fill(objects); err != nil {
		return err
	}
	l.say("  made %d objects in %.0f s", objects, time.Since(start).Seconds())
	got, err := l.measure(l.rounds(), small.noting("small"), large.noting("large"), small.reading("status"), large.reading("status"))
	if err != nil {
		return err
	}
	l.row("note, repository of 1 000 000 packed objects", got[1], got[0], "small repository", 1.2, 0)
	l.row("status, repository of 1 000 000 packed objects", got[3], got[2], "small repository", 1.2, 0)
	return nil
}

// fill adds a branch with so many small files in directories of a thousand, in one pack.
func (s *site) fill(objects int) error {
	cmd := s.l.command(s.dir, "git", "fast-import", "--quiet")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	h := newWriter(in)
	when := time.Now().Unix()
	const a = 10_000
	for n := 0; n < objects; n += a {
		fmt.Fprintf(h, "commit refs/heads/huge\ncommitter Bench <bench@example.org> %d +0000\ndata 5\nfiles\n", when)
		for i := n; i < min(n+a, objects); i++ {
			text := fmt.Sprintf("file %d\n", i)
			fmt.Fprintf(h, "M 100644 inline d%03d/f%06d\ndata %d\n%s\n", i/1000, i, len(text), text)
		}
	}
	err = h.Flush()
	in.Close()
	if waited := cmd.Wait(); waited != nil {
		return fmt.Errorf("git fast-import: %w: %s", waited, said.String())
	}
	if err != nil {
		return err
	}
	return s.settle()
}
