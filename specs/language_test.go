package specs_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// patterns are turns of phrase that native English hardly uses. The limits are occurrences in a
// thousand words: of comments and string literals together, and of documents. Documents are at the
// aim, twice the frequency in good codebases. The limit of code is lowered whenever its figure falls.
// A match is within a line, and has one of the words.
var patterns = []struct {
	name, pattern   string
	words           string
	code, documents float64
	instead         string
}{
	{"free relative", `(of|to|in|by|with|and|or|for|from|that|is|,|about|on|than) what (is|it|a|an|the|was|they|has|came|comes|we|git|this|its)\b|(^|\. )what (is|it|was|a|the|has) [a-z]+`, "what", 0.5, 0.3, "a noun phrase"},
	{"one as a pronoun", `\b(the|this|that|each|every|which|another|no|any|an? \w+|old|new|last|first|next|other|same) ones?\b|\bones\b|\bone (that|who|which|is|has|was|with|at)\b|\bone[.,;:)]`, "one", 3.7, 2, "the noun again"},
	{"negative subject", `\b(none|nothing|nobody) (is|was|has|had|can|may|does|waits|else|in|of|to|here|there|[a-z]+s)\b`, "none nothing nobody", 1.3, 1.4, "a positive sentence, or no NOUN"},
	{"talking program", `\b(says?|said|tells?|told)\b`, "sa tell told", 0.7, 0.4, "prints, reports, sets, specifies"},
	{"has gone", `\b(has|have|had) (gone|ended|come|moved|become|stood|lain)\b|\b(is|are|was|were) gone\b`, "gone ended come moved become stood lain", 0.6, 0.4, "past tense, no longer exists"},
	{"here or there", `\b(in|from|is|was|are|were|lies|left|out|not|back|that|what) (here|there)\b|\b(here|there)[.,;:)]`, "here", 1.1, 0.4, "the place"},
	{"odd adverb", `, since\b|(^|\. )since\b|\bbeside\b|\bmeanwhile\b|\bat once\b|\bfor ever\b|\bbelow a supervisor\b`, "since beside meanwhile once ever below", 1.1, 0.6, "because, next to, in the meantime, immediately, forever"},
	{"those who", `\b(those (who|that|which)|whoever|anybody who|he who|who(m|se)? (is|it|has|was|comes|reads|takes))\b`, "those who", 0.6, 0.6, "callers that, agents that"},
}

// TestLanguage holds the ratios of patterns.
func TestLanguage(t *testing.T) {
	var code, documents strings.Builder
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && path != ".." || e.Name() == "testdata"):
			return fs.SkipDir
		case e.IsDir() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		switch filepath.Ext(path) {
		case ".go":
			prose(text, &code)
		case ".tmpl":
			code.Write(text)
		case ".md":
			documents.WriteString(uncounted.ReplaceAllString(string(text), ""))
		}
		return err
	})
	testrun.Check(t, err)
	for where, text := range map[string]string{"comments and literals": code.String(), "documents": documents.String()} {
		words := float64(len(strings.Fields(text)))
		if words < 20_000 {
			t.Errorf("only %.0f words of %s were read", words, where)
		}
		text = strings.ToLower(text)
		for _, p := range patterns {
			limit := p.code
			if where == "documents" {
				limit = p.documents
			}
			ratio := 1000 * float64(matches(text, p.pattern, strings.Fields(p.words))) / words
			t.Logf("%s, %s: %.2f of %.2f", where, p.name, ratio, limit)
			if ratio > limit {
				t.Errorf("%s have %q %.2f times a thousand words, at most %.2f allowed; write %s", where, p.name, ratio, limit, p.instead)
			}
		}
	}
}

// matches counts the matches of a pattern in the lines that have one of the words.
func matches(text, pattern string, words []string) (n int) {
	r := regexp.MustCompile("(?m)" + pattern)
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			n += len(r.FindAllString(line, -1))
		}
	}
	return n
}

// uncounted are sessions, and tables that are made of the code.
var uncounted = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$|<!-- generated.*?<!-- end -->")

// prose writes a file's comments and string literals.
func prose(text []byte, to *strings.Builder) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	for {
		switch _, kind, literal := s.Scan(); kind {
		case token.EOF:
			return
		case token.COMMENT, token.STRING:
			to.WriteString(strings.Trim(literal, "/\"`") + "\n")
		}
	}
}
