package worktrees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/text"
)

// refusal refuses an operation on a task because of its evidence.
func refusal(code board.ErrorCode, task, hint, format string, args ...any) error {
	return about(code, task, format, args...).Advise("%s", hint)
}

// about is a refusal of an operation on a task, without a hint yet.
func about(code board.ErrorCode, task, format string, args ...any) *board.Refusal {
	r := board.Refusef(code, format, args...)
	r.Task = task
	return r
}

// first are the refusals that matter more to the caller than the state of a worktree.
var first = []board.ErrorCode{board.CodeSession, board.CodePermission, board.CodeWrongState, board.CodeMode, board.CodeUnknownTask}

// preferRefusal returns the board's refusal of an operation if it has one of the codes in first,
// else the evidence's.
func preferRefusal(ctx context.Context, v *gitboard.View, r gitboard.Request, p board.Payload, evidence error) error {
	if found := (*board.Refusal)(nil); !errors.As(evidence, &found) {
		return evidence
	}
	said := (*board.Refusal)(nil)
	if err := v.Plan(ctx, r, p); errors.As(err, &said) && slices.Contains(first, said.Code) {
		return err
	}
	return evidence
}

// glance is the state of a task's worktree, as seen once.
type glance struct {
	Slot
	git.Checkout // of a worktree of ours
	err          error
}

// ahead reads the state of a task's worktree while the board is being read.
type ahead struct {
	s    *Project
	task string
	seen chan glance
}

// begin starts a new look at the worktree.
func (a *ahead) begin(ctx context.Context) {
	seen := make(chan glance, 1)
	a.seen = seen
	go func() { seen <- a.s.glance(ctx, a.task) }()
}

// get waits for the result of begin. It may be called once for each begin.
func (a *ahead) get() glance { return <-a.seen }

func (s *Project) glance(ctx context.Context, task string) (g glance) {
	if !board.ValidTaskID(task) {
		return g // the board knows no such task
	}
	if g.Slot, g.err = s.place(ctx, task, ""); g.err == nil && g.Ours {
		if g.Checkout, g.err = s.repo.Worktree(g.Path).Checkout(ctx); g.err == nil {
			g.Dirty = slices.DeleteFunc(g.Dirty, func(e git.StatusEntry) bool { return s.bornDirty(ctx, g.Path, g.Head, e) })
		}
	}
	return g
}

// bornDirty reports whether a file that git shows as changed has the very bytes of the commit: its
// attributes would store others (CRLF with text, a large file without a pointer), so it is that way
// in every fresh checkout, and nobody changed it.
func (s *Project) bornDirty(ctx context.Context, path string, head plumbing.OID, e git.StatusEntry) bool {
	file := filepath.Join(path, filepath.FromSlash(e.Path))
	if e.Code != " M" || disk.IsLink(file) {
		return false
	}
	committed, err := s.repo.History().FileOID(ctx, head, e.Path)
	data, unread := os.ReadFile(file)
	return err == nil && unread == nil && plumbing.NewObject(plumbing.BlobObject, data).OID == committed
}

// work checks that a task's worktree exists and is clean, on the task's branch and not in the
// middle of a merge or the like, and returns its HEAD.
func (s *Project) work(ctx context.Context, v *gitboard.View, t *board.Task, g glance) (plumbing.OID, error) {
	if err := s.needFiles("work on a task"); err != nil {
		return "", err
	}
	if g.err != nil {
		return "", g.err
	}
	if !g.Ours {
		if s.Elsewhere(t) {
			return "", refusal(board.CodeElsewhere, t.ID, "do it there", "the worktree of %s is in another clone", t.ID)
		}
		return "", about(board.CodeMissing, t.ID, "the worktree of %s is missing", t.ID).Way(board.ActOn("worktree-create", t.ID))
	}
	if open := Midst(g.Path); open != "" {
		return "", refusal(board.CodeDirty, t.ID, "there: "+finishing(open), "git %s is not finished in %s", open, board.WorktreeOf(t.ID))
	}
	if err := clean(v, t.ID, g.Checkout, board.Advice("commit or remove them, then try again")); err != nil {
		return "", err
	}
	if g.Branch != v.TaskRef(t.ID) {
		hint, err := s.WayBack(ctx, v, t.ID, g.Branch, g.Head)
		if err != nil {
			return "", err
		}
		return "", refusal(board.CodeStale, t.ID, hint, "%s is on %s, not on %s", board.WorktreeOf(t.ID), orDetached(g.Branch), v.TaskBranch(t.ID))
	}
	return g.Head, nil
}

