package definition

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Finalize finalizes drafts, one operation each. On a shared board they travel in one push, unless a
// request is named, whose ids are those of single operations, or one of them is refused.
func Finalize(ctx context.Context, c *call.Call, ids []string, extra map[string]any) error {
	if len(ids) < 2 || c.Request != "" || c.Board.Remote() == "" {
		return each(ctx, c, ids, extra, finalize)
	}
	actor, err := c.Actor(ctx, "finalize")
	if err != nil {
		return err
	}
	all, err := c.Board.DoAll(ctx, c.Asks(actor), func(ctx context.Context, v *gitboard.View) (intents []board.Payload, _ []plumbing.RefUpdate, _ error) {
		for _, id := range ids {
			p, err := Finalizing(ctx, c, v, id)
			if err != nil {
				return nil, nil, err
			}
			intents = append(intents, p)
		}
		return intents, nil, nil
	})
	if errors.As(err, new(*board.Refusal)) {
		return each(ctx, c, ids, extra, finalize) // those before it, and which one
	}
	if err != nil {
		return err
	}
	return each(ctx, c, ids, extra, func(context.Context, *call.Call, string) (*gitboard.Done, error) {
		done := all[0]
		all = all[1:]
		return done, nil
	})
}

// RejectDrafts sends drafts back to their planner, one operation each.
func RejectDrafts(ctx context.Context, c *call.Call, ids []string, reason string) error {
	return each(ctx, c, ids, nil, func(ctx context.Context, c *call.Call, id string) (*gitboard.Done, error) {
		return c.Do(ctx, "reject-draft", func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
			return &board.RejectDraft{About: board.About{Task: id}, Reason: reason}, nil, nil
		})
	})
}

// each carries out an operation on each of several drafts, and reports it.
func each(ctx context.Context, c *call.Call, ids []string, extra map[string]any, do func(ctx context.Context, c *call.Call, id string) (*gitboard.Done, error)) error {
	request := c.Request
	operations := []map[string]any{}
	for i, id := range ids {
		if request != "" && len(ids) > 1 {
			c.Request = fmt.Sprintf("%s/%d", request, i+1)
		}
		done, err := do(ctx, c, id)
		if err != nil {
			if len(operations) > 0 {
				err = errors.Join(c.PrintJSON(map[string]any{"ok": false, "operations": operations}), err)
			}
			return err
		}
		warnings := board.Warnings(done.After.Task(id).Definition())
		fields := map[string]any{"warnings": call.Every(warnings)}
		maps.Copy(fields, extra)
		if c.JSON && len(ids) > 1 {
			operations = append(operations, call.Reported(done, fields))
			continue
		}
		if err := c.Report(done, fields, call.Prefixed("warning: ", warnings)...); err != nil {
			return err
		}
	}
	if len(operations) > 0 {
		return c.PrintJSON(map[string]any{"ok": true, "operations": operations})
	}
	return nil
}

func finalize(ctx context.Context, c *call.Call, id string) (*gitboard.Done, error) {
	return c.Do(ctx, "finalize", func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		p, err := Finalizing(ctx, c, v, id)
		return p, nil, err
	})
}

// Finalizing is the payload that finalizes a draft.
func Finalizing(ctx context.Context, c *call.Call, v *gitboard.View, id string) (board.Payload, error) {
	t, err := v.State.FindTask(id)
	if err != nil {
		return nil, err
	}
	oid, err := SpecOID(ctx, c, v, t.SpecRef)
	return &board.Finalize{About: board.About{Task: id}, SpecOID: oid, NoSpecFile: c.SkipSpecFile()}, err
}
