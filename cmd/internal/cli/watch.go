package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
)

var _ = add(func() *call.Command {
	var once, noBreaker bool
	var heartbeat time.Duration
	return &call.Command{
		Name: "watch", Group: "human", Max: 0, Lasts: true,
		Short: "alert a human when one is needed; each alarm is sent once",
		Long: `Alarms go to standard error (with --json to standard output, an object a line), to liza/alerts.log below the
common git directory, to the desktop where notify-send is, and to the setting escalation_webhook. What was
reported is reported again when it gets worse, or comes back. A passed deadline and a pattern of the circuit breaker halt the board; a board that does not
replay pauses this clone by .liza/PAUSE. With --once it asks the remote of a shared board first, prints the current
conditions, alerts nobody else, changes nothing on the board, and exits with 1 if there is one, else with 3 if the
remote can't be reached.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&once, "once", false, "look once")
			f.BoolVar(&noBreaker, "no-breaker", false, "report patterns, and do not halt the board for them")
			f.DurationVar(&heartbeat, "heartbeat", 10*time.Minute, "away from a terminal, the `SPAN` between two signs of life")
		},
		Example: `git liza watch --heartbeat 5m`,
		Run: func(ctx context.Context, c *call.Call) error {
			if heartbeat <= 0 {
				return call.Usage(c.Cmd, "--heartbeat takes a span like 10m, not %s", heartbeat)
			}
			if once {
				return watchOnce(ctx, c)
			}
			return runWatch(ctx, c, noBreaker, heartbeat)
		},
	}
})

func runWatch(ctx context.Context, c *call.Call, noBreaker bool, heartbeat time.Duration) error {
	reopen := func() (*gitboard.Board, error) {
		c.Close()
		err := c.Open(ctx)
		return c.Board, err
	}
	return watch.Run(ctx, watch.Config{
		Board: c.Board, Reopen: reopen, Actor: c.WhoActs, Now: c.App.Now, Screen: screen.NewAlarms(c),
		Desktop:   c.App.Getenv("DISPLAY") != "" || c.App.Getenv("WAYLAND_DISPLAY") != "",
		NoBreaker: noBreaker, Heartbeat: heartbeat,
	})
}

// watchOnce prints the conditions that are met. If the remote can't be reached, those of the board
// as it was last fetched are printed; without any, the result is unknown.
func watchOnce(ctx context.Context, c *call.Call) error {
	away := c.Board.Refresh(ctx)
	switch {
	case errors.As(away, new(*log.RecordError)):
		away = nil // what does not follow is a condition like any other
	case away != nil && (!errors.As(away, new(*git.NetworkError)) || ctx.Err() != nil):
		return away
	}
	notices, err := watch.Once(ctx, watch.Config{Board: c.Board, Now: c.App.Now})
	if err != nil {
		return err
	}
	for _, n := range notices {
		if err := call.Tell(c, n, watch.Line(n.Alarm)); err != nil {
			return err
		}
	}
	if len(notices) == 0 {
		return away
	}
	if away != nil {
		c.App.PrintError(away, c.JSON)
	}
	return &call.Outcome{Exit: 1, Code: call.CodeAlarm, Message: text.Plural(len(notices), "condition") + " to look at", Hint: ""}
}

var _ = add(func() *call.Command {
	var o web.Options
	return &call.Command{
		Name: "web", Group: "human", Max: 0, Lasts: true,
		Short: "the board in a browser: what waits for you, with its answers; live",
		Long: `It prints an address. The address lets one browser in, which stays known by a cookie; when it was used, the next
one is printed. Forms do what the commands do, as the human of this clone. Only this machine reaches it, unless --listen says
otherwise. It ends with Ctrl-C.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Listen, "listen", web.AnyPort, "`HOST:PORT`, or unix:PATH for a socket that only you reach; port 0 takes a free one")
			f.BoolVar(&o.ReadOnly, "read-only", false, "only show the board, as on a wall")
			f.StringArrayVar(&o.Hosts, "host", nil, "another `NAME` by which browsers may call it, as behind a proxy")
			f.StringVar(&o.Base, "base-path", "", "the `/PATH` below which a reverse proxy shows it")
		},
		Example: `git liza web --listen 127.0.0.1:8765`,
		Run:     func(ctx context.Context, c *call.Call) error { return web.Run(ctx, c, o) },
	}
})
