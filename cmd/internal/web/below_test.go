package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestBelow uses the board through a proxy that shows it below a path, with links, forms, events and
// cookies, whether the proxy passes the path on or removes it.
func TestBelow(t *testing.T) {
	testrun.NotShort(t)
	for _, removes := range []bool{false, true} {
		w := commonShop(t).serve(options{base: "/team/board"})
		target, _ := url.Parse(w.url)
		var handler http.Handler = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		}}
		if removes {
			handler = http.StripPrefix("/team/board", handler)
		}
		mux := http.NewServeMux()
		mux.Handle("/team/board/", handler)
		proxy := httptest.NewServer(mux)
		t.Cleanup(proxy.Close)
		w.url = proxy.URL + "/team/board"

		r := w.get("/?token=" + w.token)
		<-w.tokens
		if c, to := r.header.Get("Set-Cookie"), r.header.Get("Refresh"); !strings.Contains(c, "Path=/team/board;") || to != "0; url=/team/board/" {
			t.Errorf("the browser is let in with cookie %s and sent to %s", c, to)
		}
		link := regexp.MustCompile(`\b(href|src|action|formaction|data-live|data-transcript)=\\?"(/[^"\\]*)`)
		for _, path := range []string{"/", "/graph", "/timeline", "/history", "/agents", "/sprint", "/task/login", "/agent/coder-1", "/task/none"} {
			page, links := w.get(path).body, 0
			for _, m := range link.FindAllStringSubmatch(page, -1) {
				links++
				if !strings.HasPrefix(m[2], "/team/board/") || strings.HasPrefix(m[2], "/team/board/team") {
					t.Errorf("%s leads to %s", path, m[0])
				}
			}
			if links == 0 {
				t.Errorf("%s has no link", path)
			}
		}
		for _, name := range []string{"/assets/style.css", "/assets/live.js"} {
			if r := w.get(name); r.status != http.StatusOK {
				t.Errorf("%s: %d", name, r.status)
			}
		}
		s := w.follow("/", "")
		if e := s.next(t); e.name != "change" || !strings.Contains(e.data, `href=\"/team/board/task/`) || link.MatchString(strings.ReplaceAll(e.data, `"/team/board/`, `"`)) {
			t.Errorf("the page was sent %s", e.data)
		}
		form := url.Values{"text": {"Through the proxy"}, "back": {"/task/login"}}
		post := func(origin string) answer {
			r, _ := http.NewRequest(http.MethodPost, w.url+"/act/note", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", origin)
			got, err := w.client.Do(r)
			return w.read(got, err)
		}
		if r := post(proxy.URL); r.status != http.StatusSeeOther || !strings.HasPrefix(r.header.Get("Location"), "/team/board/task/login?") {
			t.Errorf("the form was answered with %d and leads to %s\n%s", r.status, r.header.Get("Location"), r.body)
		}
		s.next(t)
		if r := post("http://evil.example"); r.status != http.StatusForbidden {
			t.Errorf("another site's form: %d", r.status)
		}
		w.client.CheckRedirect = nil
		if r := w.get("/seek?n=2&to=/graph"); r.status != http.StatusOK || !strings.Contains(r.body, "The board as it was") {
			t.Errorf("the slider: %d %s", r.status, r.body)
		}
		w.stop()
	}
}
