package web_test

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// An attack is a request that must have no effect.
type attack struct {
	name           string
	method, path   string
	body           string
	header         map[string]string
	host           string // "" for the right one
	stranger       bool   // without the cookie
	status         int
	mustNotContain []string
}

// attacks are made on a browser that was admitted, or by one that was not.
var attacks = []attack{
	{name: "another site's page rebinds its name to this machine", method: "GET", path: "/", host: "evil.example:80", status: http.StatusMisdirectedRequest},
	{name: "the same, with a name that ends like a known one", method: "GET", path: "/", host: "localhost.evil.example", status: http.StatusMisdirectedRequest},
	{name: "the same, with an address that reads like this machine's", method: "GET", path: "/", host: "127.0.0.1.nip.io", status: http.StatusMisdirectedRequest},
	{name: "no host at all", method: "GET", path: "/", host: " ", status: http.StatusBadRequest},
	{name: "a stranger reads", method: "GET", path: "/", stranger: true, status: http.StatusUnauthorized},
	{name: "a stranger follows the board", method: "GET", path: "/events?page=/", stranger: true, status: http.StatusUnauthorized},
	{name: "a stranger acts", method: "POST", path: "/act/pause", stranger: true, header: map[string]string{"Origin": "SELF"}, status: http.StatusUnauthorized},
	{name: "a guessed token", method: "GET", path: "/?token=0000", stranger: true, status: http.StatusUnauthorized},
	{name: "an empty token", method: "GET", path: "/?token=", stranger: true, status: http.StatusUnauthorized},
	{name: "a guessed cookie", method: "GET", path: "/", stranger: true, header: map[string]string{"Cookie": "liza-00000000=x; liza=x"}, status: http.StatusUnauthorized},
	{name: "another site posts a form", method: "POST", path: "/act/pause", header: map[string]string{"Origin": "http://evil.example"}, status: http.StatusForbidden},
	{name: "another server of this machine posts a form", method: "POST", path: "/act/pause", header: map[string]string{"Origin": "http://127.0.0.1:1"}, status: http.StatusForbidden},
	{name: "a sandboxed frame posts a form", method: "POST", path: "/act/pause", header: map[string]string{"Origin": "null"}, status: http.StatusForbidden},
	{name: "a post that does not say where it comes from", method: "POST", path: "/act/pause", status: http.StatusForbidden},
	{name: "another site posts, and its browser says so", method: "POST", path: "/act/pause", header: map[string]string{"Origin": "SELF", "Sec-Fetch-Site": "cross-site"}, status: http.StatusForbidden},
	{name: "another server of this machine, and its browser says so", method: "POST", path: "/act/pause", header: map[string]string{"Origin": "SELF", "Sec-Fetch-Site": "same-site"}, status: http.StatusForbidden},
	{name: "another site reads by fetch", method: "GET", path: "/", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, status: http.StatusForbidden},
	{name: "another site frames a page", method: "GET", path: "/", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, status: http.StatusForbidden},
	{name: "another site loads the script", method: "GET", path: "/assets/live.js", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, status: http.StatusForbidden},
	{name: "another site opens the events", method: "GET", path: "/events?page=/", header: map[string]string{"Origin": "http://evil.example"}, status: http.StatusForbidden},
	{name: "an act by a link", method: "GET", path: "/act/pause", status: http.StatusNotFound},
	{name: "another method", method: "PUT", path: "/", header: map[string]string{"Origin": "SELF"}, status: http.StatusMethodNotAllowed},
	{name: "a browser's question before it posts from elsewhere", method: "OPTIONS", path: "/act/pause", header: map[string]string{"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}, status: http.StatusMethodNotAllowed},
	{name: "a file of the machine", method: "GET", path: "/assets/..%2f..%2f..%2f..%2fetc%2fpasswd", status: http.StatusNotFound},
	{name: "a file of the machine, plainly", method: "GET", path: "/../../etc/passwd", status: http.StatusTemporaryRedirect},
	{name: "a transcript elsewhere", method: "GET", path: "/transcript/..%2f..%2fconfig", status: http.StatusNotFound},
	{name: "an agent elsewhere", method: "GET", path: "/agent/..%2f..%2fconfig", status: http.StatusNotFound},
	{name: "a task elsewhere", method: "GET", path: "/task/..%2fboard", status: http.StatusNotFound},
	{name: "a moment that is an option of git", method: "GET", path: "/?at=--output=/tmp/x", status: http.StatusNotFound},
	{name: "a moment that is another branch", method: "GET", path: "/?at=main", status: http.StatusNotFound},
	{name: "a moment that is a tree", method: "GET", path: "/?at=main:specs", status: http.StatusNotFound},
	{name: "a page that is another server's", method: "GET", path: "/events?page=http://evil.example/", status: http.StatusNotFound},
	{name: "an operation that does not exist", method: "POST", path: "/act/exec", header: map[string]string{"Origin": "SELF"}, status: http.StatusNotFound},
	{name: "a body without end", method: "POST", path: "/act/note", body: "text=" + strings.Repeat("a", 300<<10), header: map[string]string{"Origin": "SELF"}, status: http.StatusBadRequest},
	{name: "a note that is a flag", method: "POST", path: "/act/note", body: "text=--text-file%3D/etc/passwd", header: map[string]string{"Origin": "SELF"}, status: http.StatusSeeOther},
	{name: "a task that is a flag", method: "POST", path: "/act/block", body: "id=--help&reason=x", header: map[string]string{"Origin": "SELF"}, status: http.StatusConflict},
	{name: "a way back that is another site", method: "POST", path: "/act/note", body: "text=hello&back=//evil.example/x", header: map[string]string{"Origin": "SELF"}, status: http.StatusSeeOther},
	{name: "the same, by a backslash", method: "POST", path: "/act/note", body: `text=hello&back=/\evil.example`, header: map[string]string{"Origin": "SELF"}, status: http.StatusSeeOther},
	{name: "a slider that leads to another site", method: "GET", path: "/seek?n=1&to=https://evil.example/", status: http.StatusSeeOther},
	{name: "a verdict by a link", method: "GET", path: "/act/verdict?id=login&verdict=APPROVED&take=yes", status: http.StatusNotFound},
	{name: "a comment on a file of the machine", method: "POST", path: "/act/comment", body: "id=login&where=/etc/passwd:1&text=x", header: map[string]string{"Origin": "SELF"}, status: http.StatusConflict},
	{name: "the same, by a way up", method: "POST", path: "/act/comment", body: "id=login&where=../../etc/passwd:1&text=x", header: map[string]string{"Origin": "SELF"}, status: http.StatusConflict},
	{name: "a place that is a flag", method: "POST", path: "/act/comment", body: "id=login&where=--text-file=/etc/passwd&text=x", header: map[string]string{"Origin": "SELF"}, status: http.StatusConflict},
	{name: "a comparison that is no number", method: "GET", path: "/task/login?from=--output&to=-1", status: http.StatusOK},
	{name: "a filter that is markup", method: "GET", path: "/?q=%3Cscript%3Ealert(1)%3C/script%3E", status: http.StatusOK, mustNotContain: []string{"<script>alert"}},
	{name: "a path that is markup", method: "GET", path: "/task/%3Cscript%3Ealert(1)%3C%2fscript%3E", status: http.StatusNotFound, mustNotContain: []string{"<script>alert"}},
	{name: "a finished act that is markup", method: "GET", path: "/?done=%3Cscript%3E", status: http.StatusOK, mustNotContain: []string{"<script>alert"}},
}

func TestAttacks(t *testing.T) {
	testrun.NotShort(t)
	w := commonShop(t).serve(options{}).enter()
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			before := w.tip()
			r := w.attack(t, a)
			testrun.Equal(t, r.status, a.status, "it was answered with %d, not %d: %s", r.status, a.status, r.body)
			for _, text := range append(a.mustNotContain, "root:", "[core]") {
				if strings.Contains(r.body, text) {
					t.Errorf("the answer holds %q:\n%s", text, r.body)
				}
			}
			if to := r.header.Get("Location"); strings.Contains(to, "evil") {
				t.Errorf("it leads to %s", to)
			}
			testrun.Equal(t, r.header.Get("Access-Control-Allow-Origin"), "", "other sites may read the answer")
			if a.status != http.StatusBadRequest && r.header.Get("Content-Security-Policy") == "" {
				t.Error("the answer has no policy")
			}
			if a.status != http.StatusSeeOther && w.tip() != before {
				t.Error("the board has changed")
			}
		})
	}
	testrun.Contains(t, w.must("", "read", "human_notes"), "--text-file=/etc/passwd", "a note that looks like a flag is not a note")
	w.must("", "verify")
}

