package board

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// GoalComplete ends a goal whose tasks are all finished.
type GoalComplete struct {
	Goal    string `json:"goal,omitempty"` // "" for the only one being worked on
	Summary string `json:"summary,omitempty"`
}

// Op implements Payload.
func (p *GoalComplete) Op() string { return "goal-complete" }

// Check implements Payload.
func (p *GoalComplete) Check(s *State, op Operation) error {
	g, err := s.goalInProgress(op, p.Goal)
	if err != nil {
		return err
	}
	if awaits := s.AwaitsEnd(g); op.Actor.Role != roles.Human && awaits != "" {
		return refuse(CodePermission, "%s waits for %s (goal_completion)", g.ID, awaits).Advise("a human: %s", ActOn("goal-complete", g.ID))
	}
	if !s.Planned(g) {
		return refuse(CodeWrongState, "%s has no tasks yet", g.ID).Way(ActOn("add-task").With("help", ""))
	}
	if b, open := s.unfinished(g.ID); open {
		return refuse(CodeWrongState, "%s is %s: %s is not complete", b.ID, b.Status, g.ID).on(s.Task(b.ID))
	}
	return nil
}

// AwaitsEnd is the condition of the setting goal_completion before a planner may complete a goal;
// "" for nothing.
func (s *State) AwaitsEnd(g *Goal) string {
	switch c := s.Config(); {
	case c != nil && c.GoalCompletion == string(roles.Human):
		return "a human to complete it"
	case g.AwaitsMerge(s.Config()):
		return "the merge of its pull request"
	}
	return ""
}

// AwaitsMerge reports whether the merge of its pull request completes a goal, and is still to come.
func (g *Goal) AwaitsMerge(c *Config) bool {
	return c != nil && c.GoalCompletion == completedByMerge && (g.PullRequest == nil || g.PullRequest.Merged == nil)
}

// Apply implements Payload.
func (p *GoalComplete) Apply(s *State, op Operation) {
	g, err := s.goalMeant(op, p.Goal)
	if err != nil {
		return
	}
	edit[Goal](s, GoalPath(g.ID)).end(Completed, op)
	if p.Summary != "" {
		align(s, op, g.ID, "completed", p.Summary)
	}
}

// Subject implements Payload.
func (p *GoalComplete) Subject(before, _ *State, op Operation) (string, string) {
	g, err := before.goalMeant(op, p.Goal)
	if err != nil {
		return "", p.Summary
	}
	return fmt.Sprintf("%s, %s, all finished", g.ID, text.Plural(len(before.TasksOf(g.ID))+g.Archived, "task")), p.Summary
}
