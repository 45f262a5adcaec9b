package report

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Submission is what a reviewer looks at and only the repository knows.
type Submission struct {
	Commits        []string // short id and subject, the oldest first
	Files          []string // that differ between review base and review commit
	FilesOutside   []string // of them, what the checkpoint does not name
	TestsTouched   []string // of them, what counts as a test
	TestsDeleted   []string // of them, the tests that the submission deletes or empties, the first ones of many
	EarlyCommits   []string // short ids of those from before the checkpoint, the first ones of many
	NoTestsBecause string   // what the coder said
	SpecChanged    bool     // the spec is not the one that the task was finalized with
	SpecDiff       string   // how it changed, as a patch; empty where that is unknown
}

// OwnFiles lists those of the files that differ between two submissions which one of them changes itself. The others
// came by a merge of integration, and are other tasks' work.
func OwnFiles(between, before, now []string) []string {
	return slices.DeleteFunc(slices.Clone(between), func(f string) bool { return !slices.Contains(before, f) && !slices.Contains(now, f) })
}

// SubmissionOf compares the files of a submission with what the board says about them.
func SubmissionOf(c *board.Config, t *board.Task, files []string) *Submission {
	s := &Submission{Files: files}
	checkpoint := t.CheckpointOfIteration()
	e := t.Last(board.EventReady)
	if e != nil {
		s.NoTestsBecause, s.TestsDeleted = e.NoTests, e.DeletedTests
		for _, c := range e.EarlyCommits {
			s.EarlyCommits = append(s.EarlyCommits, c[:min(len(c), 10)])
		}
	}
	for _, f := range files {
		if board.IsTest(c.TestGlobs, f) && !slices.Contains(s.TestsDeleted, f) {
			s.TestsTouched = append(s.TestsTouched, f)
		}
		if checkpoint != nil && !slices.Contains(checkpoint.FilesToModify, f) {
			s.FilesOutside = append(s.FilesOutside, f)
		}
	}
	return s
}
