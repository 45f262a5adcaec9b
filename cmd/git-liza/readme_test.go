package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks returns the README's fenced blocks of a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// The README's sessions are run as they stand, one after the other, in one shell.
func TestReadmeSessions(t *testing.T) {
	p := &project{t: t, dir: t.TempDir()}
	p.env = append(os.Environ(),
		"HOME="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	script := "set -eu\n" + strings.Join(blocks(t, "sh"), "\n")
	out, errs, code := p.run("", "bash", "-c", script)
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{"greet  coder-1  ", "REJECTED by code-reviewer-1", "merge(greet)", "Hello, $1!", "proven by replay", "VALID"} {
		if !strings.Contains(out, want) {
			t.Errorf("the sessions don't print %q:\n%s", want, out)
		}
	}
	p.dir = filepath.Join(p.dir, "hello")
	p.must("", "doctor")
	p.proven()
}

// The screen that the README shows is the one that its commands print.
func TestReadmeScreen(t *testing.T) {
	p := &project{t: t, dir: t.TempDir()}
	p.env = append(os.Environ(),
		"HOME="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8", "COLUMNS=", "LINES=",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	out, errs, code := p.run("", "bash", "-c", "set -eu\n"+blocks(t, "sh")[0])
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	steady := regexp.MustCompile(` +[0-9]+[sm]\b`)
	want := steady.ReplaceAllString(blocks(t, "text")[0], " N")
	if got := steady.ReplaceAllString(out, " N"); !strings.HasSuffix(got, want) {
		t.Errorf("the README shows\n%s\nthe commands print\n%s", want, got)
	}
}

// What the README tells to type in a clone of this repository: the demo and go test have tests of their own
// (cmd/internal/demo, and this one); installing is tried here.
func TestReadmeInstalls(t *testing.T) {
	commands := strings.Fields(strings.ReplaceAll(strings.Join(blocks(t, "console"), ""), "\n", " ; "))
	want := "go run ./cmd/git-liza demo ; go test ./... ; go install ./cmd/git-liza ;"
	if got := strings.Join(commands, " "); got != want {
		t.Fatalf("the README tells to type %q; this test knows %q", got, want)
	}
	bin := t.TempDir()
	p := &project{t: t, dir: "../..", env: append(os.Environ(), "GOBIN="+bin)}
	if out, errs, code := p.run("", "go", "install", "./cmd/git-liza"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	p.dir = t.TempDir()
	if out, errs, code := p.run("", filepath.Join(bin, "git-liza"), "version"); code != 0 || !strings.Contains(out, "board format 1") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}
