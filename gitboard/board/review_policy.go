package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// ReviewPolicy sets who reviews the submissions of a stage, and how many have to approve. Its zero
// value asks for one approval by any reviewer or human.
type ReviewPolicy struct {
	// By are the roles whose agents may review, also of the kind coder; "human" stands for humans.
	// None: humans and all roles of the kind reviewer.
	By []string `yaml:"by,omitempty" json:"by,omitempty"`
	// Approvals is how many different reviewers have to approve; 0 is 1.
	Approvals int `yaml:"approvals,omitempty" json:"approvals,omitempty"`
	// Differ is in what reviewers differ from the coder if possible or, if Required, in any case:
	// "cli" or "model"; "" for nothing.
	Differ   string `yaml:"differ,omitempty" json:"differ,omitempty"`
	Required bool   `yaml:"required,omitempty" json:"required,omitempty"`
	// Paths are globs. A submission that changes a matching file needs the approval of a human in
	// addition.
	Paths []string `yaml:"paths,omitempty" json:"paths,omitempty"`
}

// Properties in which a reviewer may have to differ from the coder.
const (
	DifferCLI   = "cli"
	DifferModel = "model"
)

// maxApprovals is the largest number of approvals that a policy may ask for.
const maxApprovals = 20

// ReviewPolicy returns the review policy of a stage.
func (t *Team) ReviewPolicy(stage string) ReviewPolicy {
	if st := t.Stage(stage); st != nil {
		return st.Review
	}
	return ReviewPolicy{}
}

// Quorum is how many approvals the policy asks for, without that of a human for certain paths.
func (p ReviewPolicy) Quorum() int { return max(1, p.Approvals) }

// HumanPaths lists the policy's globs that match a changed file.
func (p ReviewPolicy) HumanPaths(files []string) []string {
	var matching []string
	for _, glob := range p.Paths {
		if slices.ContainsFunc(files, func(file string) bool { return matches(glob, file) }) && !slices.Contains(matching, glob) {
			matching = append(matching, glob)
		}
	}
	return matching
}

// reviewFault describes a policy's fault, with its field; "" for none.
func (t *Team) reviewFault(p ReviewPolicy) (field, what string) {
	reviewers, most := append(t.reviewers(), roles.HumanID), 0
	for _, r := range t.Roles {
		if r.Kind == ReviewerKind && (len(p.By) == 0 || slices.Contains(p.By, r.Name)) {
			most += r.Most()
		}
	}
	reviews := func(by string) bool { return slices.Contains(reviewers, by) }
	for i, by := range p.By {
		if r := t.Role(by); !reviews(by) && (r == nil || r.Kind != CoderKind) {
			return fmt.Sprintf("by[%d]", i), fmt.Sprintf("%s is not a role that reviews: use %s", quote(by), list(reviewers))
		}
	}
	if len(p.By) > 0 && !slices.ContainsFunc(p.By, reviews) {
		return "by", fmt.Sprintf("coders only review what others leave: add %s", list(reviewers))
	}
	switch {
	case p.Approvals > most && !slices.Contains(p.By, roles.HumanID):
		return "approvals", fmt.Sprintf("%s are asked for, and the roles that review have at most %s", text.Plural(p.Approvals, "approval"), text.Plural(most, "agent"))
	case p.Approvals < 0 || p.Approvals > maxApprovals:
		return "approvals", fmt.Sprintf("%d is not from 1 to %d", p.Approvals, maxApprovals)
	case p.Differ != "" && p.Differ != DifferCLI && p.Differ != DifferModel:
		return "differ", quote(p.Differ) + " is not cli or model"
	case p.Required && p.Differ == "":
		return "required", "it is set, and differ is not"
	}
	for i, glob := range p.Paths {
		if glob == "" || !doublestar.ValidatePattern(glob) {
			return fmt.Sprintf("paths[%d]", i), quote(glob) + " is not a glob"
		}
	}
	return "", ""
}

// Approval is a reviewer's approval of a task's submission.
type Approval struct {
	Time Time   `yaml:"time" json:"time"`
	By   string `yaml:"by" json:"by"`
	As   string `yaml:"as,omitempty" json:"as,omitempty"` // a human: name and address
}

