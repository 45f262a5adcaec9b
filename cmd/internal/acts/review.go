package acts

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// ClaimReview claims a submission for review: of the given task, or of the next one for "".
func ClaimReview(ctx context.Context, c *call.Call, id string) (call.Result, error) {
	before := ""
	r, err := call.One(c.Do(ctx, "claim-review", func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		id := id
		if id == "" {
			id = board.NextReview(v.State, cmp.Or(c.AgentID(), roles.HumanID), nil, func(holder string, _ board.Brief) bool { return v.Takeable(ctx, holder, 0) })
		}
		if t := v.State.Task(id); t != nil {
			before = t.ReviewingAs
		}
		if id != "" {
			return &board.ClaimReview{About: board.About{Task: id}}, nil, nil
		}
		if err := v.State.Err(); err != nil {
			return nil, nil, err
		}
		if tasks := v.State.Tasks(); len(tasks) > 0 && v.State.Control().Mode != board.Running {
			return &board.ClaimReview{About: board.About{Task: tasks[0].ID}}, nil, nil // refused by the mode
		}
		what := "nothing waits for a review"
		if role, _ := c.Role(ctx); role == roles.Coder {
			what += " by a coder"
		}
		return nil, nil, board.Refuse(board.CodeNoWork, what, "git liza status")
	}))
	if err != nil {
		return r, err
	}
	done := r.Done[0]
	t := done.After.Task(done.Op.TaskID())
	if _, err := worktrees.ForReview(ctx, c.Board, done.View, t); err != nil {
		return r, fmt.Errorf("%s is yours to review, but its worktree could not be made here (git liza review %s tries again): %w", t.ID, t.ID, err)
	}
	r.Extra = map[string]any{"review_commit": t.ReviewCommit, "review_base": t.ReviewBase, "author": t.AssignedTo}
	r.Next = "next: git liza review " + t.ID
	if before != "" && before != t.ReviewingAs {
		r.Lines = []string{"taken over from " + before}
	}
	return r, nil
}

// Judge gives a verdict. With take the review is claimed first, unless the verdict would be refused.
// With an error, the result is the claim if it was made.
func Judge(ctx context.Context, c *call.Call, r worktrees.VerdictRequest, take bool) (call.Result, error) {
	actor, err := c.Actor(ctx, "verdict")
	if err != nil {
		return call.Result{}, err
	}
	r.Request = gitboard.Request{Actor: actor, ID: c.Request, AllowSecret: c.AllowSecret}
	var before []*gitboard.Done
	if take {
		v, err := c.View(ctx)
		if err != nil {
			return call.Result{}, err
		}
		t, err := v.State.FindTask(r.Task)
		if err != nil {
			return call.Result{}, err
		}
		p, err := r.Payload(ctx, c.Board, t)
		if err == nil {
			err = dry(ctx, c, v, &board.ClaimReview{About: board.About{Task: r.Task}}, p)
		}
		if err != nil {
			return call.Result{}, err
		}
		c.Request = call.Numbered(r.Request.ID, 1)
		claimed, err := ClaimReview(ctx, c, r.Task)
		if err != nil {
			return claimed, err
		}
		before = claimed.Done
	}
	result, err := call.One(worktrees.Verdict(ctx, c.Board, r))
	if err != nil {
		return call.Result{Done: before}, err
	}
	after := result.Done[0].After
	switch t := after.Task(r.Task); {
	case t.Status == board.Approved && !c.App.Supervised() && board.May(actor.Role, "merge"):
		result.Next = "next: git liza merge " + t.ID
	case t.Status == board.Approved && actor.Role == roles.Human:
		result.Next = "next: a reviewer merges it; if none runs: git liza agent " + roles.CodeReviewer.Prefix()
	case t.Status == board.ReadyForReview:
		result.Lines = []string{"it stays READY_FOR_REVIEW: " + board.ProgressOf(after, t).String()}
	}
	return result, nil
}

