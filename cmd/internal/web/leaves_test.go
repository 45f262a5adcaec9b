package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/web"
)

// TestBrowserLeaves: an approval takes the review and gives the verdict. If the browser goes away
// after the first, the second is done all the same, or the review would be held for nothing.
func TestBrowserLeaves(t *testing.T) {
	s := newScene(t)
	s.task("pay", "--ready")
	s.submitted("coder-1", "pay", map[string]string{"test_pay.sh": "echo ok\n"})
	taken, finished := make(chan struct{}), make(chan error, 1)
	w := s.serve(options{do: func(ctx context.Context, args []string) (web.Done, error) {
		if args[0] == "verdict" {
			close(taken)
			if left := ctx.Done(); left != nil {
				<-left
				finished <- ctx.Err()
				return web.Done{}, ctx.Err()
			}
		}
		done, err := s.do(ctx, args)
		if args[0] == "verdict" {
			finished <- err
		}
		return done, err
	}}).enter()
	ctx, leave := context.WithCancel(t.Context())
	form := url.Values{"id": {"pay"}, "take": {"yes"}, "verdict": {"APPROVED"}, "reason": {"It is good."}, "commit": {s.git("rev-parse", "task/pay")}}
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/act/verdict", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", w.url)
	go func() { <-taken; leave() }()
	if answer, err := w.client.Do(r); err == nil {
		answer.Body.Close()
	}
	if err := <-finished; err != nil {
		t.Error(err)
	}
	if got := s.must("", "read", "tasks.pay.status"); got != "APPROVED\n" {
		t.Errorf("pay is %q", got)
	}
}
