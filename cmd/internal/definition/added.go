package definition

import "github.com/git-liza/git-liza/gitboard/board"

// Added returns the warnings about a new task, and the next act on it: to finalize it, or to add the
// fields that it lacks. absent is whether its spec is no file on the integration branch.
func Added(p *board.AddTask, absent bool) ([]string, board.Act) {
	warnings, missing := warningsOf(p.Definition, absent), board.Missing(p.Definition)
	if absent {
		missing = append(missing, "spec_ref")
	}
	if len(missing) == 0 {
		return warnings, board.ActOn("finalize", p.Task)
	}
	next := board.ActOn("amend-task", p.Task)
	for _, field := range missing {
		value := "TEXT"
		if field == "spec_ref" {
			value = "FILE"
		}
		next = next.With(field, value)
	}
	return warnings, next
}

func warningsOf(d board.Definition, absent bool) []string {
	all := board.Warnings(d)
	if absent {
		all = append(all, d.SpecRef+" is not a file on the integration branch, and finalize needs it; paths count from the project's root")
	}
	return all
}
