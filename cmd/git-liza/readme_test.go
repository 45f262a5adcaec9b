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
	t.Parallel()
	p := &project{t: t, dir: t.TempDir()}
	p.env = append(os.Environ(),
		"HOME="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	script := "set -eu\n" + strings.Join(blocks(t, "sh"), "\n")
	out, errs, code := p.run("", "bash", "-c", script)
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{"greet  coder-1  ", "REJECTED by code-reviewer-1", "merge(greet)", "Hello, $1!", "proven by replay", "VALID", "joined the board of origin", "somebody else has it", "Bye, Ann", "integration has moved", "merge(bye)"} {
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
	t.Parallel()
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

// The README's team runs as it stands, with a claude of ours; what it tells to type meanwhile is typed afterwards.
func TestReadmeTeam(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(fakeClaude), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: t.TempDir()}
	p.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+t.TempDir(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com")
	out, errs, code := p.run("", "bash", "-c", "set -eu\n"+strings.Join(blocks(t, "bash"), "\n"))
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{"started: INITIAL_PLANNING", "merged greet", "the goal is COMPLETED: 1 MERGED", "note: note-1 for coder-1", "claimed greet"} {
		if !strings.Contains(out, want) {
			t.Errorf("the session doesn't print %q:\n%s%s", want, out, errs)
		}
	}
	p.dir = filepath.Join(p.dir, "greeter")
	p.must("", "doctor")
	p.proven()
}

// fakeClaude does what a prompt asks for: it plans one task, writes a program with its test, approves. It is
// called as claude is, with the prompt on standard input.
const fakeClaude = `#!/bin/sh
set -e
test "$1" = -p
field() { sed -n "s/^$1: //p" "$LIZA_PROMPT_FILE" | head -1; }
cmp -s - "$LIZA_PROMPT_FILE"
case $LIZA_AGENT_ID in
planner-*)
	test "$(field 'WAKE TRIGGER')" = INITIAL_PLANNING || exit 0
	git liza add-task --id greet --desc 'Greet' --spec specs/vision.md --done "sh greet.sh Ann says 'Hello, Ann'" --scope 'IN: greet.sh, greet_test.sh'
	git liza finalize greet ;;
coder-*)
	cd "$(field WORKTREE)"
	git liza pre-exec greet --intent 'greet' --validation 'sh greet_test.sh: ok' --file greet.sh --file greet_test.sh
	echo 'echo "Hello, $1"' > greet.sh
	echo 'test "$(sh greet.sh Ann)" = "Hello, Ann"' > greet_test.sh
	sh greet_test.sh
	git add .
	git commit -qm 'Greet'
	git liza submit greet
	exit 42 ;;
code-reviewer-*)
	git liza verdict greet APPROVED --commit "$(field 'REVIEW COMMIT')" ;;
esac
`

// What the README tells to type in a clone of this repository: the demo and go test have tests of their own
// (cmd/internal/demo, and this one); installing is tried here.
func TestReadmeInstalls(t *testing.T) {
	t.Parallel()
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
