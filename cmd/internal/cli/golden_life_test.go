package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// life is a real repository with a board, on which commands run within this process, under its own
// clock.
type life struct {
	t   *testing.T
	dir string
	now time.Time
	env map[string]string
}

// emptyLife is a life in an empty directory.
func emptyLife(t *testing.T) *life {
	t.Helper()
	testrun.NotShort(t)
	testrepo.Environment(t)
	for key, value := range map[string]string{
		"HOME": t.TempDir(), "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
		"GIT_AUTHOR_DATE": "2026-01-31T09:00:00Z", "GIT_COMMITTER_DATE": "2026-01-31T09:00:00Z",
	} {
		t.Setenv(key, value)
	}
	return &life{t: t, dir: t.TempDir(), now: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC), env: map[string]string{"NO_COLOR": "1", "LC_ALL": "C.UTF-8"}}
}

// prepared are the lives that tests copy, by name.
var prepared = struct {
	dir   string
	lives map[string]*life
}{lives: map[string]*life{}}

// preparedLife returns a copy of the life of a name, which the first test that needs it makes of a new
// one.
func preparedLife(t *testing.T, name string, begin func(l *life)) *life {
	t.Helper()
	l := emptyLife(t)
	if prepared.dir == "" {
		prepared.dir = testrun.Must(os.MkdirTemp("", "liza-cli-"))(t)
	}
	if prepared.lives[name] == nil {
		first := *l
		first.dir = filepath.Join(prepared.dir, name)
		first.write("specs/vision.md", "The calculator adds.\n")
		first.git(first.dir, "init", "-q", "-b", "main")
		first.git(first.dir, "add", "-A")
		first.git(first.dir, "commit", "-q", "-m", "first")
		begin(&first)
		prepared.lives[name] = &first
	}
	from := prepared.lives[name]
	testrepo.Copy(t, from.dir, l.dir)
	l.now = from.now
	return l
}

// newLife is a life whose board has the goal alone.
func newLife(t *testing.T) *life {
	t.Helper()
	return preparedLife(t, "new", func(l *life) {
		l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	})
}

func (l *life) write(file, text string) {
	l.t.Helper()
	testrun.WriteIn(l.t, l.dir, file, text)
}

func (l *life) git(dir string, args ...string) {
	l.t.Helper()
	testrun.RunGit(l.t, dir, args...)
}

func (l *life) pass(d time.Duration) *life {
	l.now = l.now.Add(d)
	return l
}

func (l *life) app(agent string, out, errs io.Writer) *call.App {
	getenv := func(name string) string {
		if name == "LIZA_AGENT_ID" {
			return agent
		}
		return l.env[name]
	}
	return &call.App{Stdin: strings.NewReader(""), Stdout: out, Stderr: errs, Getenv: getenv, Dir: l.dir, Now: func() time.Time { return l.now }}
}

// run runs a command.
func (l *life) run(agent string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = Run(context.Background(), l.app(agent, &o, &e), args)
	return code, o.String(), e.String()
}

