package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
)

var _ = add(showCommand)

func showCommand() *edge.Command {
	return &edge.Command{
		Name: "show", Group: "human", Args: "ID", Min: 1, Max: 1, Reads: true,
		Short: "show a task as a story: what it is, and what happened to it; or any other record",
		Long: `ID is a task, an agent, a note, an anomaly, a discovery or a spec change; or goal, sprint, config, control,
circuit_breaker. With --json the record is printed as git liza read has it.`,
		Example: `git liza show login`,
		Run: func(ctx context.Context, c *edge.Call) error {
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			id := c.Args[0]
			path := records.Called(v.State, id)
			if path == "" {
				t, err := v.State.FindTask(id)
				if err != nil {
					return err
				}
				if !c.JSON {
					return showTask(ctx, c, v, t)
				}
				path = "tasks." + t.ID
			}
			n, err := records.Part(ctx, c, v, []string{path})
			if err != nil {
				return err
			}
			if c.JSON {
				return records.PrintNode(c, n)
			}
			lines, err := recordLines(c, c.Page(), v, id, n)
			if err != nil {
				return err
			}
			return c.Print(lines)
		},
	}
}

func showTask(ctx context.Context, c *edge.Call, v *gitboard.View, t *board.Task) error {
	f, err := screen.FactsOf(ctx, c, v, t)
	if err != nil {
		return err
	}
	return c.Print(f.Story(c.Page()))
}

// recordLines shows a record field by field; for an agent also the task that it holds.
func recordLines(c *edge.Call, p edge.Page, v *gitboard.View, id string, n *yaml.Node) ([]string, error) {
	l := edge.Labels{Page: p, Names: 18, Lines: []string{p.Bold(p.Fit(id, p.Width)), ""}}
	for _, key := range codec.Keys(n) {
		value, err := codec.Lookup(n, []string{key})
		if err != nil {
			return nil, err
		}
		text, err := codec.Render(value)
		if err != nil {
			return nil, err
		}
		switch t, err := board.ParseTime(strings.TrimSpace(text)); {
		case key == "session":
			continue
		case err == nil && key == "lease_expires":
			text = string(t) + ", " + screen.LeaseLeft(c.App.Now(), t)
		case err == nil && c.At == "":
			text = string(t) + ", " + edge.Since(c.App.Now(), t) + " ago"
		}
		l.Add(strings.ReplaceAll(key, "_", " "), text)
	}
	if v.State.Agent(id) != nil {
		for _, b := range v.State.Tasks() {
			if !b.Status.Terminal() && slices.Contains([]string{b.AssignedTo, b.ReviewingBy, b.ApprovedBy}, id) {
				l.Add("in hand", fmt.Sprintf("%s, %s", b.ID, b.Status))
			}
		}
	}
	return l.Lines, v.State.Err()
}
