package pullrequest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestPace lets a poller ask for three hours: it sends no more requests in any hour than it may, and is as
// quick as that allows.
func TestPace(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"number":7,"state":"open"}`)
	}))
	defer server.Close()
	at := testrun.Must(forge.PlaceOf(server.URL + "/ann/shop.git"))(t)
	for name, c := range map[string]struct {
		requests, each, first int // pull requests, what each takes of a round, and of the first round
		busy                  bool
		limit, rounds         int // rounds in the last hour
	}{
		"two requests a round":  {1, 2, 2, true, 120, 60},
		"at rest":               {1, 2, 2, false, 120, 12},
		"many requests a round": {1, 8, 8, true, 120, 15},
		"a long first round":    {1, 2, 119, true, 120, 60},
		"ten pull requests":     {10, 2, 6, true, 600, 30},
	} {
		start := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
		now := start
		p := &poller{meter: &forge.Meter{Now: func() time.Time { return now }}}
		host := testrun.Must(forge.At(forge.Gitea, at, "", p.meter))(t)
		rounds := 0
		for each := c.first; now.Before(start.Add(3 * time.Hour)); each = c.each {
			if now.Sub(start) >= 2*time.Hour {
				rounds++
			}
			for range each * c.requests {
				if _, err := host.Get(t.Context(), 7); err != nil {
					t.Fatal(err)
				}
			}
			if sent := p.meter.Sent(); sent > c.limit {
				t.Errorf("%s: %d requests in an hour", name, sent)
			}
			now = p.pace(c.requests, each*c.requests, c.busy)
		}
		if rounds != c.rounds {
			t.Errorf("%s: %d rounds in the last hour, not %d", name, rounds, c.rounds)
		}
	}
}
