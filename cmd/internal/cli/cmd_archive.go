package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(archiveCommand)

func archiveCommand() *edge.Command {
	var sprint string
	return &edge.Command{
		Name: "archive", Group: "human", Max: 0, Writes: true,
		Short: "move the tasks of ended sprints to the archive; their ids still find them",
		Long: `A task that is over belongs to the sprint in which it ended. Archived tasks leave status, read and the choice of
work, count for what depends on them, and are shown by show, log and read tasks.ID.
Each sprint is one commit, a large one several; then --request R uses R/1, R/2 and so on.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&sprint, "sprint", "", "only this sprint's, by its `ID`")
		},
		Example: `git liza archive --sprint sprint-1`,
		Run:     func(ctx context.Context, c *edge.Call) error { return runArchive(ctx, c, sprint) },
	}
}

func runArchive(ctx context.Context, c *edge.Call, sprint string) error {
	actor, err := c.Actor(ctx, "archive")
	if err != nil {
		return err
	}
	before, whole, err := archivedBefore(ctx, c, actor)
	if err != nil {
		return err
	}
	operations := []map[string]any{}
	report := func(done *gitboard.Done) error {
		if !c.JSON {
			return c.Report(done, nil)
		}
		p := done.Op.Payload.(*board.Archive)
		operations = append(operations, edge.Reported(done, map[string]any{"sprint": p.Sprint, "tasks": p.Tasks}))
		return nil
	}
	for _, done := range before {
		if err := report(done); err != nil {
			return err
		}
	}
	var batches []*board.Archive
	if !whole {
		v, err := c.View(ctx)
		if err != nil {
			return err
		}
		if batches, err = archivable(ctx, c, v, sprint); err != nil {
			return err
		}
	}
	if len(batches)+len(before) == 0 {
		return c.Answer(map[string]any{"operations": []any{}}, "nothing to archive: no task of an ended sprint is over and not archived yet")
	}
	request := c.Request
	for i, p := range batches {
		if n := len(before) + i + 1; request != "" && len(before)+len(batches) > 1 {
			c.Request = fmt.Sprintf("%s/%d", request, n)
		}
		done, err := c.Do(ctx, p.Op(), gitboard.Just(p))
		if err == nil {
			err = report(done)
		}
		if err != nil {
			if c.JSON && len(operations) > 0 {
				err = errors.Join(c.PrintJSON(map[string]any{"ok": false, "operations": operations}), err)
			}
			return err
		}
	}
	if c.JSON {
		return c.PrintJSON(map[string]any{"ok": true, "operations": operations})
	}
	return nil
}

// archivedBefore returns what the same request has archived before, in one commit or in several. If
// it was one, that is the whole of it.
func archivedBefore(ctx context.Context, c *edge.Call, actor board.Actor) (all []*gitboard.Done, whole bool, err error) {
	r := c.Asks(actor)
	done, err := c.Board.Lookup(ctx, r)
	if done != nil {
		return []*gitboard.Done{done}, true, err
	}
	for err == nil && c.Request != "" {
		r.ID = fmt.Sprintf("%s/%d", c.Request, len(all)+1)
		if done, err = c.Board.Lookup(ctx, r); done == nil || done.Op.Name() != "archive" {
			break
		}
		all = append(all, done)
	}
	return all, false, err
}

// archivable returns the operations that archive the ended sprints, or only the named one.
func archivable(ctx context.Context, c *edge.Call, v *gitboard.View, named string) ([]*board.Archive, error) {
	sprints, err := v.Sprints(ctx)
	if err != nil {
		return nil, err
	}
	now := v.State.Sprint()
	if named == now.ID && !now.Over() {
		return nil, board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: only an ended sprint is archived", now.ID, now.Status), "git liza sprint end, or wait until all that it planned is over")
	}
	var batches []*board.Archive
	known := []string{}
	for i, sp := range sprints {
		var until board.Time
		from := sp.Timeline.Started
		switch {
		case i+1 < len(sprints):
			until = sprints[i+1].Timeline.Started
		case !now.Over():
			continue
		}
		if i == 0 {
			from = ""
		}
		known = append(known, sp.ID)
		if named != "" && named != sp.ID {
			continue
		}
		for ids := range slices.Chunk(board.ToArchive(v.State, from, until), board.MaxArchived) {
			batches = append(batches, &board.Archive{Sprint: sp.ID, Tasks: ids})
		}
	}
	if named != "" && !slices.Contains(known, named) {
		return nil, board.Refuse(board.CodeUnknownSprint, fmt.Sprintf("no ended sprint is called %q", plain.Line(named, 60)), edge.Suggest(named, known))
	}
	return batches, v.State.Err()
}
