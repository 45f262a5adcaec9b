package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/transcript"
	"github.com/git-liza/git-liza/specs"
)

var (
	// called matches a command written as code: in backquotes, in a command substitution, or at the
	// beginning of a line.
	called   = regexp.MustCompile("(?m)(?:`|^ *|\\$\\(|[A-Z_]+=\\S+ )git liza ([a-z][a-z-]*(?: [a-z]+)?)([^\n`]*)")
	inPrompt = regexp.MustCompile("git liza ([a-z][a-z-]*(?: [a-z]+)?)([^\n`;]*)")
	listed   = regexp.MustCompile(`(?s)YOUR COMMANDS: (.*?)\.\n`)
	printed  = regexp.MustCompile(`git liza docs ([a-z-]+)`)

	quotedText = regexp.MustCompile(`"[^"]*"|'[^']*'|#.*`)
	namedFlag  = regexp.MustCompile(`(?:^|[ |\[])--([a-z][a-z-]*)`)
)

// inSentence are the words that follow the program's name where a text tells of the program.
var inSentence = strings.Fields("alone are asks can does drops for has help into is knows manual mean moves needs pushes to works")

// counted are the commands and flags that texts name.
type counted struct{ commands, flags int }

// in checks that the commands of a text exist with the flags shown, up to a character of ends. Words
// of others may follow the program's name.
func (n *counted) in(t *testing.T, name, text string, pattern *regexp.Regexp, ends string, others ...string) {
	t.Helper()
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		words := strings.Fields(m[1])
		cmd := dispatch.Find(words)
		if cmd == nil {
			if !slices.Contains(others, words[0]) {
				t.Errorf("%s names `git liza %s`, which is not a command", name, m[1])
			}
			continue
		}
		n.commands++
		line, _, _ := strings.Cut(m[2], "git liza")
		if end := strings.IndexAny(line, ends); end >= 0 {
			line = line[:end]
		}
		n.flags += checkFlags(t, name, cmd, line)
	}
}

// least fails if fewer were found: then the search is wrong.
func (n *counted) least(t *testing.T, commands, flags int) {
	t.Helper()
	if n.commands < commands || n.flags < flags {
		t.Errorf("only %d commands and %d flags were found: the search is wrong", n.commands, n.flags)
	}
}

func checkFlags(t *testing.T, document string, cmd *call.Command, line string) int {
	t.Helper()
	if cmd == nil {
		return 0
	}
	known := (&call.Call{Cmd: cmd}).FlagSet()
	named := namedFlag.FindAllStringSubmatch(quotedText.ReplaceAllString(line, ""), -1)
	for _, m := range named {
		if known.Lookup(m[1]) == nil {
			t.Errorf("%s: git liza %s has no flag --%s", document, cmd.Name, m[1])
		}
	}
	return len(named)
}

// TestCommandsInDocumentsExist: every command and flag named in a document or the README exists.
func TestCommandsInDocumentsExist(t *testing.T) {
	texts := map[string]string{}
	for _, d := range specs.All() {
		texts[d.Name], _ = specs.Text(d.Name)
	}
	readme := testrun.Must(os.ReadFile("../../../README.md"))(t)
	texts["README"] = string(readme)
	var found counted
	for name, text := range texts {
		text = strings.ReplaceAll(text, "\\\n", " ")
		found.in(t, name, text, called, "", "help")
		for _, span := range spans(text) { // tables write commands without git liza
			if words := strings.Fields(span); strings.Contains(span, " --") && words[0] != "git" {
				found.flags += checkFlags(t, name, dispatch.Find(words), span)
			}
		}
	}
	found.least(t, 100, 100)
}

// TestCommandsInMessages: every command in a hint, or in another text in the code, exists with the
// flags shown.
func TestCommandsInMessages(t *testing.T) {
	const top = "../../.."
	files := testrun.Must(exec.Command("git", "-C", top, "ls-files", "*.go").Output())(t)
	var found counted
	for _, name := range strings.Fields(string(files)) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		file := testrun.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(top, name), nil, 0))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
				text := testrun.Must(strconv.Unquote(literal.Value))(t)
				found.in(t, name, text, inPrompt, ".,;:)", inSentence...)
			}
			return true
		})
	}
	found.least(t, 350, 150)
}

// TestCommandsInPrompts: every command in a prompt exists with the flags shown, and so does every
// document.
func TestCommandsInPrompts(t *testing.T) {
	var found counted
	for _, pattern := range []string{"templates/*.tmpl", "testdata/*.txt"} { // and rendered examples
		files, err := filepath.Glob("../../../roles/prompt/" + pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, name := string(testrun.Must(os.ReadFile(file))(t)), filepath.Base(file)
			for _, m := range printed.FindAllStringSubmatch(text, -1) {
				if _, known := specs.Text(m[1]); !known {
					t.Errorf("%s names the document %s, which there is not", name, m[1])
				}
			}
			for _, m := range listed.FindAllStringSubmatch(text, -1) {
				for _, words := range strings.Split(m[1], ",") {
					if dispatch.Find(strings.Fields(words)) == nil {
						t.Errorf("%s lists %s, which is not a command", name, words)
					}
				}
			}
			found.in(t, name, text, inPrompt, "")
		}
	}
	found.least(t, 200, 200)
}

