package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// usualIdle is how long an agent stays without work if its role does not say.
const usualIdle = 2 * time.Minute

// Bounds say how many agents of a role a team that sizes itself has, on all machines together, and
// how long one of them stays without work.
type Bounds struct {
	Min, Max int
	Idle     time.Duration
}

// BoundsOf returns the bounds of a team's role.
func BoundsOf(r *board.Role) Bounds {
	return Bounds{Min: r.Min, Max: r.Most(), Idle: cmp.Or(time.Duration(r.Idle)*time.Second, usualIdle)}
}

// Demand is how much work there is for a role, and who is there to do it, according to the board
// and its leases alone: every team that looks at the same board sees the same.
type Demand struct {
	Role   *board.Role
	Bounds Bounds
	Live   []string          // the registered agents whose leases run, by number
	Offers map[string]string // by idle agent: the task or goal that the board offers it
	Left   []string          // what the board would offer to further agents, up to the asked number

	bound map[string]bool // agents that have work, or a submission that may come back to them
	waits bool            // something waits for the role to act, perhaps later
}

// DemandFor computes the demand for a role of the team at a given time. Left has at most the given number of
// entries.
func DemandFor(s *board.State, role *board.Role, leases map[string]board.Lease, now board.Time, most int) Demand {
	d := Demand{Role: role, Bounds: BoundsOf(role), Offers: map[string]string{}, bound: map[string]bool{}}
	live := func(id string) bool { return s.Agent(id) != nil && now < leases[id].Expires }
	for _, id := range s.List(board.AgentDir) {
		if roles.NameOf(id) == role.Name && live(id) {
			d.Live = append(d.Live, id)
		}
	}
	slices.SortFunc(d.Live, byNumber)
	d.engaged(s)
	if s.Control().Mode != board.Running {
		return d
	}
	choose := offerTo(s, role, leases, now, live)
	taken := map[string]bool{}
	for _, id := range d.Live {
		if a := s.Agent(id); a.CurrentTask != "" && a.Status != board.Waiting {
			continue
		}
		if work := choose(id, taken); work != "" {
			d.Offers[id], taken[work] = work, true
		}
	}
	next := nextAgent(s, role)
	for len(d.Left) < most {
		work := choose(next, taken)
		if work == "" {
			break
		}
		d.Left, taken[work] = append(d.Left, work), true
	}
	return d
}

// byNumber orders agents of one role by number.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// drafted reports whether a goal has a task that only a planner can finalize.
func drafted(s *board.State, goal string) bool {
	return slices.ContainsFunc(s.TasksOf(goal), func(b board.Brief) bool { return b.Status == board.Draft })
}

// nextAgent is the lowest id of a role that nobody has.
func nextAgent(s *board.State, role *board.Role) string {
	taken, n := s.List(board.AgentDir), 1
	for slices.Contains(taken, role.ID(n)) {
		n++
	}
	return role.ID(n)
}

// engaged finds out which agents have to stay, and whether something waits for the role.
func (d *Demand) engaged(s *board.State) {
	for _, id := range d.Live {
		if a := s.Agent(id); a.CurrentTask != "" || s.Runs(a.Goal) && len(Wakes(s, a.Goal)) > 0 {
			d.bound[id] = true
		}
	}
	s.EachBrief(func(b board.Brief) {
		switch b.Status {
		case board.ReadyForReview, board.Rejected:
			d.bound[b.AssignedTo] = true // a rejection goes back to its author
		}
		unmerged := b.Status == board.ReadyForReview || b.Status == board.Approved
		if d.Role.Kind == board.ReviewerKind && unmerged && !b.Paused && s.Runs(b.Goal) {
			d.waits = true
		}
	})
}

// offerTo returns a function that chooses what an agent of a role would take on next, without what
// is taken: a task, or for a planner a goal; "" for nothing.
func offerTo(s *board.State, role *board.Role, leases map[string]board.Lease, now board.Time, live func(string) bool) func(agent string, taken map[string]bool) string {
	takeable := func(holder string, b board.Brief) bool {
		until := leases[holder].Expires
		if b.Status == board.Rejected {
			until = until.Add(board.AbandonedAfter)
		}
		return s.Agent(holder) == nil || now >= until
	}
	switch role.Kind {
	case board.PlannerKind:
		return func(agent string, taken map[string]bool) string {
			for _, g := range s.Running() {
				by := s.PlannerOf(g.ID)
				dead := by != "" && by != agent && !live(by)
				open := len(Wakes(s, g.ID)) > 0 || dead && drafted(s, g.ID)
				if open && !taken[g.ID] && (by == "" || by == agent || dead) {
					return g.ID
				}
			}
			return ""
		}
	case board.ReviewerKind:
		return func(agent string, taken map[string]bool) string {
			return board.NextReview(s, agent, func(id string) bool { return taken[id] }, takeable)
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

// Spare reports whether an agent that has waited long enough may leave: the board offers it
// nothing, nothing can come back to it, and enough others stay. Of several, those with the highest
// numbers leave first; the last agent stays while something waits for the role.
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
