package worktrees

import (
	"cmp"
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
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// site is a project: its board, its repository and the location of its worktrees.
type site struct {
	b     *gitboard.Board
	repo  *git.Repo
	root  string // the main worktree; in a bare repository its own directory, where no worktree is
	bare  bool
	clone string
}

func at(ctx context.Context, b *gitboard.Board) (*site, error) {
	root, rootless := b.Root(ctx)
	clone, nameless := b.Clone().ID(ctx)
	s := &site{b: b, repo: b.Repo(), root: cmp.Or(root, b.Repo().CommonDir()), bare: root == "", clone: clone}
	return s, errors.Join(rootless, nameless)
}

// elsewhere reports whether the work of a task is in another clone. A claim that names no clone was
// made before clones had names.
func (s *site) elsewhere(t *board.Task) bool { return t.Clone != s.clone && t.Clone != "" }

// needFiles refuses what can't be done in a bare repository.
func (s *site) needFiles(what string) error {
	if !s.bare {
		return nil
	}
	return board.Refuse(board.CodeBare, what+" needs a working tree; this repository is bare", "do it in a clone that has one: git clone, then git liza share; or, with worktrees beside it: echo 'gitdir: ./"+filepath.Base(s.repo.CommonDir())+"' > .git")
}

// folderFree refuses a .worktrees that is not a directory, nil if there is none or it is one.
func (s *site) folderFree() error {
	dir := filepath.Join(s.root, ".worktrees")
	if found, err := os.Lstat(dir); err != nil || found.IsDir() {
		return nil
	}
	return board.Refuse(board.CodeInTheWay, dir+" is not a directory, and worktrees of tasks belong there (git follows a symbolic link, and its hooks find the task by the path)",
		"move it elsewhere; for another disk, mount it there")
}

// path is the absolute path of a task's worktree.
func (s *site) path(task string) string {
	return filepath.Join(s.root, filepath.FromSlash(board.WorktreeOf(task)))
}

// integration returns the commit at the tip of the integration branch.
func (s *site) integration(ctx context.Context, v *gitboard.View) (plumbing.OID, error) {
	return v.Integration(ctx)
}

// holding returns the tip of integration as a holder of commits, zero if there is none. A symbolic
// ref holds nothing: it is deleted with its target, which may be a task's branch.
func (s *site) holding(ctx context.Context, v *gitboard.View) (plumbing.OID, error) {
	if s.repo.IsAlias(v.IntegrationRef()) {
		return plumbing.ZeroOID, nil
	}
	return v.IntegrationTip(ctx)
}

// sign returns the signature of an actor as the author of a commit made now.
func (s *site) sign(ctx context.Context, a board.Actor) (plumbing.Signature, error) {
	name, email := log.Author(a)
	if name != "" && email != "" {
		return plumbing.Signature{Name: name, Email: email, When: s.b.Now()}, nil
	}
	who, err := s.repo.Settings().Identity(ctx)
	if err != nil {
		return who, gitboard.NoIdentity(err)
	}
	who.When = s.b.Now()
	return who, nil
}

// layout describes what is at the path of a task's worktree, and where else its branch is checked
// out.
type layout struct {
	path      string
	ours      bool   // git liza made the worktree at the path
	theirs    string // the reason for somebody else's worktree at the path, or against replacing ours: a clause; "" otherwise
	inTheWay  bool   // another file or directory is at the path
	linked    bool   // which is a symbolic link: what it leads to is a person's, even a worktree
	crossed   string // a worktree of this repository is at the path, and its .git leads to the record of this other one
	known     bool   // git has a record of a worktree at the path, whether or not it exists
	branch    string // the task's
	elsewhere string // another worktree with the task's branch checked out
	original  string // the repository of that worktree, if this one is a copy of it
}

func (s *site) look(ctx context.Context, v *gitboard.View, task string) (layout, error) {
	branch := v.TaskBranch(task)
	if !present(s.path(task)) {
		// There is no worktree, and usually no other place has the branch: reading the HEADs needs no
		// child process.
		tip, err := s.repo.Ref(ctx, plumbing.BranchRef(branch))
		if err != nil {
			return layout{}, err
		}
		if record := s.repo.Worktree(s.path(task)).Record(); record != "" && theirs(record, "", "") != "" {
			return s.find(ctx, task, branch) // its disk is not mounted, say
		}
		if tip.IsZero() {
			return layout{path: s.path(task), branch: branch}, nil
		}
		if all, err := s.repo.Records().CheckedOut(ctx, plumbing.BranchRef(branch)); err != nil || len(all) == 0 {
			return layout{path: s.path(task), branch: branch}, err
		}
	}
	return s.find(ctx, task, branch)
}

// find is look by git's list of all worktrees.
func (s *site) find(ctx context.Context, task, branch string) (layout, error) {
	if path := s.path(task); s.halfMoved(path) {
		if err := s.repo.Worktree(path).FinishMove(ctx); err != nil {
			return layout{}, err
		}
	}
	all, err := s.repo.Records().RepairedWorktrees(ctx)
	if err != nil {
		return layout{}, err
	}
	return s.layout(all, task, branch, resolved), nil
}

// place is look for callers that need not know where else the branch is checked out. It asks git
// for all worktrees only if the path may hold something else than the task's worktree. branch ""
// leaves out on which branch the worktree is.
func (s *site) place(ctx context.Context, task, branch string) (layout, error) {
	path := s.path(task)
	if !present(path) {
		return layout{path: path}, nil
	}
	record := git.LinkedDir(path)
	if !s.repo.Worktree(path).Owns() || !git.Made(record) {
		return s.find(ctx, task, branch)
	}
	l := layout{path: path, ours: true, known: true, branch: branch}
	attached := ""
	if branch != "" {
		// Without its HEAD it is on no branch.
		head, ref, err := s.repo.Worktree(path).Head(ctx)
		if cutShort(err) {
			return layout{}, err
		}
		attached = attachedTo(head, ref)
	}
	l.theirs = theirs(record, attached, branch)
	return l, nil
}

// layout finds a task's worktree, and where else its branch is checked out, among all worktrees of
// the repository. resolved follows symbolic links, and may have cached what it found.
func (s *site) layout(all []git.WorktreeInfo, task, branch string, resolved func(string) string) layout {
	l := layout{path: s.path(task), branch: branch, linked: disk.IsLink(s.path(task))}
	at, there := resolved(l.path), git.WorktreeInfo{}
	for _, w := range all {
		switch {
		case resolved(w.Path) == at && !l.linked:
			l.known, there = true, w
		case branch != "" && w.Branch == plumbing.BranchRef(branch) && !w.Prunable && !s.passing(w.Path):
			l.elsewhere, l.original = w.Path, s.repo.Records().Original(w.Path)
		}
	}
	_, err := os.Lstat(filepath.Join(l.path, ".git"))
	if l.ours = l.known && err == nil; l.ours {
		l.crossed = s.repo.Worktree(l.path).Crossed()
		l.ours = l.crossed == ""
	}
	if l.known && l.crossed == "" && (l.ours || !present(l.path)) {
		record := s.repo.Worktree(there.Path).Record()
		if l.ours && strange(l.path, record) {
			record = ""
		}
		l.theirs = theirs(record, attachedTo(there.Head, there.Branch), branch)
		if l.ours = l.ours && git.Made(record); !l.ours && l.theirs != "" && branch != "" && there.Branch == plumbing.BranchRef(branch) {
			l.elsewhere = l.path
		}
	}
	if !l.ours {
		entries, err := os.ReadDir(l.path)
		_, present := os.Lstat(l.path)
		l.inTheWay = l.linked || len(entries) > 0 || err != nil && present == nil
	}
	return l
}

// theirs returns a clause on why the worktree of a record, attached to a branch or to none for "",
// is not to be removed or replaced: somebody else made it, locked it, or works on another branch
// than the task's in it. It returns "" if it is ours. This is the only place where that is decided;
// branch "" leaves the branch out.
func theirs(record, attached, branch string) string {
	switch {
	case !git.Made(record):
		return notMade
	case git.OthersLock(record):
		return locked
	case branch != "" && attached != "" && attached != branch:
		return "is on the branch " + attached
	}
	return ""
}

// strange reports whether what is at the path of a record is another repository, or a worktree of
// one. A damaged .git, which leads nowhere, is not.
func strange(path, record string) bool {
	linked := git.LinkedDir(path)
	return isDir(filepath.Join(path, ".git")) || linked != "" && present(linked) && !samePath(linked, record)
}

// attachedTo returns the name of the branch that HEAD is attached to, "" for none and for a branch
// without a commit, which holds nobody's work.
func attachedTo(head plumbing.OID, ref string) string {
	if head.IsZero() {
		return ""
	}
	return plumbing.BranchName(ref)
}

const (
	notMade = "was not made by git liza"
	locked  = "is locked"
)

// CheckPlace refuses a place for a worktree that something else than a worktree of git liza's has
// taken.
func CheckPlace(repo *git.Repo, path string) error {
	record := repo.Worktree(path).Record()
	entries, _ := os.ReadDir(path)
	switch {
	case !present(path) && record == "" || len(entries) == 0 && record == "" && isDir(path):
		return nil
	case git.Initializing(record): // a killed process of ours left it
		return nil
	case record != "" && !disk.IsLink(path) && !strange(path, record):
		l := layout{path: path, theirs: theirs(record, "", "")}
		if l.theirs == "" {
			return nil
		}
		return board.Refuse(board.CodeInTheWay, fmt.Sprintf("the worktree %s %s, and is in the way", path, l.theirs), l.wayOut())
	}
	return board.Refuse(board.CodeInTheWay, path+" is in the way: git liza needs this place for a worktree of its own", "move it elsewhere")
}

const (
	// CacheName is the directory of git liza in a folder of caches.
	CacheName = "git-liza"
	// TestMark begins the names of the worktrees in which merges are tested (merge.TestDir).
	TestMark = ".integration"
)

// ForTests reports whether merges are tested in a worktree, or were before the project was moved.
func ForTests(w git.WorktreeInfo) bool {
	dir, name := filepath.Split(w.Path)
	return !w.Main && strings.HasPrefix(name, TestMark) && filepath.Base(filepath.Dir(filepath.Clean(dir))) == CacheName
}

// passing reports whether a worktree is one of ours that is being made or removed.
func (s *site) passing(path string) bool {
	name, below := s.below(path)
	return below && strings.HasPrefix(name, ".")
}

// samePath reports whether two absolute paths name the same place, which need not exist.
func samePath(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || resolved(a) == resolved(b)
}

// resolved follows symbolic links as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, base := filepath.Split(filepath.Clean(path))
	if dir = filepath.Clean(dir); dir == path {
		return path
	}
	return filepath.Join(resolved(dir), base)
}

