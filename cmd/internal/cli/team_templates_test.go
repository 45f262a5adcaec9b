package cli

import (
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
