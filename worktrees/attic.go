package worktrees

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// kept is the part of a task's work that an operation puts into the attic.
type kept struct {
	commit plumbing.OID         // the newest of the work; "" when there is nothing to keep
	refs   []plumbing.RefUpdate // create the attic's refs
	trees  []plumbing.OID       // the trees that the worktree held
	head   plumbing.OID         // the commit that it had checked out
	which  string               // the worktree's identity, "" for none
	seen   string               // the identity at its path, also of somebody else's
	tip    plumbing.OID         // the tip of the task's branch; zero for none
	owned  bool                 // the branch holds the task's work, not a person's
	at     Slot
}

// keep finds the work that would be lost with a task's branch and worktree, commits that
// integration lacks, uncommitted files and changes put aside for a rebase or merge, and how the
// attic will hold it. It writes only objects.
func (s *Project) keep(ctx context.Context, v *gitboard.View, task string, actor board.Actor) (*kept, error) {
	k := &kept{owned: owned(v, task)}
	var err error
	if k.at, err = s.look(ctx, v, task); err != nil {
		return nil, err
	}
	k.seen = identity(k.at.Path)
	if k.tip, err = s.repo.Ref(ctx, v.TaskRef(task)); err != nil {
		return nil, err
	}
	var wanted, beside []plumbing.OID
	if k.at.Ours && k.at.Theirs == "" {
		k.which = identity(k.at.Path)
		work, err := s.take(ctx, v, k.at.Path, k.at.Path, task, actor, nil)
		if err != nil && identity(k.at.Path) != k.which {
			return nil, fmt.Errorf("%w: the worktree of %s went while it was read (%w)", errChanged, task, err)
		}
		if err != nil {
			return nil, err
		}
		k.trees, k.head = append(k.trees, work.tree), work.head
		wanted, beside = append(wanted, work.commit), work.beside
	}
	if k.owned && !k.tip.IsZero() {
		wanted = append(wanted, k.tip)
	}
	wanted = append(wanted, beside...)
	if len(wanted) == 0 {
		return k, nil
	}
	landed, err := s.holding(ctx, v)
	if err != nil {
		return nil, err
	}
	attic, err := s.attic(ctx, task)
	if err != nil {
		return nil, err
	}
	next := attic.next
	holders := []plumbing.OID{landed}
	for _, commit := range wanted {
		held, err := s.heldBy(ctx, commit, holders)
		if err != nil {
			return nil, err
		}
		if held {
			continue
		}
		holders = append(holders, commit)
		if k.commit == "" {
			k.commit = commit
		}
		if !slices.Contains(attic.commits, commit) {
			k.refs = append(k.refs, plumbing.RefUpdate{Ref: plumbing.AtticRef(task, next), Old: plumbing.ZeroOID, New: commit})
			next++
		}
	}
	return k, nil
}

// stands returns errChanged if something has changed that work was kept by. It writes nothing.
// Later changes of the worktree's files are kept when it is cleared away.
func (s *Project) stands(ctx context.Context, v *gitboard.View, task string, k *kept) error {
	tip, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil {
		return err
	}
	if tip != k.tip || owned(v, task) != k.owned || k.at.branch != v.TaskBranch(task) || identity(k.at.Path) != k.seen {
		return errChanged
	}
	for _, u := range k.refs {
		if taken, err := s.repo.Ref(ctx, u.Ref); err != nil || !taken.IsZero() {
			return cmp.Or(err, errChanged)
		}
	}
	return nil
}

// owned reports whether the branch with a task's name is the task's work. Before the task's first
// claim it isn't.
func owned(v *gitboard.View, task string) bool {
	t := v.State.Task(task)
	return t == nil || t.Begun()
}

