package board_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// viewer asks a board everything that can be asked: it calls the methods of its state and of its
// records with every argument that fits.
type viewer struct {
	said map[string]bool // each answer that is not empty
	args map[reflect.Type][]reflect.Value
}

// offer adds arguments.
func offer[T any](v *viewer, values ...T) {
	for _, value := range values {
		v.args[reflect.TypeFor[T]()] = append(v.args[reflect.TypeFor[T]()], reflect.ValueOf(&value).Elem())
	}
}

// ask calls the methods of a value whose results can be printed.
func (v *viewer) ask(who string, of any) {
	value := reflect.ValueOf(of)
	for i := range value.NumMethod() {
		m := value.Type().Method(i)
		switch m.Name {
		case "Record", "Config", "Changes", "ForRules", "Briefs", "EachBrief", "Absorb", "Take", "MarshalYAML", "UnmarshalYAML", "String":
			continue
		}
		v.call(who, m.Name, value.Method(i), nil)
	}
}

func (v *viewer) call(who, method string, f reflect.Value, args []reflect.Value) {
	if n := len(args); n < f.Type().NumIn() {
		for _, a := range v.args[f.Type().In(n)] {
			v.call(who, method, f, append(slices.Clip(args), a))
		}
		return
	}
	var answer []string
	for _, r := range f.Call(args) {
		if r.IsZero() || r.Kind() == reflect.Func {
			continue
		}
		if err, is := r.Interface().(error); is {
			answer = append(answer, err.Error())
		} else if data, err := json.Marshal(r.Interface()); err == nil {
			answer = append(answer, string(data))
		}
	}
	if text := strings.Join(answer, ", "); text != "" {
		v.said[fmt.Sprintf("%s.%s(%s): %s", who, method, names(args), shortened(text))] = true
	}
}

func names(args []reflect.Value) string {
	var all []string
	for _, a := range args {
		if t, is := a.Interface().(*board.Task); is {
			all = append(all, t.ID)
		} else {
			all = append(all, fmt.Sprint(a))
		}
	}
	return strings.Join(all, ", ")
}

func shortened(text string) string {
	if len(text) > 160 {
		return strings.ToValidUTF8(text[:160], "") + "..."
	}
	return text
}

// TestDecisionsOnViews writes what boards say of themselves.
func TestDecisionsOnViews(t *testing.T) {
	said := map[string]bool{}
	for _, s := range []*script{everything(t), deadlocked(t), exhausted(t), side(t), handedOff(t), underPolicy(t, board.ReviewPolicy{Approvals: 2, Differ: "cli", Paths: []string{"login/**"}}, "login/**")} {
		v := &viewer{said: said, args: map[reflect.Type][]reflect.Value{}}
		offer(v, "", "login", "nowhere", "billing", "coder-1", "code-reviewer-2", "planner-1", "docs_writer", "code", board.NoteDir, board.TaskDir, "sprint-1")
		offer(v, roles.Planner, roles.Coder, roles.CodeReviewer)
		offer(v, board.Statuses...)
		offer(v, -1, 0, 1, 2)
		offer(v, s.now, s.now.Add(-time.Hour))
		state := s.state()
		for _, b := range state.Tasks() {
			offer(v, state.Task(b.ID))
		}
		v.ask("state", state)
		for name, f := range map[string]any{
			"GoalFor":           func(agent string, t *board.Task) *board.Goal { return board.GoalFor(state, agent, t) },
			"HaltVersion":       func() string { return board.HaltVersion(state) },
			"HandoffTo":         func(role roles.Role, t *board.Task) *board.Handoff { return board.HandoffTo(state, role, t) },
			"MayRenameBranches": func() bool { return board.MayRenameBranches(state) },
			"NextGoal":          func() string { return board.NextGoal(state) },
			"ReviewProgress":    func(t *board.Task) board.ReviewProgress { return board.ProgressOf(state, t) },
			"ReviewersOf":       func(t *board.Task) []string { return board.ReviewersOf(state, t) },
		} {
			v.call("state", name, reflect.ValueOf(f), nil)
		}
		for _, path := range s.mem.Paths() {
			r, _ := s.mem.Record(path)
			v.ask(path, r)
		}
		v.ask(board.TeamPath, state.Team())
		said[fmt.Sprintf("mergeable: %v", board.Mergeable(state))] = true
		said[fmt.Sprintf("the same without an archive: %v", board.Unarchived(state).List(board.TaskDir))] = true
	}
	golden.Check(t, "testdata/views.txt", strings.Join(slices.Sorted(maps.Keys(said)), "\n")+"\n")
}

// handedOff is a board on which a coder and a reviewer continue from hand-offs.
func handedOff(t failer) *script {
	s := begun(t).claimed("login").do(coder1, preExec("login")).do(coder1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"})
	s.do(coder2, goOn("login")).do(coder2, submit("login")).do(reviewer1, review("login"))
	s.do(reviewer1, &board.HandOff{About: about("login"), Summary: "half", NextAction: "the rest"})
	return s.do(reviewer2, review("login"))
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h00m",
		47*time.Hour + 59*time.Minute: "47h59m", 48 * time.Hour: "2d",
	} {
		equal(t, d.String(), board.Span(d), want)
	}
}

func TestMadeFor(t *testing.T) {
	for message, want := range map[string]string{
		"change\n": " ", "change\n\nLiza-Task: login\nLiza-Agent: coder-1\n": "login coder-1", "Liza-Task: login\nLiza-Agent: coder-1": "login coder-1",
		"Liza-Agent: coder-1\n\nbody\n": " ", "change\n\nLiza-Agent:  coder-2 \nOther: x\n\n\n": " coder-2",
	} {
		task, agent := board.MadeFor(message)
		equal(t, fmt.Sprintf("%q", message), task+" "+agent, want)
	}
}

func TestRefusalNamesTheLease(t *testing.T) {
	l := &board.Lease{Expires: start}
	equal(t, "none", (&board.Refusal{Message: "no"}).Error(), "no")
	equal(t, "live", (&board.Refusal{Message: "no", Holder: "coder-1", Lease: l, Live: true}).Error(), "no; the lease of coder-1 ends at 09:00Z")
	equal(t, "live by a fast clock", (&board.Refusal{Message: "no", Holder: "coder-1", Lease: l, Live: true, Ahead: 30 * time.Hour}).Error(),
		"no; the lease of coder-1 ends at "+string(start)+", by a clock that is 30h00m ahead of this one")
	equal(t, "expired", (&board.Refusal{Message: "no", Holder: "coder-1", Lease: l}).Error(), "no; the lease of coder-1 expired at 09:00Z")
}

func TestRejectionInBrief(t *testing.T) {
	equal(t, "none", (*board.Rejection)(nil).Brief(), "")
	equal(t, "one", parsed(rejection).Brief(), "login/login.go:12 an empty name is accepted: answer 400; not yet.")
	equal(t, "no assessment", (&board.Rejection{Blockers: []board.Finding{{Where: "a.go:1", Issue: "wrong"}}}).Brief(), "a.go:1 wrong")
}

func TestWhereATaskMayBe(t *testing.T) {
	login := &board.Task{ID: "login"}
	for path, may := range map[string]bool{"tasks/login.yaml": true, "archive/sprint-1/login.yaml": true, "tasks/logout.yaml": false, "notes/0/0/note-1.yaml": false} {
		equal(t, path, board.Holds(path, login), may)
	}
}
