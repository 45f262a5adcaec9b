package cli

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// wrongMove is a command that the caller may not run, and the way out that its refusal has to name.
type wrongMove struct {
	who  string // LIZA_AGENT_ID; "" is a human
	move string
	want string // the complete command of the hint
}

// wrongMoves are refused on this board: coder-1 has work ready to submit, coder-2 has written no
// checkpoint, coder-3's work waits for a review, code-reviewer-1 reviews another task, coder-4's
// work was rejected, coder-5 is blocked; coder-9, code-reviewer-2 and planner-2 are not registered.
var wrongMoves = []wrongMove{
	{"coder-9", "submit held", "git liza claim open"},
	{"coder-9", "release held", "git liza claim open"},
	{"coder-9", "claim held", "git liza claim open"},
	{"coder-9", "claim later", "git liza claim open"},
	{"coder-1", "claim open", "git liza submit held --verified COMMAND"},
	{"coder-1", "iteration-limit held", "git liza submit held --verified COMMAND"},
	{"coder-1", "block held --reason why", "git liza block held --reason TEXT --question TEXT"},
	{"coder-1", "finalize plan", "git liza submit held --verified COMMAND"},
	{"coder-1", "submit", "git liza submit held --verified COMMAND"},
	{"coder-2", "submit fresh", "git liza pre-exec fresh --intent TEXT --validation TEXT --file PATH"},
	{"coder-2", "pre-exec fresh --intent it", "git liza pre-exec fresh --intent TEXT --validation TEXT --file PATH"},
	{"coder-3", "pre-exec waiting --intent a --validation b --file c", "git liza withdraw waiting"},
	{"coder-4", "submit back", "git liza claim back"},
	{"coder-4", "verdict waiting APPROVED --commit COMMIT", "git liza claim back"},
	{"code-reviewer-1", "verdict review REJECTED --commit COMMIT --blocker bad",
		`git liza verdict review REJECTED --commit COMMIT --overall TEXT --blocker "PATH:1|ISSUE|WHY|SUGGESTION" --spec REF --anomaly none`},
	{"code-reviewer-1", "verdict waiting APPROVED --commit COMMIT", "git liza review review"},
	{"code-reviewer-2", "verdict waiting APPROVED --commit COMMIT", "git liza claim-review waiting"},
	{"code-reviewer-2", "claim open", "git liza claim-review waiting"},
	{"", "claim", "git liza env coder-7"},
	{"", "merge", "git liza env code-reviewer-2"},
	{"", "deregister", "git liza env planner-2"},
	{"", "register", "git liza register coder-7"},
	{"", "resume", "git liza status"},
	{"", "goal complete", "git liza show held"},
	{"planner-1", "goal complete", "git liza answer stuck TEXT"},
	{"", "abandon held --reason late", "git liza block held --reason TEXT"},
	{"", "amend-task waiting --desc x --reason y", "git liza block waiting --reason TEXT"},
	{"", "supersede back --by open --reason split", "git liza block back --reason TEXT"},
	{"", "unblock open", "git liza show open"},
	{"", "answer held yes", "git liza note --for held TEXT"},
	{"", "finalize held", "git liza show held"},
	{"", "retry-merge held", "git liza show held"},
	{"code-reviewer-1", "merge review", "git liza review review"},
	{"code-reviewer-1", "claim-review open", "git liza review review"},
	{"code-reviewer-2", "claim-review review", "git liza claim-review waiting"},
	{"coder-6", "claim-review review", "git liza claim open"},
	{"coder-3", "withdraw held", "git liza claim open"},
	{"coder-6", "withdraw review", "git liza claim open"},
	{"coder-3", "submit waiting", "git liza withdraw waiting"},
	{"coder-5", "submit stuck", "git liza claim open"},
	{"coder-1", "handoff held", "git liza handoff held --summary TEXT --next TEXT"},
	{"coder-1", "pre-exec held", "git liza pre-exec held --intent TEXT --validation TEXT --file PATH"},
	{"coder-1", "register", "git liza register coder-7"},
	{"coder-1", "finalize vague", "git liza submit held --verified COMMAND"},
	{"planner-1", "merge --all", "git liza answer stuck TEXT"},
	{"", "release held", "git liza release held --force --reason TEXT"},
	{"", "release open", "git liza show open"},
	{"", "reassign open", "git liza show open"},
	{"", "recover-task held", "git liza recover-task held --force"},
	{"", "recover-agent coder-1", "git liza recover-agent coder-1 --force"},
	{"", "add-task --id open --desc x", "git liza show open"},
	{"", "ack note-9", "git liza read human_notes"},
	{"", "write tasks.none.priority 1", "git liza add-task --id none --desc TEXT --spec specs/vision.md --done TEXT --scope TEXT"},
	{"", "review open", "git liza show open"},
	{"", "diff open", "git liza show open"},
	{"", "verdict review APPROVED", "git liza read tasks.review.review_commit"},
	{"", "init another", "git liza goal start TEXT"},
	{"", "goal abort", "git liza goal abort --reason TEXT --yes"},
	{"", "agent banana", "git liza team show"},
	{"", "config get banana", "git liza config get"},
	{"", "ps", "git liza status"},
	{"", "next", "git liza prime"},
	{"planner-1", "claim open", "git liza answer stuck TEXT"},
	{"planner-2", "land main", "git liza answer stuck TEXT"},
	{"planner-1", "amend-task a --done b", "git liza add-task --id a --desc TEXT --spec specs/vision.md --done TEXT --scope TEXT"},
	{"planner-1", "finalize vague", "git liza amend-task vague --done TEXT --scope TEXT"},
	{"", "unblock stuck --to coder-99", "git liza unblock stuck --to coder-1"},
	{"", "verdict waiting APPROVED --commit COMMIT", "git liza show waiting"},
}

