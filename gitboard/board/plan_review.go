package board

import "github.com/git-liza/git-liza/gitboard/roles"

// NoPlanReview is the value of Team.PlanReview for plans without a review.
const NoPlanReview = "off"

// PlanState is how far the review of a draft is, if plans are reviewed.
type PlanState string

// A draft that a planner works on has no state. One that it finalizes is proposed: it waits for the
// review. One that the reviewer rejects waits for the planner.
const (
	PlanProposed PlanState = "proposed"
	PlanRejected PlanState = "rejected"
)

// PlanReviewer is who reviews plans: "human", the name of a role, or "" for nobody.
func (t *Team) PlanReviewer() string {
	if t.PlanReview == NoPlanReview {
		return ""
	}
	return t.PlanReview
}

func (t *Team) planFault() *TeamFault {
	by := t.PlanReviewer()
	if by == "" || by == roles.HumanID {
		return nil
	}
	can := append(t.reviewers(), roles.HumanID, NoPlanReview)
	if r := t.Role(by); r == nil || r.Kind != ReviewerKind {
		return faultAt("plan_review", "%s is not a role that reviews: %s", quote(by), didYouMean(by, can, "use "+list(can)))
	}
	return nil
}

// reviewers lists the names of the roles of the kind reviewer.
func (t *Team) reviewers() []string {
	var names []string
	for _, r := range t.Roles {
		if r.Kind == ReviewerKind {
			names = append(names, r.Name)
		}
	}
	return names
}

// proposes reports whether an actor's Finalize proposes a draft to the reviewer of plans.
func (t *Team) proposes(a Actor) bool { return a.Role == roles.Planner && t.PlanReviewer() != "" }

// mayFinalize refuses an actor who may not finalize or propose a draft now. A human may always
// finalize.
func (s *State) mayFinalize(t *Task, a Actor) error {
	switch {
	case a.Role == roles.CodeReviewer:
		return s.mayReviewPlan(t, a)
	case s.Team().proposes(a) && t.Plan == PlanProposed:
		return refuse(CodeExists, "%s is proposed already, and waits for the review of the plan by a %s", t.ID, s.Team().PlanReviewer()).on(t)
	}
	return nil
}

// mayReviewPlan refuses an actor who may not judge a draft now. What a planner has not proposed is
// not finished.
func (s *State) mayReviewPlan(t *Task, a Actor) error {
	by, own := s.Team().PlanReviewer(), roles.NameOf(a.ID)
	switch {
	case a.Role != roles.Human && by == "":
		return refuse(CodePermission, "plans are not reviewed here, and %s reviews submissions", a.ID).on(t)
	case a.Role != roles.Human && by != own:
		return refuse(CodePermission, "the plan is reviewed by a %s here, not by a %s", by, own).on(t)
	case t.Plan != PlanProposed:
		return refuse(CodeWrongState, "%s is not proposed: its planner still works on it", t.ID).on(t)
	case a.Role != roles.Human && t.plannedBy(a.ID):
		return refuse(CodePermission, "%s planned %s and can't review it", a.ID, t.ID).on(t)
	}
	return nil
}

// plannedBy reports whether an agent wrote or proposed a draft. An imported draft may be proposed
// without an event that names the author.
func (t *Task) plannedBy(agent string) bool {
	e := t.Last(EventProposed)
	return t.CreatedBy == agent || e != nil && e.Agent == agent
}
