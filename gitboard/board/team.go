package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Team is team.yaml: the roles of a project's agents, and the stages of its work. A board without
// the record has the built-in team.
type Team struct {
	Roles  []Role  `yaml:"roles" json:"roles"`
	Stages []Stage `yaml:"stages" json:"stages"`
	// PlanReview is who reviews plans: "human", a role of the kind reviewer, or "off" or "" for
	// nobody.
	PlanReview string `yaml:"plan_review,omitempty" json:"plan_review,omitempty"`
	Extra      any    `yaml:"extra,omitempty" json:"-"`
}

// Role is a role of a team. Its agents have the ids <name>-<n>.
type Role struct {
	Name  string   `yaml:"name" json:"name"`
	Kind  RoleKind `yaml:"kind" json:"kind"` // decides what its agents may do
	CLI   string   `yaml:"cli,omitempty" json:"cli,omitempty"`
	Model string   `yaml:"model,omitempty" json:"model,omitempty"`
	// Instructions is a file on the integration branch with further instructions, Blob its object id
	// when the team was set: agents get that text until the team is set again.
	Instructions string   `yaml:"instructions,omitempty" json:"instructions,omitempty"`
	Blob         string   `yaml:"blob,omitempty" json:"blob,omitempty"`
	Skills       []string `yaml:"skills,omitempty" json:"skills,omitempty"`
	// Min and Max bound how many of its agents a team that sizes itself has; 0 for the default. Idle
	// is after how many seconds without work one of them ends; 0 for the default.
	Min  int `yaml:"min,omitempty" json:"min,omitempty"`
	Max  int `yaml:"max,omitempty" json:"max,omitempty"`
	Idle int `yaml:"idle,omitempty" json:"idle,omitempty"`
	// Tokens is what one run of an agent may use; 0 for the setting budget_run_tokens.
	Tokens int `yaml:"tokens,omitempty" json:"tokens,omitempty"`
}

// Stage is a stage of a team's work. Each task is in one.
type Stage struct {
	Name string `yaml:"name" json:"name"`
	Role string `yaml:"role" json:"role"` // the role of kind coder whose agents do its tasks
	// Review is who reviews its submissions.
	Review ReviewPolicy `yaml:"review,omitempty" json:"review,omitzero"`
	// Test is the command that tests its tasks in place of the setting integration_test; NoTest for
	// none, "" for the setting's value.
	Test string `yaml:"test,omitempty" json:"test,omitempty"`
	// Next are the stages that may follow: a task of one of these may depend on a task of this one.
	Next []string `yaml:"next,omitempty" json:"next,omitempty"`
}

// RoleKind is the work of a role's agents.
type RoleKind string

// The kinds of roles.
const (
	PlannerKind  RoleKind = "planner"
	CoderKind    RoleKind = "coder"
	ReviewerKind RoleKind = "reviewer"
)

// RoleKinds lists the kinds of roles.
var RoleKinds = []RoleKind{PlannerKind, CoderKind, ReviewerKind}

// Role is the protocol's role with the permissions of the kind.
func (k RoleKind) Role() roles.Role {
	if k == ReviewerKind {
		return roles.CodeReviewer
	}
	return roles.Role(k)
}

// CodeStage is the stage of tasks that name none. Every team has it.
const CodeStage = "code"

// defaultMax is how many agents a role without a maximum has at most; MaxAgents is the largest
// maximum.
const (
	defaultMax = 3
	MaxAgents  = 100
)

// maxRoles is how many roles or stages a team may have.
const maxRoles = 50

// ID is the agent id of the role's n-th agent.
func (r *Role) ID(n int) string { return roles.IDOf(r.Name, n) }

// Most is how many agents of the role there are at most.
func (r *Role) Most() int {
	if r.Max > 0 {
		return r.Max
	}
	return max(defaultMax, r.Min)
}

// builtinTeam is the team of a board without team.yaml. It must not be changed.
var builtinTeam = &Team{
	Roles: []Role{
		{Name: roles.Planner.Prefix(), Kind: PlannerKind},
		{Name: roles.Coder.Prefix(), Kind: CoderKind},
		{Name: roles.CodeReviewer.Prefix(), Kind: ReviewerKind},
	},
	Stages: []Stage{{Name: CodeStage, Role: roles.Coder.Prefix()}},
}

// BuiltinTeam returns the team of a board without team.yaml.
func BuiltinTeam() *Team {
	t := *builtinTeam
	t.Roles, t.Stages = slices.Clone(t.Roles), slices.Clone(t.Stages)
	return &t
}

