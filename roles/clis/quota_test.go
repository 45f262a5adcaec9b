package clis_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
)

// recorded is a file of testdata: the lines `source:`, `now:` (its offset from UTC is the machine's
// time zone) and `until:`, an empty line, and a CLI's output.
type recorded struct {
	name, source, until, output string
	now                         time.Time
}

func read(t *testing.T, dir string) []recorded {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded messages in %s: %v", dir, err)
	}
	var all []recorded
	for _, f := range files {
		data := testrun.Must(os.ReadFile(f))(t)
		r := recorded{name: dir + "/" + filepath.Base(f), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		head, output, _ := strings.Cut(string(data), "\n\n")
		r.output = output
		for line := range strings.Lines(head) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "source":
				r.source = value
			case "until":
				r.until = value
			case "now":
				r.now = testrun.Must(time.Parse(time.RFC3339, value))(t)
			}
		}
		if r.source == "" {
			t.Errorf("%s does not name its source", r.name)
		}
		all = append(all, r)
	}
	return all
}

func limited(t *testing.T, c clis.CLI, r recorded) {
	t.Helper()
	until, is := c.Limited(r.output, r.now)
	got := "none"
	if !until.IsZero() {
		got = until.Truncate(time.Second).Format(time.RFC3339)
	}
	if !is || got != r.until {
		t.Errorf("%s: %s: limited %t until %s, want until %s", c.Name, r.name, is, got, r.until)
	}
}

// own are the known CLIs with quota messages of their own.
func own() []clis.CLI {
	return slices.DeleteFunc(slices.Clone(clis.Known), func(c clis.CLI) bool { return c.Quota == nil })
}

func TestRecordedQuotaMessages(t *testing.T) {
	anything := clis.Exec("./agent.sh")
	for _, c := range own() {
		for _, r := range read(t, c.Name) {
			limited(t, c, r)
			limited(t, anything, r)
		}
	}
	for _, r := range read(t, "exec") {
		limited(t, anything, r)
	}
}

func TestTalkOfLimitsIsNone(t *testing.T) {
	for _, r := range read(t, "ordinary") {
		for _, c := range append([]clis.CLI{clis.Exec("./agent.sh")}, clis.Known...) {
			if until, is := c.Limited(r.output, r.now); is {
				t.Errorf("%s takes %s for a limit until %s", c.Name, r.name, until)
			}
		}
	}
}

// TestLastMessageCounts checks that the last of several messages counts, whichever pattern matches
// it.
func TestLastMessageCounts(t *testing.T) {
	now := time.Date(2026, 4, 29, 14, 0, 0, 0, time.UTC)
	c := testrun.Must(clis.Find("claude", nil))(t)
	until, is := c.Limited("Claude AI usage limit reached|1777500000\nYou've hit your limit · resets 3pm (UTC)\nAPI Error: Repeated 529 Overloaded errors\n", now)
	if !is || !until.IsZero() {
		t.Errorf("limited %t until %s; the last message names no time", is, until)
	}
	until, _ = c.Limited("API Error: Repeated 529 Overloaded errors\nYou've hit your limit · resets 3pm (UTC)\n", now)
	if want := now.Add(time.Hour); !until.Equal(want) {
		t.Errorf("until %s, want %s", until, want)
	}
}

func TestEveryPatternCompilesAndFindsSomething(t *testing.T) {
	for _, c := range own() {
		all := read(t, c.Name)
		for _, q := range c.Quota {
			re := regexp.MustCompile(q)
			found := false
			for _, r := range all {
				found = found || re.MatchString(r.output)
			}
			if !found {
				t.Errorf("%s: no recorded message for %s", c.Name, q)
			}
		}
	}
}
