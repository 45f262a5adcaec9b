package hooks

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// symbolic begins the new value of a ref that becomes a symbolic ref (githooks). Git before 2.46
// asks no hook about those.
const symbolic = "ref:"

// Move is a line that git passes to the reference-transaction or pre-receive hook (githooks), and
// the state of the ref at that moment. Old may be zero even if the ref exists, so use Now instead.
type Move struct {
	Ref, Old, New string
	Now           string // where the ref is, all zeros if it doesn't exist
	Packed        bool   // Old is the value in packed-refs
}

// ReadMoves reads git's lines about refs: old value, new value, ref (githooks).
func ReadMoves(r io.Reader) ([]Move, error) {
	var moves []Move
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if fields := strings.SplitN(lines.Text(), " ", 3); len(fields) == 3 {
			moves = append(moves, Move{Old: fields[0], New: fields[1], Ref: fields[2]})
		}
	}
	return moves, lines.Err()
}

// idle reports whether a transaction does not change the ref: it is added to packed-refs, its loose
// form is pruned, or it stays where it is. A real deletion first appears as zeros to zeros, when
// git drops the ref from packed-refs.
func (m Move) idle() bool {
	if zero(m.New) {
		return zero(m.Now) || !zero(m.Old) && m.Packed
	}
	return m.New == m.Now
}

// Busy returns the moves that change something.
func Busy(moves []Move) []Move {
	var busy []Move
	for _, m := range moves {
		if !m.idle() {
			busy = append(busy, m)
		}
	}
	return busy
}

func zero(oid string) bool { return strings.Trim(oid, "0") == "" }

// free are the refs that anyone may move in worktrees: git's own bookkeeping, and the last known
// refs of other repositories.
var free = []string{plumbing.RemotesPrefix, plumbing.BisectPrefix, plumbing.WorktreePrefix, plumbing.RewrittenPrefix, plumbing.PrefetchPrefix}

// Free reports whether any agent may move a ref, whatever is on the board. main means that git runs
// in the main worktree.
func Free(ref string, main bool) bool {
	if !strings.HasPrefix(ref, plumbing.RefsPrefix) {
		return !strings.Contains(ref, "/") && !(main && ref == "HEAD")
	}
	return slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(ref, prefix) })
}

// ReferenceTransaction refuses the first move that the agent may not make. s is the board, nil if
// it can't be read.
func ReferenceTransaction(w Who, s *board.State, moves []Move) *board.Refusal {
	for _, m := range moves {
		if Free(m.Ref, w.Main) || m.idle() {
			continue
		}
		if r := move(w, s, m); r != nil {
			return r
		}
	}
	return nil
}

func move(w Who, s *board.State, m Move) *board.Refusal {
	ref := m.Ref
	name := plumbing.BranchName(ref)
	task, ofTask := taskOf(w, s, name)
	switch {
	case ref == "HEAD":
		return refuse(board.CodePermission, "work in the worktree of your task", "%s may not move HEAD of the main worktree: it is the human's", w)
	case strings.HasPrefix(ref, plumbing.BoardPrefix):
		return board.Refusef(board.CodePermission, "%s is moved by git liza alone", name).Advise("%s: every change of the board is a command", board.ActOn("help"))
	case strings.HasPrefix(ref, plumbing.OwnPrefix):
		return board.Refusef(board.CodePermission, "%s is kept by git liza alone", ref).Advise("leave it; %s looks after what a crash left", board.ActOn("doctor"))
	case strings.HasPrefix(ref, plumbing.HeadsPrefix) && ofTask:
		return branchMove(w, s, m, name, task)
	case strings.HasPrefix(ref, plumbing.HeadsPrefix) && name == integrationOf(s):
		return board.Refusef(board.CodePermission, "%s moves by a merge of approved work, or by a human's land; not by %s", name, w).Advise("%s", towardsIntegration(w))
	case strings.HasPrefix(ref, plumbing.HeadsPrefix):
		return board.Refusef(board.CodePermission, "%s is not a task's branch, and agents move no other", name).Advise("commit on the branch of your task: %s shows which", board.ActOn("prime"))
	case ref == plumbing.StashRef:
		return refuse(board.CodePermission, "commit on the branch of your task instead: what is a draft can be amended", "stashes are shared by all worktrees: another would pop yours")
	case strings.HasPrefix(ref, plumbing.TagsPrefix):
		return refuse(board.CodePermission, "leave tags to a human; fetch with --no-tags", "%s sets and moves no tags", w)
	}
	return refuse(board.CodePermission, "leave it to a human", "%s may not move %s", w, ref)
}

