package hooks

import "github.com/git-liza/git-liza/gitboard/board"

// Landing is a move of integration that an operation records. Before is all zeros where it doesn't say.
type Landing struct{ Before, After string }

// Integration is what a push, or one of its transactions, does to the integration branch.
type Integration struct {
	Branch   string
	Move     *Move     // nil when it doesn't move
	Now      string    // where it is before, all zeros for nowhere
	Landings []Landing // by the operations that join the board
	Founding bool      // the board itself begins with them
	Holds    func(older, newer string) bool
}

// CheckIntegration refuses a move of integration that the operations beside it don't record, and operations that
// record a move that is not beside them. What a push without --atomic brings is several transactions, and neither
// half may come alone.
func CheckIntegration(i Integration) *board.Refusal {
	const together = "push the board and %s in one transaction: git push --atomic; git liza does so by itself"
	const land = "record it (git liza land COMMIT), and push it together with the board: git push --atomic"
	if i.Move == nil {
		if n := len(i.Landings); n > 0 && (zero(i.Now) || !i.Holds(i.Landings[n-1].After, i.Now)) {
			return refuse("integration", sprintf(together, i.Branch), "the board says that %.10s has landed, and %s does not move with it", i.Landings[n-1].After, i.Branch)
		}
		return nil
	}
	m := *i.Move
	switch {
	case zero(m.New):
		return refuse("integration", "leave it", "%s is where approved work lands, and is not deleted", i.Branch)
	case !zero(i.Now) && !i.Holds(i.Now, m.New):
		return refuse("integration", "bring your work on to it: git fetch, and git liza sync", "%s would lose commits: only a fast-forward is taken", i.Branch)
	}
	last := m.New
	if n := len(i.Landings); n > 0 {
		last = i.Landings[n-1].After
	}
	if i.Founding || zero(i.Now) {
		// A board that is shared for the first time brings a history of its own.
		if !i.Holds(last, m.New) {
			return refuse("integration", sprintf(together, i.Branch), "the board says that %.10s has landed, and %s does not hold it", last, i.Branch)
		}
		return nil
	}
	if len(i.Landings) == 0 {
		return refuse("integration", land, "nothing on the board records that %s moves from %.10s to %.10s", i.Branch, i.Now, m.New)
	}
	at := i.Now
	for _, l := range i.Landings {
		if !zero(l.Before) && l.Before != at || !i.Holds(at, l.After) {
			return refuse("integration", land, "%s is at %.10s, and the board records a move from %.10s to %.10s", i.Branch, at, l.Before, l.After)
		}
		at = l.After
	}
	if at != m.New {
		return refuse("integration", land, "the board records %s at %.10s, and the push moves it to %.10s", i.Branch, at, m.New)
	}
	return nil
}
