package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// drawn compares drawn lines with their golden file. No line may be wider than the page.
func drawn(t *testing.T, name string, width int, lines []string) {
	t.Helper()
	text := strings.Join(lines, "\n") + "\n"
	for i, line := range strings.Split(text, "\n") {
		if n := call.Breadth(line); n > width {
			t.Errorf("%s at %d columns: line %d takes %d: %s", name, width, i+1, n, line)
		}
	}
	golden.Check(t, filepath.Join("testdata", "golden", fmt.Sprintf("%s-%d.txt", name, width)), text)
}

// paper is a page for tests.
func paper(width int) call.Page {
	return call.Page{Width: width, Height: call.PageHeight, Signs: call.UnicodeSigns}
}

// boardScene is a board in memory on which operations are carried out.
type boardScene struct {
	t      *testing.T
	mem    *board.Memory
	now    board.Time
	n      int
	events []report.Happened
}

func newBoardScene(t *testing.T, goal string) *boardScene {
	s := &boardScene{t: t, mem: board.NewMemory(), now: "2026-01-31T09:00:00Z"}
	s.do("human", &board.Init{Goal: goal, SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	return s
}

func (s *boardScene) pass(d time.Duration) *boardScene {
	s.now = s.now.Add(d)
	return s
}

func (s *boardScene) state() *board.State { return board.NewState(s.mem, s.now) }

func (s *boardScene) do(agent string, payloads ...board.Payload) *boardScene {
	s.t.Helper()
	actor := board.HumanActor("Ann", "ann@example.com")
	if role, err := roles.Of(agent); err == nil {
		actor = board.Actor{ID: agent, Role: role, Session: "s-" + agent}
		if s.state().Agent(agent) == nil {
			payloads = append([]board.Payload{&board.Register{Session: actor.Session, Clone: "here"}}, payloads...)
		}
	}
	for _, p := range payloads {
		s.n++
		before := s.state()
		op := board.Operation{Actor: actor, Time: s.now, Request: fmt.Sprintf("r/%d", s.n), Payload: p}
		after, err := board.Step(before, op)
		if err != nil {
			s.t.Fatalf("%s: %v", p.Op(), err)
		}
		message, _, err := codec.Message(before, after, op)
		testrun.Check(s.t, err)
		subject, _, _ := strings.Cut(message, "\n")
		s.events = append([]report.Happened{{Time: s.now, Agent: actor.ID, Subject: subject}}, s.events[:min(len(s.events), 4)]...)
		s.mem.Absorb(after)
	}
	return s
}

// add adds a claimable task.
func (s *boardScene) add(id, desc string, priority int, depends ...string) *boardScene {
	s.t.Helper()
	return s.do("human", &board.AddTask{About: board.About{Task: id}, Ready: true, Definition: board.Definition{
		Description: desc, DoneWhen: "go test ./...: ok", Scope: "IN: one package. OUT: the rest", SpecRef: "specs/vision.md",
		SpecOID: strings.Repeat("5", 40), Kind: board.Code, Priority: priority, DependsOn: depends,
	}})
}

var (
	baseOID = strings.Repeat("b", 40)
	workOID = strings.Repeat("c", 40)
)

func (s *boardScene) claim(coder, id string) *boardScene {
	s.t.Helper()
	a := board.About{Task: id}
	p := &board.Claim{About: a, Clone: "here"}
	if s.state().Task(id).Worktree == "" {
		p.BaseCommit = baseOID
	}
	return s.do(coder, p, &board.PreExec{About: a, Checkpoint: board.Checkpoint{Intent: "write it", Validation: "go test", FilesToModify: []string{"a.go"}}})
}

func (s *boardScene) submit(coder, id string) *boardScene {
	s.t.Helper()
	return s.do(coder, &board.Submit{About: board.About{Task: id}, Commit: workOID, ReviewBase: baseOID, Commits: 1, Files: 1, Tests: []string{"a_test.go"}})
}

func (s *boardScene) verdict(reviewer, id, verdict string, reason *board.Rejection) *boardScene {
	s.t.Helper()
	a := board.About{Task: id}
	return s.do(reviewer, &board.ClaimReview{About: a}, &board.Verdict{About: a, Verdict: verdict, Checked: "go test ./...: ok", Commit: workOID, Rejection: reason})
}

var rejected = &board.Rejection{
	Blockers: []board.Finding{{Where: "a.go:12", Issue: "an empty name is accepted", Why: "anybody gets in", Suggestion: "answer 400"}},
	Overall:  "not yet.", Spec: "n/a", Anomaly: "none",
}

// leases returns a lease of each agent with three minutes left; those of the agents in gone expired
// two minutes ago.
func (s *boardScene) leases(gone ...string) map[string]board.Lease {
	all := map[string]board.Lease{}
	for _, id := range s.state().List(board.AgentDir) {
		all[id] = board.Lease{Agent: id, Expires: s.now.Add(3 * time.Minute)}
	}
	for _, id := range gone {
		all[id] = board.Lease{Agent: id, Expires: s.now.Add(-2 * time.Minute)}
	}
	return all
}

// busy has a task in each state.
func busy(t *testing.T) *boardScene {
	s := newBoardScene(t, "A calculator that adds, subtracts and explains itself")
	s.do("planner-1").add("lex", "Lex numbers and signs", 1).add("parse", "Parse sums", 1, "lex").add("errors", "Say where an error is", 2)
	s.add("print", "Print results", 2).add("cli", "Read from the command line", 2).add("round", "Round like people do", 3).add("units", "Units", 3)
	s.add("history", "Keep a history", 3).add("fractions", "Fractions", 4).add("explain", "Explain each step", 4, "parse", "units").add("old-way", "The old way", 5)
	s.do("planner-1", &board.AddTask{About: board.About{Task: "next-sprint"}, Definition: board.Definition{Description: "What comes after", Priority: 5, Kind: board.Code}})
	s.pass(30*time.Minute).do("coder-1").claim("coder-1", "lex").pass(10*time.Minute).submit("coder-1", "lex").verdict("code-reviewer-1", "lex", "APPROVED", nil)
	s.do("code-reviewer-1", &board.Merge{About: board.About{Task: "lex"}, ReviewCommit: workOID, Before: baseOID, MergeCommit: workOID, MergeType: board.FastForward})
	s.pass(5*time.Minute).claim("coder-1", "errors").submit("coder-1", "errors").verdict("code-reviewer-1", "errors", "REJECTED", rejected)
	s.pass(3*time.Minute).claim("coder-1", "errors").claim("coder-2", "print").submit("coder-2", "print")
	s.claim("coder-2", "cli").submit("coder-2", "cli").do("code-reviewer-2", &board.ClaimReview{About: board.About{Task: "cli"}})
	s.claim("coder-3", "round").submit("coder-3", "round").verdict("code-reviewer-1", "round", "APPROVED", nil)
	s.claim("coder-3", "units").pass(time.Minute).do("coder-3", &board.Block{About: board.About{Task: "units"}, Reason: "the spec does not say whether a pint is 473 or 568 ml", Questions: []string{"Which pint?"}, Attempted: []string{"both"}})
	s.claim("coder-3", "history").pass(12*time.Minute).submit("coder-3", "history").verdict("code-reviewer-1", "history", "REJECTED", rejected)
	s.claim("coder-4", "fractions")
	s.do("planner-1", &board.Abandon{About: board.About{Task: "old-way"}, Reason: "nobody wants it"}, &board.AddNote{For: "human", Message: "may I drop units from this sprint?"})
	return s.pass(4 * time.Minute)
}

// staged has a team with a stage of docs, whose submissions need two approvals.
func staged(t *testing.T) *boardScene {
	s := newBoardScene(t, "A calculator with a guide")
	team := board.BuiltinTeam()
	team.Stages[0].Next = []string{"docs"}
	team.Stages = append(team.Stages, board.Stage{Name: "docs", Role: "coder", Review: board.ReviewPolicy{Approvals: 2}})
	s.do("human", &board.SetTeam{Team: *team}).do("planner-1").add("lex", "Lex numbers and signs", 1)
	for _, id := range []string{"guide", "tour"} {
		s.do("human", &board.AddTask{About: board.About{Task: id}, Ready: true, Definition: board.Definition{
			Description: "Say how it is used", DoneWhen: "each command has an example", Scope: "IN: docs. OUT: the rest", SpecRef: "specs/vision.md",
			SpecOID: strings.Repeat("5", 40), Kind: board.Code, Stage: "docs", Priority: 2, DependsOn: map[string][]string{"tour": {"lex"}}[id],
		}})
	}
	s.pass(time.Minute).claim("coder-1", "guide").submit("coder-1", "guide").verdict("code-reviewer-1", "guide", "APPROVED", nil)
	return s.do("code-reviewer-2", &board.ClaimReview{About: board.About{Task: "guide"}}).pass(time.Minute)
}

func (s *boardScene) status(width int, gone ...string) []string {
	s.t.Helper()
	o := testrun.Must(report.Look(s.state(), report.Outside{Leases: s.leases(gone...), Events: s.events}, s.now.Std()))(s.t)
	return screen.Status(paper(width), o, screen.Reasons(s.state()), screen.Choice{})
}

const long = "Ein sehr langes Ziel — mit Umlauten (ä, ö, ü), 漢字かな交じり文 und 🦎 Eidechsen — das sich über weit mehr als eine Zeile erstreckt, und noch weiter, und noch weiter, damit gekürzt werden muss"

func TestGoldenStatus(t *testing.T) {
	for name, make := range map[string]func(*testing.T) ([]string, []string){
		"empty":  both(func(t *testing.T) *boardScene { return newBoardScene(t, "A calculator").pass(time.Minute) }),
		"busy":   both(busy, "coder-4"),
		"staged": both(staged),
		"long": both(func(t *testing.T) *boardScene {
			s := newBoardScene(t, long)
			id := "a" + strings.Repeat("-very-long-task-id", 3)
			s.do("planner-1").add(id, long, 1).add("z"+id[1:], long, 1, id)
			s.claim("coder-1", id).do("coder-1", &board.Block{About: board.About{Task: id}, Reason: long, Questions: []string{long}, Attempted: []string{long}})
			return s.do("planner-1", &board.AddNote{For: "human", Message: long}).do("human", &board.Pause{Reason: long}).pass(49 * time.Hour)
		}),
		"thousand": both(thousand),
		"aborted": both(func(t *testing.T) *boardScene {
			return busy(t).do("human", &board.Abort{Reason: "the customer has left"}).pass(20 * time.Minute)
		}),
		"checkpoint": both(func(t *testing.T) *boardScene {
			return busy(t).do("planner-1", &board.SetCheckpoint{Reason: "half of the sprint is over"}).pass(35 * time.Minute)
		}),
		"breaker": both(func(t *testing.T) *boardScene {
			s := busy(t)
			for _, by := range [][2]string{{"coder-1", "errors"}, {"coder-4", "fractions"}} {
				s.do(by[0], &board.LogAnomaly{Type: "external_blocker", Task: by[1], Details: map[string]board.Scalar{"blocker_service": "pkg.example.com"}})
			}
			return s.do("human", &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY", ReportFile: "report.md"}).pass(time.Minute)
		}),
	} {
		narrow, wide := make(t)
		drawn(t, "status-"+name, 80, narrow)
		drawn(t, "status-"+name, 120, wide)
		if len(narrow) > call.PageHeight || len(wide) > call.PageHeight {
			t.Errorf("%s takes %d and %d lines: it is no longer one screen", name, len(narrow), len(wide))
		}
	}
}

// TestGoldenStatusPlain: where the locale has no UTF-8, only ASCII is drawn.
func TestGoldenStatusPlain(t *testing.T) {
	s := busy(t)
	o := testrun.Must(report.Look(s.state(), report.Outside{Leases: s.leases("coder-4"), Events: s.events}, s.now.Std()))(t)
	for _, width := range []int{80, 120} {
		p := paper(width)
		p.Signs = call.ASCIISigns
		drawn(t, "status-plain", width, screen.Status(p, o, screen.Reasons(s.state()), screen.Choice{}))
	}
}

func both(make func(*testing.T) *boardScene, gone ...string) func(*testing.T) (narrow, wide []string) {
	return func(t *testing.T) ([]string, []string) {
		s := make(t)
		return s.status(80, gone...), s.status(120, gone...)
	}
}

// thousand has 1 000 tasks, in chains of five. All tests read the same one.
func thousand(t *testing.T) *boardScene {
	if large == nil {
		large = newThousand(t)
	}
	s := *large
	s.t = t
	return &s
}

// large is the board of thousand, once a test has read it.
var large *boardScene

func newThousand(t *testing.T) *boardScene {
	s := newBoardScene(t, "A thousand things to do")
	s.do("planner-1")
	for i := range 1000 {
		var after []string
		if i%5 > 0 {
			after = []string{fmt.Sprintf("part-%03d", i-1)}
		}
		s.add(fmt.Sprintf("part-%03d", i), fmt.Sprintf("Part %d", i), 1+i%5, after...)
	}
	s.pass(2 * time.Hour)
	for i := range 12 {
		coder, id := fmt.Sprintf("coder-%d", i+1), fmt.Sprintf("part-%03d", 5*i)
		s.claim(coder, id)
		if i%3 == 0 {
			s.submit(coder, id)
		}
	}
	return s.pass(2 * time.Minute)
}

func TestGoldenGraph(t *testing.T) {
	for name, s := range map[string]*boardScene{"empty": newBoardScene(t, "x"), "busy": busy(t), "thousand": thousand(t), "staged": staged(t)} {
		g := report.GraphOn(s.state(), s.state().Tasks())
		drawn(t, "graph-"+name, 80, screen.TextGraph(paper(80), g))
		drawn(t, "graph-"+name, 120, screen.TextGraph(paper(120), g))
		if name == "busy" {
			drawn(t, "graph-dot", 120, screen.DotGraph(g))
			drawn(t, "graph-mermaid", 120, screen.MermaidGraph(g))
		}
		if name == "staged" {
			drawn(t, "graph-staged-dot", 120, screen.DotGraph(g))
			drawn(t, "graph-staged-mermaid", 120, screen.MermaidGraph(g))
		}
	}
}

// TestFilterByStage: the filter of a live status also finds tasks by their stage.
func TestFilterByStage(t *testing.T) {
	s := staged(t)
	o := testrun.Must(report.Look(s.state(), report.Outside{Leases: s.leases(), Events: s.events}, s.now.Std()))(t)
	text := strings.Join(screen.Status(paper(120), o, screen.Reasons(s.state()), screen.Choice{Filter: "docs"}), "\n")
	for id, found := range map[string]bool{"guide": true, "tour": true, "lex": false} {
		testrun.Equal(t, strings.Contains(text, "\n  "+id+" "), found, "%s is listed: %v %s", id, !found, text)
	}
}

// TestStatusSelection: without UTF-8, and with the selected task far down the list, status still
// fits the screen.
func TestStatusSelection(t *testing.T) {
	s := thousand(t)
	o := testrun.Must(report.Look(s.state(), report.Outside{Leases: s.leases(), Events: s.events}, s.now.Std()))(t)
	p := call.Page{Width: 80, Height: 24, Signs: call.ASCIISigns}
	for _, id := range []string{"part-000", "part-500", "part-999"} {
		lines := screen.Status(p, o, screen.Reasons(s.state()), screen.Choice{Selected: id})
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, "> "+id) {
			t.Errorf("%s is chosen, and the screen does not show it:\n%s", id, text)
		}
		for _, r := range text {
			if r > 127 {
				t.Fatalf("%q is drawn on a plain page", r)
			}
		}
	}
}

// TestStatusAtAnySize: at any size of the screen no line is wider than it; from 25 lines on
// everything fits one screen.
func TestStatusAtAnySize(t *testing.T) {
	testrun.NotShort(t)
	for name, s := range map[string]*boardScene{"busy": busy(t), "thousand": thousand(t), "empty": newBoardScene(t, long)} {
		o := testrun.Must(report.Look(s.state(), report.Outside{Leases: s.leases(), Events: s.events}, s.now.Std()))(t)
		for width := 20; width <= 130; width += 5 {
			for height := 4; height <= 60; height += 7 {
				p := call.Page{Width: width, Height: height, Signs: call.UnicodeSigns}
				lines := screen.Status(p, o, screen.Reasons(s.state()), screen.Choice{Selected: "cli"})
				for _, line := range lines {
					// A command is never cut.
					if call.Breadth(line) > width && !strings.HasPrefix(line, "    git liza ") {
						t.Fatalf("%s at %d x %d has a line of %d: %q", name, width, height, call.Breadth(line), line)
					}
				}
				if len(lines) > height && height >= 25 {
					t.Errorf("%s at %d x %d has %d lines", name, width, height, len(lines))
				}
			}
		}
	}
}

// TestCommandsOnTheScreenAreWhole: what a human is asked to do is one complete command to copy, on
// every page and for every length of id.
func TestCommandsOnTheScreenAreWhole(t *testing.T) {
	s := newBoardScene(t, "A calculator")
	for i := range 40 {
		id := fmt.Sprintf("draft-%02d-%s", i, strings.Repeat("x", 50))
		s.do("human", &board.AddTask{About: board.About{Task: id}, Definition: board.Definition{Description: long, Priority: 1, Kind: board.Code}})
	}
	paused := "paused-" + strings.Repeat("y", 57)
	s.add(paused, long, 1).do("human", &board.Pause{About: board.About{Task: paused}})
	o := testrun.Must(report.Look(s.state(), report.Outside{Events: s.events}, s.now.Std()))(t)
	for _, width := range []int{40, 80, 100, 120} {
		text := strings.Join(screen.Status(paper(width), o, screen.Reasons(s.state()), screen.Choice{}), "\n") + "\n"
		for _, do := range []string{"git liza plan", "git liza resume --task " + paused} {
			if !strings.Contains(text, do+"\n") {
				t.Errorf("at %d columns %q is not whole:\n%s", width, do, text)
			}
		}
	}
}

// reviewed is busy in its own sprint, with a deadline and material for a retrospective.
func reviewed(t *testing.T) *boardScene {
	s := busy(t)
	s.do("human", &board.SprintEnd{}).pass(time.Minute)
	s.do("human", &board.SprintStart{Aim: "Everything that a shop needs", Planned: []string{"parse", "errors", "units"}, Stretch: []string{"history"}, Deadline: s.now.Add(26 * time.Hour)})
	for i := range 6 {
		id := fmt.Sprintf("small-%d", i+1)
		s.add(id, "A small thing", 2).pass(3*time.Minute).claim("coder-5", id).pass(time.Duration(i)*time.Minute).submit("coder-5", id).verdict("code-reviewer-1", id, "APPROVED", nil)
		s.do("code-reviewer-1", &board.Merge{About: board.About{Task: id}, ReviewCommit: workOID, Before: baseOID, MergeCommit: workOID, MergeType: board.FastForward, Drift: i})
	}
	s.do("coder-4", &board.LogAnomaly{Type: "external_blocker", Task: "fractions", Details: map[string]board.Scalar{"blocker_service": "pkg.example.com"}})
	s.do("planner-1", &board.RecordSpecChange{Spec: "specs/units.md", Change: "a pint is 568 ml", TriggeredBy: "units"})
	return s.pass(20 * time.Minute)
}

func TestGoldenSprint(t *testing.T) {
	scenes := map[string]*boardScene{"empty": newBoardScene(t, long).pass(time.Hour), "busy": reviewed(t), "ended": reviewed(t).
		do("human", &board.SprintEnd{}, &board.Retrospective{Text: board.RetrospectiveTitle + "sprint-2\n\n## Where did the time go?\n\n" + long + "\n"}).pass(30 * time.Hour)}
	crowd := newBoardScene(t, "A thousand things to do")
	for i := range 200 {
		crowd.add(fmt.Sprintf("part-%03d", i), "A part", 3)
	}
	for i := range 60 {
		crowd.pass(time.Minute).do("human", &board.Abandon{About: board.About{Task: fmt.Sprintf("part-%03d", i)}, Reason: "not needed"})
		crowd.do("human", &board.Block{About: board.About{Task: fmt.Sprintf("part-%03d", 199-i)}, Reason: board.HumanOverride})
	}
	scenes["crowd"] = crowd
	for name, s := range scenes {
		r := testrun.Must(report.ReviewSprint(s.state(), s.now.Std()))(t)
		for _, width := range []int{80, 120} {
			drawn(t, "sprint-"+name, width, screen.Sprint(paper(width), r, s.now))
			drawn(t, "metrics-"+name, width, screen.Metrics(paper(width), s.state().Sprint(), r.Metrics))
		}
	}
}

// TestMetricsAreAllDrawn: each metric of the record is drawn under its name.
func TestMetricsAreAllDrawn(t *testing.T) {
	lines := screen.Metrics(paper(80), &board.Sprint{ID: "sprint-1"}, report.Metrics{})
	if n := len(lines); n != 13 || !strings.Contains(lines[12], "drift_commits_total") {
		t.Errorf("%d lines: %q", n, lines)
	}
}
