package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func finalizeCommand() *command {
	return &command{
		name: "finalize", group: "planner", args: "ID...", min: 1, max: -1, writes: true,
		short: "open DRAFT tasks to coders, once every gate is passed",
		long:  "Each task is one commit; with several, --request R uses R/1, R/2 and so on, and JSON lists them as operations.",
		run:   func(c *call) error { return c.runFinalize(c.args, nil) },
	}
}

func (c *call) runFinalize(ids []string, extra map[string]any) error {
	request := c.request
	operations := []map[string]any{}
	for i, id := range ids {
		if request != "" && len(ids) > 1 {
			c.request = fmt.Sprintf("%s/%d", request, i+1)
		}
		done, err := c.finalize(id)
		if err != nil {
			if len(operations) > 0 {
				err = errors.Join(c.printJSON(map[string]any{"ok": false, "operations": operations}), err)
			}
			return err
		}
		warnings := board.Warnings(done.After.Task(id).Definition())
		fields := map[string]any{"warnings": every(warnings)}
		maps.Copy(fields, extra)
		if c.json && len(ids) > 1 {
			operations = append(operations, reported(done, fields))
			continue
		}
		if err := c.report(done, fields, prefixed("warning: ", warnings)...); err != nil {
			return err
		}
	}
	if len(operations) > 0 {
		return c.printJSON(map[string]any{"ok": true, "operations": operations})
	}
	return nil
}

func (c *call) finalize(id string) (*gitboard.Done, error) {
	return c.do("finalize", func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		t, err := v.State.FindTask(id)
		if err != nil {
			return nil, nil, err
		}
		oid, err := c.specOID(ctx, v, t.SpecRef)
		return &board.Finalize{About: board.About{Task: id}, SpecOID: oid, NoSpecFile: c.skipSpecFile()}, nil, err
	})
}
