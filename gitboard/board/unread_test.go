package board_test

import (
	"errors"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// failing is a source that can't be read any more after some readings.
type failing struct {
	board.Source
	left int
	met  bool
}

var errUnread = errors.New("the disk is gone")

func (f *failing) Record(path string) (any, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.Record(path)
}

func (f *failing) LastID(dir string) (string, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return "", errUnread
	}
	return f.Source.LastID(dir)
}

// TestUnread: a record that couldn't be read makes a step fail, and never passes for one that isn't there.
func TestUnread(t *testing.T) {
	s := begun(t)
	s.in(board.Merged, "b").in(board.Claimed, "a").do(planner, add("c", "b"))
	for _, op := range []board.Operation{
		{Actor: planner, Payload: add("d", "b", "c")}, {Actor: coder1, Payload: preExec("a")}, {Actor: coder1, Payload: submit("a")},
		{Actor: human, Payload: &board.AddNote{Message: "m"}},
	} {
		op.Time, op.Request = s.now, "r"
		for left := 0; ; left++ {
			source := &failing{Source: s.mem, left: left}
			err := stepUnread(source, s.last, op)
			if source.met && !errors.Is(err, errUnread) {
				t.Errorf("%s, after %d readings: %v", op.Name(), left, err)
			}
			if !source.met {
				break
			}
		}
	}
}

// stepUnread is a step as whoever takes it guards it.
func stepUnread(source board.Source, at board.Time, op board.Operation) (err error) {
	state := board.NewState(source, at)
	defer state.Unread(&err)
	_, err = board.Step(state, op)
	return err
}
