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
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Project is a project: its board, its repository and the location of its worktrees.
type Project struct {
	Root  string // the main worktree; in a bare repository its own directory, where no worktree is
	Bare  bool
	Clone string // the id of this clone

	b    *gitboard.Board
	repo *git.Repo
}

// Open returns the project of a board.
func Open(ctx context.Context, b *gitboard.Board) (*Project, error) {
	root, rootless := b.Root(ctx)
	clone, nameless := b.Clone().ID(ctx)
	s := &Project{b: b, repo: b.Repo(), Root: cmp.Or(root, b.Repo().CommonDir()), Bare: root == "", Clone: clone}
	return s, errors.Join(rootless, nameless)
}

// Elsewhere reports whether the work of a task is in another clone. A claim that names no clone was
// made before clones had names.
func (s *Project) Elsewhere(t *board.Task) bool { return t.Clone != s.Clone && t.Clone != "" }

// CutShort reports whether an error is no answer: the call was cancelled, or its child was killed.
func CutShort(err error) bool { return errors.Is(err, context.Canceled) || git.Unfinished(err) }

// needFiles refuses what can't be done in a bare repository.
func (s *Project) needFiles(what string) error {
	if !s.Bare {
		return nil
	}
	return board.Refuse(board.CodeBare, what+" needs a working tree; this repository is bare", "do it in a clone that has one: git clone, then git liza share; or, with worktrees beside it: echo 'gitdir: ./"+filepath.Base(s.repo.CommonDir())+"' > .git")
}

// CheckFolder refuses a .worktrees that is not a directory, nil if there is none or it is one.
func (s *Project) CheckFolder() error {
	dir := s.Folder()
	if found, err := os.Lstat(dir); err != nil || found.IsDir() {
		return nil
	}
	return board.Refuse(board.CodeInTheWay, dir+" is not a directory, and worktrees of tasks belong there (git follows a symbolic link, and its hooks find the task by the path)",
		"move it elsewhere; for another disk, mount it there")
}

// Folder is the absolute path of the directory of all tasks' worktrees.
func (s *Project) Folder() string { return s.b.WorktreesFolder(s.Root) }

// Path is the absolute path of a task's worktree.
func (s *Project) Path(task string) string { return filepath.Join(s.Folder(), task) }

// integration returns the commit at the tip of the integration branch.
func (s *Project) integration(ctx context.Context, v *gitboard.View) (plumbing.OID, error) {
	return v.Integration(ctx)
}

// holding returns the tip of integration as a holder of commits, zero if there is none. A symbolic
// ref holds nothing: it is deleted with its target, which may be a task's branch.
func (s *Project) holding(ctx context.Context, v *gitboard.View) (plumbing.OID, error) {
	if s.repo.IsAlias(v.IntegrationRef()) {
		return plumbing.ZeroOID, nil
	}
	return v.IntegrationTip(ctx)
}

