//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// webbing is a running web server and a browser that it has admitted.
type webbing struct {
	*running
	url    string
	client *http.Client
}

// web starts a server and has it admit a browser.
func (p *project) web(args ...string) *webbing {
	p.t.Helper()
	jar, _ := cookiejar.New(nil)
	w := &webbing{running: p.start(false, append([]string{"web"}, args...)...), client: &http.Client{Jar: jar}}
	address := ""
	w.until("its address", func(line string) bool { address = line; return true })
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("token") == "" {
		p.t.Fatalf("it prints %q", address)
	}
	w.url = "http://" + u.Host
	if status, body := w.get("/?" + u.RawQuery); status != http.StatusOK {
		p.t.Fatalf("its address is answered with %d: %s", status, body)
	}
	return w
}

func (w *webbing) get(path string) (int, string) {
	w.p.t.Helper()
	return w.answer(w.client.Get(w.url + path))
}

func (w *webbing) post(path string, fields url.Values) (int, string) {
	w.p.t.Helper()
	r, _ := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader(fields.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", w.url)
	return w.answer(w.client.Do(r))
}

func (w *webbing) answer(r *http.Response, err error) (int, string) {
	w.p.t.Helper()
	testrun.Check(w.p.t, err)
	defer r.Body.Close()
	data := testrun.Must(io.ReadAll(r.Body))(w.p.t)
	return r.StatusCode, string(data)
}

// TestWeb runs the real process: its address admits a browser, it acts as the human of this clone, and
// ends cleanly on request while pages are open. What it refuses is tested in cmd/internal/web.
func TestWeb(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	w := p.web()
	if !strings.HasPrefix(w.url, "http://127.0.0.1:") {
		t.Errorf("it listens at %s", w.url)
	}
	if status, body := w.get("/"); status != http.StatusOK || !strings.Contains(body, "Waits for you") {
		t.Fatalf("the first page: %d\n%s", status, body)
	}
	if status, body := w.post("/act/note", url.Values{"text": {"Mind the umlauts"}}); status != http.StatusOK || !strings.Contains(body, "note-1 for everybody: Mind the umlauts") {
		t.Errorf("a note: %d\n%s", status, body)
	}
	testrun.Contains(t, p.must("", "read", "human_notes"), "Mind the umlauts", "the note is not on the board")
	r := testrun.Must(w.client.Get(w.url + "/events?page=/"))(t)
	defer r.Body.Close()
	w.signal(syscall.SIGINT)
	_, _ = io.Copy(io.Discard, r.Body)
	w.exits(0)
	p.must("", "verify")
}
