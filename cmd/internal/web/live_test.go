package web_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// a stream is the input of an open page.
type stream struct {
	response *http.Response
	events   chan event
}

type event struct{ id, name, data string }

// follow opens the events of a page as a browser does, with the id of the version that it has, ""
// for none.
func (w *site) follow(page, had string) *stream {
	w.t.Helper()
	r, _ := http.NewRequest(http.MethodGet, w.url+"/events?page="+url.QueryEscape(page), nil)
	if had != "" {
		r.Header.Set("Last-Event-ID", had)
	}
	got := testrun.Must(w.client.Do(r))(w.t)
	s := &stream{got, make(chan event, 100)}
	w.t.Cleanup(func() { got.Body.Close() })
	go func() {
		defer close(s.events)
		var e event
		lines := bufio.NewScanner(got.Body)
		lines.Buffer(nil, 8<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
				if e.name != "" {
					s.events <- e
				}
				e = event{}
			}
		}
	}()
	return s
}

func (s *stream) next(t *testing.T) event {
	t.Helper()
	select {
	case e, open := <-s.events:
		if !open {
			t.Fatal("the stream has ended")
		}
		return e
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing came")
	}
	return event{}
}

// until waits for an event that contains a text.
func (s *stream) until(t *testing.T, text string) event {
	t.Helper()
	for {
		if e := s.next(t); strings.Contains(e.data, text) {
			return e
		}
	}
}

var lookID = regexp.MustCompile(`since=([0-9a-f.]+)`)

// idOf is the id of a page's present version.
func (w *site) idOf(path string) string {
	w.t.Helper()
	m := lookID.FindStringSubmatch(w.get(path).body)
	if m == nil {
		w.t.Fatal("the page has no id")
	}
	return m[1]
}

// TestLive: an operation is sent to open pages as the rows that it changed and nothing else; the
// event's id is the board's commit.
func TestLive(t *testing.T) {
	w := commonShop(t).serve(options{}).enter()
	had := w.idOf("/")
	one, two := w.follow("/", had), w.follow("/task/login", had)
	w.must("", "pause", "--task", "login")
	defer w.must("", "resume", "--task", "login")
	e := one.until(t, `"login"`)
	if id, _, _ := strings.Cut(e.id, "."); id != w.tip() {
		t.Errorf("the id is %s, the board's commit %s", e.id, w.tip())
	}
	for _, still := range []string{`"ship":`, `"pay":`, "Euro or Dollar"} {
		if strings.Contains(e.data, still) {
			t.Errorf("%s was sent, and has not changed:\n%s", still, e.data)
		}
	}
	two.until(t, "❚❚ paused")
	w.must("", "note", "--for", "ship", "hello")
	if e := one.until(t, "note"); strings.Contains(e.data, `"tasks-`) {
		t.Errorf("a note changes no task's row:\n%s", e.data)
	}
}

// TestComesBack: a browser that reconnects continues where it was: it receives what changed
// meanwhile, once.
func TestComesBack(t *testing.T) {
	s := commonShop(t)
	w := s.serve(options{}).enter()
	had := w.idOf("/")
	away := w.follow("/", had)
	s.must("", "note", "--for", "ship", "first")
	had = away.until(t, "first").id
	away.response.Body.Close()
	s.must("", "pause", "--task", "login")
	defer s.must("", "resume", "--task", "login")
	s.must("", "note", "--for", "ship", "second")
	open := w.follow("/", had)
	e := open.until(t, "second")
	if !strings.Contains(e.data, `"login":`) || strings.Contains(e.data, "Euro or Dollar") || strings.Contains(e.data, `"ship":`) {
		t.Errorf("it is sent %s", e.data)
	}

	// A restarted server knows nothing about the browser except the commit that it names.
	w.stop()
	for range open.events { // closed when the server ends
	}
	s.must("", "note", "--for", "ship", "third")
	again := s.serve(options{}).enter()
	e = again.follow("/", e.id).until(t, "third")
	if strings.Contains(e.data, `"id":"pace"`) {
		t.Errorf("an unchanged part that depends on the board alone is sent again: %s", e.data)
	}

	// A browser without an id, or with an unknown one, receives everything.
	for _, id := range []string{"", "0123456789012345678901234567890123456789.00", "rubbish"} {
		again.follow("/", id).until(t, "Waits for you")
	}
}

// TestIdle: a page on which nothing happens starts no process.
func TestIdle(t *testing.T) {
	s := newScene(t)
	s.task("login", "--ready")
	s.must("coder-1", "claim", "login")
	checks := make(chan struct{}, 1) // a check asks whether a lease has expired
	w := s.serve(options{every: 20 * time.Millisecond, now: func() time.Time {
		select {
		case checks <- struct{}{}:
		default:
		}
		return s.clock.Now()
	}}).enter()
	w.follow("/", w.idOf("/"))
	w.get("/")
	before := started(t)
	for range 5 {
		<-checks
	}
	for _, child := range started(t) {
		if !slices.Contains(before, child) {
			t.Errorf("this was started: %s", child)
		}
	}
}

