package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A session is a terminal session in a document: commands after `$ `, each followed by its output.
type session struct {
	document string
	text     string
	commands []string
}

var (
	console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	prompt  = regexp.MustCompile(`(?m)^\$ (?:.*\\\n)*.*\n`)
)

// readSession collects the commands of a document's console blocks.
func readSession(t *testing.T, document string) *session {
	t.Helper()
	text := testrun.Must(os.ReadFile(document))(t)
	s := &session{document: document, text: string(text)}
	for _, block := range console.FindAllStringSubmatch(s.text, -1) {
		s.commands = append(s.commands, prompt.FindAllString(block[1], -1)...)
	}
	if len(s.commands) == 0 {
		t.Fatalf("%s has no console block with a command", document)
	}
	return s
}

const mark = "@@ next command @@"

// script runs the commands in one shell and marks where the output of each begins.
func (s *session) script() string {
	var b strings.Builder
	b.WriteString("exec 2>&1\n")
	for _, c := range s.commands {
		fmt.Fprintf(&b, "echo '%s'\n%s", mark, strings.TrimPrefix(c, "$ "))
	}
	fmt.Fprintf(&b, "echo '%s'\n", mark)
	return b.String()
}

// check compares the document with the commands' real output, or writes that into the document.
func (s *session) check(t *testing.T, printed string) {
	t.Helper()
	outputs := strings.Split(printed, mark+"\n")
	if len(outputs) != len(s.commands)+2 {
		t.Fatalf("the shell ended early:\n%s", printed)
	}
	next := 0
	fresh := console.ReplaceAllStringFunc(s.text, func(block string) string {
		body := console.FindStringSubmatch(block)[1]
		var b strings.Builder
		b.WriteString("```console\n")
		starts := append(prompt.FindAllStringIndex(body, -1), []int{len(body), len(body)})
		for i, at := range starts[:len(starts)-1] {
			next++
			shown, got := body[at[1]:starts[i+1][0]], outputs[next]
			b.WriteString(body[at[0]:at[1]])
			if steady(shown) == steady(got) {
				b.WriteString(shown)
			} else {
				b.WriteString(got)
			}
		}
		return b.String() + "```"
	})
	if fresh == s.text {
		return
	}
	if !*golden.Update {
		t.Errorf("%s shows something other than its commands print (-update rewrites it):\n%s", s.document, printed)
		return
	}
	testrun.Check(t, os.WriteFile(s.document, []byte(fresh), 0o644))
}

var unsteady = []struct{ pattern, name string }{
	{`\b[0-9a-f]{7,40}\b`, "ID"},
	{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\b\d\d:\d\dZ`, "TIME"},
	{` +(\d+[dhms])+\b`, " AGE"},
}

// steady replaces what differs from run to run: commit ids, times and ages.
func steady(text string) string {
	for _, u := range unsteady {
		text = regexp.MustCompile(u.pattern).ReplaceAllString(text, u.name)
	}
	return text
}

// TestSessions runs each session of the documents as written, in one shell, and expects the output
// shown.
func TestSessions(t *testing.T) {
	t.Parallel()
	for document, repositories := range map[string][]string{
		"../../README.md":            {"hello"},
		"../../specs/walkthrough.md": {"hello"},
		"../../specs/sharing.md":     {"first", "second"},
	} {
		t.Run(filepath.Base(document), func(t *testing.T) {
			t.Parallel()
			s := readSession(t, document)
			p := reader(t)
			out, errs, code := p.run("", "bash", "-c", s.script())
			if code != 0 {
				t.Fatalf("exit %d\n%s%s", code, out, errs)
			}
			home := []byte(p.dir)
			s.check(t, string(bytes.ReplaceAll([]byte(out), home, []byte("~"))))
			for _, name := range repositories {
				at := *p
				at.dir = filepath.Join(p.dir, name)
				at.must("", "doctor")
				at.proven()
			}
		})
	}
}

// reader is a project of somebody who follows a document in an empty folder.
func reader(t *testing.T) *project {
	full(t)
	p := &project{t: t, dir: t.TempDir()}
	home := t.TempDir()
	identity := filepath.Join(home, ".gitconfig")
	testrun.Check(t, os.WriteFile(identity, []byte("[user]\n\tname = Ann\n\temail = ann@example.com\n"), 0o644))
	p.env = append(os.Environ(),
		"HOME="+home, "GIT_CONFIG_GLOBAL="+identity, "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat", "LC_ALL=C.UTF-8", "COLUMNS=", "LINES=")
	return p
}
