package board

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// AnomalyType is a row of the table of anomalies: who may log it, and its required details.
type AnomalyType struct {
	Type    string
	Who     []roles.Role
	Details []string
}

// FlakyTest is the anomaly of an integration test that failed and then passed on the same commit.
const FlakyTest = "flaky_test"

var anyAgent = []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer}

// AnomalyTypes is the table; a human may log any of them.
var AnomalyTypes = []AnomalyType{
	{"retry_loop", []roles.Role{roles.Coder, roles.CodeReviewer}, []string{"count", "error_pattern"}},
	{"trade_off", coder, []string{"what", "why", "debt_created"}},
	{"spec_ambiguity", coder, nil},
	{"external_blocker", coder, []string{"blocker_service"}},
	{"assumption_violated", []roles.Role{roles.Coder, roles.CodeReviewer}, []string{"assumption", "reality"}},
	{"scope_deviation", reviewer, nil},
	{"workaround", reviewer, nil},
	{"debt_created", reviewer, nil},
	{"spec_changed", reviewer, nil},
	{"hypothesis_exhaustion", []roles.Role{roles.Planner}, nil},
	{"spec_gap", []roles.Role{roles.Planner}, nil},
	{"review_deadlock", []roles.Role{roles.Planner}, nil},
	{FlakyTest, []roles.Role{roles.CodeReviewer}, []string{"test", "runs"}},
	{"system_ambiguity", anyAgent, []string{"protocol_section", "question"}},
}

// LogAnomaly records an unexpected event.
type LogAnomaly struct {
	Type    string            `json:"type"`
	Task    string            `json:"task,omitempty"`
	Goal    string            `json:"goal,omitempty"` // "" for that of the task, or of its author
	Details map[string]Scalar `json:"details,omitempty"`
}

// Op implements Payload.
func (p *LogAnomaly) Op() string { return "anomaly" }

// TaskID implements TaskPayload.
func (p *LogAnomaly) TaskID() string { return p.Task }

// Check implements Payload.
func (p *LogAnomaly) Check(s *State, op Operation) error {
	if err := anomalyFault(p.Type, p.Details); err != nil {
		return err
	}
	if err := s.knownGoal(p.Goal); err != nil {
		return err
	}
	row := AnomalyTypes[anomalyRow(p.Type)]
	if op.Actor.Role != roles.Human && !slices.Contains(row.Who, op.Actor.Role) {
		return refuse(CodePermission, "%s is not logged by a %s", p.Type, op.Actor.Role).Advise("it takes %s", list(row.Who))
	}
	return nil
}

func anomalyRow(typ string) int {
	return slices.IndexFunc(AnomalyTypes, func(a AnomalyType) bool { return a.Type == typ })
}

// anomalyFault refuses an unknown type, a missing detail or a detail of the wrong kind.
func anomalyFault(typ string, details map[string]Scalar) error {
	i := anomalyRow(typ)
	if i < 0 {
		var names []string
		for _, a := range AnomalyTypes {
			names = append(names, a.Type)
		}
		return invalid("%s is not a type of anomaly", quote(typ)).Advise("types: %s", strings.Join(names, ", "))
	}
	for _, name := range AnomalyTypes[i].Details {
		v := string(details[name])
		switch {
		case strings.TrimSpace(v) == "":
			return invalid("%s needs the detail %s", typ, name).Advise("%s=VALUE", name)
		case name == "count" && (!wholeNumber.MatchString(v) || v[0] == '-'):
			return invalid("%s: count is a number, not %s", typ, quote(v))
		case name == "debt_created" && v != "true" && v != "false":
			return invalid("%s: debt_created is true or false, not %s", typ, quote(v))
		}
	}
	for name := range details {
		if !detailName(name) {
			return invalid("%s is not a name for a detail: use lower-case letters, digits and _", quote(name))
		}
	}
	return nil
}

func detailName(s string) bool {
	return s != "" && len(s) <= 40 && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_')
	}) < 0
}

// Apply implements Payload.
func (p *LogAnomaly) Apply(s *State, op Operation) {
	logAnomaly(s, op, Anomaly{Reporter: op.Actor.ID, Task: p.Task, Goal: s.goalOf(op, p.Goal, p.Task), Type: p.Type, Details: p.Details})
}

// Subject implements Payload.
func (p *LogAnomaly) Subject(before, _ *State, _ Operation) (string, string) {
	var lines []string
	for _, name := range sortedKeys(p.Details) {
		lines = append(lines, fmt.Sprintf("%s: %s", name, p.Details[name]))
	}
	return before.nextID(AnomalyDir, "anomaly") + ", " + p.Type, strings.Join(lines, "\n")
}

// SimilarLoop returns a retry loop with a similar pattern that was logged earlier for a task, among
// the newest hundred.
func SimilarLoop(s *State, task, pattern string) *Anomaly {
	var loops []*Anomaly
	for _, id := range s.List(AnomalyDir) {
		if a := s.Anomaly(id); a != nil && a.Type == "retry_loop" && a.Task == task {
			loops = append(loops, a)
		}
	}
	for _, a := range loops[max(0, len(loops)-maxMatched):] {
		if text.Similar(string(a.Details["error_pattern"]), pattern) {
			return a
		}
	}
	return nil
}