func TestMain(m *testing.M) {
	testrun.Prepare()
	code := m.Run()
	os.RemoveAll(prepared.dir)
	os.Exit(code)
}

// wrongScene returns a copy of the board of the wrong moves, in a real repository.
func wrongScene(t *testing.T) *life {
	t.Helper()
	return preparedLife(t, "wrong", (*life).prepareWrong)
}

// prepareWrong makes the board of the wrong moves.
func (l *life) prepareWrong() {
	l.t.Helper()
	l.liza("", "init", "--unattended", "A calculator", "--spec", "specs/vision.md")
	work := func(coder, id string) {
		l.t.Helper()
		l.task(id, id, "--priority", "1")
		l.liza(coder, "claim", id)
		if id == "fresh" {
			return
		}
		l.liza(coder, "pre-exec", id, "--intent", "write it", "--validation", "go test: ok", "--file", id+".go")
		l.pass(time.Second) // the commit must be newer than the checkpoint
		l.commitAt(id, map[string]string{id + ".go": "package " + id + "\n", id + "_test.go": "package " + id + "\n", "PATH": "x\n"})
	}
	work("coder-1", "held")
	work("coder-2", "fresh")
	for coder, id := range map[string]string{"coder-3": "waiting", "coder-4": "back", "coder-6": "review"} {
		work(coder, id)
		l.liza(coder, "submit", id)
	}
	work("coder-5", "stuck")
	l.liza("coder-5", "block", "stuck", "--reason", "which pint?", "--question", "Which pint?")
	l.liza("code-reviewer-1", "claim-review", "back")
	l.liza("code-reviewer-1", "verdict", "back", "REJECTED", "--commit", "task/back", "--overall", "No.", "--spec", "n/a", "--anomaly", "none", "--blocker", "back.go:1|empty|no use|write it")
	l.liza("code-reviewer-1", "claim-review", "review")
	l.task("open", "Open to all", "--priority", "2")
	l.task("later", "After the open one", "--depends", "open")
	l.liza("planner-1", "add-task", "--id", "vague", "--desc", "Something", "--spec", "specs/vision.md")
	l.liza("coder-1", "discover", "--desc", "A gap", "--severity", "low", "--recommend", "fill it")
	l.liza("planner-1", "add-task", "--id", "plan", "--desc", "A draft", "--spec", "specs/vision.md", "--done", "1 gives 1", "--scope", "IN: one")
}

