package specs_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gone are phrases that were rewritten everywhere, with what to write instead. Each begins with a
// word, which is searched for first: a regular expression that begins otherwise takes ten times as
// long.
var gone = []struct{ phrase, instead string }{
	{`in due form`, "in the required form"},
	{`goes? round\b`, "a cycle"},
	{`leave a word`, "a note, a comment"},
	{`a word for a task`, "a note, a comment"},
	{`a word with an approval`, "a note, a comment"},
	{`tells? more`, "shows more"},
	{`tells (what|whether|how|why)\b`, "reports, shows"},
	{`mends?\b`, "repair"},
	{`holds?( [a-z']+){0,6} against`, "check against, compare with"},
	{`held( [a-z']+){0,6} against`, "check against, compare with"},
	{`conditions? stands?`, "open condition"},
	{`otherwise than it should`, "an unexpected event"},
	{`as that of an agent`, "for an agent"},
	{`has it proven`, "verifies the history"},
	{`without asking anybody`, "without permission prompts"},
	{`stand(s)? in no row`, "is not in the table"},
	{`tells (which|where|of)\b`, "shows, reports"},
	{`mended`, "repaired"},
	{`whoever`, "the caller, the agent that, anybody who"},
	{`anew`, "again, from scratch; begin anew: start over"},
	{`goes on\b`, "continue, happen"},
	{`going on\b`, "continue, happen"},
	{`went on\b`, "continue, happen"},
	{`lease( of [a-z0-9-]+)? (has|had|must have) run out`, "the lease has expired"},
	{`lease ran out`, "the lease has expired"},
}

// TestWords: phrases that were taken out of messages, prompts, documents and comments do not come
// back. Records and fields of the older form, quotations and the log of decisions keep theirs.
// Comments have at most 100 columns.
func TestWords(t *testing.T) {
	seen := 0
	phrases, whole := make([]*regexp.Regexp, len(gone)), make([]*regexp.Regexp, len(gone))
	for i, g := range gone {
		phrases[i], whole[i] = regexp.MustCompile(g.phrase), regexp.MustCompile(`\b`+g.phrase)
	}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && path != ".." || e.Name() == "testdata") {
			return fs.SkipDir
		}
		if e.IsDir() || !reads(path) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		for n, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "// ") && len(line) > 100 {
				t.Errorf("%s:%d is a comment of more than 100 columns", path, n+1)
			}
		}
		text = bytes.ToLower(text)
		for n, g := range gone {
			if !phrases[n].Match(text) {
				continue
			}
			for _, at := range whole[n].FindAllIndex(text, -1) {
				line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
				t.Errorf("%s:%d says %q: write %s", path, line, text[at[0]:at[1]], g.instead)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 300 {
		t.Errorf("only %d files were read", seen)
	}
}

// reads reports whether a file is one of those whose words people read.
func reads(path string) bool {
	switch filepath.Ext(path) {
	case ".go":
		return !strings.HasSuffix(path, "_test.go")
	case ".md", ".tmpl", ".txt":
		return filepath.Base(path) != "decisions.md" && filepath.Base(path) != "terminology.md"
	}
	return false
}
