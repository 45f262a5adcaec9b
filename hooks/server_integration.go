package hooks

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Integration is the effect of a push, or of one of its transactions, on the integration branch.
type Integration struct {
	Branch   string
	Move     *Move           // nil if it doesn't move
	Now      string          // where it was before, all zeros if it didn't exist
	Landings []board.Landing // recorded by the operations that join the board
	Founding bool            // the board itself begins with them
	Holds    func(older, newer string) bool
}

// CheckIntegration refuses a move of integration that the accompanying operations don't record, and
// operations that record a move that doesn't accompany them. A push without --atomic brings several
// transactions, and neither half may come alone.
func CheckIntegration(i Integration) *board.Refusal {
	const together = "push the board and %s in one transaction: git push --atomic; git liza does so by itself"
	const land = "record it (%s), and push it together with the board: git push --atomic"
	if i.Move == nil && i.Founding && zero(i.Now) {
		return refuse(board.CodeIntegration, sprintf(together, i.Branch), "the board begins without %s, where its work lands", i.Branch)
	}
	if i.Move == nil {
		for _, l := range i.Landings {
			if zero(i.Now) || !i.Holds(l.After, i.Now) {
				return refuse(board.CodeIntegration, sprintf(together, i.Branch), "the board says that %.10s has landed, and %s does not move with it", l.After, i.Branch)
			}
		}
		return nil
	}
	m := *i.Move
	switch {
	case zero(m.New):
		return refuse(board.CodeIntegration, "leave it", "%s is where approved work lands, and is not deleted", i.Branch)
	case !zero(i.Now) && !i.Holds(i.Now, m.New):
		return board.Refusef(board.CodeIntegration, "%s would lose commits: only a fast-forward is taken", i.Branch).Advise("rebase your work onto it: git fetch, then %s", board.ActOn("sync"))
	}
	if zero(i.Now) && !i.Founding {
		return refuse(board.CodeIntegration, "the server's administrator creates it: git branch "+i.Branch+" COMMIT", "%s is missing here, and no push makes it: the board knows where it was", i.Branch)
	}
	if i.Founding {
		// A board that is shared for the first time brings its own history.
		if last := i.lastMove(); last != "" && !i.Holds(last, m.New) {
			return refuse(board.CodeIntegration, sprintf(together, i.Branch), "the board says that %.10s has landed, and %s does not hold it", last, i.Branch)
		}
		return nil
	}
	if i.lastMove() == "" {
		return board.Refusef(board.CodeIntegration, "nothing on the board records that %s moves from %.10s to %.10s", i.Branch, i.Now, m.New).Advise(land, board.ActOn("land", "COMMIT"))
	}
	at := i.Now
	for _, l := range i.Landings {
		switch {
		case l.Found && !i.Holds(l.After, at):
			return board.Refusef(board.CodeIntegration, "%s is at %.10s and does not hold %.10s, which the board says was found there", i.Branch, at, l.After).Advise(land, board.ActOn("land", "COMMIT"))
		case l.Found:
			continue
		case l.Before != at || !i.Holds(at, l.After):
			return board.Refusef(board.CodeIntegration, "%s is at %.10s, and the board records a move from %.10s to %.10s", i.Branch, at, l.Before, l.After).Advise(land, board.ActOn("land", "COMMIT"))
		}
		at = l.After
	}
	if at != m.New {
		return board.Refusef(board.CodeIntegration, "the board records %s at %.10s, and the push moves it to %.10s", i.Branch, at, m.New).Advise(land, board.ActOn("land", "COMMIT"))
	}
	return nil
}

// lastMove returns the end of the last recorded move, "" for none.
func (i Integration) lastMove() string {
	for _, l := range slices.Backward(i.Landings) {
		if !l.Found {
			return l.After
		}
	}
	return ""
}
