package worktrees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/plain"
)

// site is a project: its board, its repository, and where its worktrees lie.
type site struct {
	b     *gitboard.Board
	repo  *gitio.Repo
	root  string // the main worktree; "" in a bare repository
	clone string
}

func at(ctx context.Context, b *gitboard.Board) (*site, error) {
	root, err := b.Root(ctx)
	if err != nil {
		return nil, err
	}
	clone, err := b.CloneID()
	if err != nil {
		return nil, err
	}
	return &site{b: b, repo: b.Repo(), root: root, clone: clone}, nil
}

// needFiles refuses what a bare repository can't do.
func (s *site) needFiles(what string) error {
	if s.root != "" {
		return nil
	}
	return board.Refuse(board.CodeBare, what+" needs a working tree; this repository is bare", "do it in a clone that has one: git clone, then git liza share; or, with worktrees beside it: echo 'gitdir: ./"+filepath.Base(s.repo.CommonDir())+"' > .git")
}

// path is where a task's worktree lies, absolute.
func (s *site) path(task string) string {
	return filepath.Join(s.root, filepath.FromSlash(board.WorktreeOf(task)))
}

// integration is the commit that the integration branch is at.
func (s *site) integration(ctx context.Context, v *gitboard.View) (git.OID, error) {
	return s.b.Integration(ctx, v)
}

// sign is who an actor is as the author of a commit, now.
func (s *site) sign(ctx context.Context, a board.Actor) (git.Signature, error) {
	name, email := oplog.Author(a)
	if name != "" && email != "" {
		return git.Signature{Name: name, Email: email, When: s.b.Now()}, nil
	}
	who, err := s.repo.Identity(ctx)
	if err != nil {
		return who, gitboard.NoIdentity()
	}
	who.When = s.b.Now()
	return who, nil
}

// layout is what lies where a task's worktree belongs, and where else its branch is checked out.
type layout struct {
	path      string
	ours      bool   // a worktree of this repository is there
	inTheWay  bool   // something else is there
	known     bool   // git has a record of a worktree there, be it there or not
	elsewhere string // another worktree that the task's branch is checked out in
}

func (s *site) look(ctx context.Context, task string) (layout, error) {
	if s.root != "" && !present(s.path(task)) {
		// There is no worktree, and most often nobody else has the branch: HEADs are read without a child.
		tip, err := s.repo.Ref(ctx, git.TaskRef(task))
		if err != nil || tip.IsZero() {
			return layout{path: s.path(task)}, err
		}
		if all, err := s.repo.CheckedOut(ctx, git.TaskRef(task)); err != nil || len(all) == 0 {
			return layout{path: s.path(task)}, err
		}
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return layout{}, err
	}
	return s.layout(all, task), nil
}

// place is look for those who need not know where else the branch is checked out: git is asked about all worktrees
// only when the task's is not plainly there.
func (s *site) place(ctx context.Context, task string) (layout, error) {
	if path := s.path(task); s.root != "" && s.repo.Owns(path) {
		return layout{path: path, ours: true, known: true}, nil
	}
	return s.look(ctx, task)
}

func (s *site) layout(all []gitio.Worktree, task string) layout {
	return s.layoutBy(all, task, resolved)
}

// layoutBy is layout with paths resolved by somebody who may have done it before.
func (s *site) layoutBy(all []gitio.Worktree, task string, resolved func(string) string) layout {
	l := layout{path: s.path(task)}
	at := resolved(l.path)
	for _, w := range all {
		switch {
		case s.root != "" && resolved(w.Path) == at:
			l.known = true
		case w.Branch == git.TaskRef(task) && !w.Prunable && !s.passing(w.Path):
			l.elsewhere = w.Path
		}
	}
	if s.root == "" {
		return l
	}
	_, err := os.Lstat(filepath.Join(l.path, ".git"))
	l.ours = l.known && err == nil
	if !l.ours {
		entries, err := os.ReadDir(l.path)
		_, present := os.Lstat(l.path)
		l.inTheWay = len(entries) > 0 || err != nil && present == nil
	}
	return l
}

// passing reports whether a worktree is one of our own that is being made or removed.
func (s *site) passing(path string) bool {
	name, below := s.below(path)
	return below && strings.HasPrefix(name, ".")
}

// samePath reports whether two absolute paths name the same place, which need not exist.
func samePath(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || resolved(a) == resolved(b)
}

// resolved follows symbolic links as far as a path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, base := filepath.Split(filepath.Clean(path))
	if dir = filepath.Clean(dir); dir == path || base == "" {
		return path
	}
	return filepath.Join(resolved(dir), base)
}

// blocked refuses a worktree where something else lies, or whose branch somebody has checked out
// elsewhere.
func (l layout) blocked(task string) error {
	var r *board.Refusal
	switch {
	case l.elsewhere != "":
		r = board.Refuse(board.CodeCheckedOut, fmt.Sprintf("task/%s is checked out in %s", task, l.elsewhere), "check out another branch there")
	case l.inTheWay:
		r = board.Refuse(board.CodeInTheWay, fmt.Sprintf("%s is not a worktree of this repository, and in the way of %s", l.path, task), "move it elsewhere; if it is a worktree that git forgot: git liza worktree repair")
	default:
		return nil
	}
	r.Task = task
	return r
}

// has reports whether this clone has a commit.
func (s *site) has(ctx context.Context, commit string) (bool, error) {
	if commit == "" {
		return false, nil
	}
	o, err := s.repo.Object(ctx, commit)
	if errors.Is(err, gitio.ErrNotFound) {
		return false, nil
	}
	return o.Type == git.CommitObject, err
}

// steadyFor bounds the steps that follow an operation when its caller has gone.
const steadyFor = 2 * time.Minute

// Steady is a context for the steps that follow an operation that was written: they continue for a while
// when the caller's context has ended, so that less is left to repair.
func Steady(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), steadyFor)
}

// listed names up to five of some paths, for a sentence.
func listed(paths []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, p := range paths[:min(most, len(paths))] {
		shown = append(shown, plain.Line(p, 120))
	}
	text := strings.Join(shown, ", ")
	if more := len(paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
