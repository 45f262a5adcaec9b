package definition

import (
	"context"
	"errors"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Finalize finalizes drafts, one operation each.
func Finalize(ctx context.Context, c *call.Call, ids []string) error {
	return each(ctx, c, "finalize", ids, func(ctx context.Context, v *gitboard.View, id string) (board.Payload, error) {
		return Finalizing(ctx, c, v, id)
	})
}

// RejectDrafts sends drafts back to their planner, one operation each.
func RejectDrafts(ctx context.Context, c *call.Call, ids []string, reason string) error {
	return each(ctx, c, "reject-draft", ids, func(_ context.Context, _ *gitboard.View, id string) (board.Payload, error) {
		return &board.RejectDraft{About: board.About{Task: id}, Reason: reason}, nil
	})
}

// each carries out an operation on each of several drafts, in one transaction, and reports them. If
// one is refused, those before it are carried out by themselves.
func each(ctx context.Context, c *call.Call, op string, ids []string, payload func(ctx context.Context, v *gitboard.View, id string) (board.Payload, error)) error {
	request := c.Request
	do := func(from, to int) ([]*gitboard.Done, error) {
		if len(ids) > 1 {
			c.Request = call.Numbered(request, from+1)
		}
		return c.Together(ctx, op, func(ctx context.Context, v *gitboard.View) (all []board.Payload, _ error) {
			for _, id := range ids[from:to] {
				p, err := payload(ctx, v, id)
				if err != nil {
					return nil, err
				}
				all = append(all, p)
			}
			return all, nil
		})
	}
	all, err := do(0, len(ids))
	if len(ids) > 1 && errors.As(err, new(*board.Refusal)) {
		err = nil
	}
	for i := len(all); i < len(ids) && err == nil; i++ { // a repeated request may have got this far
		var done []*gitboard.Done
		done, err = do(i, i+1)
		all = append(all, done...)
	}
	return ReportEach(c, all, len(ids) > 1, nil, err)
}

// ReportEach reports operations on drafts, and returns err. absent are the tasks whose spec is no file on
// the integration branch.
func ReportEach(c *call.Call, all []*gitboard.Done, several bool, absent map[string]bool, err error) error {
	operations := []map[string]any{}
	for _, done := range all {
		id := done.Op.TaskID()
		warnings := Warnings(done.After.Task(id).Definition(), absent[id])
		fields := map[string]any{"warnings": call.Every(warnings)}
		if c.JSON && several {
			operations = append(operations, call.Reported(done, fields))
		} else if failed := c.Report(done, fields, call.Prefixed("warning: ", warnings)...); failed != nil {
			return failed
		}
	}
	if len(operations) > 0 {
		err = errors.Join(c.PrintJSON(map[string]any{"ok": err == nil, "operations": operations}), err)
	}
	return err
}

// Finalizing is the payload that finalizes a draft.
func Finalizing(ctx context.Context, c *call.Call, v *gitboard.View, id string) (board.Payload, error) {
	t, err := v.State.FindTask(id)
	if err != nil {
		return nil, err
	}
	oid, err := SpecOID(ctx, c, v, t.SpecRef)
	return &board.Finalize{About: board.About{Task: id}, SpecOID: oid, NoSpecFile: c.App.SkipSpecFile()}, err
}