func (w *site) attack(t *testing.T, a attack) answer {
	t.Helper()
	r := testrun.Must(http.NewRequest(a.method, w.url+a.path, strings.NewReader(a.body)))(t)
	if a.body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range a.header {
		r.Header.Set(name, strings.ReplaceAll(value, "SELF", w.url))
	}
	if a.host != "" {
		r.Host = a.host
	}
	client := *w.client
	if a.stranger {
		client.Jar = nil
	}
	if a.host == " " { // no client library sends that
		return w.raw(t, "GET / HTTP/1.1\r\n\r\n")
	}
	got, err := client.Do(r)
	return w.read(got, err)
}

// raw sends bytes and returns the answer.
func (w *site) raw(t *testing.T, text string) answer {
	t.Helper()
	c := testrun.Must(net.Dial("tcp", strings.TrimPrefix(w.url, "http://")))(t)
	defer c.Close()
	testrun.Must(c.Write([]byte(text)))(t)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	return w.read(r, err)
}

// TestTokenIsGoodOnce: an address admits one browser; the next browser needs a new address.
func TestTokenIsGoodOnce(t *testing.T) {
	w := commonShop(t).serve(options{})
	used := w.token
	w.enter()
	if w.token == used {
		t.Error("the next address has the same token")
	}
	if r := w.get("/?token=" + used); r.status != http.StatusSeeOther {
		t.Errorf("the same browser is answered with %d", r.status)
	}
	other := *w
	jar, _ := cookiejar.New(nil)
	other.client = &http.Client{Jar: jar}
	if r := other.get("/?token=" + used); r.status != http.StatusUnauthorized {
		t.Errorf("another browser with a used token is answered with %d", r.status)
	}
	if r := other.get("/?token=" + w.token); r.status != http.StatusOK {
		t.Errorf("another browser with the next token is answered with %d", r.status)
	}
}