func integrationOf(s *board.State) string {
	if s == nil {
		return ""
	}
	if c := s.Config(); c != nil {
		return c.IntegrationBranch
	}
	return ""
}

func towardsIntegration(w Who) board.Hint {
	switch {
	case w.Role == roles.CodeReviewer:
		return board.Advice("%s, once the task is APPROVED", board.ActOn("merge", "ID"))
	case w.Role == roles.Coder && w.Task != "":
		return board.ActOn("submit", w.Task).Hint()
	case w.ID == "":
		return board.Advice("as a human, at the project's root: %s", board.ActOn("land", "COMMIT"))
	}
	return board.ActOn("status").Hint()
}

// taskOf returns the task that a branch belongs to. While the board can't be read, a branch that
// ends in the id of the worktree's task counts as its branch: an unreadable board must not stop
// work.
func taskOf(w Who, s *board.State, branch string) (id string, is bool) {
	if s == nil || s.Config() == nil {
		return w.Task, w.Task != "" && strings.HasSuffix(branch, "/"+w.Task)
	}
	return strings.CutPrefix(branch, string(s.TaskBranches()))
}

// branchMove refuses what must not happen to the branch of a task.
func branchMove(w Who, s *board.State, m Move, branch, task string) *board.Refusal {
	if r := taskMove(w, s, branch, task); r != nil {
		return r
	}
	if to, is := strings.CutPrefix(m.New, symbolic); is {
		return refuse(board.CodePermission, "leave it a branch: git switch, git merge and git rebase do what is needed", "%s is not made another name of %s, which would go with it", branch, to)
	}
	if !zero(m.New) {
		return w.Again()
	}
	// This also refuses a rename: git drops the old name before it asks about the new one.
	return refuse(board.CodePermission, "commit on it; git liza drops it when the task is over", "%s stays as long as its task", branch)
}

// taskMove refuses moves of a task's branch by anyone but the holder. A human may commit in the
// task's worktree.
func taskMove(w Who, s *board.State, branch, id string) *board.Refusal {
	if w.ID == "" {
		if w.Task == id {
			return nil
		}
		return refuse(board.CodePermission, "do it as a human at the project's root", "%s nobody moves %s", w.where(), branch)
	}
	if s == nil {
		return nil // an unreadable board must not stop work
	}
	t := s.Task(id)
	switch {
	case s.Err() != nil:
		return nil
	case t == nil:
		return board.Refusef(board.CodeUnknownTask, "there is no task %s, so %s is nobody's branch", id, branch).Way(board.ActOn("prime"))
	case w.Role != roles.Coder:
		return board.Refusef(board.CodePermission, "%s is moved by the coder who holds %s, and %s is a %s", branch, id, w.ID, w.Role).Way(board.ActOn("show", id))
	case t.AssignedTo != w.ID:
		return board.Refusef(board.CodePermission, "%s does not hold %s (%s), so %s is not its branch", w.ID, id, describe(t), branch).Way(board.ActOn("prime"))
	case t.Status != board.Claimed:
		hint := board.ActOn("show", id).Hint()
		if t.Status == board.ReadyForReview {
			hint = board.Advice("%s, as long as nobody reviews it", board.ActOn("withdraw", id))
		}
		return board.Refusef(board.CodeWrongState, "%s is %s: its branch stays as it is", id, t.Status).Advise("%s", hint)
	}
	return w.replaced(s)
}

func describe(t *board.Task) string {
	if t.AssignedTo == "" {
		return string(t.Status)
	}
	return fmt.Sprintf("%s, %s's", t.Status, t.AssignedTo)
}
