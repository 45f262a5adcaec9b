package watch

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/notify"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Line formats an alarm for humans: its level, its text, and the command that shows more.
func Line(a alarm.Alarm) string {
	return fmt.Sprintf("%-5s  %s  [%s]", a.Level, text.Visible(a.Line), text.Visible(cmdline.Hint(a.Do)))
}

// begin opens the channels for alarms and announces the watch.
func (w *watcher) begin(ctx context.Context) {
	w.hook.Store(new(string))
	w.webhook = notify.DefaultWebhook.Carry(func() string { return *w.hook.Load() })
	if w.Desktop {
		if w.desktop = notify.Desktop(); w.desktop != nil {
			w.desktopFaults = w.desktop.Faults()
		}
	}
	_, err := w.Actor(ctx, "trip")
	halts := "a pattern of the circuit breaker halts the board (git liza docs circuit-breaker; --no-breaker only reports it)"
	switch {
	case err != nil:
		halts = ""
	case w.NoBreaker:
		halts = "patterns of the circuit breaker are reported, and halt nothing (--no-breaker)"
	}
	w.Screen.Begin(w.started, w.board.Dir()+"/"+alertsFile, halts)
	if err != nil {
		w.Screen.Line("it only reports, and halts nothing: " + err.Error())
	}
}

// end gives pending alarms a moment to be sent, and announces the end of the watch.
func (w *watcher) end() {
	w.Screen.End()
	w.webhook.Close(watchGrace)
	if w.desktop != nil {
		w.desktop.Close(watchGrace)
	}
}

// report sends an alarm to every channel.
func (w *watcher) report(a alarm.Alarm) {
	n := w.notice(a)
	w.own(w.board.Clone().Note(alertsFile, string(n.Time)+"  "+Line(a)))
	w.webhook.Send(n)
	if w.desktop != nil {
		w.desktop.Send(n)
	}
	w.own(w.Screen.Alarm(n))
}

func (w *watcher) notice(a alarm.Alarm) notify.Notice {
	return notify.Notice{Time: board.At(w.Now()), Alarm: a, Goal: w.goal, Commit: w.commit, Clone: w.clone}
}

// trouble reports what hinders the watch itself; it does not repeat the same text in a row.
func (w *watcher) trouble(text string) {
	w.troubled = true
	if text == w.said {
		return
	}
	w.said = text
	now := string(board.At(w.Now()))
	w.Screen.Line(now + "  " + text)
	_ = w.board.Clone().Note(alertsFile, now+"  watch  "+text)
}

// own reports an error with this clone's own files; the watch continues.
func (w *watcher) own(err error) {
	if err != nil {
		w.trouble(err.Error())
	}
}

// escalate keeps the escalation file as long as an alarm asks for one.
func (w *watcher) escalate(alarms []alarm.Alarm) {
	text := ""
	for _, a := range alarms {
		if a.Escalate {
			text += fmt.Sprintf("%s (since %s)\n  %s\n", a.Line, a.Since, cmdline.Hint(a.Do))
		}
	}
	if text == "" {
		w.own(w.board.Clone().Discard(escalationFile))
		return
	}
	w.own(w.board.Clone().Keep(escalationFile, text))
}
