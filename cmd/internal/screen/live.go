package screen

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/report"
)

// LookEvery is the longest time between two looks, since leases leave no trace on the board.
const LookEvery = 10 * time.Second

// Watch keeps the screen up to date until the user quits, and carries out their acts. It shows one
// goal, or all for "". If something can't be read for the moment, the last screen stays, with the
// error at the bottom.
func Watch(ctx context.Context, c *call.Call, goal string) (err error) {
	in, isFile := c.App.Stdin.(*os.File)
	out, alsoFile := c.App.Stdout.(*os.File)
	switch {
	case c.JSON:
		return call.Usage(c.Cmd, "--watch is for a terminal, and --json for programs")
	case c.At != "":
		return call.Usage(c.Cmd, "--watch shows the board as it is now, not --at another time")
	case !isFile || !alsoFile:
		return call.Usage(c.Cmd, "--watch takes a terminal")
	}
	w := &statusWatch{Call: c, Paint: c.Paint(), goal: goal, outcomes: make(chan outcome, 1)}
	if err := w.look(ctx); err != nil {
		return err
	}
	changes, err := c.Board.Follow(ctx, LookEvery)
	if err != nil {
		return err
	}
	t, err := tty.Open(in, out)
	if errors.Is(err, tty.ErrNone) {
		return call.Usage(c.Cmd, "--watch takes a terminal")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }() // also after a panic
	return w.live(ctx, t, changes)
}

// statusWatch is the live screen: the last view, and its user's selection and input.
type statusWatch struct {
	*call.Call
	call.Paint
	seen     *gitboard.Glance
	o        *report.Overview
	fresh    *call.SeenAt // how old the view of a shared board is, nil if it is not shared
	selected string
	goal     string // the only goal that is shown, "" for all
	filter   string // common to the listed tasks

	reading   view
	text      func(call.Page) []string // the text being read
	top       int                      // its first line on the screen
	patch     *patchView               // the diff being read
	sinceLast bool                     // patch is since the previous submission
	rows      int                      // lines that the last frame had for it

	outcomes chan outcome
	doing    string // the act being carried out, "" for none
	dialog   *dialog
	pasting  bool

	message string
	said    plumbing.OID // the board's commit at the time of the message
	failure string       // why the board can't be read now
	quit    bool
}

// view is the screen's content.
type view int

const (
	overview view = iota
	story         // of the selected task
	patch         // of the selected task
	inbox
	help
)

// outcome is the result of an act.
type outcome struct {
	done call.Result
	err  error
}

// dialog is the questions before an act.
type dialog struct {
	*input
	answers []string
	next    func(answers []string) *input
	end     func(answers []string)
}

func (w *statusWatch) live(ctx context.Context, t *tty.Terminal, changes <-chan struct{}) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	defer func() {
		if w.doing != "" { // let a started act finish
			<-w.outcomes
		}
	}()
	for !w.quit {
		width, height, err := t.Size()
		if err != nil {
			return err
		}
		if err := t.Draw(w.frame(width, height)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case _, follows := <-changes:
			if !follows {
				return nil
			}
			w.lookAgain(ctx)
		case o := <-w.outcomes:
			w.showOutcome(ctx, o)
		case k, open := <-t.Keys:
			if !open {
				return nil
			}
			if k == tty.Stop {
				if err := t.Suspend(); err != nil {
					return err
				}
				w.lookAgain(ctx)
				continue
			}
			w.press(ctx, k)
		case <-t.Resized:
			t.Forget()
		case <-tick.C:
		}
	}
	return nil
}

// look reads the board again.
func (w *statusWatch) look(ctx context.Context) error {
	g, err := Glance(ctx, w.Call, w.goal)
	if err != nil {
		return err
	}
	o, err := g.Of(w.goal).Overview(w.App.Now())
	if err == nil {
		w.seen, w.o = g, o
		w.fresh, err = w.Seen(ctx, false)
	}
	return err
}

// lookAgain is look that shows errors on the screen.
func (w *statusWatch) lookAgain(ctx context.Context) {
	w.failure = ""
	if err := w.look(ctx); err != nil {
		w.failure = "the screen is old: " + err.Error()
	}
	if w.seen.Commit != w.said { // the board has changed, possibly by somebody else
		w.message = ""
	}
	w.readAgain(ctx)
}
