package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// history writes a board's history: every operation goes through board.Step on a board in memory,
// and its commit, as git liza would make it, into git fast-import, which makes the trees.
type history struct {
	memory   *board.Memory
	state    *board.State
	now      board.Time
	commits  int
	archived int  // tasks, that lie in the archive
	payload  bool // the last commit's tree has a payload file
	base     string

	importer *exec.Cmd
	pipe     io.WriteCloser
	out      *bufio.Writer
	said     *strings.Builder
}

// startHistory begins a board in a repository. base is the commit that claims begin at.
func (s *site) startHistory(age time.Duration) (*history, error) {
	m := board.NewMemory()
	h := &history{memory: m, state: board.NewState(m, ""), now: board.At(time.Now().Add(-age)), base: s.base, said: &strings.Builder{}}
	h.importer = s.l.command(s.dir, "git", "fast-import", "--quiet")
	h.importer.Stderr = h.said
	var err error
	if h.pipe, err = h.importer.StdinPipe(); err != nil {
		return nil, err
	}
	h.out = bufio.NewWriterSize(h.pipe, 1<<20)
	if err := h.importer.Start(); err != nil {
		return nil, err
	}
	return h, h.do(human, &board.Init{Goal: "Measure", IntegrationBranch: "integration"})
}

var human = board.HumanActor("Bench", "bench@example.org")

// session is the session under which an agent of a made history is registered.
const session = "bench"

func actor(id string) board.Actor {
	role, err := roles.Of(id)
	if err != nil {
		panic(err)
	}
	return board.Actor{ID: id, Role: role, Session: session}
}

// do carries out an operation, a second after the one before.
func (h *history) do(a board.Actor, p board.Payload) error {
	h.now = h.now.Add(time.Second)
	op := board.Operation{Actor: a, Time: h.now, Request: fmt.Sprintf("bench-%d", h.commits), Payload: p}
	after, err := board.Step(h.state, op)
	if err != nil {
		return fmt.Errorf("%s: %w", op.Name(), err)
	}
	message, payload, err := codec.Message(h.state, after, op)
	if err != nil {
		return err
	}
	name, email := log.Author(a)
	when := op.Time.Std().Unix()
	fmt.Fprintf(h.out, "commit %s\nauthor %s <%s> %d +0000\ncommitter Bench <bench@example.org> %d +0000\n", plumbing.BoardRef, name, email, when, when)
	h.data([]byte(message))
	for path, record := range after.Changes() {
		if record == nil {
			fmt.Fprintf(h.out, "D %s\n", path)
			continue
		}
		text, err := codec.Encode(record)
		if err != nil {
			return err
		}
		if len(text) > codec.MaxDocument {
			return fmt.Errorf("%s would have %d bytes", path, len(text))
		}
		h.file(path, text)
	}
	switch {
	case payload != "":
		h.file(codec.PayloadFile, []byte(payload))
	case h.payload:
		fmt.Fprintf(h.out, "D %s\n", codec.PayloadFile)
	}
	if _, err := h.out.WriteString("\n"); err != nil {
		return err
	}
	h.payload = payload != ""
	h.memory.Absorb(after)
	h.state = board.NewState(h.memory, op.Time)
	h.commits++
	return nil
}

func (h *history) file(path string, text []byte) {
	fmt.Fprintf(h.out, "M 100644 inline %s\n", path)
	h.data(text)
}

func (h *history) data(text []byte) {
	fmt.Fprintf(h.out, "data %d\n", len(text))
	h.out.Write(text) // the writer keeps the first error
	h.out.WriteByte('\n')
}

// finish waits until everything is in the repository.
func (h *history) finish() error {
	err := h.out.Flush()
	if closed := h.pipe.Close(); err == nil {
		err = closed
	}
	if waited := h.importer.Wait(); waited != nil {
		err = fmt.Errorf("git fast-import: %w: %s", waited, strings.TrimSpace(h.said.String()))
	}
	return err
}

// all carries out operations of one actor.
func (h *history) all(a board.Actor, payloads ...board.Payload) error {
	for _, p := range payloads {
		if err := h.do(a, p); err != nil {
			return err
		}
	}
	return nil
}

func about(task string) board.About { return board.About{Task: task} }

func taskID(n int) string { return fmt.Sprintf("task-%05d", n) }

// planLimit is how many tasks a made sprint plans: the list is one record, and a record has 256
// KiB.
const planLimit = 1000