func TestCookie(t *testing.T) {
	w := commonShop(t).serve(options{})
	r := w.get("/?token=" + w.token)
	cookie := r.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q has no %s", cookie, want)
		}
	}
	policy := r.header.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") {
		t.Error("the policy allows scripts within pages")
	}
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy+";", want+";") {
			t.Errorf("the policy %q has no %s", policy, want)
		}
	}
	testrun.Equal(t, r.header.Get("Cross-Origin-Resource-Policy"), "same-origin", "other sites may load what is here")
	testrun.Equal(t, len(w.token), 64, "the token %s has not 256 bits", w.token)
}

// TestSessionsStay: a browser stays admitted when the server restarts, for a week at most; what the
// server stores admits nobody else.
func TestSessionsStay(t *testing.T) {
	s := newScene(t)
	var kept sessions
	o := options{kept: &kept, listen: "127.0.0.1:" + testrun.FreePort(t)}
	w := s.serve(o).enter()
	u := w.client.Jar
	w.stop()
	again := s.serve(o)
	again.client.Jar = u
	if r := again.get("/"); r.status != http.StatusOK {
		t.Errorf("the browser is answered with %d", r.status)
	}
	forged := *again
	jar, _ := cookiejar.New(nil)
	forged.client = &http.Client{Jar: jar}
	r, _ := http.NewRequest(http.MethodGet, again.url+"/", nil)
	for _, c := range u.Cookies(r.URL) {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: kept.read()[0].Hash})
	}
	got, err := forged.client.Do(r)
	testrun.Equal(t, forged.read(got, err).status, http.StatusUnauthorized, "a kept secret lets somebody in")
	s.clock.Pass(8 * 24 * time.Hour)
	if r := again.get("/"); r.status != http.StatusUnauthorized {
		t.Errorf("a browser that was away for eight days is answered with %d", r.status)
	}
}

