// Package breaker writes the report of a tripped circuit breaker (protocol section 11): the
// anomalies, their common points, and the decisions for a human. It proposes no fix.
//
// It is pure: a board goes in, Markdown comes out.
//
// It may import gitboard/board and gitboard/text.
package breaker

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// questions are what a human is asked to decide, by severity.
var questions = map[string][]string{
	"ARCHITECTURE_FLAW": {
		"Does the cause lie in something that these tasks share, rather than in each of them?",
		"Which open tasks rest on the same part, and should they continue meanwhile?",
	},
	"SCOPE_FLAW": {
		"Is this debt accepted? If so, in which sprint is it paid back?",
		"Does the scope of this sprint still fit the time that it has?",
	},
	"SPEC_FLAW": {
		"What should hold on this point, and which document will say it?",
		"Which tasks were planned on the other reading?",
	},
	"EXTERNAL_DEPENDENCY": {
		"Does the run wait for this service, or continue without the tasks that need it?",
		"Who outside the run has to know?",
	},
}

// Report is the Markdown report of the patterns on a board; the first one is the trigger. It
// returns an error if a record could not be read.
func Report(s *board.State, patterns []board.Pattern, at board.Time) (string, error) {
	var b strings.Builder
	sprint := s.Sprint()
	fmt.Fprintf(&b, "# Circuit breaker: %s\n\n## Trigger\n\n", patterns[0].Pattern)
	fmt.Fprintf(&b, "- Pattern: %s (%s)\n- Time: %s\n- Goal: %s\n- Sprint: %s, since %s\n", patterns[0].Pattern, patterns[0].Severity, at, text.Cell(s.Purpose()), sprint.ID, sprint.Timeline.Started)
	for _, also := range patterns[1:] {
		fmt.Fprintf(&b, "- Also found: %s (%s)\n", also.Pattern, also.Severity)
	}
	for _, p := range patterns {
		evidence(&b, s, p)
	}
	b.WriteString("\n## Affected specs\n\n")
	specs := affected(s, patterns)
	for _, spec := range specs {
		fmt.Fprintf(&b, "- %s\n", text.Cell(spec))
	}
	if len(specs) == 0 {
		b.WriteString("None is named.\n")
	}
	b.WriteString("\n## Decisions to take\n\n")
	asked := map[string]bool{}
	for _, p := range patterns {
		for _, q := range questions[p.Severity] {
			if !asked[q] {
				fmt.Fprintf(&b, "- [ ] %s\n", q)
			}
			asked[q] = true
		}
	}
	fmt.Fprintf(&b, "- [ ] How does the run continue: %s?\n", strings.Join(board.Decisions, ", "))
	b.WriteString("\nThe board waits for you. Write the decision down and continue:\n\n    git liza resolve --text \"...\"\n    git liza resume --decision CONTINUE\n")
	return b.String(), s.Err()
}

func evidence(b *strings.Builder, s *board.State, p board.Pattern) {
	fmt.Fprintf(b, "\n## Evidence of %s\n\n| Anomaly | Time | Task | Reporter | Type | Details |\n|---|---|---|---|---|---|\n", p.Pattern)
	for _, id := range p.Anomalies {
		a := s.Anomaly(id)
		if a == nil {
			continue
		}
		var details []string
		for _, name := range slices.Sorted(maps.Keys(a.Details)) {
			details = append(details, name+": "+text.Cell(string(a.Details[name])))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", a.ID, a.Timestamp, a.Task, a.Reporter, a.Type, strings.Join(details, "; "))
	}
	fmt.Fprintf(b, "\nCommon factor: %s\n", text.Cell(p.Common))
}

// affected lists the specs that the anomalies name, and those of their tasks.
func affected(s *board.State, patterns []board.Pattern) []string {
	specs := map[string]bool{}
	for _, p := range patterns {
		for _, id := range p.Anomalies {
			a := s.Anomaly(id)
			if a == nil {
				continue
			}
			specs[string(a.Details["spec_ref"])] = true
			if t := s.Task(a.Task); t != nil {
				specs[t.SpecRef] = true
			}
		}
	}
	delete(specs, "")
	return slices.Sorted(maps.Keys(specs))
}
