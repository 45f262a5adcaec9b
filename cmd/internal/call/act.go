package call

import (
	"context"
	"io"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

// Act is what a human asks a long-running program for.
type Act struct {
	Op      string // the name of the command that does the same
	Request string // as --request
	Seen    []string
	Do      func(context.Context, *Call) (Result, error)
}

// Result is what was done. A command prints it; the web board and the screen show it.
type Result struct {
	Done  []*gitboard.Done
	Extra map[string]any // for JSON
	Lines []string       // for a human, after the subject
	Next  string         // the next command, for a human at a command line
}

// Said lists the subjects of the operations, and then the lines.
func (r Result) Said() []string {
	var said []string
	for _, d := range r.Done {
		said = append(said, d.Subject)
	}
	return append(said, r.Lines...)
}

// Show prints the result of a command with one operation.
func (c *Call) Show(r Result, err error) error {
	if err != nil {
		return err
	}
	lines := r.Lines
	if r.Next != "" {
		lines = append(lines, r.Next)
	}
	return c.Report(r.Done[len(r.Done)-1], r.Extra, lines...)
}

// Carry carries out the act as a caller, on a Board of its own. It prints nothing.
func (a Act) Carry(ctx context.Context, c *Call) (r Result, err error) {
	app := *c.App
	app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), io.Discard, io.Discard
	own := &Call{App: &app, Cmd: &Command{Name: a.Op, Writes: true}, Dir: c.Dir, Keys: c.Keys, Request: a.Request, Versions: a.Seen, retries: gitboard.DefaultRetries}
	defer own.Close()
	if err := own.Open(ctx); err != nil {
		return r, err
	}
	r, err = a.Do(own.Begin(app.Context(ctx)), own)
	r.Lines = append(r.Lines, own.Board.TakeMentions()...)
	return r, own.Hinted(ctx, err)
}

// Doing carries out an operation whose payload is known.
func (c *Call) Doing(ctx context.Context, p board.Payload) (Result, error) {
	return One(c.Do(ctx, p.Op(), gitboard.Just(p)))
}

// Ending carries out an operation that may end a task's worktree.
func (c *Call) Ending(ctx context.Context, p board.TaskPayload) (Result, error) {
	actor, err := c.Actor(ctx, p.Op())
	if err != nil {
		return Result{}, err
	}
	return One(worktrees.End(ctx, c.Board, c.Asks(actor), p))
}

// One is the result of one operation.
func One(done *gitboard.Done, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return Result{Done: []*gitboard.Done{done}}, nil
}
