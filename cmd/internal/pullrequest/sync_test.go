package pullrequest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestStorable: whatever a host says, a record may hold what becomes of it, and no credential comes along.
func TestStorable(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIsecret\n-----END RSA PRIVATE KEY-----"
	left := "(a line that looks like a credential is left out)"
	for text, want := range map[string]string{
		" two\r\nlines\x00\u202e ":                           "two\nlines",
		"a\nglpat-abcdefghijklmnopqrstu\nb":                  "a\n" + left + "\nb",
		"a\n" + key + "\nb":                                  strings.Join([]string{"a", left, left, left, "b"}, "\n"),
		"\x1b\x00\xff":                                       "",
		"ghp_" + strings.Repeat("x", 40) + " in a long line": left,
	} {
		testrun.Equal(t, storable(text), want, "%q becomes", text)
	}
	long := strings.Repeat("ä\n", 20_000) + "the end"
	if got := storable(long); len(got) > maxText+10 || !strings.HasSuffix(got, "ä\nthe end") || !board.Storable(got) {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
	for _, name := range []string{"unit tests\t(1)", strings.Repeat("ä", 300), "\x7f"} {
		source := sourceOf("check", "a1", name)
		if len(source) > 200 || strings.ContainsFunc(source, func(r rune) bool { return r <= ' ' || r == 0x7f }) || source != sourceOf("check", "a1", name) {
			t.Errorf("%q is called %q", name, source)
		}
	}
}

// TestWordsOf: a resolved comment leaves the text, and makes no new feedback.
func TestWordsOf(t *testing.T) {
	r := forge.Review{Text: "two things", Comments: []forge.LineComment{{Path: "a", Line: 3, Text: "one"}, {Path: "b", Text: "two"}}}
	before := wordsOf(r)
	r.Comments[0].Over = true
	if got := reviewText(r); got != "two things\nb: two" || wordsOf(r) != before {
		t.Errorf("%q", got)
	}
	if r.Comments[1].Text = "two, too"; wordsOf(r) == before {
		t.Error("an edit is not new")
	}
}

// TestInert: no text of an agent mentions, refers to or closes anything, or is markup.
func TestInert(t *testing.T) {
	hostile := "@all closes #1, GH-2 and https://host/ann/shop/issues/3\n<!-- liza:end --> | ![x](y) `z` *b* _i_ &1 !4"
	got := inert(hostile)
	for _, bad := range []string{"@a", "#1", "GH-2", "://", "\n", "<", " | ", " ![", " `z", " *b", " _i", "&1", " !4"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in %q", bad, got)
		}
	}
	long := bounded(strings.Repeat("| a row |\n", 10_000), "g")
	if len(long) > 65_536 || !strings.HasSuffix(long, "| a row |\n\n(cut: the rest is on the board, `git liza goal show g`)\n") || bounded("short", "g") != "short" {
		t.Errorf("%d bytes: %q", len(long), long[len(long)-90:])
	}
}

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
				testrun.Must(host.Get(t.Context(), 7))(t)
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