// TestForgedLogLines checks that an agent's output does not turn into a supervisor's line when its
// control characters are dropped.
func TestForgedLogLines(t *testing.T) {
	const line = "[liza 2026-11-26T10:00:00Z] alarm: so"
	for raw, want := range map[string]int{line: 1, "\x1b[0m" + line: 0, "x\r" + line: 0, line + "\r" + line: 1, "\x00" + line: 0, "\u202e" + line: 0} {
		own := 0
		for _, text := range visibleLines([]byte(raw)) {
			if _, _, is := transcript.Parse(text); is {
				own++
			}
		}
		if own != want {
			t.Errorf("%q: %d lines of the supervisor, not %d", raw, own, want)
		}
	}
}

// TestRunKeepsTheLease: a command that outlasts the lease does not lose it, and its exit code is
// that of run.
func TestRunKeepsTheLease(t *testing.T) {
	l := newLife(t)
	l.liza("", "config", "set", "lease_duration_by_hand", "1")
	l.task("sums", "Add numbers")
	var out, errs bytes.Buffer
	app := l.app("coder-1", &out, &errs)
	app.Now = time.Now
	if code := Run(context.Background(), app, []string{"claim", "sums"}); code != 0 {
		t.Fatal(errs.String())
	}
	out.Reset()
	begun := time.Now()
	if code := Run(context.Background(), app, []string{"run", "--", "sh", "-c", "sleep 2; echo done; exit 7"}); code != 7 || out.String() != "done\n" {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	app = l.app("", &out, &errs)
	Run(context.Background(), app, []string{"read", "leases.coder-1.heartbeat"})
	if said := strings.TrimPrefix(strings.TrimSpace(out.String()), "done\n"); said < begun.Add(time.Second).UTC().Format(time.RFC3339) {
		t.Errorf("the last heartbeat is of %q, and the command began at %s: %s", said, begun.UTC(), errs.String())
	}
}

// TestBothOf checks that tasks that failed and the error that ended the merge of the others are both
// reported, and that the more serious one decides the exit code.
func TestBothOf(t *testing.T) {
	failed := &call.Outcome{Exit: 3, Code: call.CodeIntegrationFailed, Message: "a is INTEGRATION_FAILED: it fails", Hint: "claim a"}
	refused := board.Refuse(board.CodeOverlap, "g.txt has changes", "commit them")
	other := errors.New("the disk is full")
	both := failed.Message + "; the others were not merged: "
	for _, c := range []struct {
		failed, ended error
		exit          int
		code          board.ErrorCode
		text, hint    string
	}{
		{failed, nil, 3, call.CodeIntegrationFailed, failed.Message, "claim a"},
		{nil, refused, 1, board.CodeOverlap, "g.txt has changes", "commit them"},
		{other, refused, 3, call.CodeFailed, "the disk is full", ""},
		{failed, refused, 3, call.CodeIntegrationFailed, both + "g.txt has changes", "claim a; for the others: commit them"},
		{failed, other, 3, call.CodeIntegrationFailed, both + "the disk is full", "claim a"},
		{failed, &git.DamagedError{}, 4, call.CodeInconsistent, both + (&git.DamagedError{}).Error(), "claim a; for the others: stop, and let a human look: git liza doctor"},
	} {
		got := bothOf(c.failed, c.ended)
		if class := call.Classify(got); got.Error() != c.text || class != (call.Class{Exit: c.exit, Code: c.code, Hint: c.hint}) {
			t.Errorf("%v, %v: %v %+v", c.failed, c.ended, got, class)
		}
	}
	if bothOf(nil, nil) != nil {
		t.Error("nothing failed")
	}
}

// TestTeamTemplates checks that each team to start from can be used.
func TestTeamTemplates(t *testing.T) {
	for _, name := range specs.TeamNames() {
		text, _ := specs.Team(name)
		read, err := codec.Decode(board.TeamPath, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		team := read.(*board.Team)
		if f := team.Fault(); f != nil || team.Extra != nil || team.PlanReviewer() == "" {
			t.Errorf("%s: %+v, plan review %q, more: %v", name, f, team.PlanReviewer(), team.Extra)
		}
	}
}

// TestTemplateAsksForPlanReview: a team that turns plan review on for an unattended board asks first.
func TestTemplateAsksForPlanReview(t *testing.T) {
	l := newLife(t)
	if code, out, errs := l.run("", "team", "set", "--template", "code"); code != 1 || !strings.Contains(errs, "in this team a human reviews each plan") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	l.liza("", "team", "set", "--template", "code", "--yes")
	l.liza("", "verify")
}

// naming are the flags whose value names a goal, a stage, a role or an agent.
var naming = map[string]string{"goal": "biling", "after": "biling", "stage": "cde", "role": "codr", "to": "codr-1"}

// unknownNames are the commands with such a flag, as they are called with a name that is unknown,
// and commands that take a name as an argument.
var unknownNames = []string{
	"add-task --id x --desc d --spec specs/vision.md --goal biling", "add-task --id x --desc d --spec specs/vision.md --stage cde --goal billing",
	"amend-task plan --stage cde", "alignment planned --goal biling", "anomaly external_blocker blocker_service=mail --goal biling",
	"discover --desc gap --severity low --goal biling", "export --goal biling", "graph --goal biling", "inbox --goal biling", "metrics --goal biling", "note hello --goal biling",
	"prime --goal biling", "prompt planner --goal biling", "release held --role codr", "resume --goal biling", "spec-change --spec specs/vision.md --change all --goal biling",
	"status --goal biling", "sweep --role codr", "unblock stuck --to codr-1",
	"goal abort biling", "goal complete biling", "goal priority biling 2", "goal reopen biling", "goal show biling", "goal start Next --after biling",
	"agent codr", "env codr-1", "prompt codr", "register codr-1",
}

// TestUnknownNames checks that each command which takes the name of a goal, a stage, a role or an
// agent refuses one that is unknown, and says which names are known.
func TestUnknownNames(t *testing.T) {
	l := wrongScene(t)
	l.liza("", "goal", "start", "Bill customers", "--id", "billing")
	var said strings.Builder
	for _, line := range unknownNames {
		code, message, hint := l.try("", strings.Fields(line)...)
		fmt.Fprintf(&said, "$ git liza %s\n%s\nhint: %s\n\n", line, message, hint)
		known := hint + message
		if code != 1 || !strings.Contains(known, "billing") && !strings.Contains(known, "code") {
			t.Errorf("git liza %s: exit %d, %s\nhint: %s", line, code, message, hint)
		}
	}
	golden.Check(t, filepath.Join("testdata", "golden", "unknown-names.txt"), said.String())
	for _, c := range dispatch.Commands() {
		flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
		if c.Flags != nil {
			c.Flags(flags)
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if value, names := naming[f.Name]; names && !tried(c.Name, "--"+f.Name+" "+value) {
				t.Errorf("git liza %s --%s %s is not in the list of this test", c.Name, f.Name, value)
			}
		})
	}
}

// tried reports whether the list has a command with a flag.
func tried(command, flag string) bool {
	for _, line := range unknownNames {
		if strings.HasPrefix(line+" ", command+" ") && strings.Contains(line+" ", flag+" ") {
			return true
		}
	}
	return false
}

// FuzzWritePath: any path and value given to `write` names one record and a field of it, or is
// refused.
func FuzzWritePath(f *testing.F) {
	f.Add("tasks.add-auth.priority", "1")
	f.Add("tasks.add-auth.depends_on.0", "b")
	f.Add("tasks.add-auth.extra.a.b.c", "{x: [1, 2]}")
	f.Add("tasks.add-auth.extra", "&a [*a]")
	f.Add("sprint.timeline.deadline", "2026-02-31T09:00:00Z")
	f.Add("tasks...priority", "~")
	f.Add("tasks.../../goal.priority", "1")
	f.Add("goal.extra.<<", "*x")
	f.Add(".goal.", "")
	f.Add("human_notes.note-1.message", "--- a\n--- b")
	f.Add("notes/note-1.message", "a")
	f.Add("notes/0/0/note-1.yaml.extra.b", "a")
	f.Add("tasks/../goals/goal-1.yaml.description", "a")
	b := gitboard.OpenStore(testrepo.NewMemory(), "", gitboard.Options{})
	ada := board.HumanActor("Ada", "ada@example.org")
	do := func(p board.Payload) error {
		_, err := b.Do(context.Background(), gitboard.Request{Actor: ada}, gitboard.Just(p))
		return err
	}
	for _, p := range []board.Payload{
		&board.Init{Goal: "g", IntegrationBranch: "integration"}, &board.AddNote{Message: "m"},
		&board.AddTask{About: board.About{Task: "add-auth"}, Definition: board.Definition{Description: "d", Kind: board.Code, Priority: 3}},
	} {
		testrun.Check(f, do(p))
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		v := testrun.Must(b.View(context.Background()))(t)
		record, keys, err := records.At(records.DocumentPath(path))
		var field board.FieldEdit
		if err == nil {
			field, err = newField(v, record, keys, value)
		}
		refused := (*board.Refusal)(nil)
		switch {
		case errors.As(err, &refused):
			if strings.ContainsAny(refused.Message, "\x00\x1b") {
				t.Errorf("the refusal repeats what a terminal obeys: %q", refused.Message)
			}
			return
		case err != nil:
			t.Fatal(err)
		case field.Field != keys[0]:
			t.Errorf("%q edits %q", path, field.Field)
		}
		if board.NewRecord(record) == nil {
			return // Check refuses it
		}
		op := gitboard.Request{Actor: ada}
		err = v.Plan(context.Background(), op, &board.Write{Path: record, Fields: []board.FieldEdit{field}})
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
	})
}
