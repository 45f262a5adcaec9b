package cli

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/specs"
)

// TestTeamTemplates checks that each team to start from can be used.
func TestTeamTemplates(t *testing.T) {
	for _, name := range specs.TeamNames() {
		text, _ := specs.Team(name)
		read, err := codec.Decode(board.TeamPath, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		team := read.(*board.Team)
		if f := team.Fault(); f != nil || team.Extra != nil || team.PlanReviewer() == "" {
			t.Errorf("%s: %+v, plan review %q, more: %v", name, f, team.PlanReviewer(), team.Extra)
		}
	}
}

// TestTemplateAsksForPlanReview: a team that turns plan review on for an unattended board asks first.
func TestTemplateAsksForPlanReview(t *testing.T) {
	l := newLife(t)
	if code, out, errs := l.run("", "team", "set", "--template", "code"); code != 1 || !strings.Contains(errs, "in this team a human reviews each plan") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	l.liza("", "team", "set", "--template", "code", "--yes")
	l.liza("", "verify")
}
