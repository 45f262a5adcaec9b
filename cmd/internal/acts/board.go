package acts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
)

// Resume lets work continue. The decision STOP aborts the run.
func Resume(ctx context.Context, c *call.Call, p *board.Resume) (call.Result, error) {
	if p.Decision == "STOP" {
		return stop(ctx, c, p)
	}
	r, err := c.Doing(ctx, p)
	if err != nil {
		return r, stoppedByFile(ctx, c, err)
	}
	r.Lines, err = filesThatStop(ctx, c)
	return r, err
}

// stop carries out the decision STOP: it aborts the run if it was halted.
func stop(ctx context.Context, c *call.Call, p *board.Resume) (call.Result, error) {
	if p.Goal != "" {
		return call.Result{}, call.Usage(c.Cmd, "STOP is for the whole run; one goal is given up by git liza goal abort %s", text.Line(p.Goal, 70))
	}
	if p.Task != "" {
		return call.Result{}, call.Usage(c.Cmd, "STOP is for the whole run; one task is given up by git liza abort --task %s", text.Line(p.Task, 70))
	}
	r, err := call.One(c.Do(ctx, "abort", func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		if v.State.Control().Mode == board.Running {
			return p, nil, nil // its Check refuses a board that is not halted
		}
		return &board.Abort{Reason: strings.TrimSuffix("checkpoint decision STOP: "+p.Reason, ": ")}, nil, nil
	}))
	r.Extra = map[string]any{"decision": "STOP"}
	return r, err
}

// stoppedByFile adds to the refusal to resume a running board which file stops this clone.
func stoppedByFile(ctx context.Context, c *call.Call, err error) error {
	var r *board.Refusal
	if !errors.As(err, &r) || r.Code != board.CodeWrongState {
		return err
	}
	lines, lookErr := filesThatStop(ctx, c)
	if lookErr == nil && len(lines) > 0 {
		r.Advise("%s", strings.Join(lines, "; "))
	}
	return err
}

// filesThatStop lists the files that stop this clone.
func filesThatStop(ctx context.Context, c *call.Call) ([]string, error) {
	halts, err := c.Board.Clone().Halts(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, h := range halts {
		lines = append(lines, "this clone is stopped by .liza/"+h.File+" until a human takes that file away")
	}
	return lines, nil
}

// Checkpoint halts the board until a human has decided, and writes the sprint's summary.
func Checkpoint(ctx context.Context, c *call.Call, reason string) (call.Result, error) {
	r, err := c.Doing(ctx, &board.SetCheckpoint{Reason: reason})
	if err != nil {
		return r, err
	}
	file, err := watch.KeepSummary(c.Board, r.Done[0])
	if err != nil {
		return r, fmt.Errorf("the board is at CHECKPOINT, but its summary could not be kept (git liza sprint show --summary prints it): %w", err)
	}
	r.Extra, r.Lines = map[string]any{"summary": file}, []string{"summary: " + file}
	r.Next = "a human decides: git liza resume --decision CONTINUE"
	return r, nil
}

// Resolve records what became of the circuit breaker's trigger, and resets it.
func Resolve(ctx context.Context, c *call.Call, text string) (call.Result, error) {
	r, err := c.Doing(ctx, &board.Resolve{Text: text})
	if err == nil {
		r.Next = "the board is " + string(r.Done[0].After.Control().Mode) + "; continue with: git liza resume --decision CONTINUE"
	}
	return r, err
}

// Amend changes the named fields of a task's definition.
func Amend(ctx context.Context, c *call.Call, task string, to board.Definition, set []string, planned bool, addDone, reason string) (call.Result, error) {
	absent := false
	r, err := call.One(c.Do(ctx, "amend-task", func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		d, set := board.Definition{}, set
		if t := v.State.Task(task); t != nil && addDone != "" {
			to.DoneWhen = strings.TrimPrefix(strings.TrimRight(t.DoneWhen, " .;\n")+"; "+addDone, "; ")
			set = append(slices.Clip(set), "done_when")
		}
		if err := d.Take(to, set); err != nil {
			return nil, nil, err
		}
		p := &board.AmendTask{About: board.About{Task: task}, Definition: d, Set: set, Planned: planned, Reason: reason, NoSpecFile: c.App.SkipSpecFile()}
		if slices.Contains(set, "spec_ref") {
			oid, err := definition.SpecOID(ctx, c, v, d.SpecRef)
			if err != nil {
				return nil, nil, err
			}
			p.SpecOID, absent = oid, oid == "" && d.SpecRef != "" && !p.NoSpecFile
		}
		return p, nil, nil
	}))
	if err != nil {
		return r, err
	}
	return warned(r, definition.Warnings(r.Done[0].After.Task(task).Definition(), absent)), nil
}

// Finalize opens drafts to coders: all of them, or none if a gate refuses one.
func Finalize(ctx context.Context, c *call.Call, ids []string) (call.Result, error) {
	return Together(ctx, c, "finalize", func(ctx context.Context, v *gitboard.View) (all []board.Payload, err error) {
		for _, id := range ids {
			p, err := definition.Finalizing(ctx, c, v, id)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		return all, nil
	})
}

// RejectDrafts sends drafts back to their planner, all or none.
func RejectDrafts(reason string, ids []string) call.Act {
	var all []board.Payload
	for _, id := range ids {
		all = append(all, &board.RejectDraft{About: board.About{Task: id}, Reason: reason})
	}
	return All(all...)
}

// warned adds warnings to a result.
func warned(r call.Result, warnings []string) call.Result {
	r.Extra, r.Lines = map[string]any{"warnings": call.Every(warnings)}, call.Prefixed("warning: ", warnings)
	return r
}

// Together carries out operations in one transaction, or none if the board refuses one of them.
func Together(ctx context.Context, c *call.Call, op string, payloads func(context.Context, *gitboard.View) ([]board.Payload, error)) (call.Result, error) {
	c.Request = call.Numbered(c.Request, 1)
	all, err := c.Together(ctx, op, payloads)
	return call.Result{Done: all}, err
}

// dry decides operations one after the other without writing anything.
func dry(ctx context.Context, c *call.Call, v *gitboard.View, payloads ...board.Payload) error {
	s := v.State
	for _, p := range payloads {
		actor, err := c.WhoActs(ctx, p.Op())
		if err != nil {
			return err
		}
		asks := c.Asks(actor)
		op := board.Operation{Actor: actor, Time: max(board.At(c.App.Now()), s.Time()), Request: "dry", AllowSecret: asks.AllowSecret, Seen: asks.Seen, Payload: p}
		if s, err = board.Step(s, op); err != nil {
			return err
		}
	}
	return nil
}