// copied refuses what would change the worktrees of a repository of which this one is a copy.
func copied(original string) *board.Refusal {
	return board.Refuse(board.CodeElsewhere, fmt.Sprintf("this is a copy of %s, which uses the worktrees that are recorded here", original),
		"work in a clone of it: git clone; if this copy is to replace it, move the original away first, then: git liza worktree repair")
}

// blocked refuses a worktree if something else is at its path, or if its branch is checked out
// elsewhere.
func (l layout) blocked(task string) error {
	var r *board.Refusal
	switch {
	case l.linked:
		r = board.Refuse(board.CodeInTheWay, fmt.Sprintf("%s is a symbolic link, and in the way of %s", l.path, task), "move the link elsewhere; if it leads to the worktree of "+task+", move that back")
	case l.theirs != "":
		r = board.Refuse(board.CodeInTheWay, fmt.Sprintf("the worktree %s %s, and is in the way of %s", l.path, l.theirs, task), l.wayOut())
	case l.original != "":
		r = copied(l.original)
	case l.elsewhere != "":
		r = board.Refuse(board.CodeCheckedOut, fmt.Sprintf("%s is checked out in %s", l.branch, l.elsewhere), "check out another branch there")
	case l.crossed != "":
		r = board.Refuse(board.CodeInTheWay, fmt.Sprintf("%s leads to git's record of another worktree, %s", filepath.Join(l.path, ".git"), l.crossed), "git liza worktree repair")
	case l.inTheWay:
		r = board.Refuse(board.CodeInTheWay, fmt.Sprintf("%s is not a worktree of this repository, and in the way of %s", l.path, task), "move it elsewhere; if it is a worktree that git forgot: git liza worktree repair")
	default:
		return nil
	}
	r.Task = task
	return r
}

