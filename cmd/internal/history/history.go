package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Filter selects the operations to show.
type Filter struct {
	Task, Agent, Op, Since string

	From board.Time // Since as a time
}

// Options are the options of log.
type Options struct {
	Filter
	Max                 int
	Patch, Follow, Yaml bool
}

// Line is an operation as log shows it.
type Line struct {
	Commit  plumbing.OID     `json:"commit"`
	Time    board.Time       `json:"time"`
	Op      string           `json:"op"`
	Agent   string           `json:"agent"`
	Name    string           `json:"name,omitempty"` // of a human
	Task    string           `json:"task,omitempty"`
	From    string           `json:"from,omitempty"`
	To      string           `json:"to,omitempty"`
	Request string           `json:"request"`
	Subject string           `json:"subject"`
	Patch   []records.Change `json:"changes,omitempty"`
}

// Lines lists the operations between two commits that pass the filter, newest first.
func Lines(ctx context.Context, c *call.Call, o Options, from, to plumbing.OID) ([]Line, error) {
	commits, err := c.Board.Log().Store().Log(ctx, from, to)
	if err != nil {
		return nil, err
	}
	lines := []Line{}
	for _, commit := range slices.Backward(commits) {
		line, shown := o.line(commit)
		if !shown {
			continue
		}
		if o.Patch && len(commit.Parents) == 1 {
			var broken *log.RecordError
			line.Patch, err = records.Changes(ctx, c, commit.Parents[0], commit.OID)
			if errors.As(err, &broken) {
				line.Patch = []records.Change{{Record: broken.Path, New: "can't be read: " + broken.Err.Error()}}
			} else if err != nil {
				return nil, err
			}
		}
		lines = append(lines, line)
		if o.Max > 0 && len(lines) == o.Max {
			break
		}
	}
	return lines, nil
}

// line returns a commit's operation, and whether it passes the filter. A commit that is not an
// operation always does.
func (o Filter) line(commit plumbing.Commit) (Line, bool) {
	h, err := codec.ParseHead(commit.Message)
	at := board.At(commit.Author.When)
	switch {
	case err != nil:
		h.Subject += "  (no operation: git liza verify shows more)"
	case o.Task != "" && h.Task != o.Task, o.Agent != "" && h.Agent != o.Agent, o.Op != "" && h.Op != o.Op, at < o.From:
		return Line{}, false
	}
	name := ""
	if h.Agent == roles.HumanID {
		name = text.Line(commit.Author.Name, 60)
	}
	return Line{commit.OID, at, h.Op, h.Agent, name, h.Task, h.From, h.To, h.Request, h.Subject, nil}, true
}

// narrow is the page width below which log omits year and commit.
const narrow = 100

// Text formats an operation as one line, and another one for each field that it changed. On a page
// that is limited by a screen, lines are cut.
func (l Line) Text(p call.Page) []string {
	head := string(l.Time) + "  " + l.Commit.Short()
	if !p.Whole && p.Width < narrow {
		head = strings.TrimPrefix(string(l.Time), l.Time.Std().Format("2006-"))
	}
	head += "  " + call.Pad(cmp.Or(text.Line(l.Name, 16), l.Agent), 16) + "  "
	lines := []string{head + p.Fit(l.Subject, p.Width-call.Breadth(head))}
	for _, ch := range l.Patch {
		lines = append(lines, "    "+records.Coloured(p.Paint, p.Fit(ch.String(), p.Width-4), ch))
	}
	return lines
}
