package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// message is a note that was not shown to the caller yet, as JSON shows it.
type message struct {
	ID   string     `json:"id"`
	By   string     `json:"by"`
	For  string     `json:"for,omitempty"`
	Time board.Time `json:"time"`
	Text string     `json:"text"`
}

// Run runs the command on the open board: first it shows an agent its unread notes, and at the end it
// renews the lease of an agent without a supervisor.
func (c *Call) Run(ctx context.Context) error {
	c.deliver(ctx)
	err := c.delivered(ctx, c.Cmd.Run(ctx, c))
	c.Renew(ctx)
	return err
}

// deliver shows an agent the notes that it has not seen: on standard error, or with --json in a
// field of the answer. An operation that needs them read is refused with their text instead.
func (c *Call) deliver(ctx context.Context) {
	if c.AgentID() == "" || c.Board == nil || c.Cmd.Lasts {
		return
	}
	if !board.HandsOver(c.Cmd.Name) {
		for _, n := range c.unread(ctx, nil) {
			c.notice("message", n.Line())
		}
	}
	if change := c.newSpec(ctx); change != "" {
		c.notice("spec changed", change)
	}
}

// notice prints a line on standard error. With --json the answer has it instead.
func (c *Call) notice(label, line string) {
	if c.JSON {
		return
	}
	var l Labelled
	l.Add(label, line)
	fmt.Fprintln(c.App.Stderr, c.Legible(l[0]))
}

// newSpec takes for a coder, once, what integration changed in the spec of its task. It is silent
// about failures: prime and the prompt show it, too.
func (c *Call) newSpec(ctx context.Context) string {
	v, err := c.Board.View(ctx)
	if err != nil {
		return ""
	}
	t := report.TaskOf(v.State, c.AgentID())
	if t == nil || !t.Brief().Holds(c.AgentID()) {
		return ""
	}
	diff, err := v.NewerSpec(ctx, t)
	shown, name := t.ID+"\n"+strings.TrimSpace(diff), "told/"+c.AgentID()
	if was, failed := c.Board.Clone().Kept(name); diff == "" || err != nil || failed != nil || was == shown || c.OwnName(c.AgentID()) != nil {
		return ""
	}
	_ = c.Board.Clone().Keep(name, shown)
	line := NewerSpec(t.ID, diff)
	if c.JSON {
		c.messages = append(c.messages, message{ID: "spec", By: "integration", For: c.AgentID(), Time: board.At(c.App.Now()), Text: line})
	}
	return line
}

// maxSpecDiff is how many bytes of a spec's difference are shown next to other things.
const maxSpecDiff = 1500

// NewerSpec informs the coder of a task about a change of its spec on integration.
func NewerSpec(task, diff string) string {
	if len(diff) > maxSpecDiff {
		diff = diff[:strings.LastIndex(diff[:maxSpecDiff], "\n")+1] + "[cut here; all of it: git liza worktree status " + task + "]"
	}
	return "on integration, and your worktree lacks it: bring it in with git merge, and follow it\n" + diff
}

// Messages takes the caller's unread notes and the change of its task's spec, for an answer that
// shows them itself.
func (c *Call) Messages(ctx context.Context) []string {
	var lines []string
	for _, n := range c.unread(ctx, nil) {
		lines = append(lines, "Message "+n.Line())
	}
	if change := c.newSpec(ctx); change != "" {
		lines = append(lines, "The spec changed "+change)
	}
	c.messages = nil
	return lines
}

// delivered adds to an error the messages that no answer has shown. A refusal for unread notes has
// shown their text.
func (c *Call) delivered(ctx context.Context, err error) error {
	if r := (*board.Refusal)(nil); errors.As(err, &r) && len(r.Unread) > 0 {
		c.unread(ctx, r.Unread)
	}
	if err == nil || len(c.messages) == 0 || !c.JSON {
		return err
	}
	return &messagedError{err, c.messages}
}

// unread takes the caller's unread notes, all or only those named, and keeps that they are shown.
// It is silent about failures: then they are shown again.
func (c *Call) unread(ctx context.Context, only []string) []*board.Note {
	v, err := c.Board.View(ctx)
	if err != nil {
		return nil
	}
	notes, err := v.Unread(c.AgentID())
	notes = slices.DeleteFunc(notes, func(n *board.Note) bool { return only != nil && !slices.Contains(only, n.ID) })
	if err != nil || len(notes) == 0 || c.OwnName(c.AgentID()) != nil {
		return nil
	}
	ids := make([]string, len(notes))
	for i, n := range notes {
		ids[i] = n.ID
		c.messages = append(c.messages, message{n.ID, n.By, n.For, n.Timestamp, n.Text()})
	}
	_ = v.Show(c.AgentID(), ids...)
	return notes
}

// withMessages adds the messages to a JSON object, once.
func (c *Call) withMessages(object []byte) []byte {
	end := len(object) - 1
	if len(c.messages) == 0 || end < 2 || object[end] != '}' {
		return object
	}
	all, _ := json.Marshal(c.messages)
	c.messages = nil
	return fmt.Appendf(object[:end], `,"messages":%s}`, all)
}

// messagedError is an error whose answer as JSON has messages, too.
type messagedError struct {
	error
	messages []message
}

func (e *messagedError) Unwrap() error { return e.error }