// sameReviewer reports whether two approvals are by one reviewer. A human is known by the address,
// to which keys belong, too: a name is free to choose.
func (a Approval) sameReviewer(b Approval) bool {
	return a.By == b.By && addressIn(a.As) == addressIn(b.As)
}

// addressIn returns the address in what Actor.Identity has returned, in lower case.
func addressIn(identity string) string {
	return strings.ToLower(identity[strings.LastIndex(identity, " <")+1:])
}

// Author is who approved; a human is given by name.
func (a Approval) Author() string {
	if name, _, _ := strings.Cut(a.As, " <"); name != "" {
		return name
	}
	return a.By
}

// Approvers lists the reviewers who have approved the submission, as on the board.
func (t *Task) Approvers() []string { return approvers(t.Approvals) }

func approvers(approvals []Approval) []string {
	var all []string
	for _, a := range approvals {
		all = append(all, a.Author())
	}
	return all
}

// ApprovedOnce reports whether an agent has approved the submission.
func (t *Task) ApprovedOnce(agent string) bool {
	return slices.ContainsFunc(t.Approvals, func(a Approval) bool { return a.By == agent })
}

// ReviewProgress is how far the review of a submission is.
type ReviewProgress struct {
	Policy    ReviewPolicy
	Approvals []Approval
	Paths     []string // the globs for which a human has to approve
}

// ProgressOf returns how far the review of a task's submission is, by the policy of now.
func ProgressOf(s *State, t *Task) ReviewProgress {
	p := ReviewProgress{Policy: s.Team().ReviewPolicy(t.InStage()), Approvals: t.Approvals}
	for _, glob := range t.HumanPaths {
		if slices.Contains(p.Policy.Paths, glob) {
			p.Paths = append(p.Paths, glob)
		}
	}
	if ReviewedByHumans(s, t.InStage()) {
		p.Paths = nil // all approvals are humans'
	}
	return p
}

// ReviewedByHumans reports whether humans alone approve the submissions of a stage.
func ReviewedByHumans(s *State, stage string) bool {
	by, c := s.Team().ReviewPolicy(stage).By, s.Config()
	return len(by) == 1 && by[0] == roles.HumanID || c != nil && c.ReviewBy == "human"
}

// Needed is how many approvals the submission needs in all.
func (p ReviewProgress) Needed() int {
	if len(p.Paths) > 0 {
		return p.Policy.Quorum() + 1
	}
	return p.Policy.Quorum()
}

// Missing is how many approvals the submission still needs.
func (p ReviewProgress) Missing() int {
	missing := p.Needed() - len(p.Approvals)
	if p.AwaitsHuman() {
		return max(1, missing)
	}
	return max(0, missing)
}

// AwaitsHuman reports whether one of the missing approvals has to be a human's.
func (p ReviewProgress) AwaitsHuman() bool {
	return len(p.Paths) > 0 && !slices.ContainsFunc(p.Approvals, func(a Approval) bool { return a.By == roles.HumanID })
}

// OnlyHuman reports whether nothing but the approval of a human is missing.
func (p ReviewProgress) OnlyHuman() bool { return p.AwaitsHuman() && p.Missing() == 1 }

// String describes the progress: "1 of 2 approvals: code-reviewer-1". It is "" for a submission
// that needs one approval by anybody and has none.
func (p ReviewProgress) String() string {
	if p.Needed() == 1 && len(p.Approvals) == 0 {
		return ""
	}
	line := fmt.Sprintf("%d of %s", len(p.Approvals), text.Plural(p.Needed(), "approval"))
	if len(p.Approvals) > 0 {
		line += ": " + strings.Join(approvers(p.Approvals), ", ")
	}
	if p.AwaitsHuman() {
		line += "; a human has to approve for " + strings.Join(p.Paths, ", ")
	}
	return line
}

// mayReview refuses a reviewer who may not judge a task's submission. It does not look at who
// reviews it now.
func mayReview(s *State, t *Task, a Actor) error {
	progress := ProgressOf(s, t)
	if err := mayReviewBy(s, t, a, progress); err != nil {
		return err
	}
	if err := independent(t, a); err != nil {
		return err
	}
	if a.Role == roles.Human {
		return nil
	}
	if progress.OnlyHuman() {
		return refuse(CodePermission, "%s has the approvals of agents that it needs, and now a human has to approve it (%s)", t.ID, strings.Join(progress.Paths, ", ")).on(t)
	}
	if p := progress.Policy; p.Required && !s.differs(t, a.ID, p.Differ) {
		return refuse(CodePermission, "the reviewer of %s has to run another %s than its coder, and %s does not, or did not say which it runs", t.ID, p.Differ, a.ID).on(t)
	}
	return nil
}

