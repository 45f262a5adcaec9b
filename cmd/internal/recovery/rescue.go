package recovery

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// Rest describes the remains of a board after a rescue.
type Rest int

const (
	Whole   Rest = iota
	NoPast       // the board, without a part of its history
	Nothing      // too little to check anything else
)

// Rescue checks first whether the board is complete, and restores what it can.
func Rescue(ctx context.Context, c *call.Call, fix bool) (found []Finding, rest Rest, err error) {
	loss, err := findLoss(ctx, c)
	if err != nil {
		return nil, Nothing, err
	}
	if loss == nil {
		found, rest, err := foreign(ctx, c, fix)
		if rest != Whole || err != nil {
			return found, rest, err
		}
		more, rest, err := forward(ctx, c.Board.Repo(), fix)
		return append(found, more...), rest, err
	}
	fromRemote := loss.LacksObjects() && c.Board.Remote() != ""
	if fix && fromRemote {
		f, still, err := refetch(ctx, c, loss)
		if f != nil || err != nil {
			return findings(f), restOf(f, loss), err
		}
		loss = still
	}
	f := Finding{Kind: doctor.DamagedBoard, Text: loss.String()}
	switch {
	case !fix && fromRemote:
		f.Hint = "git liza doctor --fix"
	case loss.Past != "":
		f.Hint = elsewhereTo + ", from a clone or a backup that has it"
	case !loss.Repairable():
		f.Hint = elsewhereTo + ":liza/state, from where it is shared, a clone or a backup that has it"
	case c.AgentID() != "" || c.NoHumanHere(ctx) != nil:
		f.Hint = letHuman
	case !fix && loss.LacksObjects():
		f.Hint = elsewhereTo + ", from a clone or a backup that has it; if there is none, git liza doctor --fix continues from there"
	case !fix:
		f.Hint = "git liza doctor --fix"
	default:
		if err := loss.Repair(ctx, c.Board.Repo()); err != nil {
			f.Error = err.Error()
		} else {
			f.Fixed = true
		}
	}
	if !f.Fixed {
		return findings(&f), restOf(&f, loss), nil
	}
	more, rest, err := Rescue(ctx, c, fix) // the history of the board that was found may have gaps
	return append(findings(&f), more...), rest, err
}

// restOf describes the remains if a loss could be found but not repaired.
func restOf(f *Finding, l *audit.Loss) Rest {
	switch {
	case f == nil, f.Fixed:
		return Whole
	case l != nil && l.Past != "":
		return NoPast
	}
	return Nothing
}

// elsewhereTo is the command that brings the board's objects from another repository. A plain fetch
// brings no object that a ref seems to have.
const elsewhereTo = "git fetch --refetch URL liza/state"

// findLoss returns what is lost of the board, nil for nothing.
func findLoss(ctx context.Context, c *call.Call) (*audit.Loss, error) {
	if loss, err := audit.FindLoss(ctx, c.Board.Repo()); loss != nil || err != nil {
		return loss, err
	}
	return gone(ctx, c)
}

// refetch fetches the board with all its objects from the remote that shares it. It returns what is
// still lost then, or a finding if nothing is, or if the remote can't be asked: it may have
// everything.
func refetch(ctx context.Context, c *call.Call, loss *audit.Loss) (*Finding, *audit.Loss, error) {
	f := &Finding{Kind: doctor.DamagedBoard, Text: loss.Damage() + "; " + c.Board.Remote() + " may have them"}
	if err := c.Board.Sharing().Refetch(ctx, plumbing.BoardRef); err != nil {
		f.Error = err.Error()
		return f, nil, nil
	}
	still, err := findLoss(ctx, c)
	if still != nil || err != nil {
		return nil, still, err
	}
	f.Text, f.Fixed = loss.Damage()+"; fetched again from "+c.Board.Remote(), true
	return f, nil, nil
}

// findings are the findings, of which there is at most one.
func findings(f *Finding) []Finding {
	if f == nil {
		return nil
	}
	return []Finding{*f}
}

// foreign takes commits by hand off the board. A shared board is the remote's again with the next
// fetch.
func foreign(ctx context.Context, c *call.Call, fix bool) (found []Finding, rest Rest, err error) {
	if c.Board.Remote() != "" {
		return nil, Whole, nil
	}
	by, err := audit.FindForeign(ctx, c.Board.Repo())
	if err != nil || by == nil {
		return nil, Whole, err
	}
	f := Finding{Kind: doctor.DamagedBoard, Text: by.String(), Hint: "git liza doctor --fix"}
	if fix {
		if err := by.Repair(ctx, c.Board.Repo()); err != nil {
			f.Error = err.Error()
		} else {
			f.Fixed = true
		}
	}
	return []Finding{f}, restOf(&f, nil), nil
}

// forward checks whether the board was set back, and moves it forward again.
func forward(ctx context.Context, repo *git.Repo, fix bool) (found []Finding, rest Rest, err error) {
	back, err := audit.FindSetBack(ctx, repo)
	if err != nil || back == nil {
		return nil, Whole, err
	}
	f := Finding{Kind: doctor.SetBackBoard, Text: back.String()}
	switch {
	case !back.Repairable():
		f.Hint = fmt.Sprintf("stop, and let a human look: git log %s..%s shows what is missing, git log %s..%s what is there instead", back.At.Short(), back.Newest.Short(), back.Newest.Short(), back.At.Short())
	case !fix:
		f.Hint = "git liza doctor --fix"
	default:
		if err := back.Repair(ctx, repo); err != nil {
			f.Error = err.Error()
		} else {
			f.Fixed = true
		}
	}
	return []Finding{f}, restOf(&f, nil), nil
}

// gone returns the loss of a board of which there are only traces, nil if it exists.
func gone(ctx context.Context, c *call.Call) (*audit.Loss, error) {
	if tip, err := c.Board.Repo().Ref(ctx, plumbing.BoardRef); err != nil || !tip.IsZero() {
		return nil, err
	}
	if gone, err := c.Board.Gone(ctx); !gone || err != nil {
		return nil, err
	}
	return &audit.Loss{}, nil
}

// ReportLoss is the result of doctor while a part of the board is missing.
func ReportLoss(c *call.Call, found []Finding) error {
	var lines []string
	for _, f := range found {
		lines = append(lines, f.String())
	}
	if err := call.Tell(c, map[string]any{"problems": found}, lines...); err != nil {
		return err
	}
	return &call.Outcome{Exit: 4, Code: call.CodeProblems, Message: "the board is damaged"}
}
