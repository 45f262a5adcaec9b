package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// InStage is the stage that the task is in.
func (t *Task) InStage() string { return cmp.Or(t.Stage, CodeStage) }

// InStage is the stage that the task is in.
func (b Brief) InStage() string { return cmp.Or(b.Stage, CodeStage) }

// Does reports whether the agents of a role do the tasks of a stage.
func (t *Team) Does(role, stage string) bool {
	st := t.Stage(stage)
	return st != nil && st.Role == role
}

// FindStage returns the stage of a name. It refuses any other text and suggests the nearest names.
func (t *Team) FindStage(name string) (*Stage, error) {
	if st := t.Stage(name); st != nil {
		return st, nil
	}
	return nil, invalid("%s is not a stage of this team: use %s", quote(name), list(t.StageNames())).
		meant(name, t.StageNames(), ActOn("team-show"))
}

// TestOf is the setting of the command that tests a task at its merge: its stage's test, or else
// integration_test.
func TestOf(s *State, t *Task) string {
	if st := s.Team().Stage(t.InStage()); st != nil && st.Test != "" {
		return st.Test
	}
	return s.Config().IntegrationTest
}

// checkStage refuses a stage that the team does not have, and a dependency on a task of a stage
// that this one may not follow.
func (s *State) checkStage(d Definition) error {
	team, own := s.Team(), cmp.Or(d.Stage, CodeStage)
	if _, err := team.FindStage(own); err != nil {
		return err
	}
	for _, id := range d.DependsOn {
		b, ok := s.BriefOf(id)
		if of := b.InStage(); ok && of != own && team.Stage(of) != nil && !team.leads(of, own) {
			return invalid("depends_on names %s of the stage %s, which %s may not follow", id, of, own).
				Advise("%s: next of %s lists what may follow", ActOn("team-show"), of)
		}
	}
	return nil
}

// doesStage refuses a task to a coder whose role does not do its stage.
func (s *State) doesStage(t *Task, coder string) error {
	team, own := s.Team(), roles.NameOf(coder)
	st, err := team.FindStage(t.InStage())
	if err != nil || team.Does(own, st.Name) {
		return err
	}
	r := refuse(CodePermission, "%s is of the stage %s, which is for a %s, not for a %s", t.ID, st.Name, st.Role, own).on(t)
	able := slices.DeleteFunc(s.List(AgentDir), func(id string) bool { return roles.NameOf(id) != st.Role })
	if len(able) == 0 {
		return r.Advise("no %s is registered: %s", st.Role, ActOn("agent", st.Role))
	}
	return r.Advise("it is for %s", strings.Join(able, ", "))
}

// leavesTasks refuses a team without a stage that live tasks are in.
func (p *SetTeam) leavesTasks(s *State) error {
	lost := map[string][]string{}
	s.EachBrief(func(b Brief) {
		if stage := b.InStage(); !b.Status.Terminal() && p.Team.Stage(stage) == nil {
			lost[stage] = append(lost[stage], b.ID)
		}
	})
	for _, stage := range s.Team().StageNames() {
		if ids := lost[stage]; len(ids) > 0 {
			slices.Sort(ids)
			return refuse(CodeReserved, "the team would lose the stage %s, and these tasks are in it: %s", stage, all(ids)).
				Way(ActOn("amend-task", ids[0]).With("stage", "code", "reason", exampleText))
		}
	}
	return nil
}
