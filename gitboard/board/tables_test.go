package board_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}

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
	golden(t, "testdata/transitions.txt", b.String())
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
