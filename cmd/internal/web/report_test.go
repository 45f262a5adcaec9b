package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestReport: a report is one self-contained file without scripts, in which every link leads to a
// place in the file.
func TestReport(t *testing.T) {
	s := commonShop(t)
	file := filepath.Join(t.TempDir(), "run.html")
	s.must("", "report", file)
	data := testrun.Must(os.ReadFile(file))(t)
	text := string(data)
	for _, want := range []string{"cart is BLOCKED", "login.go", "Where the time went", "<svg", "Story", "block(cart)", "default-src &#39;none&#39;"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<form|<link|<img|https?://|url\(|@import|\son\w+=["']`).FindString(text); found != "" {
		t.Errorf("it holds %q", found)
	}
	places := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if places[m[1]] {
			t.Errorf("two places are called %s", m[1])
		}
		places[m[1]] = true
	}
	links := regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(text, -1)
	for _, m := range links {
		if !strings.HasPrefix(m[1], "#") || !places[m[1][1:]] {
			t.Errorf("a link leads to %s", m[1])
		}
	}
	if len(links) < 20 {
		t.Errorf("%d links", len(links))
	}
	before := s.git("rev-parse", "liza/state~5")
	s.must("", "report", file, "--at", before)
	if then, _ := os.ReadFile(file); !strings.Contains(string(then), before[:10]) {
		t.Error("a report of an earlier commit is not of that commit")
	}
}
