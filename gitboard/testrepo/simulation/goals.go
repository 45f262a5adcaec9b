package simulation

import (
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// The goals beside the first: one from the beginning on, and one that the human starts once the
// others have ended.
const (
	sideGoal  = "side"
	laterGoal = "later"
)

func (s *simulation) beginGoals() {
	if s.goals > 1 {
		s.human.mustDo(&board.GoalStart{ID: sideGoal, Text: "Simulate something else", SpecRef: "specs/vision.md", Priority: between(s.rng, 2, 4)})
	}
}

// goalFor draws the goal of a new task from those being worked on.
func (s *simulation) goalFor() string {
	if s.goals == 1 {
		return board.FirstGoal
	}
	running := s.eye.state().Running()
	if len(running) == 0 {
		return board.FirstGoal
	}
	return running[s.rng.IntN(len(running))].ID
}

// wantLike adds a task to the plan that is to replace another one.
func (s *simulation) wantLike(t *board.Task, id string) {
	s.want(id, slices.Clone(t.DependsOn))
	s.goalOf[id], s.wants[id].Stage, s.migrates[id] = t.Goal, t.Stage, s.migrates[t.ID]
}

// stuckIn lists the tasks of a goal in one of the given states that are not paused.
func stuckIn(s *board.State, g *board.Goal, in ...board.Status) []string {
	return slices.DeleteFunc(stuck(s, in...), func(id string) bool { return s.Task(id).Goal != g.ID })
}

// planning is a planner's next operation: on the goal that it plans, or else it takes on another
// one that calls for something and that no live planner has.
func (a *player) planning() board.Payload {
	state := a.s.eye.state()
	running := state.Running()
	slices.SortStableFunc(running, func(x, y *board.Goal) int {
		switch a.id {
		case state.PlannerOf(x.ID):
			return -1
		case state.PlannerOf(y.ID):
			return 1
		}
		return 0
	})
	for _, g := range running {
		by := state.PlannerOf(g.ID)
		if by != "" && by != a.id && !takeable(a.view())(by, board.Brief{}) {
			continue
		}
		if p := a.duty(state, g); p != nil {
			if by == a.id {
				return p
			}
			return &board.Plan{Goal: g.ID}
		}
	}
	return nil
}

// steers does what a human decides about goals: it gives one up, takes it up again after a while,
// and starts the last one once nothing is worked on. It reports whether it has done anything.
func (a *player) steers() bool {
	s := a.s
	if s.goals == 1 {
		return false
	}
	state := s.eye.state()
	running := state.Running()
	if len(running) > 0 {
		s.revive()
	}
	gaveUp := slices.IndexFunc(state.Goals(), func(g *board.Goal) bool { return g.Status == board.PhaseAborted })
	var p board.Payload
	switch {
	case gaveUp >= 0 && (len(running) == 0 || s.chance(400)):
		p = &board.GoalReopen{Goal: state.Goals()[gaveUp].ID, Reason: "it matters after all"}
	case gaveUp >= 0 && s.humanHasTime():
		a.after(s.span(time.Hour, 6*time.Hour), a.rule)
		return true
	case len(running) == 2 && s.eye.ops["goal-abort"] < 2 && s.chance(150):
		p = &board.GoalAbort{Goal: running[s.rng.IntN(2)].ID, Reason: "it costs too much"}
	case len(running) == 0 && state.Goal(laterGoal) == nil:
		p = &board.GoalStart{ID: laterGoal, Text: "Simulate once more", SpecRef: "specs/vision.md"}
	default:
		return false
	}
	a.just(p, func(*gitboard.Done, error) { a.after(s.span(time.Minute, time.Hour), a.rule) })
	return true
}

// humanHasTime reports whether the human stays. One who leaves may leave a goal given up, and then
// what waits for its tasks waits for that human.
func (s *simulation) humanHasTime() bool {
	return s.humanLeaves == 0 || s.now.Sub(began) <= s.humanLeaves
}

// revive starts the agents again that had left since nothing was worked on. A human who sees that
// something is does so, however it came about: the process that began it may have died of it.
func (s *simulation) revive() {
	for _, a := range s.agents {
		if a.gone && !a.twin {
			a.gone = false
			a.gen++
			a.after(s.span(0, time.Hour), a.boot)
		}
	}
}

// The team's own stage of the simulation: its tasks need two approvals, and a human's if they
// change migrations. Its tasks depend on their like only.
const carefulStage = "careful"

func carefulTeam(change func(*board.ReviewPolicy)) *board.SetTeam {
	team := board.BuiltinTeam()
	st := board.Stage{Name: carefulStage, Role: roles.Coder.Prefix(), Next: []string{board.CodeStage}}
	st.Review = board.ReviewPolicy{Approvals: 2, Paths: []string{"migrations/**"}}
	change(&st.Review)
	team.Stages = append(team.Stages, st)
	return &board.SetTeam{Team: *team}
}

func (s *simulation) beginPolicy() {
	if s.policy {
		s.human.mustDo(carefulTeam(func(*board.ReviewPolicy) {}))
	}
}

// careful moves a planned task to the team's own stage.
func (s *simulation) careful(id string, migrates bool) {
	d := s.wants[id]
	d.Stage, s.migrates[id] = carefulStage, migrates
	d.DependsOn = slices.DeleteFunc(d.DependsOn, func(n string) bool { return s.wants[n].Stage != carefulStage })
}

// changesTeam is a human's change of the review policy while work is under way.
func (a *player) changesTeam() board.Payload {
	s := a.s
	return carefulTeam(func(p *board.ReviewPolicy) {
		p.Approvals = between(s.rng, 1, 2)
		if s.chance(500) {
			p.Differ = board.DifferCLI
		}
		if s.chance(100) {
			p.Paths = nil
		}
	})
}

// zeal is how likely a human is to claim a review.
func (s *simulation) zeal(state *board.State, b board.Brief) float64 {
	if s.policy && board.ProgressOf(state, state.Task(b.ID)).AwaitsHuman() {
		return 500
	}
	return 50
}

// praise lets a coder try to review its own submission, which must be refused.
func (a *player) praise(id string) {
	a.soon(func() {
		a.just(&board.ClaimReview{About: board.About{Task: id}}, func(_ *gitboard.Done, err error) {
			if err == nil {
				a.s.failf("%s reviews %s, which it wrote", a.id, id)
			}
			a.s.met["may not review its own work"]++
			a.soon(a.live)
		})
	})
}

// judged records from the operations alone who has approved a submission, and fails when one counts
// as approved without the reviewers that its stage asks for.
func (e *observer) judged(before, after *board.State, op board.Operation) {
	s, id := e.s, op.TaskID()
	switch p := op.Payload.(type) {
	case *board.Submit:
		e.approved[id] = nil
	case *board.SetTeam:
		s.met["team changed"]++
	case *board.AddTask:
		for _, n := range p.DependsOn {
			if t := after.Task(n); t != nil && t.Goal != after.Task(id).Goal {
				s.met["depends on another goal"]++
			}
		}
	case *board.Verdict:
		e.verdict(before, after, op, p)
	}
}

func (e *observer) verdict(before, after *board.State, op board.Operation, p *board.Verdict) {
	s, id := e.s, op.TaskID()
	if p.Verdict != board.VerdictApproved {
		if len(e.approved[id]) > 0 {
			s.met["rejected after an approval"]++
		}
		return
	}
	if slices.Contains(e.approved[id], op.Actor.ID) {
		s.failf("%s has approved %s twice", op.Actor.ID, id)
	}
	e.approved[id] = append(e.approved[id], op.Actor.ID)
	t := before.Task(id)
	policy := before.Team().Stage(t.InStage()).Review
	need, human := max(1, policy.Approvals), len(t.HumanPaths) > 0 && len(policy.Paths) > 0
	if human {
		need++
	}
	there := len(e.approved[id]) >= need && (!human || slices.Contains(e.approved[id], roles.HumanID))
	if is := after.Task(id).Status == board.Approved; is != there {
		s.failf("%s is %s with the approvals of %v; its stage asks for %+v", id, after.Task(id).Status, e.approved[id], policy)
	}
	if there && human {
		s.met["approved by a human for a path"]++
	} else if there && need > 1 {
		s.met["approved by two"]++
	}
}
