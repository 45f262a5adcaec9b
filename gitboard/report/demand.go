package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// usualIdle is how long an agent stays without work if its role sets no limit.
const usualIdle = 2 * time.Minute

// Bounds limit the agents of a role in a team that sizes itself, on all machines together, and the
// time that an agent stays without work.
type Bounds struct {
	Min, Max int
	Idle     time.Duration
}

// boundsOf returns the bounds of a team's role.
func boundsOf(r *board.Role) Bounds {
	return Bounds{Min: r.Min, Max: r.Most(), Idle: cmp.Or(time.Duration(r.Idle)*time.Second, usualIdle)}
}

// Demand is how much work there is for a role, and who can do it, according to the board and its
// leases alone: every team that looks at the same board sees the same.
type Demand struct {
	Role   *board.Role
	Bounds Bounds
	Live   []string          // the registered agents whose leases run, by number, without ByHand
	ByHand []string          // agents without work that no supervisor runs, although their leases run
	Offers map[string]string // by idle agent: the task or goal that the board offers it
	Left   []string          // the board's offer to further agents, up to as many as the role may still get

	bound map[string]bool // agents that have work, or a submission that may come back to them
	waits bool            // something waits for the role to act, perhaps later
}

// Demands computes the demand for each role of the team at a given time, in the team's order. Work
// that several roles could do counts for one of them: for the role of an idle agent, else for a
// role with live agents, else for the first.
func Demands(s *board.State, leases map[string]board.Lease, now board.Time) []Demand {
	live := func(id string) bool { return s.Agent(id) != nil && now < leases[id].Expires }
	team := s.Team().Roles
	all := make([]Demand, len(team))
	bound := Engaged(s)
	var order []*Demand // those with live agents first
	for i := range team {
		d := &all[i]
		*d = Demand{Role: &team[i], Bounds: boundsOf(&team[i]), Offers: map[string]string{}, bound: bound}
		for _, id := range s.List(board.AgentDir) {
			switch a := s.Agent(id); {
			case roles.NameOf(id) != d.Role.Name || !live(id):
			case a.ByHand() && !bound[id] && a.Goal == "":
				d.ByHand = append(d.ByHand, id)
			default:
				d.Live = append(d.Live, id)
			}
		}
		slices.SortFunc(d.Live, byNumber)
		order = append(order, d)
	}
	slices.SortStableFunc(order, func(a, b *Demand) int { return CompareBools(len(a.Live) == 0, len(b.Live) == 0) })
	awaited(s, order)
	if s.Control().Mode != board.Running {
		return all
	}
	taken := map[board.RoleKind]map[string]bool{board.PlannerKind: {}, board.CoderKind: {}, board.ReviewerKind: {}}
	for _, d := range order {
		d.offer(s, offerTo(s, d.Role, leases, now, live), taken[d.Role.Kind])
	}
	for _, d := range order {
		d.leave(nextAgent(s, d.Role), d.Bounds.Max-len(d.Live), offerTo(s, d.Role, leases, now, live), taken[d.Role.Kind])
	}
	return all
}

// DemandFor returns the demand for a role of the team; false if the team has no such role.
func DemandFor(s *board.State, role string, leases map[string]board.Lease, now board.Time) (Demand, bool) {
	all := Demands(s, leases, now)
	i := slices.IndexFunc(all, func(d Demand) bool { return d.Role.Name == role })
	if i < 0 {
		return Demand{}, false
	}
	return all[i], true
}

// offer records what the board offers each idle agent.
func (d *Demand) offer(s *board.State, choose func(string, map[string]bool) string, taken map[string]bool) {
	for _, id := range d.Live {
		if a := s.Agent(id); a.CurrentTask != "" && a.Status != board.Waiting {
			continue
		}
		if work := choose(id, taken); work != "" {
			d.Offers[id], taken[work] = work, true
		}
	}
}

// byNumber orders agents of one role by number.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// nextAgent is the lowest free id of a role.
func nextAgent(s *board.State, role *board.Role) string {
	taken, n := s.List(board.AgentDir), 1
	for slices.Contains(taken, role.ID(n)) {
		n++
	}
	return role.ID(n)
}

// leave records what is left for further agents, up to a number.
func (d *Demand) leave(next string, most int, choose func(string, map[string]bool) string, taken map[string]bool) {
	for len(d.Left) < most {
		work := choose(next, taken)
		if work == "" {
			return
		}
		d.Left, taken[work] = append(d.Left, work), true
	}
}