// sign returns the signature of an actor as the author of a commit made now.
func (s *Project) sign(ctx context.Context, a board.Actor) (plumbing.Signature, error) {
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

// Slot describes the path of a task's worktree: the occupant, and where else the task's branch is
// checked out.
type Slot struct {
	Path      string
	Ours      bool   // git liza made the worktree at the path
	Theirs    string // the reason for somebody else's worktree at the path, or against replacing ours: a clause; "" otherwise
	InTheWay  bool   // another file or directory is at the path
	Elsewhere string // another worktree with the task's branch checked out

	linked   bool   // a symbolic link is in the way: its target is a person's, even a worktree
	branch   string // the task's
	original string // the repository of the worktree elsewhere, if this one is a copy of it
}

func (s *Project) look(ctx context.Context, v *gitboard.View, task string) (Slot, error) {
	branch := v.TaskBranch(task)
	if !present(s.Path(task)) {
		// There is no worktree, and usually no other place has the branch: reading the HEADs needs no
		// child process.
		tip, err := s.repo.Ref(ctx, plumbing.BranchRef(branch))
		if err != nil {
			return Slot{}, err
		}
		if record := s.repo.Records().Of(s.Path(task)); record != "" && theirs(record, "", "") != "" {
			return s.find(ctx, task, branch) // its disk is not mounted, say
		}
		if tip.IsZero() {
			return Slot{Path: s.Path(task), branch: branch}, nil
		}
		if all, err := s.repo.CheckedOut(ctx, plumbing.BranchRef(branch)); err != nil || len(all) == 0 {
			return s.heldElsewhere(Slot{Path: s.Path(task), branch: branch}), err
		}
	}
	return s.find(ctx, task, branch)
}

// heldElsewhere adds the worktree in which a person rebases or bisects the task's branch.
func (s *Project) heldElsewhere(l Slot) Slot {
	if l.branch == "" || l.Elsewhere != "" {
		return l
	}
	if top, _ := s.repo.Records().InUse(plumbing.BranchRef(l.branch)); top != "" && !SamePath(top, l.Path) && !s.passing(top) {
		l.Elsewhere = top
	}
	return l
}

// find is look by git's list of all worktrees.
func (s *Project) find(ctx context.Context, task, branch string) (Slot, error) {
	if path := s.Path(task); s.HalfMoved(path) {
		if err := s.repo.RepairWorktrees(ctx, path); err != nil {
			return Slot{}, err
		}
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return Slot{}, err
	}
	return s.heldElsewhere(s.slot(all, task, branch, resolved)), nil
}

// place is look for callers that need not know where else the branch is checked out. It asks git
// for all worktrees only if the path may hold something else than the task's worktree. branch ""
// leaves out on which branch the worktree is.
func (s *Project) place(ctx context.Context, task, branch string) (Slot, error) {
	path := s.Path(task)
	if !present(path) {
		return Slot{Path: path}, nil
	}
	record := records.LinkedDir(path)
	if !s.repo.Records().Owns(path) || !records.Made(record) {
		return s.find(ctx, task, branch)
	}
	l := Slot{Path: path, Ours: true, branch: branch}
	attached := ""
	if branch != "" {
		// Without its HEAD it is on no branch.
		head, ref, err := s.repo.Worktree(path).Head(ctx)
		if CutShort(err) {
			return Slot{}, err
		}
		attached = attachedTo(head, ref)
	}
	l.Theirs = theirs(record, attached, branch)
	return l, nil
}

// Slots returns a function that describes the slot of a task, among all worktrees of the
// repository. It resolves each path only once: with many worktrees that takes most of the time.
func (s *Project) Slots(all []git.WorktreeInfo) func(task, branch string) Slot {
	known := map[string]string{}
	return func(task, branch string) Slot {
		return s.slot(all, task, branch, func(path string) string {
			if _, is := known[path]; !is {
				known[path] = resolved(path)
			}
			return known[path]
		})
	}
}

// slot describes the slot of a task. resolved follows symbolic links.
func (s *Project) slot(all []git.WorktreeInfo, task, branch string, resolved func(string) string) Slot {
	l := Slot{Path: s.Path(task), branch: branch, linked: disk.IsLink(s.Path(task))}
	at, known, there := resolved(l.Path), false, git.WorktreeInfo{}
	for _, w := range all {
		switch {
		case resolved(w.Path) == at && !l.linked:
			known, there = true, w
		case branch != "" && w.Branch == plumbing.BranchRef(branch) && !w.Prunable && !s.passing(w.Path):
			l.Elsewhere, l.original = w.Path, s.repo.Records().Original(w.Path)
		}
	}
	_, err := os.Lstat(filepath.Join(l.Path, ".git"))
	l.Ours = known && err == nil
	if known && (l.Ours || !present(l.Path)) {
		record := s.repo.Records().Of(there.Path)
		if l.Ours && strange(l.Path, record) {
			record = ""
		}
		l.Theirs = theirs(record, attachedTo(there.Head, there.Branch), branch)
		if l.Ours = l.Ours && records.Made(record); !l.Ours && l.Theirs != "" && branch != "" && there.Branch == plumbing.BranchRef(branch) {
			l.Elsewhere = l.Path
		}
	}
	if !l.Ours {
		entries, err := os.ReadDir(l.Path)
		_, present := os.Lstat(l.Path)
		l.InTheWay = l.linked || len(entries) > 0 || err != nil && present == nil
	}
	return l
}

// theirs returns a clause on why the worktree of a record, attached to a branch or to none for "",
// is not to be removed or replaced: somebody else made it, locked it, or works on another branch
// than the task's in it. It returns "" if it is ours. This is the only place where that is decided;
// branch "" leaves the branch out.
func theirs(record, attached, branch string) string {
	switch {
	case !records.Made(record):
		return notMade
	case records.Locked(record):
		return locked
	case branch != "" && attached != "" && attached != branch:
		return "is on the branch " + attached
	}
	return ""
}

// strange reports whether what is at the path of a record is another repository, or a worktree of
// one. A damaged .git, which leads nowhere, is not.
func strange(path, record string) bool {
	linked := records.LinkedDir(path)
	return isDir(filepath.Join(path, ".git")) || linked != "" && present(linked) && !SamePath(linked, record)
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
	record := repo.Records().Of(path)
	entries, _ := os.ReadDir(path)
	switch {
	case !present(path) && record == "" || len(entries) == 0 && record == "" && isDir(path):
		return nil
	case records.Initializing(record): // a killed process of ours left it
		return nil
	case record != "" && !disk.IsLink(path) && !strange(path, record):
		l := Slot{Path: path, Theirs: theirs(record, "", "")}
		if l.Theirs == "" {
			return nil
		}
		return board.Refusef(board.CodeInTheWay, "the worktree %s %s, and is in the way", path, l.Theirs).Advise("%s", l.wayOut())
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
func (s *Project) passing(path string) bool {
	name, below := s.InFolder(path)
	return below && strings.HasPrefix(name, ".")
}

// SamePath reports whether two absolute paths name the same place, which need not exist.
func SamePath(a, b string) bool {
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
var repair = board.ActOn("worktree-repair")

func copied(original string) *board.Refusal {
	return board.Refusef(board.CodeElsewhere, "this is a copy of %s, which uses the worktrees that are recorded here", original).
		Advise("work in a clone of it: git clone; if this copy is to replace it, move the original away first, then: %s", repair)
}

// Blocked refuses a worktree if something else is at its path, or if its branch is checked out
// elsewhere.
func (l Slot) Blocked(task string) error {
	var r *board.Refusal
	switch {
	case l.linked:
		r = board.Refuse(board.CodeInTheWay, fmt.Sprintf("%s is a symbolic link, and in the way of %s", l.Path, task), "move the link elsewhere; if it leads to the worktree of "+task+", move that back")
	case l.Theirs != "":
		r = board.Refusef(board.CodeInTheWay, "the worktree %s %s, and is in the way of %s", l.Path, l.Theirs, task).Advise("%s", l.wayOut())
	case l.original != "":
		r = copied(l.original)
	case l.Elsewhere != "":
		r = board.Refuse(board.CodeCheckedOut, fmt.Sprintf("%s is checked out in %s", l.branch, l.Elsewhere), "check out another branch there")
	case l.InTheWay:
		r = board.Refusef(board.CodeInTheWay, "%s is not a worktree of this repository, and in the way of %s", l.Path, task).Advise("move it elsewhere; if it is a worktree that git forgot: %s", repair)
	default:
		return nil
	}
	r.Task = task
	return r
}

// wayOut is the hint for a worktree at a task's path that is somebody's.
func (l Slot) wayOut() board.Hint {
	path := text.Quote(l.Path)
	switch {
	case !present(l.Path):
		return board.Advice("mount its disk and move it elsewhere: git worktree move %s NEW-PATH", path)
	case l.Theirs == locked:
		return board.Advice("ask the person who locked it, then: git worktree unlock %s", path)
	case l.Elsewhere == l.Path:
		return board.Advice("move it elsewhere: git worktree move %s NEW-PATH; if its work is the task's: %s", path, repair)
	}
	return board.Advice("move it elsewhere: git worktree move %s NEW-PATH", path)
}

// Has reports whether this clone has a commit; false with an error.
func (s *Project) Has(ctx context.Context, commit string) (bool, error) {
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

// Listed names up to five of the paths, for a sentence.
func Listed(paths []string) string {
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
