package cli

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

func finalizeCommand() *command {
	return &command{
		name: "finalize", group: "planner", args: "ID...", min: 1, max: -1, writes: true,
		short: "open DRAFT tasks to coders, once every gate is passed",
		long:  "Each task is one commit; with several, --request R uses R/1, R/2 and so on.",
		run:   func(c *call) error { return c.runFinalize(c.args) },
	}
}

func (c *call) runFinalize(ids []string) error {
	request := c.request
	for i, id := range ids {
		if request != "" && len(ids) > 1 {
			c.request = fmt.Sprintf("%s/%d", request, i+1)
		}
		done, err := c.do("finalize", func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
			t, err := v.State.FindTask(id)
			if err != nil {
				return nil, nil, err
			}
			oid, err := c.specOID(ctx, v, t.SpecRef)
			return &board.Finalize{About: board.About{Task: id}, SpecOID: oid, NoSpecFile: c.skipSpecFile()}, nil, err
		})
		if err != nil {
			return err
		}
		if err := c.report(done, nil, warningLines(done.After.Task(id).Definition())...); err != nil {
			return err
		}
	}
	return nil
}
