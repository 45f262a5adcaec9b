package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/watch"
)

var _ = add(watchCommand)

func watchCommand() *call.Command {
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
}

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
		if c.JSON {
			err = c.PrintJSON(n)
		} else {
			err = c.Say(watch.Line(n.Alarm))
		}
		if err != nil {
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

var _ = add(webCommand)

func webCommand() *call.Command {
	o := webOptions{}
	return &call.Command{
		Name: "web", Group: "human", Max: 0, Lasts: true,
		Short: "the board in a browser: what waits for you, with its answers; live",
		Long: `It prints an address. The address lets one browser in, which stays known by a cookie; when it was used, the next
one is printed. Forms do what the commands do, as the human of this clone. Only this machine reaches it, unless --listen says
otherwise. It ends with Ctrl-C.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`HOST:PORT`, or unix:PATH for a socket that only you reach; port 0 takes a free one")
			f.BoolVar(&o.readOnly, "read-only", false, "only show the board, as on a wall")
			f.StringArrayVar(&o.hosts, "host", nil, "another `NAME` by which browsers may call it, as behind a proxy")
			f.StringVar(&o.base, "base-path", "", "the `/PATH` below which a reverse proxy shows it")
		},
		Example: `git liza web --listen 127.0.0.1:8765`,
		Run:     func(ctx context.Context, c *call.Call) error { return runWeb(ctx, c, o) },
	}
}

type webOptions struct {
	listen   string
	readOnly bool
	hosts    []string
	base     string
	show     func(address string) // nil to print it
}

func runWeb(ctx context.Context, c *call.Call, o webOptions) error {
	if err := o.check(c); err != nil {
		return err
	}
	b := c.Board
	if _, err := b.View(ctx); err != nil { // without a board there is no page to show
		return err
	}
	config := web.Config{App: c.App, Board: b, Random: rand.Read, Hosts: o.hosts, Base: o.base}
	if !o.readOnly {
		if err := c.ActsAsHuman(ctx, "the web board", "git liza web --read-only"); err != nil {
			return err
		}
		config.Do = func(ctx context.Context, a call.Act) (call.Result, error) { return a.Carry(ctx, c) }
	}
	if b.Remote() != "" {
		config.Fetched = func() *call.SeenAt {
			seen, _ := c.Seen(ctx, false) // nil if it can't be found out
			return seen
		}
	}
	config.Sessions = func() (all []web.Session) {
		text, _ := b.Clone().Kept(webSessions)
		_ = json.Unmarshal([]byte(text), &all) // unreadable sessions admit nobody
		return all
	}
	config.Keep = func(all []web.Session) {
		data, _ := json.Marshal(all)
		_ = b.Clone().Keep(webSessions, string(data)) // else browsers need a new address after a restart
	}
	l, err := web.Listen(ctx, o.listen)
	if err != nil {
		return board.Refuse(board.CodeInvalid, "web can't listen: "+err.Error(), "git liza web takes a free port of this machine")
	}
	config.Hosts = append(config.Hosts, ownNames(l, o.listen)...)
	if o.show == nil {
		o.show = func(address string) { printAddress(c, o, address) }
	}
	config.Address = func(token string) { o.show(addressOf(l, o, token)) }
	if err := warnOfOthers(c, l); err != nil {
		return errors.Join(err, l.Close())
	}
	return web.New(config).Serve(ctx, l)
}

// webSessions is the file of admitted browsers.
const webSessions = "web-sessions.json"

// check refuses an address that would be reachable more widely than was asked for.
func (o webOptions) check(c *call.Call) error {
	if o.base != "" && !regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`).MatchString(o.base) {
		return call.Usage(c.Cmd, "--base-path takes a path like /board, not %q", o.base)
	}
	if strings.HasPrefix(o.listen, "unix:") {
		return nil
	}
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return call.Usage(c.Cmd, "--listen takes HOST:PORT or unix:PATH, not %q", o.listen)
	}
	if host == "" {
		return call.Usage(c.Cmd, "--listen %s would be every address of this machine: say 127.0.0.1%s, or 0.0.0.0%s if that is meant", o.listen, o.listen, o.listen)
	}
	return nil
}

// ownNames are the names that other machines may use for a server that listens to them.
func ownNames(l net.Listener, listen string) []string {
	at, is := l.Addr().(*net.TCPAddr)
	if !is || at.IP.IsLoopback() {
		return nil
	}
	names := []string{}
	if host, _, err := net.SplitHostPort(listen); err == nil && !at.IP.IsUnspecified() {
		names = append(names, strings.ToLower(host))
	}
	addresses, _ := net.InterfaceAddrs() // without them, --host gives the name
	for _, a := range addresses {
		if n, is := a.(*net.IPNet); is && (at.IP.IsUnspecified() || n.IP.Equal(at.IP)) {
			names = append(names, n.IP.String())
		}
	}
	return names
}

// warnOfOthers warns if other machines can reach the server.
func warnOfOthers(c *call.Call, l net.Listener) error {
	at, is := l.Addr().(*net.TCPAddr)
	if !is || at.IP.IsLoopback() {
		return nil
	}
	where := "the networks of " + at.IP.String()
	if at.IP.IsUnspecified() {
		where = "every network of this machine"
	}
	_, err := fmt.Fprintf(c.App.Stderr, "WARNING: %s can reach this server. Nothing is encrypted: who can read along sees the board, and can take over a browser's cookie and act as you.\n"+
		"Safer: ssh -L 8765:127.0.0.1:PORT to this machine, with git liza web on 127.0.0.1.\n", where)
	return err
}

// addressOf is the address for the next browser.
func addressOf(l net.Listener, o webOptions, token string) string {
	at, is := l.Addr().(*net.TCPAddr)
	if !is {
		return o.base + "/?token=" + token + " at the socket " + strings.TrimPrefix(o.listen, "unix:")
	}
	host := at.String()
	if at.IP.IsUnspecified() {
		host = fmt.Sprintf("127.0.0.1:%d", at.Port)
	}
	return (&url.URL{Scheme: "http", Host: host, Path: o.base + "/", RawQuery: "token=" + token}).String()
}

func printAddress(c *call.Call, o webOptions, address string) {
	if c.JSON {
		_ = c.PrintJSON(map[string]any{"address": address, "read_only": o.readOnly}) // without a reader, too
		return
	}
	_ = c.Say(address)
}
