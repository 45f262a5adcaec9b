package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// logFilter says which operations log shows.
type logFilter struct {
	task, agent, op, since string
	max                    int
	patch                  bool
}

func logCommand() *command {
	var o logFilter
	return &command{
		name: "log", group: "human", args: "[TASK]", max: 1, reads: true,
		short: "the operations, the newest first",
		long:  "git log liza/state shows the same with git's own means.",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.task, "task", "", "of this `TASK`")
			f.StringVar(&o.agent, "agent", "", "by this `AGENT` (or human)")
			f.StringVar(&o.op, "op", "", "of this kind, like verdict")
			f.StringVar(&o.since, "since", "", "not before this time, or for so long: 2h")
			f.IntVarP(&o.max, "max", "n", 0, "at most so many")
			f.BoolVarP(&o.patch, "patch", "p", false, "with what each changed in the records")
		},
		run: func(c *call) error {
			if len(c.args) == 1 {
				o.task = c.args[0]
			}
			return c.runLog(o)
		},
	}
}

// logLine is an operation as log shows it.
type logLine struct {
	Commit  gitio.OID  `json:"commit"`
	Time    board.Time `json:"time"`
	Op      string     `json:"op"`
	Agent   string     `json:"agent"`
	Task    string     `json:"task,omitempty"`
	From    string     `json:"from,omitempty"`
	To      string     `json:"to,omitempty"`
	Request string     `json:"request"`
	Subject string     `json:"subject"`
	Patch   []change   `json:"changes,omitempty"`
}

func (c *call) runLog(o logFilter) error {
	v, err := c.view()
	if err != nil {
		return err
	}
	if o.task != "" {
		if _, err := v.State.FindTask(o.task); err != nil {
			return err
		}
	}
	from, err := o.begin(c.cmd, c.app.Now())
	if err != nil {
		return err
	}
	if o.op != "" && !slices.Contains(board.Ops(), o.op) {
		return board.Refuse("invalid", fmt.Sprintf("no operation is called %q", board.Line(o.op, 40)), suggest(o.op, board.Ops()))
	}
	commits, err := c.opened.Log().Store().Log(c.ctx, gitio.ZeroOID, v.Commit)
	if err != nil {
		return err
	}
	lines := []logLine{}
	for _, commit := range slices.Backward(commits) {
		h, err := codec.ParseHead(commit.Message)
		at := board.At(commit.Author.When)
		switch {
		case err != nil:
			h.Subject += "  (no operation: git liza verify tells more)"
		case o.task != "" && h.Task != o.task, o.agent != "" && h.Agent != o.agent, o.op != "" && h.Op != o.op, at < from:
			continue
		}
		line := logLine{commit.OID, at, h.Op, h.Agent, h.Task, h.From, h.To, h.Request, h.Subject, nil}
		if o.patch && len(commit.Parents) == 1 {
			var broken *oplog.RecordError
			line.Patch, err = c.changes(commit.Parents[0], commit.OID)
			if errors.As(err, &broken) {
				line.Patch = []change{{Record: broken.Path, New: "can't be read: " + broken.Err.Error()}}
			} else if err != nil {
				return err
			}
		}
		lines = append(lines, line)
		if o.max > 0 && len(lines) == o.max {
			break
		}
	}
	if c.json {
		return c.printJSON(map[string]any{"log": lines})
	}
	for _, l := range lines {
		if err := c.say(string(l.Time) + "  " + l.Commit.Short() + "  " + pad(l.Agent, 16) + "  " + l.Subject); err != nil {
			return err
		}
		for _, ch := range l.Patch {
			if err := c.say("    " + ch.String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin is the moment that --since names.
func (o logFilter) begin(cmd *command, now time.Time) (board.Time, error) {
	if o.since == "" {
		return "", nil
	}
	if t, err := board.ParseTime(o.since); err == nil {
		return t, nil
	}
	d, err := time.ParseDuration(o.since)
	if err != nil {
		return "", usage(cmd, "--since takes a time (2026-01-31T14:05:00Z) or a span (90m), not %q", o.since)
	}
	return board.At(now.Add(-d)), nil
}
