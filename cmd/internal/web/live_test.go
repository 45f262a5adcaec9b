package web_test

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	e := w.follow("/", had).until(t, "second")
	if !strings.Contains(e.data, `"login":`) || strings.Contains(e.data, "Euro or Dollar") || strings.Contains(e.data, `"ship":`) {
		t.Errorf("it is sent %s", e.data)
	}

	// A restarted server knows nothing about the browser except the commit that it names.
	w.stop()
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

// TestStreamsEnd: open streams are closed when the server stops.
func TestStreamsEnd(t *testing.T) {
	w := commonShop(t).serve(options{}).enter()
	s := w.follow("/", w.idOf("/"))
	w.stop()
	for range s.events { // closed when the server ends
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