// wayOut is the hint for a worktree at a task's path that is somebody's.
func (l layout) wayOut() string {
	path := text.Quote(l.path)
	switch {
	case !present(l.path):
		return "mount its disk and move it elsewhere: git worktree move " + path + " NEW-PATH"
	case l.theirs == locked:
		return "ask the person who locked it, then: git worktree unlock " + path
	case l.elsewhere == l.path:
		return "move it elsewhere: git worktree move " + path + " NEW-PATH; if its work is the task's: git liza worktree repair"
	}
	return "move it elsewhere: git worktree move " + path + " NEW-PATH"
}

// has reports whether this clone has a commit; false with an error.
func (s *site) has(ctx context.Context, commit string) (bool, error) {
	if commit == "" {
		return false, nil
	}
	o, err := s.repo.Object(ctx, commit)
	if errors.Is(err, git.ErrNotFound) {
		return false, nil
	}
	return o.Type == plumbing.CommitObject, err
}

// steadyFor limits the steps that follow an operation without its caller.
const steadyFor = 2 * time.Minute

// Steady returns a context for the steps that follow a committed operation. They continue for a
// while after the end of the caller's context, so that less is left to repair.
func Steady(ctx context.Context) (context.Context, context.CancelFunc) { return steady(ctx) }

// steady is another function only in a test that interrupts these steps, too.
var steady = func(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), steadyFor)
}

// listed names up to five of the paths, for a sentence.
func listed(paths []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for _, p := range paths[:min(most, len(paths))] {
		shown = append(shown, text.Line(p, 120))
	}
	line := strings.Join(shown, ", ")
	if more := len(paths) - most; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}
