package report

import "github.com/git-liza/git-liza/gitboard/board"

// StageOf is the stage of a task as every view shows it, "" if all of the team's work is in the
// built-in one.
func StageOf(s *board.State, b board.Brief) string {
	if stage := b.InStage(); stage != board.CodeStage || len(s.Team().Stages) > 1 {
		return stage
	}
	return ""
}

// ReviewOf is how far the review of a task's submission is, as every view shows it: "1 of 2
// approvals: code-reviewer-1". It is "" for a task that is not in review, and for a submission that
// needs a single approval.
func ReviewOf(s *board.State, b board.Brief) string {
	if b.Status != board.ReadyForReview {
		return ""
	}
	if t := s.Task(b.ID); t != nil {
		return board.ProgressOf(s, t).String()
	}
	return ""
}
