package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
)

// Config sets a server's content and rights.
type Config struct {
	App   *call.App
	Board *gitboard.Board
	// Do carries out an act as the human of this clone. It is nil for a read-only server.
	Do func(context.Context, call.Act) (call.Result, error)
	// Every is how often to check what no event reports; 0 means every five seconds.
	Every time.Duration
	// Patience is how long a request may take to arrive; 0 means a minute.
	Patience time.Duration
	// Hosts are names that browsers may use for the server, besides those of this machine.
	Hosts []string
	// Base is the path below which a reverse proxy shows the server, like /board; "" for none.
	Base string
	// Fetched is how fresh a shared board is, nil if it can't be found out. The function itself is
	// nil if the board is not shared.
	Fetched func() *call.SeenAt
	// Address is called with the token of the first address, and with a new one whenever one was
	// used.
	Address func(token string)
	// Sessions returns the browsers that were admitted by this server, by an earlier run or by another
	// server of this clone, as Keep has stored them.
	Sessions func() []Session
	Keep     func([]Session)
	// Random fills a buffer with randomness.
	Random func([]byte) (int, error)
}

// Server shows one board.
type Server struct {
	Config
	hub     *hub
	guard   *guard
	routes  *http.ServeMux
	open    atomic.Int32   // number of open streams
	ended   chan struct{}  // closed when the server begins to stop
	over    chan struct{}  // closed when no act gets more time
	acts    sync.WaitGroup // those being carried out
	flashes flashes
	diffs   diffCache
	said    remarkCache
}

// New returns a server.
func New(c Config) *Server {
	s := &Server{Config: c, hub: newHub(c), ended: make(chan struct{}), over: make(chan struct{})}
	random := func() string { return secret(c.Random) }
	var hosts []string
	for _, name := range c.Hosts {
		hosts = append(hosts, hostOf(name))
	}
	s.guard = &guard{
		token: random(), acts: c.Do != nil, hosts: hosts, cookie: "liza-" + hashOf(c.Board.Dir())[:8], path: cmp.Or(c.Base, "/"),
		random: random, now: c.App.Now, stored: c.Sessions, store: c.Keep, renewed: c.Address,
	}
	s.routes = http.NewServeMux()
	s.routes.HandleFunc("GET /events", s.events)
	s.routes.HandleFunc("GET /assets/{name}", asset)
	s.routes.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { sendAsset(w, "icon.svg") })
	s.routes.HandleFunc("GET /seek", s.seek)
	s.routes.HandleFunc("GET /transcript/{agent}", s.transcript)
	s.routes.HandleFunc("POST /act/{name}", s.act)
	s.routes.HandleFunc("GET /", s.show)
	return s
}

// Handler is the server behind its guard.
func (s *Server) Handler() http.Handler { return below(s.Base, s.guard.wrap(s.routes)) }

// Serve answers on a listener until the context ends, and then lets pending requests finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: cmp.Or(s.Patience, time.Minute), IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	var wait sync.WaitGroup
	followed := make(chan error, 1)
	wait.Go(func() { followed <- s.hub.run(ctx) })
	wait.Go(func() {
		<-ctx.Done()
		close(s.ended)
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), maxGrace)
		defer done()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
		close(s.over)
		s.acted()
	})
	s.Address(s.guard.token)
	err := server.Serve(l)
	cancel()
	wait.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, <-followed)
}

// maxGrace is how long the end of a server waits for open requests, and then for acts to give up.
const maxGrace = 3 * time.Second

// acted waits for acts that were asked to end. A push that the remote does not answer ends by
// itself later.
func (s *Server) acted() {
	none := make(chan struct{})
	go func() { s.acts.Wait(); close(none) }()
	select {
	case <-none:
	case <-time.After(maxGrace):
	}
}