// take returns the content of a worktree, and refuses one that a commit can't hold, as refuseNested
// does. before is the part that was kept already; nil for none.
func (s *Project) take(ctx context.Context, v *gitboard.View, path, lies, task string, actor board.Actor, before *kept) (work, error) {
	c, err := s.refuseNested(ctx, path, lies, task)
	if err != nil {
		return work{}, err
	}
	large := untracked(path, c.Dirty, v.State.Config().AtticMaxMB)
	w, err := s.snapshot(ctx, path, task, actor, c, large...)
	if err != nil {
		return work{}, err
	}
	w.large = large
	if w.beside, err = s.repo.Worktree(path).OwnCommits(ctx); err != nil {
		return work{}, err
	}
	head := c.Head
	if before != nil { // the branch was dropped or reset since
		head = before.head
	}
	if head.IsZero() {
		return w, nil
	}
	staged, err := s.staged(ctx, path, task, actor, c, head, w.commit)
	if !staged.IsZero() {
		w.beside = append(w.beside, staged)
	}
	return w, err
}

// untracked lists the untracked files of a worktree that are larger than the attic takes.
func untracked(path string, dirty []git.StatusEntry, maxMB int) (large []string) {
	for _, e := range dirty {
		info, err := os.Lstat(filepath.Join(path, filepath.FromSlash(e.Path)))
		if e.Untracked() && err == nil && info.Mode().IsRegular() && info.Size() > int64(maxMB)<<20 {
			large = append(large, e.Path)
		}
	}
	return large
}

// staged stores what is staged in a worktree as a commit, if neither the commit that was checked out
// nor a snapshot of the files has it, and the attic neither; zero if there is no such content, and
// with an error. In the middle of a conflict it is not stored.
func (s *Project) staged(ctx context.Context, path, task string, actor board.Actor, seen git.Checkout, head, files plumbing.OID) (plumbing.OID, error) {
	if !slices.ContainsFunc(seen.Dirty, git.StatusEntry.StagedAlone) || slices.ContainsFunc(seen.Dirty, git.StatusEntry.Unmerged) {
		return plumbing.ZeroOID, nil
	}
	who, err := s.sign(ctx, actor)
	if err != nil {
		return "", err
	}
	commit, err := s.repo.Worktree(path).StagedSnapshot(ctx, stagedMessage(task), who)
	if err != nil {
		return "", fmt.Errorf("keep what is staged in %s: %w", path, err)
	}
	staged, err := s.repo.History().ChangedFiles(ctx, head, commit)
	if err != nil {
		return "", err
	}
	others, err := s.repo.History().ChangedFiles(ctx, files, commit)
	if err != nil || !slices.ContainsFunc(staged, func(path string) bool { return slices.Contains(others, path) }) {
		return plumbing.ZeroOID, err
	}
	return s.unlessKept(ctx, task, commit)
}

// unlessKept returns zero in place of a commit whose files the attic has.
func (s *Project) unlessKept(ctx context.Context, task string, commit plumbing.OID) (plumbing.OID, error) {
	tree, err := s.treeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	attic, err := s.attic(ctx, task)
	if err != nil {
		return "", err
	}
	for _, c := range attic.commits {
		if kept, err := s.treeOf(ctx, c); kept == tree || err != nil {
			return plumbing.ZeroOID, err
		}
	}
	return commit, nil
}

// stagedMessage is the message of a commit of staged files in the worktree of a task.
func stagedMessage(task string) string {
	return "Work on " + task + " that was staged, and is not in the files\n\nLiza-Task: " + task + "\n"
}

// work is the content of a worktree.
type work struct {
	head   plumbing.OID // the commit checked out; zero without the branch
	commit plumbing.OID // head plus uncommitted changes; head itself when there are none
	tree   plumbing.OID
	beside []plumbing.OID // commits of what else git's record of the worktree alone holds
	large  []string       // untracked files that the attic does not take
}

// snapshot stores the content of a worktree, except the files in leaving, as a commit that no ref points to yet. seen is what the
// worktree held a moment ago.
func (s *Project) snapshot(ctx context.Context, path, task string, actor board.Actor, seen git.Checkout, leaving ...string) (work, error) {
	if len(seen.Dirty) == 0 && !seen.Head.IsZero() {
		tree, err := s.treeOf(ctx, seen.Head)
		return work{head: seen.Head, commit: seen.Head, tree: tree}, err
	}
	who, err := s.sign(ctx, actor)
	if err != nil {
		return work{}, err
	}
	w := work{}
	if w.head, _, err = s.repo.Worktree(path).Head(ctx); err != nil {
		return w, err
	}
	if w.commit, err = s.repo.Worktree(path).Snapshot(ctx, "Work on "+task+" that was not committed\n\nLiza-Task: "+task+"\n", who, leaving...); err != nil {
		return w, fmt.Errorf("keep the files of %s: %w", path, err)
	}
	if w.commit.IsZero() {
		return w, nil // it does not exist
	}
	w.tree, err = s.treeOf(ctx, w.commit)
	return w, err
}

