package board_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/internal/golden"
	"github.com/git-liza/git-liza/roles"
)

func words[T ~string](list []T) string {
	var w []string
	for _, s := range list {
		if s == "" {
			s = "-"
		}
		w = append(w, string(s))
	}
	return strings.Join(w, ", ")
}

func TestTransitionTable(t *testing.T) {
	var b strings.Builder
	for _, row := range board.Transitions {
		to := string(row.To)
		if to == "" {
			to = "(same)"
		}
		fmt.Fprintf(&b, "%-16s %s -> %s | %s | %s\n", row.Op, words(row.From), to, words(row.Who), row.Note)
	}
	golden.Check(t, "testdata/transitions.txt", b.String())
}

func TestWhoMovesTasksMayAskForIt(t *testing.T) {
	for _, row := range board.Transitions {
		for _, who := range row.Who {
			if who != roles.System && !roles.May(who, row.Op) {
				t.Errorf("%s from %s: %s is not in the permission table", row.Op, words(row.From), who)
			}
		}
	}
}

func TestEveryOperationHasItsPermission(t *testing.T) {
	var permitted []string
	for _, p := range roles.Permissions {
		permitted = append(permitted, p.Op)
	}
	ops := board.Ops()
	slices.Sort(permitted)
	slices.Sort(ops)
	if !slices.Equal(ops, permitted) {
		t.Errorf("operations\n%v, permissions\n%v", ops, permitted)
	}
	if len(slices.Compact(ops)) != len(permitted) {
		t.Error("an operation stands twice")
	}
}

func TestNothingLeavesATerminalState(t *testing.T) {
	for _, row := range board.Transitions {
		for _, from := range row.From {
			if from.Terminal() {
				t.Errorf("%s leaves %s", row.Op, from)
			}
		}
	}
}
