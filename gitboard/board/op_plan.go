package board

// Plan assigns a goal to a planner. A planner plans one goal at a time, and no two planners plan
// the same goal.
type Plan struct {
	Goal string `json:"goal"`
	Evidence
}

// Op implements Payload.
func (p *Plan) Op() string { return "plan" }

// Check implements Payload.
func (p *Plan) Check(s *State, op Operation) error {
	g, err := s.goalInProgress(op, p.Goal)
	if err != nil {
		return err
	}
	if first := s.comesAfter(g); first != nil {
		return refuse(CodeDependency, "%s comes after %s", g.ID, first.ID)
	}
	if b := SpentGoal(s, g); b != nil {
		return refuse(CodeMode, "%s", b).Advise("a human: %s", b.Raise())
	}
	switch holder := s.PlannerOf(g.ID); {
	case holder == op.Actor.ID:
		return refuse(CodeExists, "%s plans %s already", holder, g.ID)
	case holder != "":
		if lapsed(s, holder, p.Lease, 0, op) != nil {
			return refuse(CodeReserved, "%s is planned by %s, which is alive", g.ID, holder).Way(ActOn("goal-list"))
		}
	}
	return nil
}

// leaseOfPlanner names the agent that plans a goal.
func leaseOfPlanner(s *State, op Operation, _ *Task) string {
	p := op.Payload.(*Plan)
	if p.Goal == "" {
		return ""
	}
	if holder := s.PlannerOf(p.Goal); holder != op.Actor.ID {
		return holder
	}
	return ""
}

// Apply implements Payload.
func (p *Plan) Apply(s *State, op Operation) {
	g, err := s.FindGoal(p.Goal)
	if err != nil {
		return
	}
	if holder := s.PlannerOf(g.ID); holder != "" {
		edit[Agent](s, RecordPath(AgentDir, holder)).Goal = ""
	}
	edit[Agent](s, RecordPath(AgentDir, op.Actor.ID)).Goal = g.ID
}

// Subject implements Payload.
func (p *Plan) Subject(_, _ *State, op Operation) (string, string) {
	return p.Goal + " by " + op.Actor.ID, ""
}
