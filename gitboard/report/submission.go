package report

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Submission is the repository's part of a reviewer's material.
type Submission struct {
	Commits        []string // short id and subject, oldest first
	Unshown        []string // those before the review base that integration lacks, likewise
	Files          []string // differing between review base and review commit
	FilesOutside   []string // those of Files that no checkpoint of this work names
	TestsTouched   []string // those of Files that count as tests
	TestsDeleted   []string // tests that the submission deletes or empties, at most the first few
	EarlyCommits   []string // short ids of commits older than the checkpoint, at most the first few
	Unresolved     []string // conflict markers that it adds, as FILE:LINE
	NoTestsBecause string   // the coder's reason
	Verified       string   // the validation that ran at the submission, and how it ended
	SpecChanged    bool     // since the task was finalized
	SpecDiff       string   // the change as a patch, "" if unknown
}

// OwnFiles returns the files in between, which differ between two submissions, that one of the two
// changes itself. The others came with a merge of integration, and are other tasks' work.
func OwnFiles(between, before, now []string) []string {
	return slices.DeleteFunc(slices.Clone(between), func(f string) bool { return !slices.Contains(before, f) && !slices.Contains(now, f) })
}

// SubmissionOf compares the files of a submission with the board's record of them.
func SubmissionOf(c *board.Config, t *board.Task, files []string) *Submission {
	s := &Submission{Files: files}
	planned, written := t.Planned(), t.CheckpointOfIteration() != nil
	e := t.Last(board.EventReady)
	if e != nil {
		s.NoTestsBecause, s.TestsDeleted = e.NoTests, e.DeletedTests
		s.Verified = e.Verified.String()
		for _, c := range e.EarlyCommits {
			s.EarlyCommits = append(s.EarlyCommits, c[:min(len(c), 10)])
		}
	}
	for _, f := range files {
		if board.Selects(c.TestGlobs, f) && !slices.Contains(s.TestsDeleted, f) {
			s.TestsTouched = append(s.TestsTouched, f)
		}
		if written && !slices.Contains(planned, f) {
			s.FilesOutside = append(s.FilesOutside, f)
		}
	}
	return s
}