// TestLinkFromElsewhere: a link in a chat leads to the board, although the browser does not send the
// cookie along: the board's own page leads on. Nothing is shown to a browser without one.
func TestLinkFromElsewhere(t *testing.T) {
	w := commonShop(t).serve(options{}).enter()
	link := attack{method: http.MethodGet, path: "/task/login?to=1", stranger: true, header: map[string]string{
		"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}
	r := w.attack(t, link)
	if r.status != http.StatusOK || r.header.Get("Refresh") != "0; url=/task/login?to=1" || strings.Contains(r.body, "Build login") {
		t.Errorf("%d, to %q:\n%s", r.status, r.header.Get("Refresh"), r.body)
	}
	link.header["Sec-Fetch-Site"] = "same-origin" // it came by that page
	if r := w.attack(t, link); r.status != http.StatusUnauthorized {
		t.Errorf("without a cookie it is answered with %d", r.status)
	}
}

// TestHosts: the names that --host permits are compared as browsers send them.
func TestHosts(t *testing.T) {
	w := commonShop(t).serve(options{hosts: []string{"Board.Example", "proxy.example:8443", "[FD00::1]:80"}})
	// Who asks by a permitted name has no cookie for it yet.
	for host, status := range map[string]int{
		"board.example": http.StatusUnauthorized, "BOARD.example:81": http.StatusUnauthorized, "proxy.example:8443": http.StatusUnauthorized, "[fd00::1]:80": http.StatusUnauthorized,
		"board.example.evil": http.StatusMisdirectedRequest,
	} {
		if r := w.attack(t, attack{method: http.MethodGet, path: "/agents", host: host}); r.status != status {
			t.Errorf("%s is answered with %d, not %d", host, r.status, status)
		}
	}
}

// TestSessionsAreRenewed: a browser that is used stays admitted, and its cookie with it.
func TestSessionsAreRenewed(t *testing.T) {
	s := newScene(t)
	var kept sessions
	w := s.serve(options{kept: &kept}).enter()
	first := kept.read()[0].Expires
	if r := w.get("/"); r.header.Get("Set-Cookie") != "" {
		t.Error("each page sets the cookie again")
	}
	for range 4 {
		s.clock.Pass(4 * 24 * time.Hour)
		r := w.get("/")
		if r.status != http.StatusOK {
			t.Fatalf("after four days without use it is answered with %d", r.status)
		}
		testrun.Contains(t, r.header.Get("Set-Cookie"), "Max-Age=604800", "the browser would forget its cookie")
	}
	if len(kept.read()) != 1 || !kept.read()[0].Expires.After(first) {
		t.Errorf("a restarted server would know %v", kept.read())
	}
}

// TestTwoServers: a browser that one server of a clone has admitted is admitted by another one that
// runs beside it, and stays so when that one admits others. It may use only one of them for long.
func TestTwoServers(t *testing.T) {
	s := newScene(t)
	var kept sessions
	one, two := s.serve(options{kept: &kept}), s.serve(options{kept: &kept})
	one.enter()
	two.enter()
	for _, browser := range []*http.Client{two.client, one.client} {
		for _, w := range []*site{one, two} {
			w.client = browser
			if r := w.get("/"); r.status != http.StatusOK {
				t.Errorf("it is answered with %d", r.status)
			}
		}
	}
	for range 2 {
		s.clock.Pass(5 * 24 * time.Hour)
		if r := two.get("/"); r.status != http.StatusOK {
			t.Errorf("five days later it is answered with %d", r.status)
		}
	}
	if r := one.get("/"); r.status != http.StatusOK {
		t.Errorf("the server that has admitted it answers with %d", r.status)
	}
}

// TestWhoLooksDoesNotAct: a browser that a read-only server has admitted can't act by another
// server of the clone, while one that acts may look anywhere.
func TestWhoLooksDoesNotAct(t *testing.T) {
	s := newScene(t)
	var kept sessions
	looks := s.serve(options{readOnly: true, kept: &kept}).enter()
	acts := s.serve(options{kept: &kept})
	human := acts.client
	acts.client = looks.client
	before := acts.tip()
	if r := acts.post("/act/pause", "reason", "x"); r.status != http.StatusUnauthorized || acts.tip() != before {
		t.Errorf("to act: %d", r.status)
	}
	if r := acts.get("/"); r.status != http.StatusUnauthorized {
		t.Errorf("to look where others act: %d", r.status)
	}
	acts.client = human
	looks.client = acts.enter().client
	if r := looks.get("/"); r.status != http.StatusOK {
		t.Errorf("who acts, to look: %d", r.status)
	}
}

func TestReadOnly(t *testing.T) {
	w := commonShop(t).serve(options{readOnly: true}).enter()
	for _, path := range []string{"/", "/task/cart", "/sprint"} {
		if r := w.get(path); strings.Contains(r.body, `method="post"`) {
			t.Errorf("%s has a form", path)
		}
	}
	before := w.tip()
	if r := w.post("/act/pause", "reason", "x"); r.status != http.StatusForbidden || w.tip() != before {
		t.Errorf("an act is answered with %d", r.status)
	}
}

// TestSocket: a socket is accessible to this user only, and one left by a killed server is taken
// over by the next.
func TestSocket(t *testing.T) {
	dir := testrun.Must(os.MkdirTemp("", "liza"))(t)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "web.sock")
	for range 2 {
		l := testrun.Must(web.Listen(t.Context(), "unix:"+path))(t)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the socket: %v, %v", info, err)
		}
		if _, err := web.Listen(t.Context(), "unix:"+path); err == nil {
			t.Error("two servers listen at one socket")
		}
		testrun.Check(t, l.Close())
	}
	left := testrun.Must(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	left.SetUnlinkOnClose(false)
	left.Close()
	if l, err := web.Listen(t.Context(), "unix:"+path); err == nil {
		l.Close()
		t.Error("the socket of another program is taken over")
	}
	testrun.Check(t, os.Chmod(path, 0o600))
	l, err := web.Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal("a socket that was left behind keeps the next server away:", err)
	}
	l.Close()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestSocketTakesNoFile: a socket takes the place of no other file, and its end removes none.
func TestSocketTakesNoFile(t *testing.T) {
	dir := t.TempDir()
	work, link, socket := filepath.Join(dir, "work"), filepath.Join(dir, "link"), filepath.Join(dir, "s")
	testrun.Check(t, errors.Join(os.WriteFile(work, []byte("work"), 0o600), os.Symlink(work, link)))
	for _, path := range []string{work, link} {
		if l, err := web.Listen(t.Context(), "unix:"+path); err == nil {
			l.Close()
			t.Errorf("a server listens at %s", path)
		}
	}
	l := testrun.Must(web.Listen(t.Context(), "unix:"+socket))(t)
	if err := os.Rename(work, socket); err != nil { // replaces the socket
		t.Fatal(err)
	}
	l.Close()
	if text, err := os.ReadFile(socket); string(text) != "work" {
		t.Errorf("the file is %q, %v", text, err)
	}
}
