package board

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/text"
)

// Severities and Urgencies are the permitted values of a discovery; the default urgency is
// deferred.
var (
	Severities = []string{"critical", "high", "medium", "low"}
	Urgencies  = []string{"immediate", "deferred"}
)

// Discover logs an adjacent problem instead of fixing it.
type Discover struct {
	During         string `json:"during,omitempty"`
	Goal           string `json:"goal,omitempty"` // "" for that of the task, or of its author
	Description    string `json:"description"`
	Severity       string `json:"severity"`
	Urgency        string `json:"urgency"`
	Recommendation string `json:"recommendation,omitempty"`
}

// Op implements Payload.
func (p *Discover) Op() string { return "discover" }

// TaskID implements TaskPayload.
func (p *Discover) TaskID() string { return p.During }

// Check implements Payload.
func (p *Discover) Check(s *State, _ Operation) error {
	if err := s.knownGoal(p.Goal); err != nil {
		return err
	}
	if !slices.Contains(Severities, p.Severity) {
		return invalid("%s is not a severity: use %s", quote(p.Severity), list(Severities))
	}
	if !slices.Contains(Urgencies, p.Urgency) {
		return invalid("%s is not an urgency: use %s", quote(p.Urgency), list(Urgencies))
	}
	return required("description", p.Description)
}

// Apply implements Payload.
func (p *Discover) Apply(s *State, op Operation) {
	id := s.nextID(DiscoveryDir, "disc")
	put(s, RecordPath(DiscoveryDir, id), &Discovery{
		ID: id, By: op.Actor.ID, During: p.During, Goal: s.goalOf(op, p.Goal, p.During), Description: p.Description, Severity: p.Severity,
		Urgency: p.Urgency, Recommendation: p.Recommendation, Created: op.Time,
	})
}

// Subject implements Payload.
func (p *Discover) Subject(before, _ *State, _ Operation) (string, string) {
	line := before.nextID(DiscoveryDir, "disc") + ", " + p.Severity
	if p.Urgency == "immediate" {
		line += ", immediate"
	}
	return line + ": " + text.Line(p.Description, 80), p.Description
}

// openDiscovery refuses the id of no discovery, and one that was dealt with.
func (s *State) openDiscovery(id string) error {
	var d *Discovery
	if recordID.MatchString(id) {
		d = s.Discovery(id)
	}
	if d == nil {
		return refuse(CodeUnknownRecord, "no discovery is called %s", quote(id)).meant(id, s.List(DiscoveryDir), ActOn("read", DiscoveryDir))
	}
	if !d.Open() && (d.Settled == nil || d.Settled.How != "deferred") { // a deferred one may be taken up later
		return refuse(CodeExists, "%s has been dealt with already", id).Way(ActOn("read", DiscoveryDir))
	}
	return nil
}
