package web_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/cli"
	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestMain(m *testing.M) {
	testrun.Prepare()
	for key, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com",
		"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com", "LIZA_AGENT_ID": "", "LIZA_SUPERVISED": "",
	} {
		os.Setenv(key, value)
	}
	code := m.Run()
	endBrowser()
	os.RemoveAll(prepared.dir)
	os.Exit(code)
}

// endBrowser ends the browser that tests share.
var endBrowser = func() {}

// prepared are the scenes that tests copy, by name, and one shop for tests that only read, or undo
// what they do.
var prepared = struct {
	dir    string
	scenes map[string]*scene
}{scenes: map[string]*scene{}}

// preparedScene returns the scene of a name, which the first test that needs it makes.
func preparedScene(t *testing.T, name string, make func(t *testing.T, dir string) *scene) *scene {
	t.Helper()
	if prepared.dir == "" {
		prepared.dir = testrun.Must(os.MkdirTemp("", "liza-web-"))(t)
	}
	if prepared.scenes[name] == nil {
		prepared.scenes[name] = make(t, filepath.Join(prepared.dir, name))
	}
	s := *prepared.scenes[name]
	s.t = t
	return &s
}

// copyIn makes a copy of a scene, with a clock of its own.
func (s *scene) copyIn(t *testing.T, dir string) *scene {
	t.Helper()
	c := &scene{t: t, dir: filepath.Join(dir, "shop"), clock: testrepo.NewClock(s.clock.Now())}
	testrepo.Copy(t, s.dir, c.dir)
	return c
}

// commonShop returns the shop for tests that only read, or undo what they do.
func commonShop(t *testing.T) *scene {
	t.Helper()
	return preparedScene(t, "common", func(t *testing.T, dir string) *scene {
		return preparedScene(t, "shop", newShopIn).copyIn(t, dir)
	})
}

// a scene is a repository with a board, on which commands run within this process.
type scene struct {
	t     *testing.T
	dir   string
	clock *testrepo.Clock
}

func newScene(t *testing.T) *scene {
	t.Helper()
	testrun.NotShort(t)
	return preparedScene(t, "empty", newEmptyIn).copyIn(t, t.TempDir())
}

func newEmptyIn(t *testing.T, dir string) *scene {
	t.Helper()
	return newSceneIn(t, dir, "Sell furniture <script>alert('goal')</script>", "--unattended")
}

func newSceneIn(t *testing.T, dir string, goal ...string) *scene {
	t.Helper()
	s := &scene{t: t, dir: filepath.Join(dir, "shop"), clock: testrepo.NewClock(time.Now().Add(-3 * time.Hour).Truncate(time.Second))}
	testrun.Check(t, os.MkdirAll(filepath.Join(s.dir, "specs"), 0o755))
	s.write("specs/vision.md", "# Vision\n")
	s.git("init", "-q", "-b", "main")
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "first")
	s.must("", append([]string{"init"}, goal...)...)
	return s
}

func (s *scene) write(name, text string) {
	s.t.Helper()
	testrun.WriteIn(s.t, s.dir, name, text)
}

func (s *scene) git(args ...string) string {
	s.t.Helper()
	return s.gitAs("", args...)
}