// commitAt commits files in a task's worktree, dated by the life's clock.
func (l *life) commitAt(id string, files map[string]string) {
	l.t.Helper()
	at := l.now.Format(time.RFC3339)
	l.t.Setenv("GIT_AUTHOR_DATE", at)
	l.t.Setenv("GIT_COMMITTER_DATE", at)
	l.commit(id, "Write "+id, files)
}

// try runs a command and returns its exit code and the refusal.
func (l *life) try(agent string, args ...string) (int, string, string) {
	code, _, errs := l.run(agent, append([]string{"--json"}, args...)...)
	var said struct {
		Error struct{ Message, Hint string }
	}
	_ = json.Unmarshal([]byte(errs), &said)
	return code, said.Error.Message, said.Error.Hint
}

var (
	hinted = regexp.MustCompile(`git liza .*$`)
	filled = strings.NewReplacer(" TEXT", " text", " COMMAND", " true", " PATH", " path.go") // what the caller puts in
	plain  = regexp.MustCompile(`^[\w ./:,=-]*$`)                                            // without characters that a shell treats as special
)

// words splits a command line as a shell does, and fails if the shell rejects it.
func words(t *testing.T, line string) []string {
	t.Helper()
	if plain.MatchString(line) {
		return strings.Fields(line)
	}
	out, err := exec.Command("sh", "-c", "for w in "+line+`; do printf '%s\n' "$w"; done`).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// mistyped are commands that name a task or an agent that does not exist.
var mistyped = []wrongMove{
	{"", "note hello --for waitng", "git liza note hello --for waiting"},
	{"", "abandon vage --reason=late", "git liza abandon vague --reason=late"},
	{"", "show stcuk", "git liza show stuck"},
	{"", "log stcuk", "git liza log stuck"},
	{"", "recover-agent coder-55 --force", "git liza recover-agent coder-5 --force"},
	{"coder-9", "claim opn", "git liza claim open"},
	{"code-reviewer-2", "review waitin", "git liza review waiting"},
	{"planner-1", "convert-discovery disc-1 --task opn", "git liza convert-discovery disc-1 --task open"},
	{"planner-1", "supersede vague --by plan,opn --reason split", "git liza supersede vague --by plan,open --reason split"},
	{"planner-1", "add-task --id more --desc More --depends opn", "git liza add-task --id more --desc More --depends open"},
	{"planner-1", "spec-change --spec specs/vision.md --change more --triggered-by opn", "git liza spec-change --spec specs/vision.md --change more --triggered-by open"},
	{"", "note hello --for zzzzzz", "git liza status"},
}

// TestRefusalsNameTheWayOut: the refusal of a wrong move names what this caller may do next, as one
// command with its own ids: 2 points each. The command is run on the same board by the same caller.
func TestRefusalsNameTheWayOut(t *testing.T) {
	testrun.NotShort(t)
	l := wrongScene(t)
	score := l.score(wrongMoves)
	if len(wrongMoves)+len(mistyped) < 60 || score != 2*len(wrongMoves) {
		t.Errorf("%d wrong moves score %d", len(wrongMoves), score)
	}
	if _, message, hint := l.try("reviewer-1", "claim-review"); !strings.Contains(message, "like coder-1") || strings.Contains(hint, "LIZA_AGENT_ID=") || !strings.Contains(hint, "a human works without one") {
		t.Errorf("reviewer-1 is told: %s\nhint: %s", message, hint)
	}
	testrun.Equal(t, l.score(mistyped), 2*len(mistyped), "%d commands with a mistyped id score", len(mistyped))
}

// score runs each move and its hint, and gives one point for the right hint and one for a hint that
// is legal. With -short it runs a fifth of them a day, and counts the others as right.
func (l *life) score(moves []wrongMove) (points int) {
	l.t.Helper()
	kept := l.t.TempDir() + "/kept"
	testrepo.Copy(l.t, l.dir, kept)
	refs := testrun.RunGit(l.t, l.dir, "for-each-ref")
	legal := map[string]bool{} // hints that were run
	for i, m := range moves {
		if testing.Short() && !testrun.OneIn(5, i) {
			points += 2
			continue
		}
		commit := l.commitNamed(m.move)
		code, message, hint := l.try(m.who, strings.Fields(strings.ReplaceAll(m.move, "COMMIT", commit))...)
		if code != 1 {
			l.t.Errorf("%s: git liza %s: exit %d, %s", m.who, m.move, code, message)
			continue
		}
		command := strings.TrimSuffix(hinted.FindString(hint), `)"`) // eval "$(COMMAND)"
		if !l.named(m, message+hint) {
			l.t.Errorf("%s: git liza %s: what it is about is not named: %s", m.who, m.move, message)
		}
		if want := strings.ReplaceAll(m.want, "COMMIT", commit); command == want {
			points++ // complete, and with the caller's ids
		} else {
			l.t.Errorf("%s: git liza %s: %s\nhint: %s\nwant: %s", m.who, m.move, message, hint, want)
		}
		if strings.Contains(hint, "LIZA_AGENT_ID") {
			l.t.Errorf("%s: git liza %s: the hint proposes to act as somebody else: %s", m.who, m.move, hint)
		}
		points++ // legal
		if legal[m.who+": "+command] {
			continue
		}
		legal[m.who+": "+command] = true
		if code, message, _ := l.try(m.who, words(l.t, filled.Replace(strings.TrimPrefix(command, "git liza ")))...); code != 0 {
			l.t.Errorf("%s: git liza %s: the hint %q: exit %d, %s", m.who, m.move, command, code, message)
		}
		if testrun.RunGit(l.t, l.dir, "for-each-ref") != refs {
			testrun.Check(l.t, os.RemoveAll(l.dir))
			testrepo.Copy(l.t, kept, l.dir)
		}
	}
	return points
}

// named reports whether a refusal names the first task that a command line names, the caller who may
// not do it, or the holder in the way.
func (l *life) named(m wrongMove, said string) bool {
	for _, arg := range strings.Fields(m.move)[1:] {
		if _, err := os.Stat(l.dir + "/.worktrees/" + arg); err == nil || arg == "open" {
			return strings.Contains(said, arg) || m.who != "" && strings.Contains(said, m.who) || strings.Contains(said, "coder-1's lease")
		}
	}
	return true
}

// commitNamed is the newest commit of the first task that a command line names.
func (l *life) commitNamed(line string) string {
	for _, arg := range strings.Fields(line)[1:] {
		if oid, err := os.ReadFile(filepath.Join(l.dir, ".git/refs/heads/task", arg)); err == nil {
			return strings.TrimSpace(string(oid))
		}
	}
	return "0"
}

// TestStepsAreCommandLines: every next step that is offered on a board with tasks in all states is
// a command line that this program accepts.
func TestStepsAreCommandLines(t *testing.T) {
	s := busy(t)
	state := s.state()
	seen := map[string]bool{}
	for _, id := range []string{"", "planner-1", "planner-2", "coder-1", "coder-2", "coder-3", "coder-4", "coder-9", "code-reviewer-1", "code-reviewer-2", "code-reviewer-9"} {
		who := report.Caller{Asker: board.Asker{Actor: board.HumanActor("Ann", "ann@example.com"), Now: s.now, Leases: s.leases()}}
		if role, err := roles.Of(id); err == nil {
			who.Actor = board.Actor{ID: id, Role: role}
			if a := state.Agent(id); a != nil {
				who.Session = a.Session
			}
		}
		for _, b := range append(state.Tasks(), board.Brief{}) {
			steps := report.Next(state, who, b.ID)
			if b.ID != "" {
				steps = append(steps, board.StepsOn(state, who.Asker, b.ID)...)
			}
			for _, step := range steps {
				if slices.Contains(board.Ops(), step.Do.Name) && !board.May(who.Role, step.Do.Name) {
					t.Errorf("%s is offered %s", id, cmdline.Of(step.Do))
				}
				seen[cmdline.Of(step.Do)] = true
			}
		}
	}
	for do := range seen {
		accepted(t, do)
	}
	if len(seen) < 40 {
		t.Errorf("only %d steps are offered", len(seen))
	}
}

// accepted fails if a line is not a command with flags and arguments that it takes.
func accepted(t *testing.T, do string) {
	t.Helper()
	line := words(t, strings.TrimPrefix(do, "git liza "))
	cmd := dispatch.Find(line)
	if cmd == nil {
		if do != "git liza help" { // which is in no table
			t.Errorf("%s is not a command", do)
		}
		return
	}
	flags := (&call.Call{App: &call.App{}, Cmd: cmd}).FlagSet()
	if err := flags.Parse(line[len(strings.Fields(cmd.Name)):]); errors.Is(err, pflag.ErrHelp) {
		return
	} else if err != nil {
		t.Errorf("%s: %v", do, err)
	}
	if n := len(flags.Args()); n < cmd.Min && do != "git liza "+cmd.Name || cmd.Max >= 0 && n > cmd.Max {
		t.Errorf("%s: %s takes %s", do, cmd.Name, cmd.Args)
	}
}

// TestActsAreCommandLines: every act that the code below the commands hands out is rendered as a
// command line that this program accepts, and inputs alone as flags that one of its commands has.
func TestActsAreCommandLines(t *testing.T) {
	lines := map[string]bool{}
	for _, dir := range []string{"gitboard", "hooks", "roles", "worktrees"} {
		err := filepath.WalkDir("../../../"+dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				a, is := actIn(n)
				if is && a.Name == "" {
					flag := strings.Fields(strings.TrimPrefix(cmdline.Of(a), "--"))[0]
					if !slices.ContainsFunc(dispatch.Commands(), func(cmd *call.Command) bool {
						return (&call.Call{App: &call.App{}, Cmd: cmd}).FlagSet().Lookup(flag) != nil
					}) {
						t.Errorf("%s: no command has --%s", path, flag)
					}
				} else if is {
					lines[cmdline.Of(a)] = true
				}
				return !is
			})
			return nil
		})
		testrun.Check(t, err)
	}
	for line := range lines {
		accepted(t, line)
	}
	if len(lines) < 60 {
		t.Errorf("only %d acts", len(lines))
	}
}

// actIn reads an act from the call that makes it. What is not a literal is a 1.
func actIn(n ast.Node) (a board.Act, is bool) {
	c, isCall := n.(*ast.CallExpr)
	if !isCall {
		return a, false
	}
	var args []string
	for _, arg := range c.Args {
		value := "1"
		if l, is := arg.(*ast.BasicLit); is {
			value, _ = strconv.Unquote(l.Value)
		}
		args = append(args, value)
	}
	switch f := c.Fun.(type) {
	case *ast.Ident:
		is = f.Name == "ActOn"
	case *ast.SelectorExpr:
		if f.Sel.Name == "With" {
			if a, is = actIn(f.X); is {
				a = a.With(args...)
			}
			return a, is
		}
		in, _ := f.X.(*ast.Ident)
		is = f.Sel.Name == "ActOn" && in != nil && in.Name == "board"
	}
	if !is || len(args) == 0 {
		return a, false
	}
	return board.ActOn(args[0], args[1:]...), true
}