// started lists the children of this process.
func started(t *testing.T) (all []string) {
	t.Helper()
	out, err := exec.Command("ps", "-o", "pid=,args=", "--ppid", strconv.Itoa(os.Getpid())).Output()
	if err != nil {
		t.Skip("no ps here: ", err)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "ps -o") {
			all = append(all, line)
		}
	}
	return all
}

// TestBanner: what is above and below a page follows the board like the page itself: the mode, how
// much waits for the human, and the title.
func TestBanner(t *testing.T) {
	s := newScene(t)
	s.task("pay")
	w := s.serve(options{}).enter()
	graph := w.follow("/graph", w.idOf("/graph"))
	graph.until(t, `"mode":"RUNNING"`)
	s.must("", "pause", "--reason", "lunch")
	if e := graph.until(t, `"mode":"PAUSED"`); !strings.Contains(e.data, `"waiting":2`) || !strings.Contains(e.data, `"title":"(2) Graph`) {
		t.Errorf("it is sent %s", e.data)
	}
	s.must("", "note", "--for", "pay", "hello")
	if e := graph.next(t); strings.Contains(e.data, `"mode"`) {
		t.Errorf("an unchanged part is sent again: %s", e.data)
	}
	s.must("", "resume")
	graph.until(t, `"mode":"RUNNING"`)
}

// TestTroubleEnds: a page that was told that the board can't be read is told when it can be again,
// even if nothing has changed.
func TestTroubleEnds(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{}).enter()
	had := w.idOf("/")
	now := w.follow("/", had)
	now.until(t, `"mode"`)
	tip := s.tip()
	s.git("-c", "core.hooksPath=/dev/null", "update-ref", "-d", "refs/heads/liza/state")
	if e := now.next(t); e.name != "trouble" {
		t.Fatalf("a deleted board: %s %s", e.name, e.data)
	}
	s.git("-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/liza/state", tip)
	e := now.next(t)
	for e.name == "trouble" { // said twice if it was looked at while it went
		e = now.next(t)
	}
	testrun.Equal(t, e.name, "change", "the board is back: %s %s", e.name, e.data)
}

// TestSlowRequest: who sends half of a form, and never the rest, holds no connection; a page that is
// followed stays connected.
func TestSlowRequest(t *testing.T) {
	s := newScene(t)
	w := s.serve(options{patience: 2 * time.Second}).enter()
	followed := w.follow("/", w.idOf("/"))
	followed.until(t, "RUNNING")
	home := strings.TrimPrefix(w.url, "http://")
	c := testrun.Must(net.Dial("tcp", home))(t)
	defer c.Close()
	testrun.Must(io.WriteString(c, "POST /act/note HTTP/1.1\r\nHost: "+home+"\r\nOrigin: "+w.url+"\r\nContent-Length: 1000\r\n\r\ntext="))(t)
	if _, err := io.ReadAll(c); err != nil { // until the server closes it
		t.Error(err)
	}
	s.must("", "note", "still here")
	followed.until(t, "still here")
}

// posts sends a form through the handler, in a context of the test's.
func (w *site) posts(ctx context.Context, path string, form url.Values) {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, w.url+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", w.url)
	home, _ := url.Parse(w.url)
	for _, c := range w.client.Jar.Cookies(home) {
		r.AddCookie(c)
	}
	w.handler.ServeHTTP(httptest.NewRecorder(), r)
}

// TestBrowserLeaves: an approval takes the review and gives the verdict. If the browser goes away
// meanwhile, both are done all the same, or the review would be held for nothing.
func TestBrowserLeaves(t *testing.T) {
	s := newWork(t)
	browser, leave := context.WithCancel(t.Context())
	w := s.serve(options{around: func(ctx context.Context, a call.Act, do carry) (call.Result, error) {
		leave()
		return do(ctx, a)
	}}).enter()
	w.posts(browser, "/act/verdict", url.Values{"id": {"pay"}, "take": {"yes"}, "verdict": {"APPROVED"}, "reason": {"It is good."}, "commit": {s.git("rev-parse", "task/pay")}})
	testrun.Equal(t, s.must("", "read", "tasks.pay.status"), "APPROVED\n", "pay is")
}

// TestServerEndsActs: an act that waits for a remote which does not answer ends with the server, and
// the server waits for its end, so that no process is left behind.
func TestServerEndsActs(t *testing.T) {
	s := newScene(t)
	waits, ended := make(chan struct{}), make(chan struct{})
	w := s.serve(options{around: func(ctx context.Context, _ call.Act, _ carry) (call.Result, error) {
		close(waits)
		<-ctx.Done()
		close(ended)
		return call.Result{}, ctx.Err()
	}}).enter()
	go w.posts(context.Background(), "/act/note", url.Values{"text": {"hello"}})
	<-waits
	w.stop()
	select {
	case <-ended:
	default:
		t.Error("the server is gone, and the act goes on")
	}
}
