package definition

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// Added returns the warnings about a new task, and the next act on it: to finalize it, or to add the
// fields that it lacks. absent is whether its spec is no file on the integration branch.
func Added(p *board.AddTask, absent bool) (warnings []string, next board.Act) {
	warnings, missing := Warnings(p.Definition, absent), board.Missing(p.Definition)
	if absent {
		missing = append(missing, "spec_ref")
	}
	if len(missing) == 0 {
		return warnings, board.ActOn("finalize", p.Task)
	}
	return warnings, report.Filling(p.Task, missing)
}

// Warnings returns the warnings about a definition; absent is whether its spec is no file on the
// integration branch.
func Warnings(d board.Definition, absent bool) []string {
	warnings := board.Warnings(d)
	if absent {
		warnings = append(warnings, d.SpecRef+" is not a file on the integration branch, and finalize needs it; paths count from the project's root")
	}
	return warnings
}
