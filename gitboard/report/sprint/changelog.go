package sprint

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Changelog lists the recorded changes of specs in the current sprint, by day, oldest first.
func Changelog(s *board.State) (string, error) {
	sp := s.Sprint()
	if s.Err() != nil {
		return "", s.Err()
	}
	var out sheet
	out.line("# Changes of the specs in %s\n", sp.ID)
	changes := report.SpecChangesSince(s, sp.Timeline.Started)
	day := ""
	for _, c := range changes {
		if d := c.Timestamp.Std().Format("2006-01-02"); d != day {
			if day != "" {
				out.line("")
			}
			day = d
			out.line("## %s\n", day)
		}
		out.change(c)
	}
	if len(changes) == 0 {
		out.line("None was recorded.")
	}
	return out.String(), s.Err()
}

// changes lists changes of specs, or writes a sentence if there are none.
func (s *sheet) changes(all []*board.SpecChange) {
	for _, c := range all {
		s.change(c)
	}
	if len(all) == 0 {
		s.line("No change was recorded.")
	}
}

func (s *sheet) change(c *board.SpecChange) {
	by := ""
	if c.TriggeredBy != "" {
		by = " (because of " + c.TriggeredBy + ")"
	}
	s.line("- %s: %s%s", text.Cell(c.Spec), text.Cell(c.Change), by)
}