// OwnTeam returns team.yaml, nil if the board has the built-in team.
func (s *State) OwnTeam() *Team { return get[Team](s, TeamPath) }

// Team returns team.yaml or, without it, the built-in team. It is shared and must not be changed.
func (s *State) Team() *Team {
	if t := s.OwnTeam(); t != nil {
		return t
	}
	return builtinTeam
}

// Role returns the role of a name, nil if the team has none.
func (t *Team) Role(name string) *Role {
	i := slices.IndexFunc(t.Roles, func(r Role) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Roles[i]
}

// Stage returns the stage of a name, nil if the team has none.
func (t *Team) Stage(name string) *Stage {
	i := slices.IndexFunc(t.Stages, func(st Stage) bool { return st.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Stages[i]
}

// RoleNames lists the names of the roles.
func (t *Team) RoleNames() []string {
	names := make([]string, len(t.Roles))
	for i, r := range t.Roles {
		names[i] = r.Name
	}
	return names
}

// StageNames lists the names of the stages.
func (t *Team) StageNames() []string {
	names := make([]string, len(t.Stages))
	for i, st := range t.Stages {
		names[i] = st.Name
	}
	return names
}

// RoleOf returns the team's role to which an agent id belongs. It refuses any other text.
func (t *Team) RoleOf(id string) (*Role, error) {
	name := roles.NameOf(id)
	if r := t.Role(name); r != nil {
		return r, nil
	}
	return nil, invalid("%s is not an agent id: write the role and a number, like %s", quote(id), list(t.examples())).
		meant(name, t.RoleNames(), ActOn("team-show"))
}

// examples are ids of the first agents of each role, those of kind coder first.
func (t *Team) examples() []string {
	var ids, others []string
	for _, r := range t.Roles {
		if r.Kind == CoderKind {
			ids = append(ids, r.ID(1))
		} else {
			others = append(others, r.ID(1))
		}
	}
	return append(ids, others...)
}

// FindRole returns the role that people mean: by its name, in which `_` may stand for `-`. It
// refuses any other text and suggests the nearest names.
func (t *Team) FindRole(text string) (*Role, error) {
	if r := t.Role(strings.ReplaceAll(text, "_", "-")); r != nil {
		return r, nil
	}
	return nil, t.unknownRole(text)
}

func (t *Team) unknownRole(name string) *Refusal {
	return invalid("%s is not a role of this team: use %s", quote(name), list(t.RoleNames())).
		meant(name, t.RoleNames(), ActOn("team-show"))
}

// RoleOf returns the protocol's role of an agent id in the team. It refuses any other text.
func (s *State) RoleOf(id string) (roles.Role, error) {
	r, err := s.Team().RoleOf(id)
	if err != nil {
		return "", err
	}
	return r.Kind.Role(), nil
}

// TeamFault is a fault of a team: its place, as in `roles[1].kind`, and its description.
type TeamFault struct{ Where, What string }

// Fault returns the first fault of a team, nil if it can be used.
func (t *Team) Fault() *TeamFault {
	for _, fault := range []func(*Team) *TeamFault{(*Team).roleFault, (*Team).stageFault, (*Team).nextFault, (*Team).planFault} {
		if f := fault(t); f != nil {
			return f
		}
	}
	return nil
}

func faultAt(where, what string, args ...any) *TeamFault {
	return &TeamFault{where, fmt.Sprintf(what, args...)}
}

func (t *Team) roleFault() *TeamFault {
	if n := len(t.Roles); n == 0 || n > maxRoles {
		return faultAt("roles", "a team has 1 to %d roles, not %d", maxRoles, n)
	}
	for i := range t.Roles {
		r, at := &t.Roles[i], fmt.Sprintf("roles[%d]", i)
		if slices.Contains(t.RoleNames()[:i], r.Name) {
			return faultAt(at+".name", "there are two roles called %s", quote(r.Name))
		}
		if f := r.fault(at); f != nil {
			return f
		}
	}
	return nil
}

// toolName is the form of the name of a CLI.
var toolName = shortForm(64, `^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (r *Role) fault(at string) *TeamFault {
	if !roles.IsName(r.Name) || slices.Contains([]string{roles.HumanID, string(roles.System), NoPlanReview}, r.Name) {
		return faultAt(at+".name", "%s can't be the name of a role: use 1 to 40 lower-case letters and hyphens, like docs-writer", quote(r.Name))
	}
	if !slices.Contains(RoleKinds, r.Kind) {
		return faultAt(at+".kind", "%s is not a kind of role: use %s", quote(string(r.Kind)), list(RoleKinds))
	}
	if own := builtinTeam.Role(r.Name); own != nil && own.Kind != r.Kind {
		return faultAt(at+".kind", "a role called %s is of the kind %s, not %s: choose another name", r.Name, own.Kind, r.Kind)
	}
	if r.CLI != "" && !toolName.MatchString(r.CLI) {
		return faultAt(at+".cli", "%s is not the name of a CLI", quote(r.CLI))
	}
	if !text.IsName(r.Model) {
		return faultAt(at+".model", "the name of the model holds a control character")
	}
	for _, n := range []struct {
		field    string
		now, top int
	}{{"min", r.Min, MaxAgents}, {"max", r.Max, MaxAgents}, {"idle", r.Idle, maxNumber}, {"tokens", r.Tokens, MaxUsage}} {
		if n.now < 0 || n.now > n.top {
			return faultAt(at+"."+n.field, "%d is not from 0 to %d", n.now, n.top)
		}
	}
	if r.Min > r.Most() {
		return faultAt(at+".min", "%d is more than the maximum, %d", r.Min, r.Most())
	}
	if r.Instructions == "" && r.Blob != "" {
		return faultAt(at+".blob", "a blob without a file of instructions")
	}
	if r.Instructions != "" && fullID("blob", r.Blob) != nil {
		return faultAt(at+".instructions", "%s is not a file on the integration branch", quote(r.Instructions))
	}
	for i, skill := range r.Skills {
		if strings.TrimSpace(skill) == "" || !text.IsName(skill) || slices.Contains(r.Skills[:i], skill) {
			return faultAt(fmt.Sprintf("%s.skills[%d]", at, i), "%s is not the name of a skill, or is listed twice", quote(skill))
		}
	}
	return nil
}

func (t *Team) stageFault() *TeamFault {
	if n := len(t.Stages); n > maxRoles {
		return faultAt("stages", "a team has at most %d stages, not %d", maxRoles, n)
	}
	names := t.StageNames()
	for i := range t.Stages {
		st, at := &t.Stages[i], fmt.Sprintf("stages[%d]", i)
		if !roles.IsName(st.Name) {
			return faultAt(at+".name", "%s can't be the name of a stage: use 1 to 40 lower-case letters and hyphens, like docs", quote(st.Name))
		}
		if slices.Contains(names[:i], st.Name) {
			return faultAt(at+".name", "there are two stages called %s", quote(st.Name))
		}
		if f := t.workFault(st, at); f != nil {
			return f
		}
		if field, what := t.reviewFault(st.Review); what != "" {
			return faultAt(at+".review."+field, "%s", what)
		}
		if st.Test != "" && (strings.TrimSpace(st.Test) == "" || !text.IsName(st.Test)) {
			return faultAt(at+".test", "%s is not a command in one line without control characters", quote(st.Test))
		}
	}
	if !slices.Contains(names, CodeStage) {
		return faultAt("stages", "the stage %s is missing: it is the stage of tasks that name none", CodeStage)
	}
	return nil
}

// workFault finds that nobody could do a stage's tasks.
func (t *Team) workFault(st *Stage, at string) *TeamFault {
	switch r := t.Role(st.Role); {
	case st.Role == "":
		return faultAt(at, "nobody does the stage %s: name a role of the kind coder", st.Name)
	case r == nil:
		return faultAt(at+".role", "there is no role %s: %s", quote(st.Role), didYouMean(st.Role, t.RoleNames(), "roles are "+list(t.RoleNames())))
	case r.Kind != CoderKind:
		return faultAt(at+".role", "%s is a %s, and a stage is done by a role of the kind coder", st.Role, r.Kind)
	}
	return nil
}

func (t *Team) nextFault() *TeamFault {
	for i := range t.Stages {
		st := &t.Stages[i]
		for j, next := range st.Next {
			at := fmt.Sprintf("stages[%d].next[%d]", i, j)
			switch {
			case t.Stage(next) == nil:
				return faultAt(at, "there is no stage %s: %s", quote(next), didYouMean(next, t.StageNames(), "stages are "+list(t.StageNames())))
			case slices.Contains(st.Next[:j], next):
				return faultAt(at, "%s is listed twice", next)
			case next == st.Name || t.leads(next, st.Name):
				return faultAt(at, "the stages are in a cycle: %s leads back to %s", next, st.Name)
			}
		}
	}
	return nil
}

// leads reports whether a stage may follow another, directly or after others.
func (t *Team) leads(from, to string) bool {
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(name string) bool {
		st := t.Stage(name)
		if st == nil || seen[name] {
			return false
		}
		seen[name] = true
		return slices.Contains(st.Next, to) || slices.ContainsFunc(st.Next, walk)
	}
	return walk(from)
}