// Engaged returns the agents that have work, or a submission that may come back to them.
func Engaged(s *board.State) map[string]bool {
	engaged := map[string]bool{}
	for _, id := range s.List(board.AgentDir) {
		if a := s.Agent(id); a != nil && (a.CurrentTask != "" || s.Runs(a.Goal) && len(Wakes(s, a.Goal)) > 0) {
			engaged[id] = true
		}
	}
	s.EachBrief(func(b board.Brief) {
		switch b.Status {
		case board.ReadyForReview, board.Rejected:
			engaged[b.AssignedTo] = true // a rejection goes back to its author
		}
	})
	return engaged
}

// awaited finds the roles that need one agent, because a submission waits for a review or a merge:
// for each submission a role that may review it, and any reviewer for a merge.
func awaited(s *board.State, order []*Demand) {
	order = slices.DeleteFunc(slices.Clone(order), func(d *Demand) bool { return d.Role.Kind != board.ReviewerKind })
	if len(order) == 0 {
		return
	}
	for _, d := range order {
		d.waits = len(PlansToReview(s, d.Role.ID(1))) > 0
	}
	some, merges := false, false
	s.EachBrief(func(b board.Brief) {
		if b.Paused || !s.Runs(b.Goal) {
			return
		}
		switch b.Status {
		case board.Approved:
			merges = true
		case board.ReadyForReview:
			by := s.Team().ReviewPolicy(b.InStage()).By
			i := slices.IndexFunc(order, func(d *Demand) bool { return len(by) == 0 || slices.Contains(by, d.Role.Name) })
			order[max(0, i)].waits, some = true, true
		}
	})
	if merges && !some {
		order[0].waits = true
	}
}

// offerTo returns a function that chooses what an agent of a role would take on next, without what
// is taken: a task, or for a planner a goal; "" for nothing.
func offerTo(s *board.State, role *board.Role, leases map[string]board.Lease, now board.Time, live func(string) bool) func(agent string, taken map[string]bool) string {
	takeable := func(holder string, b board.Brief) bool {
		l := leases[holder]
		until := l.Expires
		if b.Status == board.Rejected {
			until = l.FreeAt(board.AbandonedAfter)
		}
		return s.Agent(holder) == nil || now >= until
	}
	switch role.Kind {
	case board.PlannerKind:
		return func(agent string, taken map[string]bool) string {
			for _, g := range s.Running() {
				by := s.PlannerOf(g.ID)
				dead := by != "" && by != agent && !live(by)
				open := len(Wakes(s, g.ID)) > 0 || dead && Drafted(s, g)
				if open && !taken[g.ID] && (by == "" || by == agent || dead) {
					return g.ID
				}
			}
			return ""
		}
	case board.ReviewerKind:
		return func(agent string, taken map[string]bool) string {
			if id := board.NextReview(s, agent, func(id string) bool { return taken[id] }, takeable); id != "" {
				return id
			}
			for _, w := range PlansToReview(s, agent) {
				if !taken[w.Goal] {
					return w.Goal
				}
			}
			return ""
		}
	}
	return func(agent string, taken map[string]bool) string {
		return board.NextClaim(s, agent, func(id string) bool { return taken[id] }, takeable)
	}
}

// Missing is how many agents have to be started.
func (d Demand) Missing() int {
	wanted := len(d.Left)
	if d.waits && len(d.Live) == 0 {
		wanted = max(wanted, 1)
	}
	return max(0, min(wanted, d.Bounds.Max-len(d.Live)), d.Bounds.Min-len(d.Live))
}

// Spare reports whether an agent that has waited long enough may leave: the board offers it no
// task, no task can come back to it, and enough others stay. Of several, those with the highest
// numbers leave first; the last agent stays while the role has work.
func (d Demand) Spare(agent string) bool {
	var spare []string
	for _, id := range d.Live {
		if d.Offers[id] == "" && !d.bound[id] {
			spare = append(spare, id)
		}
	}
	i := slices.Index(spare, agent)
	keep := d.Bounds.Min
	if d.waits {
		keep = max(keep, 1)
	}
	return i >= 0 && len(spare)-1-i < len(d.Live)-keep
}
