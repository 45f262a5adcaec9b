package board

import "slices"

// Submission is what a reviewer looks at and only the repository knows.
type Submission struct {
	Commits        []string // short id and subject, the oldest first
	Files          []string // that differ between review base and review commit
	FilesOutside   []string // of them, what the checkpoint does not name
	TestsTouched   []string // of them, what counts as a test
	NoTestsBecause string   // what the coder said
	SpecChanged    bool     // the spec is not the one that the task was finalized with
	SpecDiff       string   // how it changed, as a patch; empty where that can't be told
}

// SubmissionOf tells of the files of a submission what the board has to say about them.
func SubmissionOf(c *Config, t *Task, files []string) *Submission {
	s := &Submission{Files: files}
	checkpoint := t.CheckpointOfIteration()
	for _, f := range files {
		if IsTest(c.TestGlobs, f) {
			s.TestsTouched = append(s.TestsTouched, f)
		}
		if checkpoint != nil && !slices.Contains(checkpoint.FilesToModify, f) {
			s.FilesOutside = append(s.FilesOutside, f)
		}
	}
	if e := t.Last(EventReady); e != nil {
		s.NoTestsBecause = e.NoTests
	}
	return s
}