// Listen opens a listener on HOST:PORT, or on unix:PATH for a socket that only this user can reach.
func Listen(ctx context.Context, where string) (net.Listener, error) {
	path, is := strings.CutPrefix(where, "unix:")
	if !is {
		return new(net.ListenConfig).Listen(ctx, "tcp", where)
	}
	if info, err := os.Lstat(path); err == nil {
		if err := abandoned(path, info); err != nil {
			return nil, err
		}
		_ = os.Remove(path) // Link below reports it if it is still there
	}
	// A private directory protects the socket until its mode is set.
	private, err := os.MkdirTemp(filepath.Dir(path), ".liza-web-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	within := filepath.Join(private, "s")
	l, err := new(net.ListenConfig).Listen(ctx, "unix", within)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	// Link replaces no file, in contrast to Rename.
	if err := errors.Join(os.Chmod(within, socketMode), os.Link(within, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	made, err := os.Lstat(within)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{l, path, made}, nil
}

// socketMode is the mode of our sockets: only this user reaches them.
const socketMode fs.FileMode = 0o600

// abandoned returns an error unless a file is a socket as Listen makes them, left by an ended
// process.
func abandoned(path string, info fs.FileInfo) error {
	if info.Mode() != fs.ModeSocket|socketMode {
		return fmt.Errorf("%s exists and is not a socket of git liza web: name a path that does not exist", path)
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("another process listens at %s", path)
	}
	return nil
}

// socket removes its file when it is closed.
type socket struct {
	net.Listener
	path string
	made fs.FileInfo
}

func (s *socket) Close() error {
	if at, err := os.Lstat(s.path); err == nil && os.SameFile(at, s.made) {
		_ = os.Remove(s.path)
	}
	return s.Listener.Close()
}

// maker builds a page from a look. The result depends only on the look, the query, and the contents
// of commits.
type maker func(ctx context.Context, l *look, q query) (*page, error)

// pageOf returns the maker for a URL, nil if there is no such page. With ?goal= the page is of that
// goal alone, if it is a page of the whole board.
func (s *Server) pageOf(u *url.URL) maker {
	make := s.wholePage(u)
	if make == nil || strings.Count(u.Path, "/") > 1 {
		return make
	}
	return func(ctx context.Context, l *look, q query) (*page, error) {
		if goal := q.get("goal"); goal != "" {
			narrow, err := l.narrowed(ctx, goal)
			if err != nil {
				return nil, err
			}
			l = narrow
		}
		return make(ctx, l, q)
	}
}

// wholePage is pageOf for all goals.
func (s *Server) wholePage(u *url.URL) maker {
	if u == nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return nil
	}
	kind, rest, deeper := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if kind == "task" && rest != "" {
		return func(ctx context.Context, l *look, q query) (*page, error) { return s.task(ctx, l, rest, q) }
	}
	if kind == "agent" && rest != "" {
		return func(ctx context.Context, l *look, q query) (*page, error) { return s.agent(ctx, l, rest, q) }
	}
	if deeper {
		return nil
	}
	return map[string]maker{
		"": s.now, "graph": s.graph, "timeline": s.timeline, "history": s.history, "agents": s.agents, "sprint": s.sprint, "spec": s.spec,
	}[kind]
}

// notFound is the error for something that the board does not contain.
type notFound struct{ message string }

func (e *notFound) Error() string { return e.message }

// show shows a page of the board as it is now, or with ?at= as it was then.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	make := s.pageOf(r.URL)
	if make == nil {
		refuse(w, http.StatusNotFound, "There is no such page.", "")
		return
	}
	q := query{r.URL.Query()}
	f := frame{Path: r.URL.Path, ReadOnly: s.Do == nil, At: q.get("at"), Only: q.get("goal"), Flash: s.flashes.take(q.get("done"))}
	q.values.Del("done")
	if r.URL.Path == "/" {
		f.Filter = q.get("q")
	}
	fetched := s.fetched()
	err := s.look(r.Context(), f.At, func(l *look, id string) error {
		p, err := make(r.Context(), l, q)
		if err != nil {
			return err
		}
		f.page, f.ID, f.o, f.Banner = p, id, l.o, bannerOf(l, p, fetched)
		f.Query = q.with()
		return s.when(r.Context(), l, &f)
	})
	if err != nil {
		s.trouble(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pages.ExecuteTemplate(w, "page", &f)
}

// look calls a function with the newest look, or with that of an earlier time. It waits for no event,
// so a viewer sees what they have just changed.
func (s *Server) look(ctx context.Context, at string, use func(l *look, id string) error) error {
	if at == "" {
		s.hub.lookAround(ctx)
		return s.hub.with(ctx, use)
	}
	if !isMoment(at) {
		return &notFound{"There is no moment called that: a commit of the board, or a time like 2026-01-31T14:05:00Z."}
	}
	l, err := s.hub.at(ctx, at)
	if err != nil {
		return err
	}
	return use(l, string(l.Commit))
}

// trouble responds with the reason why there is no page.
func (s *Server) trouble(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if missing := (*notFound)(nil); errors.As(err, &missing) || call.ExitCode(err) == 1 {
		status = http.StatusNotFound
	}
	refuse(w, status, err.Error(), call.Classify(err).Hint)
}

// assetTypes are the files that pages load, and their content types.
var assetTypes = map[string]string{"style.css": "text/css; charset=utf-8", "live.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"}

func asset(w http.ResponseWriter, r *http.Request) { sendAsset(w, r.PathValue("name")) }

func sendAsset(w http.ResponseWriter, name string) {
	typ, known := assetTypes[name]
	data, err := assetFiles.ReadFile("assets/" + name)
	if !known || err != nil {
		refuse(w, http.StatusNotFound, "There is no such file.", "")
		return
	}
	w.Header().Set("Content-Type", typ)
	_, _ = w.Write(data)
}