// gitAs runs git as an agent, "" for the human.
func (s *scene) gitAs(agent string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	if agent != "" {
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME="+agent, "GIT_AUTHOR_EMAIL="+agent+"@liza", "GIT_COMMITTER_NAME="+agent, "GIT_COMMITTER_EMAIL="+agent+"@liza")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// run runs a command as an agent, "" for the human.
func (s *scene) run(agent string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	env := func(name string) string {
		switch name {
		case "LIZA_AGENT_ID":
			return agent
		case "GIT_CONFIG_GLOBAL", "HOME":
			return os.Getenv(name)
		}
		return ""
	}
	app := &call.App{Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e, Getenv: env, Dir: s.dir, Now: s.clock.Now}
	code = cli.Run(context.Background(), app, args)
	return code, o.String(), e.String()
}

func (s *scene) must(agent string, args ...string) string {
	s.t.Helper()
	code, out, errs := s.run(agent, args...)
	if code != 0 {
		s.t.Fatalf("%s git liza %q: %d\n%s%s", agent, args, code, out, errs)
	}
	return out
}

func (s *scene) task(id string, more ...string) {
	s.t.Helper()
	s.must("", append([]string{"add-task", "--id", id, "--desc", "Build " + id, "--done", "sh test_" + id + ".sh prints ok", "--scope", "IN: " + id, "--spec", "specs/vision.md"}, more...)...)
}

// submitted has a coder claim a task and submit work.
func (s *scene) submitted(coder, id string, files map[string]string) {
	s.t.Helper()
	s.must(coder, "claim", id)
	s.worked(coder, id, files)
}

// worked has a coder that holds the task submit work.
func (s *scene) worked(coder, id string, files map[string]string) {
	s.t.Helper()
	names := []string{"pre-exec", id, "--intent", "write it", "--validation", "the test prints ok"}
	for name := range files {
		names = append(names, "--file", name)
	}
	s.must(coder, names...)
	for name, text := range files {
		s.write(filepath.Join(".worktrees", id, name), text)
	}
	s.clock.Pass(time.Minute)
	s.git("-C", ".worktrees/"+id, "add", "-A")
	s.gitAs(coder, "-C", ".worktrees/"+id, "commit", "-q", "-m", "Work on "+id)
	s.must(coder, "submit", id)
}

// newWork makes an empty scene with a task, pay, for which coder-1 has submitted work.
func newWork(t *testing.T) *scene {
	t.Helper()
	testrun.NotShort(t)
	return preparedScene(t, "work", func(t *testing.T, dir string) *scene {
		s := preparedScene(t, "empty", newEmptyIn).copyIn(t, dir)
		s.task("pay", "--ready")
		s.submitted("coder-1", "pay", map[string]string{"test_pay.sh": "echo ok\n"})
		return s
	}).copyIn(t, t.TempDir())
}

// hostile is text that would run in a page that does not escape it.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'>{{.}}`

// newShop makes a shop: a scene with an example of everything.
func newShop(t *testing.T) *scene {
	t.Helper()
	testrun.NotShort(t)
	return preparedScene(t, "shop", newShopIn).copyIn(t, t.TempDir())
}

func newShopIn(t *testing.T, dir string) *scene {
	t.Helper()
	s := newSceneIn(t, dir, "Sell furniture <script>alert('goal')</script>")
	for _, id := range []string{"login", "cart", "pay"} {
		s.task(id, "--ready")
		s.clock.Pass(time.Minute)
	}
	s.task("ship", "--ready", "--depends", "pay")
	s.task("draft-one")
	s.submitted("coder-1", "login", map[string]string{"login.go": "package login\n\n// " + hostile + "\nfunc Do() string { return \"" + strings.ReplaceAll(hostile, `"`, "") + "\" }\n", "login_test.go": "package login\n", `we"ird <b>&.txt`: hostile + "\n"})
	s.clock.Pass(5 * time.Minute)
	s.must("code-reviewer-1", "claim-review", "login")
	s.must("code-reviewer-1", "verdict", "login", "REJECTED", "--commit", "task/login", "--blocker", "login.go:3|"+hostile+"|why|fix it", "--overall", "Not yet.", "--spec", "n/a", "--anomaly", "none")
	s.must("coder-1", "claim", "login")
	s.worked("coder-1", "login", map[string]string{"login.go": "package login\n\nfunc Do() string { return \"done\" }\n"})
	s.must("coder-2", "claim", "cart")
	s.clock.Pass(3 * time.Minute)
	s.must("coder-2", "block", "cart", "--reason", "no currency is named "+hostile, "--question", "Euro or Dollar? "+hostile, "--attempted", "read the vision")
	s.must("", "note", "--for", "pay", hostile)
	return s
}

// a site is a server for a scene and a browser that was admitted.
type site struct {
	*scene
	url     string
	token   string
	tokens  chan string
	client  *http.Client
	handler http.Handler
	stop    func()
}

// options change how a site is made.
type options struct {
	readOnly bool
	kept     *sessions // nil for a server's own
	listen   string
	hosts    []string
	base     string
	every    time.Duration
	patience time.Duration
	now      func() time.Time                                            // nil for the scene's clock
	around   func(context.Context, call.Act, carry) (call.Result, error) // nil to carry acts out
}

// carry carries out an act.
type carry func(context.Context, call.Act) (call.Result, error)

// sessions are stored sessions.
type sessions struct {
	mu  sync.Mutex
	all []web.Session
}

func (k *sessions) read() []web.Session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.all)
}