func (s *Project) treeOf(ctx context.Context, commit plumbing.OID) (plumbing.OID, error) {
	o, err := s.repo.Object(ctx, string(commit)+"^{tree}")
	return o.OID, err
}

// refuseNested refuses to lose a repository inside a worktree that has work which is in none of its
// commits, or that git does not track: a commit records only its id. It returns the state of the
// worktree. lies is where the caller finds the worktree, which may be at another path right now.
// Commits are no reason to refuse, staged or not: removeWorktree keeps the repository that has
// them, also in an ignored folder.
func (s *Project) refuseNested(ctx context.Context, path, lies, task string) (git.Checkout, error) {
	c, err := s.repo.Worktree(path).Checkout(ctx)
	if damaged := (*git.DamagedIndexError)(nil); errors.As(err, &damaged) {
		damaged.Worktree = lies
	}
	if err != nil {
		return c, err
	}
	for _, e := range c.Dirty {
		if e.Code[1] == ' ' {
			continue
		}
		at := filepath.Join(path, filepath.FromSlash(e.Path))
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil && !disk.IsLink(at) {
			r := board.Refuse(board.CodeNested, fmt.Sprintf("%s in the worktree of %s is a repository of its own with work in it, which the attic can't hold", text.Line(e.Path, 120), task), "push its work or move it elsewhere: it lies in "+text.Line(filepath.Join(lies, filepath.FromSlash(e.Path)), 300))
			r.Task = task
			return c, r
		}
	}
	return c, nil
}