// Comment comments on a line of a submission. The commit may be abbreviated.
func Comment(ctx context.Context, c *call.Call, r gitboard.CommentRequest) (call.Result, error) {
	actor, err := c.Actor(ctx, "comment")
	if err != nil {
		return call.Result{}, err
	}
	if r.Commit != "" {
		full, err := c.Board.Repo().ResolveCommit(ctx, r.Commit)
		if err != nil {
			return call.Result{}, err
		}
		r.Commit = string(full)
	}
	r.Request = c.Asks(actor)
	return call.One(c.Board.Comment(ctx, r))
}

// Release ends a claim on a task: of its coder, its reviewer, or with "both" of whoever holds it.
func Release(ctx context.Context, c *call.Call, task, role, reason string, force bool) (call.Result, error) {
	v, err := c.View(ctx)
	if err != nil {
		return call.Result{}, err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return call.Result{}, err
	}
	if role != "coder" && role != "reviewer" && role != "both" {
		return call.Result{}, call.NoHolder(role)
	}
	if held := map[board.Status]string{board.Claimed: "coder", board.ReadyForReview: "reviewer"}[t.Status]; held != "" && role != "both" && role != held {
		return call.Result{}, board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: no %s has a claim on it", t.ID, t.Status, role), "git liza show "+t.ID)
	}
	return c.Ending(ctx, &board.Release{About: board.About{Task: t.ID}, Reason: reason, Force: force})
}

// Block stops a task until a planner or a human has looked at it.
func Block(ctx context.Context, c *call.Call, p *board.Block) (call.Result, error) {
	if p.Reason == "" && c.AgentID() == "" {
		p.Reason = board.HumanOverride
	}
	return call.One(c.Do(ctx, "block", func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(p.Task)
		if err != nil {
			return nil, nil, err
		}
		published, err := worktrees.Share(ctx, c.Board, v, t)
		return p, published, err
	}))
}

// Answer answers the questions of a BLOCKED task, or a note.
func Answer(ctx context.Context, c *call.Call, p *board.Answer) (call.Result, error) {
	v, err := c.View(ctx)
	if err != nil {
		return call.Result{}, err
	}
	if v.State.Task(p.Task) == nil && strings.HasPrefix(p.Task, "note-") {
		p.Note, p.Task = p.Task, ""
		return c.Doing(ctx, p)
	}
	return becomes(c.Ending(ctx, p))
}

// Unblock lets a BLOCKED task continue. Next is how to answer a question that is left open.
func Unblock(ctx context.Context, c *call.Call, p *board.Unblock) (call.Result, error) {
	r, err := becomes(c.Ending(ctx, p))
	if err != nil {
		return r, err
	}
	if t := r.Done[0].After.Task(p.Task); t != nil {
		if e := t.Last(board.EventUnblocked); e != nil && len(e.Questions) > 0 && p.Assessment == "" {
			r.Next = text.Plural(len(e.Questions), "question") + " left open; to answer: git liza note --for " + t.ID + " TEXT"
		}
	}
	return r, nil
}

// becomes adds what happened to the work of a task that was unblocked.
func becomes(r call.Result, err error) (call.Result, error) {
	if err != nil {
		return r, err
	}
	after := r.Done[0].After
	if t := after.Task(r.Done[0].Op.TaskID()); t != nil {
		text := workOf(after, t)
		r.Lines, r.Extra = []string{text}, map[string]any{"work": text}
	}
	return r, nil
}

// workOf describes what happened to a task's work when it was unblocked, "" if there was none.
func workOf(s *board.State, t *board.Task) string {
	branch := s.TaskBranches().Of(t.ID)
	e := t.Last(board.EventUnblocked)
	switch {
	case e == nil:
		return ""
	case e.Kept != "":
		return fmt.Sprintf("its work is kept as %.10s (git log %.10s); the next coder starts over", e.Kept, e.Kept)
	case t.Worktree == "":
		return "there was no work to keep: the next coder begins it"
	case t.Status == board.Claimed:
		return fmt.Sprintf("%s continues in %s, branch %s", t.AssignedTo, t.Worktree, branch)
	case t.ReservedFor != "":
		return fmt.Sprintf("its work stays on the branch %s: %s continues there", branch, t.ReservedFor)
	}
	return fmt.Sprintf("its work stays on the branch %s: the next coder continues there", branch)
}