func (k *sessions) write(all []web.Session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = all
}

func (s *scene) serve(o options) *site {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b := testrun.Must(gitboard.Open(ctx, s.dir, gitboard.Options{Now: s.clock.Now}))(s.t)
	app := &call.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Dir: s.dir, Now: s.clock.Now}
	if o.now != nil {
		app.Now = o.now
	}
	w := &site{scene: s, tokens: make(chan string, 100)}
	c := web.Config{App: app, Board: b, Random: rand.Read, Every: o.every, Patience: o.patience, Hosts: o.hosts, Base: o.base, Address: func(token string) { w.tokens <- token }}
	if o.kept == nil {
		o.kept = new(sessions)
	}
	c.Sessions, c.Keep = o.kept.read, o.kept.write
	if !o.readOnly {
		whole := &call.Call{App: app}
		carry := func(ctx context.Context, a call.Act) (call.Result, error) { return a.Carry(ctx, whole) }
		c.Do = carry
		if o.around != nil {
			c.Do = func(ctx context.Context, a call.Act) (call.Result, error) { return o.around(ctx, a, carry) }
		}
	}
	if o.listen == "" {
		o.listen = "127.0.0.1:0"
	}
	l := testrun.Must(web.Listen(ctx, o.listen))(s.t)
	ended := make(chan error, 1)
	server := web.New(c)
	w.handler = server.Handler()
	go func() { ended <- server.Serve(ctx, l) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		testrun.ErrorIs(s.t, <-ended, nil, "the server ended with")
		b.Close()
	}
	s.t.Cleanup(w.stop)
	w.url, w.token = "http://"+l.Addr().String(), <-w.tokens
	jar, _ := cookiejar.New(nil)
	w.client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w
}

// enter admits the browser.
func (w *site) enter() *site {
	w.t.Helper()
	if r := w.get("/?token=" + w.token); r.status != http.StatusOK {
		w.t.Fatalf("not let in: %d %s", r.status, r.body)
	}
	w.token = <-w.tokens
	return w
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (w *site) get(path string) answer {
	w.t.Helper()
	r, err := w.client.Get(w.url + path)
	return w.read(r, err)
}

// post sends a form as the board's own page does.
func (w *site) post(path string, fields ...string) answer {
	w.t.Helper()
	v := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	r, _ := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", w.url)
	got, err := w.client.Do(r)
	return w.read(got, err)
}

func (w *site) read(r *http.Response, err error) answer {
	w.t.Helper()
	testrun.Check(w.t, err)
	defer r.Body.Close()
	data := testrun.Must(io.ReadAll(r.Body))(w.t)
	return answer{r.StatusCode, r.Header, string(data)}
}

func (a answer) mustHold(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%q is missing in\n%s", text, a.body)
		}
	}
}

// tip is the board's newest commit.
func (s *scene) tip() string {
	s.t.Helper()
	return strings.TrimSpace(testrun.ReadIn(s.t, s.dir, ".git/refs/heads/liza/state"))
}
