package screen

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/tty"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Leases leave no trace on the board: they are looked at anew at least so often.
const LookEvery = 10 * time.Second

// Watch keeps the screen live until somebody quits. What can't be read for a moment is shown at the bottom, and
// the last screen stays.
func Watch(c *edge.Call) (err error) {
	in, isFile := c.App.Stdin.(*os.File)
	out, alsoFile := c.App.Stdout.(*os.File)
	switch {
	case c.JSON:
		return edge.Usage(c.Cmd, "--watch is for a terminal, and --json for programs")
	case c.At != "":
		return edge.Usage(c.Cmd, "--watch shows the board as it is now, not --at another time")
	case !isFile || !alsoFile:
		return edge.Usage(c.Cmd, "--watch takes a terminal")
	}
	b, err := c.Board()
	if err != nil {
		return err
	}
	w := &statusWatch{Call: c, Paint: c.Paint()}
	if err := w.look(); err != nil {
		return err
	}
	changes, err := b.Follow(c.Ctx, LookEvery)
	if err != nil {
		return err
	}
	t, err := tty.Open(in, out)
	if errors.Is(err, tty.ErrNone) {
		return edge.Usage(c.Cmd, "--watch takes a terminal")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }() // after a panic, too
	return w.run(t, changes)
}

// statusWatch is the live screen: what was seen last, and what its reader looks at.
type statusWatch struct {
	*edge.Call
	edge.Paint
	seen     *gitboard.Glance
	o        *report.Overview
	selected string
	reading  string                   // the help, or the task whose story is read; "" on the overview
	text     func(edge.Page) []string // what is being read
	top      int                      // the first line of that on the screen
	message  string
	said     git.OID // the board's commit that the message is about
	failure  string  // why the board can't be read at the moment
	quit     bool
}

func (w *statusWatch) run(t *tty.Terminal, changes <-chan struct{}) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !w.quit {
		width, height, err := t.Size()
		if err != nil {
			return err
		}
		if err := t.Draw(w.frame(width, height)); err != nil {
			return err
		}
		select {
		case <-w.Ctx.Done():
			return nil
		case _, follows := <-changes:
			if !follows {
				return nil
			}
			w.lookAgain()
		case k, open := <-t.Keys:
			if !open {
				return nil
			}
			if k == tty.Stop {
				if err := t.Suspend(); err != nil {
					return err
				}
				w.lookAgain()
				continue
			}
			w.press(k)
		case <-t.Resized:
			t.Forget()
		case <-tick.C:
		}
	}
	return nil
}

// look reads the board anew.
func (w *statusWatch) look() error {
	g, err := Glance(w.Call)
	if err != nil {
		return err
	}
	o, err := g.Overview(w.App.Now())
	if err == nil {
		w.seen, w.o = g, o
	}
	return err
}

// lookAgain is look while the screen is up: it shows a failure.
func (w *statusWatch) lookAgain() {
	w.failure = ""
	if err := w.look(); err != nil {
		w.failure = "the screen is old: " + err.Error()
	}
	if w.seen.Commit != w.said { // the board has moved on, be it by somebody else
		w.message = ""
	}
	if w.reading != "" && w.reading != help {
		w.readStory()
	}
}

// press does what a key asks for.
func (w *statusWatch) press(k tty.Key) {
	w.message = ""
	switch k {
	case 'q', tty.Interrupt:
		w.quit = true
	case 'p':
		w.steer(&board.Pause{})
	case 'r':
		w.steer(&board.Resume{})
	case '?':
		if w.reading == help {
			w.reading = ""
			break
		}
		w.reading, w.top = help, 0
		w.text = func(p edge.Page) []string { return edge.Wrap(strings.Join(watchHelp, "\n"), p.Width) }
	case tty.Escape, tty.Left:
		w.reading = ""
	case tty.Enter, tty.Right:
		if w.selected != "" && w.reading == "" {
			w.reading, w.top = w.selected, 0
			w.readStory()
		}
	case tty.Up, 'k':
		w.move(-1)
	case tty.Down, 'j':
		w.move(1)
	case tty.PageUp:
		w.move(-10)
	case tty.PageDown, ' ':
		w.move(10)
	case tty.Home:
		w.move(-1 << 20)
	case tty.End:
		w.move(1 << 20)
	}
}

const help = "?"

var watchHelp = []string{
	"q: quit; Ctrl-Z: to the shell, and back by fg",
	"p: pause; no claims, review claims or merges until resumed",
	"r: resume",
	"up, down: choose a task; scroll its details",
	"enter: the details of the chosen task",
	"esc: back",
	"?: this help, and back",
	"",
	"! marks a task that does not move by itself.",
	"The screen follows the board; leases are looked at every 10 seconds.",
}

// move chooses another task, or scrolls what is being read.
func (w *statusWatch) move(by int) {
	if w.reading != "" {
		w.top += by
		return
	}
	var ids []string
	for _, g := range groupTasks(w.o) {
		for _, t := range g.tasks {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	at := slices.Index(ids, w.selected)
	if at < 0 && by < 0 {
		at = 0
	}
	w.selected = ids[min(max(at+by, 0), len(ids)-1)]
}

// steer carries out what the human asks for, and reports how it went.
func (w *statusWatch) steer(p board.Payload) {
	done, err := w.Do(p.Op(), gitboard.Just(p))
	if err != nil {
		w.message, w.said = err.Error(), w.seen.Commit
		return
	}
	w.lookAgain()
	w.message, w.said = done.Subject, w.seen.Commit
}

// readStory looks at the task whose story is read.
func (w *statusWatch) readStory() {
	t, err := w.seen.State.FindTask(w.reading)
	var f *taskFacts
	if err == nil {
		f, err = FactsOf(w.Call, w.seen.View, t)
	}
	w.text = func(p edge.Page) []string {
		if err != nil {
			return edge.Wrap(err.Error(), p.Width)
		}
		return f.Story(p)
	}
}

// frame is the whole screen: the overview or what is being read, and at the bottom the message or the keys.
func (w *statusWatch) frame(width, height int) []string {
	if o, err := w.seen.Overview(w.App.Now()); err == nil { // time has passed
		w.o = o
	}
	said := cmp.Or(w.failure, w.message)
	p := edge.Page{Width: max(width, 20), Height: max(height-1, 4), Paint: w.Paint, Signs: w.Signs()}
	if said != "" {
		p.Height--
	}
	var lines []string
	bottom := "q quit  p pause  r resume  up/down and enter: a task  ? help"
	if w.reading == "" {
		lines = Status(p, w.o, Reasons(w.seen.State), w.selected)
	} else {
		lines = w.text(p)
		w.top = max(0, min(w.top, len(lines)-p.Height))
		lines = lines[w.top:]
		bottom = "esc back  up/down scroll  q quit"
	}
	lines = lines[:min(len(lines), p.Height)]
	for len(lines) < p.Height {
		lines = append(lines, "")
	}
	if said != "" { // above the keys, which stay
		lines = append(lines, p.Inverse(edge.Pad(p.Fit(said, p.Width-1), p.Width-1)))
	}
	lines = append(lines, p.Inverse(edge.Pad(p.Fit(bottom, p.Width-1), p.Width-1)))
	return strings.Split(w.Legible(strings.Join(lines, "\n")), "\n")
}
