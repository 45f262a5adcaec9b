package board_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/roles"
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
	for _, row := range board.Transitions() {
		to := string(row.To)
		if to == "" {
			to = "(same)"
		}
		fmt.Fprintf(&b, "%-16s %s -> %s | %s | %s\n", row.Op, words(row.From), to, words(row.Who), row.Note)
	}
	golden.Check(t, "testdata/transitions.txt", b.String())
}

func TestWhoMovesTasksMayAskForIt(t *testing.T) {
	for _, row := range board.Transitions() {
		for _, who := range row.Who {
			if who != roles.System && !board.May(who, row.Op) {
				t.Errorf("%s from %s: %s is not in the permission table", row.Op, words(row.From), who)
			}
		}
	}
}

func TestPermissionTable(t *testing.T) {
	var b strings.Builder
	for _, op := range board.Ops() {
		fmt.Fprintf(&b, "%-18s", op)
		for _, r := range actors {
			if board.May(r, op) {
				b.WriteString(" " + string(r))
			}
		}
		b.WriteByte('\n')
	}
	golden.Check(t, "testdata/permissions.txt", b.String())
}

var actors = []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human}

func TestUnknownOperationsAreNobodys(t *testing.T) {
	for _, r := range append([]roles.Role{roles.System}, actors...) {
		if board.May(r, "rm") {
			t.Errorf("a %s may rm", r)
		}
	}
	for _, op := range board.Ops() {
		if board.May(roles.System, op) || board.May("", op) {
			t.Errorf("%s may be asked for by nobody", op)
		}
	}
}

func TestEveryOperationHasOneRow(t *testing.T) {
	ops := board.Ops()
	slices.Sort(ops)
	if len(slices.Compact(ops)) != len(board.Ops()) {
		t.Error("an operation has two rows")
	}
	for _, op := range board.Ops() {
		if len(board.Allowed(op)) == 0 {
			t.Errorf("nobody may ask for %s", op)
		}
	}
}

// TestBornRecords checks that each record that the table says an operation creates is a numbered
// one.
func TestBornRecords(t *testing.T) {
	for _, op := range board.Ops() {
		if dir := board.BornIn(op); dir != "" && !slices.Contains(slices.Collect(maps.Keys(numbered)), dir) {
			t.Errorf("%s makes a record in %s, where records have no numbers", op, dir)
		}
	}
	s := begun(t)
	for _, p := range []board.Payload{
		&board.AddNote{Message: "m"}, &board.LogAnomaly{Type: "spec_gap"}, &board.Discover{Description: "d", Severity: "low", Urgency: "deferred"},
		&board.RecordSpecChange{Spec: "s", Change: "c"},
	} {
		dir := board.BornIn(p.Op())
		s.do(human, p)
		if last, err := s.state().LastID(dir); err != nil || last != numbered[dir]+"-1" {
			t.Errorf("%s made %q in %s, %v", p.Op(), last, dir, err)
		}
	}
}
