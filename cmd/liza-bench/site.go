package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// site is one repository with a board.
type site struct {
	l      *lab
	dir    string
	base   string // the project's commit, which integration is at
	tasks  []string
	made   int // commits of the board as it was made
	before map[string]string
	bases  []string // two commits between which a floor moves a ref
}

// board describes the board that a site gets.
type boardSize struct {
	tasks, commits, archived int
	goals, roles             int // 0 for one goal and the built-in team
}

// project makes a repository with a few files and no board.
func (l *lab) project(name string) (*site, error) {
	s := &site{l: l, dir: filepath.Join(l.dir, name)}
	if err := os.MkdirAll(filepath.Join(s.dir, "specs"), 0o755); err != nil {
		return nil, err
	}
	files := map[string]string{"specs/vision.md": "# Vision\n\nTo be measured.\n", "main.go": "package main\n\nfunc main() {}\n", ".gitignore": "/.worktrees/\n/.liza/\n"}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := s.git("init", "-q", "."); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "first"}, {"commit", "-q", "--allow-empty", "-m", "second"}, {"branch", "integration"}} {
		if _, err := s.git(args...); err != nil {
			return nil, err
		}
	}
	head, err := s.git("rev-parse", "HEAD", "HEAD^")
	if err != nil {
		return nil, err
	}
	s.bases = strings.Fields(head)
	s.base = s.bases[0]
	return s, nil
}

// site makes a repository whose board has so many tasks and at least so many commits, packed.
func (l *lab) site(name string, size boardSize) (*site, error) {
	age := time.Duration(max(size.commits, 3*size.tasks)+9*size.archived+3600) * time.Second
	return l.board(name, age, func(h *history) error {
		for _, step := range []func() error{
			func() error { return h.goals(size.goals) },
			func() error { return h.team(size.roles) },
			func() error { return h.agents("coder-1", "coder-2", "code-reviewer-1") },
			func() error { return h.archive(size.archived) },
			func() error { return h.addTasks(size.tasks) },
			func() error { return h.beats(size.commits) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// board makes a repository with a board whose history is written, so long ago, and packs it.
func (l *lab) board(name string, age time.Duration, write func(h *history) error) (*site, error) {
	s, err := l.project(name)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	h, err := s.startHistory(age)
	if err != nil {
		return nil, err
	}
	err = write(h)
	if finished := h.finish(); finished != nil {
		return nil, finished
	}
	if err != nil {
		return nil, err
	}
	s.tasks, s.made = h.unclaimed(), h.commits
	first, err := s.git("rev-list", "--max-parents=0", plumbing.BoardRef)
	if err == nil {
		_, err = s.git("update-ref", plumbing.HomeRef, strings.TrimSpace(first)) // it is a board of its own, and no copy
	}
	if err != nil {
		return nil, err
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	if took := time.Since(start); took > 5*time.Second {
		l.say("  made %s: %d commits in %.0f s", name, h.commits, took.Seconds())
	}
	return s, nil
}

// settle packs the repository, has the board's ref in a file of its own as it is after any write,
// and remembers where every ref is.
func (s *site) settle() error {
	if _, err := s.git("repack", "-adq"); err != nil {
		return err
	}
	return s.remember()
}

func (s *site) remember() (err error) {
	s.before, err = s.refs()
	return errors.Join(err, s.proven())
}

// proven notes that this clone has proven the board as it is remembered, as it has after each of
// its own operations. Else each run would pay for the proof of operations that were taken back
// before it.
func (s *site) proven() error {
	tip := s.before[plumbing.BoardRef]
	if tip == "" {
		return nil
	}
	own := filepath.Join(s.dir, ".git", "liza")
	return errors.Join(os.MkdirAll(own, 0o755), os.WriteFile(filepath.Join(own, "proven"), fmt.Appendf(nil, "%s %s", plumbing.ZeroOID, tip), 0o644))
}

func (s *site) git(args ...string) (string, error) {
	cmd := s.l.command(s.dir, "git", args...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w%s", strings.Join(args, " "), s.dir, err, stderr(err))
	}
	return strings.TrimSpace(string(out)), nil
}

// liza runs the program; as is an agent's id, "" for the human.
func (s *site) liza(as string, args ...string) (time.Duration, error) {
	var env []string
	if as != "" {
		env = []string{"LIZA_AGENT_ID=" + as, "LIZA_SESSION=" + session}
	}
	return s.l.timed(s.dir, env, s.l.liza, args...)
}

func (s *site) refs() (map[string]string, error) {
	out, err := s.git("for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		name, oid, _ := strings.Cut(line, " ")
		refs[name] = oid
	}
	return refs, nil
}

// restore takes the repository back to where remember saw it: its refs, and no worktrees but those
// of then.
func (s *site) restore() error {
	now, err := s.refs()
	if err != nil {
		return err
	}
	var b strings.Builder
	for name, oid := range now {
		if was, ok := s.before[name]; !ok {
			fmt.Fprintf(&b, "delete %s %s\n", name, oid)
		} else if was != oid {
			fmt.Fprintf(&b, "update %s %s %s\n", name, was, oid)
		}
	}
	for name, oid := range s.before {
		if _, ok := now[name]; !ok {
			fmt.Fprintf(&b, "create %s %s\n", name, oid)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	cmd := s.l.command(s.dir, "git", "-c", "core.hooksPath="+os.DevNull, "update-ref", "--stdin")
	cmd.Stdin = strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("restore refs: %w: %s", err, out)
	}
	return errors.Join(s.forget(), s.proven())
}

// forget removes what would show that the board was ahead: verify reports a board that was set
// back.
func (s *site) forget() error {
	if err := os.Truncate(filepath.Join(s.dir, ".git", "logs", filepath.FromSlash(plumbing.BoardRef)), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	kept, err := filepath.Glob(filepath.Join(s.dir, ".git", "liza", "kept", "objects-*"))
	for _, path := range kept {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// unclaim takes back the claim that was just made, of whichever task.
func (s *site) unclaim() error {
	claimed, err := filepath.Glob(filepath.Join(s.dir, ".worktrees", "task-*"))
	if err != nil {
		return err
	}
	for _, path := range claimed {
		if _, err := s.git("worktree", "remove", "--force", path); err != nil {
			return err
		}
	}
	return s.restore()
}

// note writes a note with a new text.
func (s *site) note() (time.Duration, error) {
	return s.liza("", "note", fmt.Sprintf("The %d. thing that somebody should know", s.l.next()))
}

// noting is a note as an arm; the board is taken back after each.
func (s *site) noting(name string) arm { return arm{name, s.note, s.restore} }

// reading is a command that only reads, as an arm.
func (s *site) reading(args ...string) arm {
	return arm{strings.Join(args, " "), func() (time.Duration, error) { return s.liza("", args...) }, nil}
}