// liza runs a command that has to succeed.
func (l *life) liza(agent string, args ...string) string {
	l.t.Helper()
	code, out, errs := l.run(agent, args...)
	if code != 0 {
		l.t.Fatalf("git liza %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func (l *life) task(id, desc string, more ...string) {
	l.t.Helper()
	l.liza("planner-1", append([]string{"add-task", "--id", id, "--desc", desc, "--spec", "specs/vision.md", "--done", "1+2 gives 3", "--scope", "IN: one package. OUT: the rest"}, more...)...)
	l.liza("planner-1", "finalize", id)
}

func (l *life) preExec(id, intent string) {
	l.t.Helper()
	l.liza("coder-1", "pre-exec", id, "--intent", intent, "--validation", "go test ./...: ok", "--file", "sum.go", "--file", "sum_test.go", "--assumption", "numbers are whole", "--risks", "overflow")
}

func (l *life) commit(id, subject string, files map[string]string) {
	l.t.Helper()
	for name, text := range files {
		l.write(filepath.Join(".worktrees", id, name), text)
	}
	dir := filepath.Join(l.dir, ".worktrees", id)
	l.git(dir, "add", "-A")
	l.git(dir, "commit", "-q", "-m", subject)
}

// hex matches the ids of commits and sessions, which differ from run to run.
var hex = regexp.MustCompile(`\b[0-9a-f]{40}\b|\b[0-9a-f]{16}\b|\b[0-9a-f]{10}\b`)

// both compares a command's output at 80 and 120 columns with its golden files.
func (l *life) both(name string, args ...string) {
	l.t.Helper()
	host, _ := os.Hostname()
	for _, width := range []int{80, 120} {
		l.env["COLUMNS"] = strconv.Itoa(width)
		out := hex.ReplaceAllStringFunc(l.liza("", args...), func(id string) string { return strings.Repeat("0", len(id)) })
		out = regexp.MustCompile(`(?m)^(host +).*`+regexp.QuoteMeta(host)+`$`).ReplaceAllString(out, "${1}host")
		drawn(l.t, name, width, strings.Split(strings.TrimSuffix(out, "\n"), "\n"))
	}
	delete(l.env, "COLUMNS")
}

// sumsLife is the life of a task that is rejected once, next to one that is blocked.
func sumsLife(t *testing.T) *life {
	l := newLife(t)
	l.task("sums", "Add whole numbers — auch „große“, 数字も — und so weiter, so weit die Füße tragen, damit die Zeile umbrochen werden muss", "--priority", "1")
	l.task("print", "Print results", "--depends", "sums")
	l.pass(10 * time.Minute)
	l.liza("coder-1", "claim", "sums")
	l.preExec("sums", "write Sum and its test")
	l.pass(25 * time.Minute)
	l.commit("sums", "Add Sum", map[string]string{"sum.go": "package sum\n\nfunc Sum(a, b int) int { return a - b }\n", "sum_test.go": "package sum\n"})
	l.liza("coder-1", "submit", "sums")
	l.pass(5 * time.Minute)
	l.liza("code-reviewer-1", "claim-review", "sums")
	l.pass(10 * time.Minute)
	l.liza("code-reviewer-1", "verdict", "sums", "REJECTED", "--commit", "task/sums", "--overall", "Nearly.", "--blocker", "sum.go:3|it subtracts|1+2 has to give 3|write a + b, and test it", "--spec", "n/a", "--anomaly", "none")
	l.pass(2 * time.Minute)
	l.liza("coder-1", "claim", "sums")
	l.preExec("sums", "add instead of subtracting")
	l.pass(8 * time.Minute)
	l.commit("sums", "Add instead of subtracting", map[string]string{"sum.go": "package sum\n\nfunc Sum(a, b int) int { return a + b }\n", "sum_test.go": "package sum\n\n// 1+2 gives 3\n"})
	l.liza("coder-1", "submit", "sums")
	l.liza("", "note", "--for", "sums", "mind overflow — bitte")
	l.task("units", "Units")
	l.liza("coder-2", "claim", "units")
	l.pass(time.Minute)
	l.liza("coder-2", "block", "units", "--reason", "the spec does not say which pint", "--question", "Which pint?", "--attempted", "both")
	l.liza("coder-2", "anomaly", "trade_off", "--task", "units", "what=two tables", "why=no answer", "debt_created=true")
	l.liza("coder-2", "discover", "--during", "units", "--desc", "the parser leaks", "--severity", "high")
	return l.pass(3 * time.Minute)
}

func TestGoldenLife(t *testing.T) {
	testrun.NotShort(t)
	l := sumsLife(t)
	l.both("show-under-review", "show", "sums")
	l.both("show-blocked", "show", "units")
	l.both("show-waiting", "show", "print")
	l.both("show-agent", "show", "coder-2")
	l.both("show-anomaly", "show", "anomaly-1")
	l.both("show-discovery", "show", "disc-1")
	l.both("show-note", "show", "note-1")
	l.both("show-sprint", "show", "sprint")
	l.both("show-goal", "show", "goal-1")
	l.both("log", "log")
	l.both("log-patch", "log", "-p", "-n", "4")
	l.both("log-filtered", "log", "--task", "sums", "--agent", "coder-1", "--op", "submit", "--since", "20m")
	l.both("graph-life", "graph")
	l.both("diff", "diff", "2026-01-31T09:50:00Z")
	l.write(".worktrees/sums/notes.txt", "not committed")
	if out := l.liza("", "show", "sums"); !strings.Contains(strings.Join(strings.Fields(out), " "), "1 file not committed: notes.txt") {
		t.Errorf("show does not tell what is not committed:\n%s", out)
	}
	l.git(filepath.Join(l.dir, ".worktrees", "sums"), "clean", "-qfd")
	l.liza("code-reviewer-1", "claim-review", "sums")
	l.liza("code-reviewer-1", "show", "sums") // prints the note
	l.liza("code-reviewer-1", "verdict", "sums", "APPROVED", "--checked", "tests", "--commit", "task/sums")
	l.pass(time.Minute)
	l.liza("code-reviewer-1", "merge", "sums")
	l.pass(time.Hour)
	l.both("show-merged", "show", "sums")
	l.both("show-past", "show", "sums", "--at", "2026-01-31T09:40:00Z")
	l.liza("", "verify")
}

// TestLogFollows: log --follow prints what happens while it runs, filtered, and ends cleanly when
// interrupted.
func TestLogFollows(t *testing.T) {
	l := newLife(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	read, write := io.Pipe()
	ended := make(chan int, 1)
	app := l.app("", write, io.Discard)
	go func() {
		ended <- Run(ctx, app, []string{"log", "--follow", "--op", "note"})
		write.Close()
	}()
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	for i := range 3 {
		l.liza("", "pause")
		l.liza("", "note", fmt.Sprintf("note %d", i))
		l.liza("", "resume")
		select {
		case line := <-lines:
			if !strings.Contains(line, fmt.Sprintf("note %d", i)) {
				t.Errorf("after note %d it says %q", i, line)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing is said of note %d", i)
		}
	}
	stop()
	testrun.Equal(t, <-ended, 0, "interrupted, it ends with")
	for line := range lines {
		t.Errorf("it says %q, too", line)
	}
}