// mayReviewBy refuses a reviewer whose role does not review.
func mayReviewBy(s *State, t *Task, a Actor, progress ReviewProgress) error {
	human := a.Role == roles.Human
	by := s.Config().ReviewBy
	if human && by == "agent" && !progress.AwaitsHuman() || !human && by == "human" {
		return refuse(CodePermission, "reviews are by %s here (review_by: %s)", map[string]string{"agent": "agents", "human": "humans"}[by], by).on(t)
	}
	role := roles.HumanID
	if !human {
		role = roles.NameOf(a.ID)
	}
	may := progress.Policy.By
	if len(may) == 0 && a.Role == roles.Coder {
		may = append(s.Team().reviewers(), roles.HumanID)
	}
	if len(may) > 0 && !slices.Contains(may, role) && !(human && progress.AwaitsHuman()) {
		return refuse(CodePermission, "%s is reviewed by %s, not by %s", t.ID, list(may), role).on(t)
	}
	return nil
}

// independent refuses a reviewer who made some of the work, or approved it already.
func independent(t *Task, a Actor) error {
	if slices.Contains(t.Workers(), a.ID) || t.AssignedTo == a.ID {
		return refuse(CodePermission, "%s worked on %s and can't review it", a.ID, t.ID).on(t)
	}
	for _, e := range t.Submitted() {
		if a.Role == roles.Human && slices.Contains(e.People, strings.ToLower(a.Email)) {
			return refuse(CodePermission, "%s made commits of %s and can't review it", a.Identity(), t.ID).on(t)
		}
	}
	own := Approval{By: a.ID, As: a.Identity()}
	if slices.ContainsFunc(t.Approvals, own.sameReviewer) {
		who := cmp.Or(a.Identity(), a.ID)
		return refuse(CodePermission, "%s approved this submission of %s already, and others have to approve it, too", who, t.ID).on(t)
	}
	return nil
}

// differs reports whether a reviewer is known to run another CLI or model than the coder of a
// task's submission. Models that are not known differ if the CLIs do.
func (s *State) differs(t *Task, reviewer, in string) bool {
	e := t.Last(EventReady)
	if e == nil {
		return false
	}
	cli, model := s.programOf(reviewer)
	if in == DifferModel && model != "" && e.Model != "" {
		return model != e.Model
	}
	return cli != "" && e.CLI != "" && cli != e.CLI
}

// programOf returns an agent's CLI and model: those of its registration, or else of its role.
func (s *State) programOf(agent string) (cli, model string) {
	if a := s.Agent(agent); a != nil {
		cli, model = a.CLI, a.Model
	}
	if r := s.Team().Role(roles.NameOf(agent)); r != nil {
		cli, model = cmp.Or(cli, r.CLI), cmp.Or(model, r.Model)
	}
	return cli, model
}

// preferred finds another reviewer for a task that its policy prefers to this one, because it
// differs from the coder: one that is free and alive. It returns "" for none.
func (s *State) preferred(t *Task, reviewer string, takeable func(holder string, b Brief) bool) string {
	p := s.Team().ReviewPolicy(t.InStage())
	if p.Differ == "" || s.differs(t, reviewer, p.Differ) {
		return ""
	}
	for _, id := range ReviewersOf(s, t) {
		if id != reviewer && s.Agent(id).CurrentTask == "" && s.differs(t, id, p.Differ) && !takeable(id, t.Brief()) {
			return id
		}
	}
	return ""
}

// ReviewersOf lists the registered agents that may review a task's submission. A coder's supervisor
// claims no reviews.
func ReviewersOf(s *State, t *Task) []string {
	return slices.DeleteFunc(slices.Clone(s.List(AgentDir)), func(id string) bool {
		a := s.Agent(id)
		return a == nil || a.Role == roles.Planner || a.Role == roles.Coder && !a.ByHand() || mayReview(s, t, Actor{ID: id, Role: a.Role}) != nil
	})
}