// WayBack is the way for a worktree back to its task's branch. If HEAD is on no branch and has
// commits that the task's lacks, as after `git rebase --quit`, they may exist only on HEAD.
func (s *Project) WayBack(ctx context.Context, v *gitboard.View, task, branch string, head plumbing.OID) (hint string, err error) {
	in := "git -C " + board.WorktreeOf(task)
	hint = in + " checkout " + v.TaskBranch(task)
	if branch != "" {
		return hint, nil
	}
	tip, err := s.repo.Ref(ctx, v.TaskRef(task))
	if err != nil {
		return "", err
	}
	held, err := s.heldBy(ctx, head, []plumbing.OID{tip})
	if !held {
		hint += ", then, for its own commits: " + in + " merge " + head.Short()
	}
	return hint, err
}

func orDetached(branch string) string {
	if branch == "" {
		return "a detached HEAD"
	}
	return plumbing.BranchName(branch)
}

// clean refuses a worktree with uncommitted changes or whose branch is missing. In the latter case
// git sees every file as new, and a commit would begin an unrelated history.
func clean(v *gitboard.View, task string, c git.Checkout, hint board.Hint) error {
	switch {
	case c.Branch == v.TaskRef(task) && c.Head.IsZero():
		return about(board.CodeMissing, task, "the branch %s is missing", v.TaskBranch(task)).Way(board.ActOn("doctor"))
	case len(c.Dirty) > 0:
		return about(board.CodeDirty, task, "the worktree of %s has changes that are not committed: %s", task, Listed(paths(c.Dirty))).Advise("%s", hint)
	}
	return nil
}

// paths lists the files, each once: git has two entries for a file that was taken out of the index
// and still exists.
func paths(entries []git.StatusEntry) []string {
	list, known := []string{}, map[string]bool{}
	for _, e := range entries {
		if !known[e.Path] {
			known[e.Path] = true
			list = append(list, e.Path)
		}
	}
	return list
}

// Midst names the git command that is unfinished in a worktree, "" for none (gitrepository-layout).
func Midst(path string) string {
	dir := records.LinkedDir(path)
	if dir == "" {
		return ""
	}
	for _, open := range []struct{ file, what string }{
		{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply/applying", "am"}, {"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, open.file)); err == nil {
			return open.what
		}
	}
	// Of several commits, git keeps in a file which ones follow, also after the current one was
	// committed by hand.
	todo, _ := os.ReadFile(filepath.Join(dir, "sequencer", "todo")) // without it, no command remains
	switch verb, _, _ := strings.Cut(string(todo), " "); verb {
	case "pick", "p":
		return "cherry-pick"
	case "revert":
		return "revert"
	}
	return ""
}

// finishing is the way to finish a git command that Midst has named.
func finishing(open string) string {
	return "resolve its conflicts, git add, then git " + open + " --continue"
}

// named resolves a commit that a person gave, abbreviated or as any revision. expected is the
// commit that it should be, and that a short form is compared with first.
func (s *Project) named(ctx context.Context, rev string, expected plumbing.OID) (plumbing.OID, error) {
	const shortest = 4
	if short := strings.ToLower(rev); len(short) >= shortest && strings.HasPrefix(string(expected), short) {
		return expected, nil
	}
	oid, err := s.repo.ResolveCommit(ctx, rev)
	if errors.Is(err, git.ErrNotFound) {
		return "", board.Refuse(board.CodeStale, fmt.Sprintf("%q is not a commit here", text.Line(rev, 60)), "the commit is "+string(expected))
	}
	if err != nil || oid == expected {
		return oid, err
	}
	o, err := s.repo.Object(ctx, string(oid))
	if err != nil {
		return "", err
	}
	c, err := plumbing.DecodeCommit(o)
	return c.Carried(), err
}

// Recordable returns the paths that a record can hold, at most max of them.
func Recordable(paths []string, max int) []string {
	var fit []string
	for _, p := range paths {
		if len(fit) < max && utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl) && !strings.ContainsRune(p, '\uFEFF') {
			fit = append(fit, p)
		}
	}
	return fit
}
