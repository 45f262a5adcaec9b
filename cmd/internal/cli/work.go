package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "claim", Group: "coder", Args: "[ID]", Max: 1, Writes: true,
		Short: "take a task, with a worktree to work in",
		Long: `Without an id: your own rejected task, then a pending hand-off, then by goal, by priority (lowest number
first; an integration fix counts as 0), longest chain of dependents, least overlap with live work, and age.`,
		Example: `git liza claim login`,
		Run: func(ctx context.Context, c *call.Call) error {
			got, err := claim(ctx, c)
			if got == nil {
				return err
			}
			if reported := reportClaim(c, got); reported != nil {
				return reported
			}
			return err
		},
	}
})

// claim claims a task. An agent that the board does not know is registered with the claim, in one
// push; after a refusal it is registered alone, and claims once more.
func claim(ctx context.Context, c *call.Call) (*worktrees.Claimed, error) {
	actor, first, err := c.Newcomer(ctx, "claim")
	if err != nil {
		return nil, err
	}
	r := worktrees.ClaimRequest{Task: call.First(c.Args), Request: c.Asks(actor)}
	r.First = first
	got, err := worktrees.Claim(ctx, c.Board, r)
	if got != nil || first == nil || !errors.As(err, new(*board.Refusal)) {
		return got, err
	}
	if declined, lookErr := c.Board.Sessions().Decline(actor); !declined || lookErr != nil {
		return nil, cmp.Or(lookErr, err)
	}
	if r.Actor, err = c.WhoActs(ctx, "claim"); err != nil {
		return nil, err
	}
	r.First = nil
	return worktrees.Claim(ctx, c.Board, r)
}

func reportClaim(c *call.Call, got *worktrees.Claimed) error {
	t := got.Task
	var lines call.Labelled
	lines.Add("title", t.Heading())
	if strings.TrimSuffix(strings.TrimSpace(t.Description), ".") != t.Heading() {
		lines.Add("description", t.Description)
	}
	lines.Add("worktree", got.Path)
	lines.Add("done when", t.DoneWhen)
	lines.Add("scope", t.Scope)
	lines.Add("notes", strings.Join(screen.NoteLines(report.NotesFor(got.Done.After, t.ID, t.AssignedTo)), "\n"))
	lines.Add("rejected", t.Rejection.Prose())
	if h := got.Done.After.Handoff(t.ID); h != nil && got.Kind.Event == board.EventResumed {
		lines.Add("handed off", h.Summary+"\nnext: "+h.NextAction)
	}
	unblocked := report.Unblocking(t)
	for _, u := range unblocked {
		lines.Add(u.Name, u.Text)
	}
	if fix := report.Fix(got.Done.After, t); len(fix) > 0 {
		lines.Add(fix[0].Name, fix[0].Text)
		if len(fix) > 1 {
			lines.Add("", "the end of its output: git liza show "+t.ID)
		}
	}
	if lines.Add("conflicts", strings.Join(got.Conflicts, ", ")); len(got.Conflicts) > 0 {
		lines.Add("", "a merge of integration is in progress in the worktree: resolve them, git add, git commit")
	}
	next := "continue, then git liza submit " + t.ID
	if t.CheckpointOfIteration() == nil {
		next = fmt.Sprintf("git liza pre-exec %s --intent TEXT --validation TEXT --file PATH", t.ID)
	}
	lines = append(append(lines, call.Prefixed("warning: ", got.Warnings)...), "next: "+next)
	extra := map[string]any{
		"worktree": got.Path, "iteration": t.Iteration, "base_commit": t.BaseCommit, "event": got.Kind.Event, "conflicts": call.Every(got.Conflicts), "warnings": call.Every(got.Warnings),
		"title": t.Heading(), "description": t.Description, "done_when": t.DoneWhen, "scope": t.Scope, "spec_ref": t.SpecRef,
	}
	if t.Rejection != nil {
		extra["rejected"] = t.Rejection.Prose()
	}
	if len(unblocked) > 0 {
		extra["unblocked"] = unblocked
	}
	return c.Report(got.Done, extra, lines...)
}

var _ = add(func() *call.Command {
	p := board.PreExec{}
	return &call.Command{
		Name: "pre-exec", Group: "coder", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "write the pre-execution checkpoint, before the first commit of an iteration",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Intent, "intent", "", "what you are about to do, specific and observable")
			f.StringVar(&p.Validation, "validation", "", "the command, and the output that you expect of it")
			f.StringArrayVar(&p.FilesToModify, "file", nil, "a `PATH` that you will change; once for each")
			f.StringArrayVar(&p.Assumptions, "assumption", nil, "what you take for granted; once for each. More than 3 block the task as its questions")
			f.StringVar(&p.Risks, "risks", "", "what could go wrong")
		},
		Example: `git liza pre-exec login --intent "Add POST /login" --validation "go test ./api: ok" --file api/login.go`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Task = c.Args[0]
			actor, err := c.Actor(ctx, "pre-exec")
			if err != nil {
				return err
			}
			setup.RestoreHooks(c) // worktree_setup may have installed the project's; commits follow
			fields, lines := map[string]any{"warnings": call.Every(p.Warnings())}, call.Prefixed("warning: ", p.Warnings())
			if c.App.Supervised() {
				deferred, err := worktrees.DeferPreExec(ctx, c.Board, c.Asks(actor), p)
				if deferred != nil || err != nil {
					return call.Deferred(c, p.Task, deferred, err, fields, lines)
				}
			}
			done, err := worktrees.PreExec(ctx, c.Board, c.Asks(actor), p)
			if err != nil {
				return err
			}
			if t := done.After.Task(p.Task); t.Status == board.Blocked {
				lines = append(lines, "BLOCKED: "+t.BlockedReason+"; a planner or a human answers them", "end your turn")
			}
			return c.Report(done, fields, lines...)
		},
	}
})

