package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/git-liza/git-liza/gitboard/cmdline"
)

// Webhook posts notices as JSON.
type Webhook struct {
	Timeout time.Duration // per attempt
	Tries   int
	Backoff time.Duration // after the first failed attempt; doubled after each further one
}

// DefaultWebhook gives a receiver about a minute to recover.
var DefaultWebhook = Webhook{Timeout: 10 * time.Second, Tries: 5, Backoff: 2 * time.Second}

// Carry starts posting to the URL that target returns; "" discards notices.
func (w Webhook) Carry(target func() string) *Carrier {
	// After a redirect the other address would be asked without the notice, and might say "OK".
	client := &http.Client{Timeout: w.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c := carry("the webhook", func(ctx context.Context, n Notice) error {
		to := target()
		if to == "" {
			return nil
		}
		body, err := cmdline.JSON(n)
		if err != nil {
			return err
		}
		pause := w.Backoff
		for try := 1; ; try++ {
			again, err := post(ctx, client, to, body)
			if err == nil || !again || try == w.Tries {
				return err
			}
			select {
			case <-ctx.Done():
				return err
			case <-time.After(pause):
			}
			pause *= 2
		}
	})
	c.idle = func() bool { return target() == "" }
	return c
}

// post makes one attempt; again reports whether another one may succeed.
func post(ctx context.Context, client *http.Client, to string, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("escalation_webhook is not a URL")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "git-liza")
	answer, err := client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the URL may hold a secret
		}
		return true, err
	}
	answer.Body.Close()
	switch code := answer.StatusCode; {
	case code < 300:
		return false, nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return true, fmt.Errorf("it answers %s", answer.Status)
	default:
		return false, fmt.Errorf("it answers %s", answer.Status)
	}
}
