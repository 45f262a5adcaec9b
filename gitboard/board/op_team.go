package board

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// SetTeam replaces the whole team. Everything later follows the new one; what was decided under the
// old one stays.
type SetTeam struct {
	Team Team `json:"team"`
}

// Op implements Payload.
func (p *SetTeam) Op() string { return "team" }

// Check implements Payload.
func (p *SetTeam) Check(s *State, _ Operation) error {
	if f := p.Team.Fault(); f != nil {
		return invalid("the team: %s: %s", f.Where, f.What)
	}
	if sameYAML(p.record(s), s.OwnTeam()) {
		return refuse(CodeExists, "the team is like this already").Way(ActOn("team-show"))
	}
	if err := p.leavesAgents(s); err != nil {
		return err
	}
	return p.leavesTasks(s)
}

// leavesAgents refuses to take a role, or its kind, from agents that are registered under it.
func (p *SetTeam) leavesAgents(s *State) error {
	var held []string
	gone := ""
	for _, id := range s.List(AgentDir) {
		now, _ := s.Team().RoleOf(id)
		next := p.Team.Role(roles.NameOf(id))
		if now == nil || next != nil && next.Kind == now.Kind {
			continue
		}
		gone = now.Name
		held = append(held, id+s.holds(id))
	}
	if len(held) == 0 {
		return nil
	}
	return refuse(CodeReserved, "the team would lose the role that these agents are registered under: %s", strings.Join(held, ", ")).
		Advise("stop them first; of one whose process is gone: %s", ActOn("recover-agent", roles.IDOf(gone, 1)))
}

// holds describes what an agent works on, "" for nothing.
func (s *State) holds(agent string) string {
	if task := s.heldBy(agent); task != "" {
		return " (works on " + task + ")"
	}
	if task := s.reviewedBy(agent); task != "" {
		return " (reviews " + task + ")"
	}
	if a := s.Agent(agent); a != nil && a.Goal != "" && s.Runs(a.Goal) {
		return " (plans " + a.Goal + ")"
	}
	return ""
}

// record is the new record. What this program does not know about the old one is kept.
func (p *SetTeam) record(s *State) *Team {
	t := p.Team
	t.Extra = s.Team().Extra
	return &t
}

// Apply implements Payload.
func (p *SetTeam) Apply(s *State, _ Operation) { put(s, TeamPath, p.record(s)) }

// Subject implements Payload.
func (p *SetTeam) Subject(before, _ *State, _ Operation) (string, string) {
	var lines []string
	was := before.Team()
	if now := p.Team.RoleNames(); !slices.Equal(now, was.RoleNames()) {
		lines = append(lines, "roles "+all(now))
	}
	if now := p.Team.StageNames(); !slices.Equal(now, was.StageNames()) {
		lines = append(lines, "stages "+all(now))
	}
	if len(lines) == 0 {
		return "settings of roles or stages", ""
	}
	return text.Line(strings.Join(lines, "; "), 110), ""
}