// heldBy reports whether a commit needs no ref of its own: it is zero, or an ancestor of one of the
// holders.
func (s *Project) heldBy(ctx context.Context, commit plumbing.OID, holders []plumbing.OID) (bool, error) {
	if commit.IsZero() {
		return true, nil
	}
	for _, h := range holders {
		if h.IsZero() {
			continue
		}
		if has, err := s.repo.History().IsAncestor(ctx, commit, h); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// attic is the kept work of a task, oldest first.
type attic struct {
	commits []plumbing.OID
	next    int // the number of the next ref
}

func (s *Project) attic(ctx context.Context, task string) (attic, error) {
	numbers, refs, err := s.numbered(ctx, plumbing.AtticPrefix+task)
	a := attic{next: 1}
	for _, n := range numbers {
		a.commits = append(a.commits, refs[n])
		a.next = n + 1
	}
	return a, err
}

// numbered lists the refs <prefix>/<n> in numerical order.
func (s *Project) numbered(ctx context.Context, prefix string) ([]int, map[int]plumbing.OID, error) {
	refs, err := s.repo.Refs(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	var numbers []int
	at := map[int]plumbing.OID{}
	for _, r := range refs {
		if n, err := strconv.Atoi(strings.TrimPrefix(r.Name, prefix+"/")); err == nil && (r.Type == plumbing.CommitObject || r.Type == "") {
			numbers = append(numbers, n)
			at[n] = r.OID
		}
	}
	slices.Sort(numbers)
	return numbers, at, nil
}

// dropBranch returns the update that deletes a task's branch along with an operation. It returns
// none if there is no branch, or if the branch belongs to a person who has checked it out
// elsewhere, works in the task's worktree, or made the branch for something else.
func (k *kept) dropBranch() []plumbing.RefUpdate {
	if k.tip.IsZero() || !k.owned || k.at.Elsewhere != "" || k.at.Theirs != "" {
		return nil
	}
	return []plumbing.RefUpdate{{Ref: plumbing.BranchRef(k.at.branch), Old: k.tip, New: plumbing.ZeroOID}}
}

// keepAgain puts the content of a worktree into the attic unless something already holds it. lies
// is where the caller finds the worktree if it can't be kept. large lists the untracked files that
// are too large for the attic.
func (s *Project) keepAgain(ctx context.Context, v *gitboard.View, task, path, lies string, actor board.Actor, before *kept) (large []string, err error) {
	w, err := s.take(ctx, v, path, lies, task, actor, before)
	if err != nil {
		return nil, err
	}
	ignored, err := s.ignored(ctx, v, task, path, actor)
	if err != nil {
		return nil, err
	}
	for _, commit := range append(w.beside, ignored) {
		if err := s.keepCommit(ctx, task, commit); err != nil {
			return nil, err
		}
	}
	if before != nil && slices.Contains(before.trees, w.tree) || w.commit.IsZero() {
		return w.large, nil
	}
	return w.large, s.b.Try(ctx, "keeping the work of "+task, func(ctx context.Context) (bool, error) {
		lasting, err := s.lasting(ctx, v, task)
		if err != nil || w.commit == w.head && slices.Contains(lasting, w.head) {
			return true, err
		}
		attic, err := s.attic(ctx, task)
		if err != nil {
			return false, err
		}
		if held, err := s.held(ctx, task, w, attic, lasting); held || err != nil {
			return held, err
		}
		return s.moved(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef(task, attic.next), Old: plumbing.ZeroOID, New: w.commit}})
	})
}

// ignored stores the files of a worktree that git ignores as a commit, except those that are easily
// made again: Config.Remade selects them, or the main worktree has the same file. Files that the bound
// attic_max_mb excludes are noted. It returns zero if no file is left, or if the attic has them.
func (s *Project) ignored(ctx context.Context, v *gitboard.View, task, path string, actor board.Actor) (plumbing.OID, error) {
	c := v.State.Config()
	files, err := s.repo.Worktree(path).Ignored(ctx, c.Remade)
	if err != nil {
		return "", err
	}
	sort.SliceStable(files, func(i, j int) bool { return files[i].Bytes < files[j].Bytes })
	var kept []git.IgnoredFile
	var large []string
	room := int64(c.AtticMaxMB) << 20
	for _, f := range files {
		if same(filepath.Join(path, f.Path), filepath.Join(s.Root, f.Path), f.Bytes) {
			continue
		}
		if room -= f.Bytes; room < 0 {
			large = append(large, f.Path)
			continue
		}
		kept = append(kept, f)
	}
	if len(large) > 0 {
		s.b.Mention(fmt.Sprintf("not kept of %s, ignored by git and beyond attic_max_mb: %s", task, Listed(large)))
	}
	if len(kept) == 0 {
		return plumbing.ZeroOID, nil
	}
	who, err := s.sign(ctx, actor)
	if err != nil {
		return "", err
	}
	commit, err := s.repo.Worktree(path).KeepIgnored(ctx, kept, "Files of "+task+" that git ignores\n\nLiza-Task: "+task+"\n", who)
	if err != nil {
		return "", fmt.Errorf("keep the files of %s that git ignores: %w", path, err)
	}
	return s.unlessKept(ctx, task, commit)
}

// same reports whether two files of a size have the same content.
func same(a, b string, size int64) bool {
	if info, err := os.Lstat(b); err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false
	}
	one, err := os.ReadFile(a)
	two, failed := os.ReadFile(b)
	return err == nil && failed == nil && bytes.Equal(one, two)
}

// lasting returns the tips of the task's branch and of integration.
func (s *Project) lasting(ctx context.Context, v *gitboard.View, task string) ([]plumbing.OID, error) {
	branch, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil {
		return nil, err
	}
	landed, err := s.holding(ctx, v)
	return []plumbing.OID{branch, landed}, err
}

// held reports whether the attic, a submission, the branch or integration already holds the content
// of a worktree.
func (s *Project) held(ctx context.Context, task string, w work, attic attic, lasting []plumbing.OID) (bool, error) {
	for _, c := range attic.commits {
		if tree, err := s.treeOf(ctx, c); tree == w.tree || err != nil {
			return err == nil, err
		}
	}
	if w.commit != w.head {
		return false, nil
	}
	_, reviews, err := s.numbered(ctx, plumbing.ReviewPrefix+task)
	if err != nil {
		return false, err
	}
	holders := slices.Concat(lasting, attic.commits)
	for _, c := range reviews {
		holders = append(holders, c)
	}
	return s.heldBy(ctx, w.head, holders)
}