// addTasks adds so many tasks as a run has them halfway: four in five wait to be claimed, the
// others are drafts or blocked. Of boards with more than planLimit tasks the sprint is over, as it
// would be.
func (h *history) addTasks(n int) error {
	if n > planLimit && h.archived == 0 {
		if err := h.endSprint(); err != nil {
			return err
		}
	}
	for i := range n {
		id := taskID(i)
		p := h.task(id)
		p.Ready = i%10 != 9
		if goals := h.state.Running(); len(goals) > 1 {
			p.Goal = goals[i%len(goals)].ID
		}
		if team := h.state.OwnTeam(); team != nil {
			p.Stage = team.Stages[i/10%len(team.Stages)].Name
		}
		switch {
		case i%10 == 7:
			p.DependsOn = []string{taskID(i - 1)}
		case i%10 == 6 && h.archived > 0:
			p.DependsOn = []string{oldID(i % h.archived)}
		}
		if err := h.do(human, p); err != nil {
			return err
		}
		if i%10 == 8 {
			if err := h.do(human, &board.Block{About: about(id), Reason: "the interface that it needs is not settled", Questions: []string{"Which of the two drafts holds?"}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// archive takes so many tasks through their lives, and archives them a thousand at a time.
func (h *history) archive(n int) error {
	if n == 0 {
		return nil
	}
	coder, reviewer := actor("coder-1"), actor("code-reviewer-1")
	work := strings.Repeat("c0", len(h.base)/2)
	if err := h.endSprint(); err != nil {
		return err
	}
	h.archived = n
	var over []string
	for i := range n {
		id := oldID(i)
		for _, step := range []struct {
			who board.Actor
			p   board.Payload
		}{
			{human, h.task(id)},
			{coder, &board.Claim{About: about(id), Clone: "bench", BaseCommit: h.base}},
			{coder, &board.PreExec{About: about(id), Checkpoint: board.Checkpoint{Intent: "write the test, then the code", Validation: "go test ./...", FilesToModify: []string{"a.go"}}}},
			{coder, &board.Submit{About: about(id), Commit: work, ReviewBase: h.base, Commits: 1, Files: 2, Tests: []string{"a_test.go"}}},
			{reviewer, &board.ClaimReview{About: about(id)}},
			{reviewer, &board.Verdict{About: about(id), Verdict: board.VerdictApproved, Checked: "tests", Commit: work}},
			{reviewer, &board.Merge{About: about(id), ReviewCommit: work, Before: h.base, MergeCommit: work, MergeType: board.FastForward}},
		} {
			if err := h.do(step.who, step.p); err != nil {
				return err
			}
		}
		if over = append(over, id); len(over) == board.MaxArchived || i == n-1 {
			if err := h.do(human, &board.Archive{Sprint: "sprint-1", Tasks: over}); err != nil {
				return err
			}
			over = nil
		}
	}
	return nil
}

func oldID(n int) string { return fmt.Sprintf("old-%05d", n) }

// endSprint plans one task and gives it up.
func (h *history) endSprint() error {
	return h.all(human, h.task("task-first"), &board.Abandon{About: about("task-first"), Reason: "only there to end the sprint"})
}

func (h *history) task(id string) *board.AddTask {
	return &board.AddTask{
		About: about(id), Ready: true, NoSpecFile: true,
		Definition: board.Definition{
			Description: "Build the part of the program named " + id + ", with its tests",
			DoneWhen:    "go test ./" + id + " passes and the command prints one line for each input line",
			Scope:       "IN: the package " + id + " and its tests. OUT: every other package, formatting",
			SpecRef:     "specs/vision.md", Kind: board.Code, Priority: 3,
		},
	}
}

// lives lets a coder take one task after the other through claim and checkpoint to a block, until
// there are so many commits. The sprint is over before, as its plan is one record that would grow
// with every task.
func (h *history) lives(commits int) error {
	coder := actor("coder-1")
	if err := h.endSprint(); err != nil {
		return err
	}
	if err := h.all(coder, &board.Register{Session: session, Clone: "bench"}, &board.AgentStatusChange{Status: board.Idle}); err != nil {
		return err
	}
	for n := 0; h.commits < commits; n++ {
		id := fmt.Sprintf("life-%05d", n)
		steps := []struct {
			who board.Actor
			p   board.Payload
		}{
			{human, h.task(id)},
			{coder, &board.Claim{About: about(id), Clone: "bench", BaseCommit: h.base}},
			{coder, &board.PreExec{About: about(id), Checkpoint: board.Checkpoint{Intent: "write the test, then the code", Validation: "go test ./...", FilesToModify: []string{"a.go"}}}},
			{coder, &board.Block{About: about(id), Reason: "the spec names a format that is described nowhere", Questions: []string{"Which format is meant?"}}},
		}
		for _, s := range steps {
			if h.commits == commits {
				return nil
			}
			if err := h.do(s.who, s.p); err != nil {
				return err
			}
		}
	}
	return nil
}

// beats makes a history long and leaves the board as large as it is: settings go back and forth.
func (h *history) beats(commits int) error {
	for n := 0; h.commits < commits; n++ {
		if err := h.do(human, &board.SetConfig{Key: "coder_max_wait", Value: fmt.Sprint(1000 + n%700)}); err != nil {
			return err
		}
	}
	return nil
}

// agents registers coders.
func (h *history) agents(ids ...string) error {
	for _, id := range ids {
		if err := h.all(actor(id), &board.Register{Session: session, Clone: "bench"}, &board.AgentStatusChange{Status: board.Idle}); err != nil {
			return err
		}
	}
	return nil
}

// goals starts goals until there are so many.
func (h *history) goals(n int) error {
	for i := 2; i <= n; i++ {
		if err := h.do(human, &board.GoalStart{ID: fmt.Sprintf("goal-%d", i), Text: "Measure " + fmt.Sprint(i), SpecRef: "specs/vision.md"}); err != nil {
			return err
		}
	}
	return nil
}

// team sets a team of so many roles, each further one with a stage whose review policy asks for two
// approvals; 0 stands for the built-in team.
func (h *history) team(n int) error {
	if n == 0 {
		return nil
	}
	team := board.BuiltinTeam()
	for i := len(team.Roles); i < n; i++ {
		name := "writer-" + string(rune('a'+i))
		team.Roles = append(team.Roles, board.Role{Name: name, Kind: board.CoderKind, Max: 5, Skills: []string{name}})
		team.Stages = append(team.Stages, board.Stage{Name: name, Role: name, Review: board.ReviewPolicy{Approvals: 2, Paths: []string{"migrations/**"}}})
	}
	return h.do(human, &board.SetTeam{Team: *team})
}

// unclaimed lists the tasks that can be claimed now, first come first.
func (h *history) unclaimed() []string {
	briefs, _ := h.memory.Briefs()
	var ids []string
	for id, b := range briefs {
		if b.Status == board.Unclaimed && len(b.DependsOn) == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