var _ = add(func() *call.Command {
	var why, verified string
	return &call.Command{
		Name: "submit", Group: "coder", Args: "ID [COMMIT]", Min: 1, Max: 2, Writes: true,
		Short: "submit the work of a task for review",
		Long: `Without a commit it is the worktree's HEAD. The worktree must be clean. The command of --verified runs there first; the
reviewer sees how it ended next to the validation that the checkpoint planned.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&why, "no-tests-because", "", "why code comes without a test; the reviewer sees it")
			f.StringVar(&verified, "verified", "", "the `COMMAND` that proves the work")
		},
		Example: `git liza submit login --verified "go test ./api"`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "submit")
			if err != nil {
				return err
			}
			done, warnings, err := worktrees.Submit(ctx, c.Board, worktrees.SubmitRequest{Request: gitboard.Request{
				Actor: actor, ID: c.Request, AllowSecret: c.AllowSecret},
				Task: c.Args[0], Commit: call.First(c.Args[1:]), NoTestsBecause: why, Verified: verified,
			})
			if err != nil {
				return err
			}
			if who, err := c.Board.Repo().Settings().Author(ctx); err == nil && !c.App.Supervised() && !board.AgentAddress(who.Email) {
				warnings = append(warnings, fmt.Sprintf("git names %s as the author of what you commit here: eval \"$(git liza env)\" makes it %s", who.Name, actor.ID))
			}
			t := done.After.Task(c.Args[0])
			return c.Report(done, map[string]any{"review_commit": t.ReviewCommit, "warnings": call.Every(warnings)}, call.Prefixed("warning: ", warnings)...)
		},
	}
})

var _ = add(func() *call.Command {
	p := board.Withdraw{}
	return &call.Command{
		Name: "withdraw", Group: "coder", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "take a submission back before anyone reviews it",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&p.Reason, "reason", "", "why") },
		Example: `git liza withdraw login --reason "the test does not cover the limit"`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Task = c.Args[0]
			return c.Just(ctx, &p)
		},
	}
})

var _ = add(func() *call.Command {
	p := board.HandOff{}
	return &call.Command{
		Name: "handoff", Group: "any agent", Args: "[ID]", Max: 1, Writes: true,
		Short: "leave your task to the next agent of your role, with the facts it needs to continue",
		Long: `A coder's worktree must be clean; its lease ends, and any coder may claim the task at once. A reviewer leaves its
review, which any other reviewer may claim. A planner names no task: what it leaves is a note to the planner.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Summary, "summary", "", "how far the task is, in a phrase")
			f.StringVar(&p.NextAction, "next", "", "what to do first, in a phrase")
			f.StringVar(&p.ContextUsed, "context-used", "", "like 92%")
			f.StringVar(&p.Approach, "approach", "", "how it is being done")
			f.StringVar(&p.Blockers, "blockers", "", "an obstacle")
			f.StringArrayVar(&p.FilesModified, "file", nil, "a `PATH` that was changed; once for each")
			f.StringArrayVar(&p.NextSteps, "step", nil, "what remains; once for each")
		},
		Example: `git liza handoff login --summary "parser done, handler missing" --next "write the handler" --context-used 92% --step "test both"`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "handoff")
			if err != nil {
				return err
			}
			if len(c.Args) > 0 {
				p.Task = c.Args[0]
			}
			done, err := worktrees.HandOff(ctx, c.Board, worktrees.HandOffRequest{Request: c.Asks(actor), HandOff: p})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
})

var _ = add(func() *call.Command {
	p := board.Block{}
	return &call.Command{
		Name: "block", Group: "coder", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "stop a task until a planner or a human has looked at it",
		Long:  "A coder gives a specific reason and 1 to 3 questions. A human may block any task; the planner then replans it.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&p.Reason, "reason", "", "what exactly is in the way")
			f.StringArrayVar(&p.Questions, "question", nil, "whose answer would unblock it; 1 to 3")
			f.StringArrayVar(&p.Attempted, "attempted", nil, "what was tried; once for each")
		},
		Example: `git liza block login --reason "The spec names no password rules" --question "How long must a password be?" --attempted "read specs/vision.md"`,
		Run: func(ctx context.Context, c *call.Call) error {
			p.Task = c.Args[0]
			return c.Show(acts.Block(ctx, c, &p))
		},
	}
})
