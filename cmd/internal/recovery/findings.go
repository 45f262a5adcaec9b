package recovery

import (
	"context"
	"errors"
	"slices"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// Finding is a problem as doctor prints it.
type Finding struct {
	Kind  string `json:"kind"`
	Task  string `json:"task,omitempty"`
	Path  string `json:"path,omitempty"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
	Fixed bool   `json:"fixed"`
	Error string `json:"error,omitempty"`
}

// Repair looks for problems and repairs them until only others are left. findings are all that it
// found; left is the number of those that remain.
func Repair(ctx context.Context, c *call.Call, fix bool, repairer board.Actor, about func(doctor.Problem) bool) (findings []Finding, left int, err error) {
	findings = []Finding{}
	// A repaired problem may have hidden another one.
	const rounds = 3
	for round := 1; ; round++ {
		found, repaired, err := examine(ctx, c, fix, repairer, about)
		if err != nil {
			return nil, 0, err
		}
		if findings, repaired = inVain(findings, found, repaired); len(repaired) == 0 || round == rounds {
			return append(findings, found...), len(found) - len(repaired), nil
		}
		findings = append(findings, repaired...)
	}
}

// inVain returns findings and repaired without those that are in both: they were found again after
// a repair. In found they are marked as not repaired.
func inVain(findings, found, repaired []Finding) ([]Finding, []Finding) {
	again := func(f Finding) bool { return f.Fixed && slices.Contains(findings, f) }
	repaired = slices.DeleteFunc(repaired, again)
	for i, f := range found {
		if again(f) {
			findings = slices.DeleteFunc(findings, func(was Finding) bool { return was == f })
			found[i].Fixed, found[i].Error = false, "the repair changed nothing"
		}
	}
	return findings, repaired
}

// examine looks once for problems and repairs what it can. repaired is the repaired part of found.
func examine(ctx context.Context, c *call.Call, fix bool, repairer board.Actor, about func(doctor.Problem) bool) (found, repaired []Finding, err error) {
	problems, err := diagnose(ctx, c, repairer)
	for _, p := range problems {
		if !about(p) {
			continue
		}
		f := Finding{Kind: p.Kind, Task: p.Task, Path: p.Path, Text: p.Text, Hint: p.Hint}
		switch {
		case p.Fix == nil:
		case !fix:
			f.Hint = "git liza doctor --fix"
		default:
			if err := p.Fix(ctx); err != nil {
				f.Error = err.Error()
			} else {
				f.Fixed = true
				repaired = append(repaired, f)
			}
		}
		found = append(found, f)
	}
	return found, repaired, err
}

// letHuman is the hint for an agent where only a human may have something repaired.
const letHuman = "stop, and let a human decide: git liza doctor --fix"

// diagnose looks for problems. A broken ref that it reports keeps it from nothing else than what
// that ref is needed for.
func diagnose(ctx context.Context, c *call.Call, repairer board.Actor) ([]doctor.Problem, error) {
	problems, err := merge.Diagnose(ctx, c.Board, repairer)
	unread := (*git.BrokenRefError)(nil)
	if refused := (*board.Refusal)(nil); errors.As(err, &refused) && refused.Code == board.CodeNoIntegration {
		problems = append(problems, doctor.Problem{Kind: doctor.NoIntegration, Text: refused.Message, Hint: cmdline.Hint(refused.Hint)})
	} else if err != nil && !errors.As(err, &unread) {
		return nil, err
	}
	more, err := doctor.Diagnose(ctx, c.Board)
	if err != nil {
		return append(problems, more...), err
	}
	if unread != nil && !slices.ContainsFunc(more, func(p doctor.Problem) bool { return p.Ref == unread.Ref }) {
		return append(problems, more...), unread
	}
	own, err := health(ctx, c)
	return slices.Concat(problems, more, own), err
}

// String is the finding as text.
func (f Finding) String() string {
	switch {
	case f.Fixed:
		return "repaired: " + f.Text
	case f.Error != "":
		return f.Text + "\n  could not be repaired: " + f.Error
	case f.Hint != "":
		return f.Text + "\n  " + f.Hint
	}
	return f.Text
}
