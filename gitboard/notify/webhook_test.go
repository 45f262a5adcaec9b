package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var quick = Webhook{Timeout: time.Minute, Tries: 3, Backoff: time.Millisecond}

func notice(line string) Notice {
	return Notice{Time: "2026-01-31T09:00:00Z", Alarm: alarm.Alarm{Rule: "blocked", Level: alarm.Warn, Line: line, Do: board.ActOn("show", "login").Hint()}, Goal: "Ship it"}
}

// receiver is a server whose answers a test chooses by the number of the request, the first one 1.
func receiver(t *testing.T, answer func(n int64, w http.ResponseWriter, body string)) *httptest.Server {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", r.Method, r.Header)
		}
		answer(n.Add(1), w, string(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func (c *Carrier) fails(t *testing.T, words ...string) {
	t.Helper()
	select {
	case err := <-c.Faults():
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("the fault does not say %q: %v", w, err)
			}
		}
	case <-time.After(time.Minute):
		t.Fatal("no fault is reported")
	}
}

func to(s *httptest.Server) func() string {
	return func() string { return s.URL + "/hook?token=secret" }
}

func TestWebhookPayload(t *testing.T) {
	got := make(chan string, 9)
	s := receiver(t, func(_ int64, _ http.ResponseWriter, body string) { got <- body })
	c := quick.Carry(to(s))
	c.Send(notice("BLOCKED: login: no port"))
	c.Close(time.Minute)
	want := `{"time":"2026-01-31T09:00:00Z","rule":"blocked","level":"warn","line":"BLOCKED: login: no port","do":"git liza show login","goal":"Ship it"}`
	if body := <-got; body != want || !json.Valid([]byte(body)) {
		t.Errorf("%s", body)
	}
}

// A server that fails, and then recovers, gets the notice once it does.
func TestWebhookRetries(t *testing.T) {
	got := make(chan string, 9)
	s := receiver(t, func(n int64, w http.ResponseWriter, body string) {
		switch n {
		case 1:
			w.WriteHeader(500)
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks
		default:
			got <- body
		}
	})
	c := quick.Carry(to(s))
	c.Send(notice("BLOCKED: login: no port"))
	c.Close(time.Minute)
	if len(got) != 1 || len(c.Faults()) != 0 {
		t.Errorf("%d arrived, %d faults", len(got), len(c.Faults()))
	}
}

func TestWebhookGivesUp(t *testing.T) {
	var asked atomic.Int64
	s := receiver(t, func(_ int64, w http.ResponseWriter, body string) {
		asked.Add(1)
		if strings.Contains(body, "bad") {
			w.WriteHeader(404)
			return
		}
		w.WriteHeader(500)
	})
	c := quick.Carry(to(s))
	defer c.Close(time.Minute)
	c.Send(notice("one"))
	c.fails(t, `the webhook has not got "one": it answers 500`)
	testrun.Equal(t, asked.Load(), 3, "attempts")
	c.Send(notice("bad"))
	c.fails(t, "404")
	if n := asked.Load(); n != 4 {
		t.Errorf("%d attempts: what is wrong for good is tried once", n)
	}
}

// An address that has moved is a fault: what is asked after a redirect gets no notice.
func TestWebhookMoved(t *testing.T) {
	s := receiver(t, func(_ int64, w http.ResponseWriter, _ string) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusMovedPermanently)
	})
	c := quick.Carry(to(s))
	defer c.Close(time.Minute)
	c.Send(notice("one"))
	c.fails(t, `the webhook has not got "one": it answers 301 Moved Permanently`)
}

// A server that hangs keeps nobody waiting, and later messages are carried.
func TestWebhookHangs(t *testing.T) {
	testrun.NotShort(t)
	over := make(chan struct{})
	got := make(chan string, 9)
	s := receiver(t, func(_ int64, _ http.ResponseWriter, body string) {
		if strings.Contains(body, `"one"`) {
			<-over
			return
		}
		got <- body
	})
	defer close(over)
	c := Webhook{Timeout: time.Second, Tries: 3, Backoff: time.Millisecond}.Carry(to(s))
	c.Send(notice("one"))
	c.Send(notice("two"))
	c.fails(t, `"one"`)
	c.Close(time.Minute)
	if len(got) == 0 || !strings.Contains(<-got, "two") { // more than once if the server is slow
		t.Error("the second notice has not arrived")
	}
}

func TestWebhookFloods(t *testing.T) {
	over := make(chan struct{})
	s := receiver(t, func(int64, http.ResponseWriter, string) { <-over })
	c := Webhook{Timeout: time.Minute, Tries: 1}.Carry(to(s))
	for range waiting + 2 {
		c.Send(notice("one"))
	}
	c.fails(t, "others wait already")
	close(over)
	c.Close(time.Minute)
}

// Who ends does not wait for a server that hangs.
func TestWebhookClose(t *testing.T) {
	asked, over := make(chan struct{}), make(chan struct{})
	s := receiver(t, func(n int64, _ http.ResponseWriter, _ string) {
		if n == 1 {
			close(asked)
		}
		<-over
	})
	defer close(over)
	c := Webhook{Timeout: time.Hour, Tries: 5, Backoff: time.Hour}.Carry(to(s))
	c.Send(notice("one"))
	<-asked
	c.Close(time.Millisecond)
}

func TestWebhookNowhere(t *testing.T) {
	for _, target := range []string{"", "http://127.0.0.1:1/?token=secret", ":not a url secret"} {
		c := quick.Carry(func() string { return target })
		c.Send(notice("one"))
		if target != "" {
			c.fails(t)
		}
		c.Close(time.Minute)
	}
	c := quick.Carry(func() string { return "http://127.0.0.1:1/?token=secret" })
	defer c.Close(time.Minute)
	c.Send(notice("one"))
	if err := <-c.Faults(); strings.Contains(err.Error(), "secret") {
		t.Errorf("the fault reveals the secret: %v", err)
	}
}

// However many alarms there are, none is missed where no webhook is set.
func TestNoWebhook(t *testing.T) {
	c := quick.Carry(func() string { return "" })
	for range 100 * waiting {
		c.Send(Notice{})
	}
	c.Close(time.Minute)
	select {
	case err := <-c.Faults():
		t.Error(err)
	default:
	}
}
