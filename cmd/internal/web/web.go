package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
)

// Config says what a server shows, and what it may do.
type Config struct {
	App   *edge.App
	Board *gitboard.Board
	// Do carries out a command line, as the human of this clone, and returns what it printed; nil for a board that is
	// only shown.
	Do func(ctx context.Context, args []string) (Done, error)
	// Hosts are names that browsers may call the server by, besides those of this machine itself.
	Hosts []string
	// Fetched says how fresh a shared board is, in words; "" for one that is not shared.
	Fetched func() string
	// Address is called with the token of the first address, and again whenever one was used.
	Address func(token string)
	// Sessions are the browsers that an earlier run let in, and Keep remembers them for the next.
	Sessions []Session
	Keep     func([]Session)
	// Random fills a buffer with randomness.
	Random func([]byte) (int, error)
}

// Done is what a command printed when it had done its work.
type Done struct {
	Subject string
	Lines   []string
}

// Refused is a command that was refused, in the command's own words.
type Refused struct{ Message, Hint string }

func (r *Refused) Error() string { return r.Message }

// Server shows one board.
type Server struct {
	Config
	hub     *hub
	guard   *guard
	routes  *http.ServeMux
	open    atomic.Int32 // streams
	ended   chan struct{}
	flashes flashes
	diffs   diffCache
	said    remarkCache
}

// New makes a server.
func New(c Config) *Server {
	s := &Server{Config: c, hub: newHub(c.Board, c.App), ended: make(chan struct{})}
	random := func() string { return secret(c.Random) }
	s.guard = &guard{
		token: random(), sessions: c.Sessions, hosts: c.Hosts, cookie: "liza-" + hashOf(c.Board.Dir())[:8],
		random: random, now: c.App.Now, keep: c.Keep, renewed: c.Address,
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

// Handler is the server with its guard.
func (s *Server) Handler() http.Handler { return s.guard.wrap(s.routes) }

// Serve answers on a listener until the context ends, and then lets what is under way come to its end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	var wait sync.WaitGroup
	followed := make(chan error, 1)
	wait.Go(func() { followed <- s.hub.run(ctx) })
	wait.Go(func() {
		<-ctx.Done()
		close(s.ended)
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer done()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
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

// Listen opens where a server listens: HOST:PORT, or unix:PATH for a socket that only this user reaches.
func Listen(ctx context.Context, where string) (net.Listener, error) {
	path, is := strings.CutPrefix(where, "unix:")
	if !is {
		return new(net.ListenConfig).Listen(ctx, "tcp", where)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("another process listens at %s", path)
		}
		_ = os.Remove(path) // left behind by a process that was killed; Listen reports it if it is still there
	}
	// A directory of its own, so that nobody reaches the socket before its mode is set.
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
	if err := errors.Join(os.Chmod(within, 0o600), os.Rename(within, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{l, path}, nil
}

// socket takes its file away when it is closed.
type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error {
	_ = os.Remove(s.path)
	return s.Listener.Close()
}

// maker makes a page from a look. What it returns depends on the look and the query alone, and on what commits hold.
type maker func(ctx context.Context, l *look, q query) (*page, error)

// pageOf is what makes the page of an address, nil where there is none.
func (s *Server) pageOf(u *url.URL) maker {
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
		"": s.now, "graph": s.graph, "timeline": s.timeline, "history": s.history, "agents": s.agents, "sprint": s.sprint,
	}[kind]
}

// notFound is a page of something that the board does not hold.
type notFound struct{ message string }

func (e *notFound) Error() string { return e.message }

// show shows a page: of the board as it is, or with ?at= as it was.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	make := s.pageOf(r.URL)
	if make == nil {
		refuse(w, http.StatusNotFound, "There is no such page.", "")
		return
	}
	q := query{r.URL.Query()}
	f := frame{Path: r.URL.Path, ReadOnly: s.Do == nil, At: q.get("at"), Flash: s.flashes.take(q.get("done"))}
	if s.Fetched != nil {
		f.Fetched = s.Fetched()
	}
	q.values.Del("done")
	if r.URL.Path == "/" {
		f.Filter = q.get("q")
	}
	err := s.look(r.Context(), f.At, func(l *look, id string) error {
		p, err := make(r.Context(), l, q)
		if err != nil {
			return err
		}
		f.page, f.ID, f.o, f.inbox, f.Now = p, id, l.o, l.inbox, string(l.o.Now)
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

// look calls a function with the newest look, or with that of an earlier time.
func (s *Server) look(ctx context.Context, at string, use func(l *look, id string) error) error {
	if at == "" {
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

// trouble answers with why there is no page.
func (s *Server) trouble(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if missing := (*notFound)(nil); errors.As(err, &missing) || edge.ExitCode(err) == 1 {
		status = http.StatusNotFound
	}
	refuse(w, status, err.Error(), edge.Classify(err).Hint)
}

// assetTypes are the files that pages take, and what they are.
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
