package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/onefile"
)

var _ = add(exportCommand)

func exportCommand() *edge.Command {
	var log, goal string
	return &edge.Command{
		Name: "export", Group: "setting up", Max: 0, Reads: true,
		Short: "print the whole board as a state.yaml of the one-file version",
		Long: `It is git liza read with archived tasks among the others, and without sessions: git liza import begins the same board
with it anywhere else. With --goal it is a board with that goal alone: its tasks, what is recorded about them or about
no goal, and no agent that works for another. What they waited for elsewhere is left out.`,
		Flags: func(f *pflag.FlagSet) {
			edge.NarrowFlag(f, &goal)
			f.StringVar(&log, "log", "", "write the operations as a log.yaml to a new `FILE`, too; - for that alone, on standard output")
		},
		Example: `git liza export --log log.yaml > state.yaml`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if goal != "" && log != "" {
				return edge.Usage(c.Cmd, "the log is that of the whole board: --log and --goal don't go together")
			}
			return runExport(ctx, c, log, goal)
		},
	}
}

func runExport(ctx context.Context, c *edge.Call, log, goal string) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if err := edge.Narrowed(v.State, goal); err != nil {
		return err
	}
	if c.JSON {
		return edge.Usage(c.Cmd, "a state.yaml is YAML; as JSON: git liza read --json")
	}
	if log != "" {
		lines, err := history.Lines(ctx, c, history.Options{}, git.ZeroOID, v.Commit)
		if err != nil {
			return err
		}
		var all []board.PastEntry
		for i := len(lines) - 1; i >= 0; i-- {
			entries, err := history.Entries(ctx, c, history.Filter{}, lines[i])
			if err != nil {
				return err
			}
			all = append(all, entries...)
		}
		text, err := onefile.WriteLog(all)
		if err != nil {
			return err
		}
		if log == "-" {
			_, err = io.WriteString(c.App.Stdout, text)
			return err
		}
		if !filepath.IsAbs(log) {
			log = filepath.Join(c.Directory(), log)
		}
		var refusal *board.Refusal
		if err := edge.WriteFile(log, []byte(text), nil); errors.As(err, &refusal) {
			return err
		} else if err != nil {
			return edge.Usage(c.Cmd, "--log: %v", err)
		}
	}
	leases, err := records.Leases(ctx, c, v)
	if err != nil {
		return err
	}
	state := v.State
	if goal != "" {
		state = board.OfGoal(state, goal)
	}
	text, err := onefile.Write(state, leases)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.App.Stdout, text)
	return err
}
