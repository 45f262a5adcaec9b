package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// logFilter says which operations log shows.
type logFilter struct {
	task, agent, op, since string

	from board.Time // of --since
}

// logOptions say how log shows them.
type logOptions struct {
	logFilter
	max                 int
	patch, follow, yaml bool
}

func logCommand() *command {
	var o logOptions
	return &command{
		name: "log", group: "human", args: "[TASK]", max: 1, reads: true,
		short: "the operations, the newest first",
		long: `Filters are combined. --follow begins with the last ten (-n: another number) and goes on as they happen, the newest
last. --yaml prints them, the oldest first, as log.yaml of the older form had them. git log liza/state shows the same
with git's own means.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.task, "task", "", "of this `TASK`")
			f.StringVar(&o.agent, "agent", "", "by this `AGENT` (or human)")
			f.StringVar(&o.op, "op", "", "of this kind, like verdict")
			f.StringVar(&o.since, "since", "", "not before this time, or for so long: 2h")
			f.IntVarP(&o.max, "max", "n", 0, "at most so many")
			f.BoolVarP(&o.patch, "patch", "p", false, "with what each changed in the records")
			f.BoolVarP(&o.follow, "follow", "f", false, "go on as they happen, until interrupted")
			f.BoolVar(&o.yaml, "yaml", false, "as the entries of a log.yaml")
		},
		run: func(c *call) error {
			if len(c.args) == 1 {
				o.task = c.args[0]
			}
			switch {
			case o.yaml && (c.json || o.patch):
				return usage(c.cmd, "--yaml goes without --json and --patch")
			case o.follow && c.at != "":
				return usage(c.cmd, "--follow goes on from now, not from --at another time")
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

func (c *call) runLog(o logOptions) error {
	v, err := c.view()
	if err != nil {
		return err
	}
	if o.task != "" {
		if _, err := v.State.FindTask(o.task); err != nil {
			return err
		}
	}
	if o.from, err = c.moment("since", o.since, -1); err != nil {
		return err
	}
	if o.op != "" && !slices.Contains(board.Ops(), o.op) {
		return board.Refuse("invalid", fmt.Sprintf("no operation is called %q", board.Line(o.op, 40)), suggest(o.op, board.Ops()))
	}
	if o.follow {
		return c.followLog(o, v)
	}
	lines, err := c.logLines(o, gitio.ZeroOID, v.Commit)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]any{"log": lines})
	}
	if o.yaml {
		slices.Reverse(lines)
		if len(lines) == 0 {
			return c.say("[]")
		}
	}
	return c.printLog(o, lines)
}

// lookBack is how many operations --follow begins with.
const lookBack = 10

// followLog shows the last operations and then each as it happens, until the call is interrupted.
func (c *call) followLog(o logOptions, v *gitboard.View) error {
	if o.max == 0 {
		o.max = lookBack
	}
	changes, err := c.opened.Follow(c.ctx, lookEvery)
	if err != nil {
		return err
	}
	for seen := gitio.ZeroOID; ; {
		if v.Commit != seen {
			lines, err := c.logLines(o, seen, v.Commit)
			if err == nil {
				slices.Reverse(lines)
				err = c.printLog(o, lines)
			}
			if err != nil {
				return interrupted(c.ctx, err)
			}
			seen, o.max = v.Commit, 0
		}
		if _, follows := <-changes; !follows {
			return nil
		}
		if v, err = c.view(); err != nil {
			return interrupted(c.ctx, err)
		}
	}
}

// interrupted is no error when the call was: then it has done its work.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// logLines are the operations between two commits that the filter lets through, the newest first.
func (c *call) logLines(o logOptions, from, to gitio.OID) ([]logLine, error) {
	commits, err := c.opened.Log().Store().Log(c.ctx, from, to)
	if err != nil {
		return nil, err
	}
	lines := []logLine{}
	for _, commit := range slices.Backward(commits) {
		line, shown := o.line(commit)
		if !shown {
			continue
		}
		if o.patch && len(commit.Parents) == 1 {
			var broken *oplog.RecordError
			line.Patch, err = c.changes(commit.Parents[0], commit.OID)
			if errors.As(err, &broken) {
				line.Patch = []change{{Record: broken.Path, New: "can't be read: " + broken.Err.Error()}}
			} else if err != nil {
				return nil, err
			}
		}
		lines = append(lines, line)
		if o.max > 0 && len(lines) == o.max {
			break
		}
	}
	return lines, nil
}

// line is a commit's operation, and whether the filter lets it through. A commit that is none always is shown.
func (o logFilter) line(commit gitio.Commit) (logLine, bool) {
	h, err := codec.ParseHead(commit.Message)
	at := board.At(commit.Author.When)
	switch {
	case err != nil:
		h.Subject += "  (no operation: git liza verify tells more)"
	case o.task != "" && h.Task != o.task, o.agent != "" && h.Agent != o.agent, o.op != "" && h.Op != o.op, at < o.from:
		return logLine{}, false
	}
	return logLine{commit.OID, at, h.Op, h.Agent, h.Task, h.From, h.To, h.Request, h.Subject, nil}, true
}

// printLog prints lines in their order: for a human, a JSON object each, or as entries of a log.yaml.
func (c *call) printLog(o logOptions, lines []logLine) error {
	p := c.page()
	for _, l := range lines {
		var err error
		switch {
		case c.json:
			err = c.printJSON(l)
		case o.yaml:
			err = c.printLogEntries(o.logFilter, l)
		default:
			err = c.print(l.text(p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// narrow is the width of a page below which the log leaves out year and commit.
const narrow = 100

// text is an operation as a line, and a line for each field that it changed. A page that somebody looks at is not
// exceeded.
func (l logLine) text(p page) []string {
	head := string(l.Time) + "  " + l.Commit.Short()
	if !p.whole && p.width < narrow {
		head = strings.TrimPrefix(string(l.Time), l.Time.Std().Format("2006-"))
	}
	head += "  " + pad(l.Agent, 16) + "  "
	lines := []string{head + p.fitted(l.Subject, p.width-breadth(head))}
	for _, ch := range l.Patch {
		lines = append(lines, "    "+p.change(p.fitted(ch.String(), p.width-4), ch))
	}
	return lines
}
