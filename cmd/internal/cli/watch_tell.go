package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/notify"
)

// begin opens the ways by which alarms go out, and says that it watches.
func (w *watcher) begin() {
	w.hook.Store(new(string))
	w.webhook = notify.DefaultWebhook.Carry(func() string { return *w.hook.Load() })
	if w.App.Getenv("DISPLAY") != "" || w.App.Getenv("WAYLAND_DISPLAY") != "" {
		if w.desktop = notify.Desktop(); w.desktop != nil {
			w.desktopFaults = w.desktop.Faults()
		}
	}
	if !w.JSON {
		w.line(string(w.started)+" watching; what is told is kept in "+w.board.Dir()+"/"+alertsFile, "")
	}
	if _, err := w.WhoActs("trip"); err != nil {
		w.line("it only tells, and halts nothing: "+err.Error(), "")
	}
}

// end gives what is on its way out a moment, and says that nobody watches any more.
func (w *watcher) end() {
	if w.terminal {
		fmt.Fprint(w.App.Stderr, clearLine)
	}
	w.webhook.Close(watchGrace)
	if w.desktop != nil {
		w.desktop.Close(watchGrace)
	}
	w.own(w.board.Discard(aliveFile))
}

// tell tells an alarm to everybody.
func (w *watcher) tell(a alarm.Alarm) {
	n := w.notice(a)
	w.own(w.board.Note(alertsFile, string(n.Time)+"  "+alarmLine(a)))
	w.webhook.Send(n)
	if w.desktop != nil {
		w.desktop.Send(n)
	}
	if w.JSON {
		w.own(w.PrintJSON(n))
		return
	}
	w.line(string(n.Time)+"  "+alarmLine(a), a.Level)
}

func (w *watcher) notice(a alarm.Alarm) notify.Notice {
	return notify.Notice{Time: board.At(w.App.Now()), Alarm: a, Goal: w.goal, Commit: w.commit, Clone: w.clone}
}

// clearLine takes the line away that a terminal shows at its end.
const clearLine = "\r\x1b[K"

// line prints a line for people, coloured by how urgent it is.
func (w *watcher) line(text string, level alarm.Level) {
	text = board.Visible(text)
	if w.terminal {
		p := edge.Paint(w.App.Getenv("NO_COLOR") == "" && w.App.Getenv("TERM") != "dumb")
		text = clearLine + p.With(map[alarm.Level]string{alarm.Warn: "33", alarm.Grave: "31", "": "0"}[level], text)
	}
	fmt.Fprintln(w.App.Stderr, text)
}

// trouble tells what keeps the watch itself from its work; the same is told once in a row.
func (w *watcher) trouble(text string) {
	w.troubled = true
	if text == w.said {
		return
	}
	w.said = text
	w.line(string(board.At(w.App.Now()))+"  "+text, "")
	_ = w.board.Note(alertsFile, string(board.At(w.App.Now()))+"  watch  "+text)
}

// own is about this clone's own files: what can't be written is told, and the watch goes on.
func (w *watcher) own(err error) {
	if err != nil {
		w.trouble(err.Error())
	}
}

// escalate keeps the escalation file as long as something stands that asks for one.
func (w *watcher) escalate(standing []alarm.Alarm) {
	text := ""
	for _, a := range standing {
		if a.Escalate {
			text += fmt.Sprintf("%s (since %s)\n  %s\n", a.Line, a.Since, a.Do)
		}
	}
	if text == "" {
		w.own(w.board.Discard(escalationFile))
		return
	}
	w.own(w.board.Keep(escalationFile, text))
}
