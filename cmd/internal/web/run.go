package web

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

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Options are what a server is started with.
type Options struct {
	Listen   string               // HOST:PORT, or unix:PATH
	ReadOnly bool                 // it takes no forms
	Hosts    []string             // further names by which browsers may call it
	Base     string               // the path below which a reverse proxy shows it, "" for none
	Show     func(address string) // called with each address that lets a browser in; nil to print it
}

// AnyPort is the address that only this machine reaches, at a free port.
const AnyPort = "127.0.0.1:0"

// Run serves the board of a command until ctx ends.
func Run(ctx context.Context, c *call.Call, o Options) error {
	if err := o.check(c); err != nil {
		return err
	}
	b := c.Board
	if _, err := b.View(ctx); err != nil { // without a board there is no page to show
		return err
	}
	config := Config{App: c.App, Board: b, Random: rand.Read, Hosts: o.Hosts, Base: o.Base}
	if !o.ReadOnly {
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
	config.Sessions = func() (all []Session) {
		text, _ := b.Clone().Kept(sessionsFile)
		_ = json.Unmarshal([]byte(text), &all) // unreadable sessions admit nobody
		return all
	}
	config.Keep = func(all []Session) {
		data, _ := json.Marshal(all)
		_ = b.Clone().Keep(sessionsFile, string(data)) // else browsers need a new address after a restart
	}
	l, err := Listen(ctx, o.Listen)
	if err != nil {
		return board.Refuse(board.CodeInvalid, "web can't listen: "+err.Error(), "git liza web takes a free port of this machine")
	}
	config.Hosts = append(config.Hosts, ownNames(l, o.Listen)...)
	if o.Show == nil {
		o.Show = func(address string) { printAddress(c, o, address) }
	}
	config.Address = func(token string) { o.Show(addressOf(l, o, token)) }
	if err := warnOfOthers(c, l); err != nil {
		return errors.Join(err, l.Close())
	}
	return New(config).Serve(ctx, l)
}

// sessionsFile is the file of admitted browsers.
const sessionsFile = "web-sessions.json"

// check refuses an address that would be reachable more widely than was asked for.
func (o Options) check(c *call.Call) error {
	if o.Base != "" && !regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`).MatchString(o.Base) {
		return call.Usage(c.Cmd, "--base-path takes a path like /board, not %q", o.Base)
	}
	if strings.HasPrefix(o.Listen, "unix:") {
		return nil
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return call.Usage(c.Cmd, "--listen takes HOST:PORT or unix:PATH, not %q", o.Listen)
	}
	if host == "" {
		return call.Usage(c.Cmd, "--listen %s would be every address of this machine: say 127.0.0.1%s, or 0.0.0.0%s if that is meant", o.Listen, o.Listen, o.Listen)
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
func addressOf(l net.Listener, o Options, token string) string {
	at, is := l.Addr().(*net.TCPAddr)
	if !is {
		return o.Base + "/?token=" + token + " at the socket " + strings.TrimPrefix(o.Listen, "unix:")
	}
	host := at.String()
	if at.IP.IsUnspecified() {
		host = fmt.Sprintf("127.0.0.1:%d", at.Port)
	}
	return (&url.URL{Scheme: "http", Host: host, Path: o.Base + "/", RawQuery: "token=" + token}).String()
}

func printAddress(c *call.Call, o Options, address string) {
	if c.JSON {
		_ = c.PrintJSON(map[string]any{"address": address, "read_only": o.ReadOnly}) // without a reader, too
		return
	}
	_ = c.Say(address)
}
