package onefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/onefile"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

const now = board.Time("2026-02-01T10:00:00Z")

func input(file string, data []byte) onefile.Input {
	return onefile.Input{File: file, State: data, Now: now, Clone: "here", Session: "nobody"}
}

// imported takes a board in, on nothing, as the command does.
func imported(t testrun.T, old *onefile.Board) *board.State {
	p := testrun.Must(old.Operation())(t)
	s := testrun.Must(board.Step(board.NewState(nil, ""), board.Operation{Actor: board.HumanActor("Ada", "ada@example.org"), Time: now, Request: "r", Payload: p}))(t)
	m := board.NewMemory()
	m.Absorb(s)
	return board.NewState(m, now)
}

func written(t testrun.T, s *board.State, old *onefile.Board) string {
	return testrun.Must(onefile.Write(s, old.Leases))(t)
}

// Each file ends as a valid board, with its losses reported, or is refused with the line:
// testdata/*.golden says which. What was taken in and written is the same when it is taken in
// again.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 16 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := testrun.Must(os.ReadFile(file))(t)
			old, err := onefile.Read(input(filepath.Base(file), data))
			if err != nil {
				var bad *onefile.Error
				if !errors.As(err, &bad) || bad.Faults[0].Line < 1 {
					t.Fatal(err)
				}
				golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
				return
			}
			s := imported(t, old)
			if v := board.Violations(s); len(v) > 0 {
				t.Error(v)
			}
			text := written(t, s, old)
			golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", strings.Join(old.Changed, "\n")+"\n\n"+text)
			again := testrun.Must(onefile.Read(input("state.yaml", []byte(text))))(t)
			if len(again.Changed) > 0 {
				t.Errorf("reported again: %q", again.Changed)
			}
			if twice := written(t, imported(t, again), again); twice != text {
				t.Errorf("it is another board:\n%s\n----\n%s", text, twice)
			}
		})
	}
}
