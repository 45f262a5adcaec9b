package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
)

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
	s := newScene(t)
	s.task("pay", "--ready")
	s.submitted("coder-1", "pay", map[string]string{"test_pay.sh": "echo ok\n"})
	browser, leave := context.WithCancel(t.Context())
	w := s.serve(options{around: func(ctx context.Context, a call.Act, do carry) (call.Result, error) {
		leave()
		return do(ctx, a)
	}}).enter()
	w.posts(browser, "/act/verdict", url.Values{"id": {"pay"}, "take": {"yes"}, "verdict": {"APPROVED"}, "reason": {"It is good."}, "commit": {s.git("rev-parse", "task/pay")}})
	if got := s.must("", "read", "tasks.pay.status"); got != "APPROVED\n" {
		t.Errorf("pay is %q", got)
	}
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
