package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocks returns a document's fenced blocks of a language.
func blocks(t *testing.T, document, language string) []string {
	t.Helper()
	text := testrun.Must(os.ReadFile(document))(t)
	var found []string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// TestTeamOfTheGuide runs the commands by which the operator's guide starts a team, with a fake
// claude. What the guide types in another terminal while the team runs is typed
// afterwards.
func TestTeamOfTheGuide(t *testing.T) {
	t.Parallel()
	guide := strings.Join(blocks(t, "../../specs/operators-guide.md", "bash"), "\n")
	bin := t.TempDir()
	testrun.Check(t, testrun.WriteProgram(filepath.Join(bin, "claude"), fakeClaude))
	p := reader(t)
	p.env = append(p.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, errs, code := p.run("", "bash", "-c", "set -eu\n"+guide)
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

// fakeClaude does what a prompt asks for: it plans one task, writes a program with its test,
// approves. It is called like claude, with the prompt on standard input.
const fakeClaude = `#!/bin/sh
[ "$1" != auth ] || exit 0
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
	git liza verdict greet APPROVED --checked tests --commit "$(field 'REVIEW COMMIT')" ;;
esac
`

// startOfTheReadme is the command by which the README starts work: the last of its first block.
func startOfTheReadme(t *testing.T) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(blocks(t, "../../README.md", "text")[0]), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "go install ") || !strings.HasPrefix(lines[2], "git liza start ") {
		t.Fatalf("the README starts with %q", lines)
	}
	return lines[2]
}

// TestReadmeBegins: the README is short, and says what git liza does before it says how.
func TestReadmeBegins(t *testing.T) {
	t.Parallel()
	text := testrun.Must(os.ReadFile("../../README.md"))(t)
	if len(text) > 7000 {
		t.Errorf("%d bytes", len(text))
	}
	at := 0
	for _, part := range []string{"| Without it | With it |", "![The screen of git liza status", "## Start", "## Two minutes by hand", "## How it works", "## Platforms", "## Read on"} {
		n := strings.Index(string(text[at:]), part)
		if n < 0 {
			t.Fatalf("%q does not come next", part)
		}
		at += n
	}
	picture, err := os.ReadFile("../../specs/board.svg")
	if err != nil || strings.Contains(string(picture), "  ") { // browsers show such spaces as one, and columns come apart
		t.Errorf("the picture aligns its columns by plain spaces, or: %v", err)
	}
}

// TestReadmeInstalls tries the README's installation from a clone of this repository.
func TestReadmeInstalls(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	commands := strings.Fields(strings.Join(blocks(t, "../../README.md", "sh"), ""))
	want := "CGO_ENABLED=0 go install ./cmd/git-liza"
	if got := strings.Join(commands, " "); got != want {
		t.Fatalf("the README has the commands %q; this test knows %q", got, want)
	}
	full(t)
	bin := t.TempDir()
	p := &project{t: t, dir: "../..", env: append(os.Environ(), "GOBIN="+bin, "CGO_ENABLED=0")}
	if out, errs, code := p.run("", "go", "install", "./cmd/git-liza"); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	p.dir = t.TempDir()
	if out, errs, code := p.run("", filepath.Join(bin, "git-liza"), "version"); code != 0 || !strings.Contains(out, "board format 1") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}
