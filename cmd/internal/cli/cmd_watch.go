package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
)

// watchOptions are the flags of watch.
type watchOptions struct {
	once, noBreaker bool
	heartbeat       time.Duration
}

var _ = add(watchCommand)

func watchCommand() *edge.Command {
	var o watchOptions
	return &edge.Command{
		Name: "watch", Group: "human", Max: 0,
		Short: "tell what needs a human as it happens: every alarm, once",
		Long: `Alarms go to standard error (with --json to standard output, an object a line), to liza/alerts.log below the
common git directory, to the desktop where notify-send is, and to the setting escalation_webhook. What was told is told again
when it gets worse, or comes back. A passed deadline and a pattern of the circuit breaker halt the board; a board that does not
replay pauses this clone by .liza/PAUSE. With --once it prints the conditions that stand, tells nobody else, changes nothing,
and exits with 1 if there is one.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.once, "once", false, "look once")
			f.BoolVar(&o.noBreaker, "no-breaker", false, "tell of patterns, and do not halt the board for them")
			f.DurationVar(&o.heartbeat, "heartbeat", 10*time.Minute, "away from a terminal, `SPAN` between two lines that say it is alive")
		},
		Run: func(c *edge.Call) error {
			if o.heartbeat <= 0 {
				return edge.Usage(c.Cmd, "--heartbeat takes a span like 10m, not %s", o.heartbeat)
			}
			if o.once {
				return watchOnce(c)
			}
			return watch(c, o)
		},
	}
}

// watchOnce prints what stands.
func watchOnce(c *edge.Call) error {
	w, err := newWatcher(c, watchOptions{})
	if err != nil {
		return err
	}
	_, report, err := w.judge(nil)
	if err != nil {
		return err
	}
	for _, a := range report.Standing {
		if c.JSON {
			err = c.PrintJSON(w.notice(a))
		} else {
			err = c.Say(alarmLine(a))
		}
		if err != nil {
			return err
		}
	}
	if n := len(report.Standing); n > 0 {
		return &edge.Outcome{Exit: 1, Code: edge.CodeAlarm, Message: edge.Plural(n, "condition") + " to look at", Hint: ""}
	}
	return nil
}

// alarmLine is an alarm as a line for people: how urgent, what, and what looks closer.
func alarmLine(a alarm.Alarm) string {
	return fmt.Sprintf("%-5s  %s  [%s]", a.Level, board.Visible(a.Line), board.Visible(a.Do))
}
