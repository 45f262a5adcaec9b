package board_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// failing is a source that returns errors after a number of reads.
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

func (f *failing) IDs(dir string) ([]string, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.IDs(dir)
}

func (f *failing) Briefs() (map[string]board.Brief, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return nil, errUnread
	}
	return f.Source.Briefs()
}

func (f *failing) Archived(id string) (string, board.Brief, error) {
	if f.left--; f.left < 0 {
		f.met = true
		return "", board.Brief{}, errUnread
	}
	return f.Source.Archived(id)
}

// TestUnread checks that a record that can't be read makes a step fail and never counts as missing.
// The message of a goal's step needs no record to be read again.
func TestUnread(t *testing.T) {
	s := begun(t)
	s.in(board.Merged, "b").in(board.Claimed, "a").do(planner, add("c", "b"))
	all := slices.Clone(decisions())
	for _, op := range []board.Operation{
		{Actor: human, Payload: withDocs()}, {Actor: human, Payload: write("tasks/c.yaml", "depends_on", "[b, a]")}, {Actor: coder2, Payload: claim("c")},
		{Actor: planner, Payload: &board.Ack{IDs: []string{"note-9"}}}, {Actor: human, Payload: &board.Answer{Note: "note-9", Text: "t"}}, {Actor: human, Payload: write("tasks/c.yaml", "reserved_for", "coder-9")},
		{Actor: planner, Payload: add("d", "nobody")}, {Actor: planner, Payload: &board.Abandon{About: about("nobody"), Reason: "r"}}, {Actor: planner, Payload: of("nothing", "d")},
	} {
		all = append(all, decision{s, op.Actor, op.Payload})
	}
	for _, d := range all {
		op := board.Operation{Actor: d.who, Time: d.on.now.Add(time.Minute), Request: "r", Payload: d.p}
		for left := 0; ; left++ {
			source := &failing{Source: d.on.mem, left: left}
			after, err := board.Step(board.NewState(source, d.on.last), op)
			if source.met && !errors.Is(err, errUnread) {
				t.Errorf("%s, after %d readings: %v", op.Name(), left, err)
			}
			if source.met {
				continue
			}
			if err == nil && strings.HasPrefix(op.Name(), "goal-") {
				d.p.Subject(board.NewState(&failing{Source: d.on.mem}, d.on.last), after, op)
			}
			break
		}
	}
}

// TestMissing checks that, if a record that every board has is missing, only steps that need it
// fail.
func TestMissing(t *testing.T) {
	met := map[string]bool{}
	s := begun(t).ready("other").in(board.Claimed, "login")
	for _, path := range []string{board.SprintPath, board.ConfigPath, board.ControlPath, board.BreakerPath} {
		damaged := &lacking{Source: s.mem, path: path}
		for _, p := range append(taskOps("login"), &board.SetCheckpoint{}, &board.Resume{}, &board.Abort{}, &board.GoalComplete{},
			&board.Trip{Pattern: "retry_loop"}, &board.Resolve{Text: "r"}, &board.SprintEnd{}, &board.SprintStart{}, &board.Deadline{},
			&board.SetConfig{Key: "merge_style", Value: "squash"}, &board.AlignmentEntry{Event: "e", Summary: "s"}, &board.AddNote{Message: "m"}) {
			for _, who := range everybody {
				op := board.Operation{Actor: who, Time: s.now, Request: "r", Payload: p}
				after, err := board.Step(board.NewState(damaged, s.last), op)
				missing := (*board.MissingError)(nil)
				if errors.As(err, &missing) {
					met[path] = met[path] || missing.Path == path
				} else if err == nil {
					if _, _, err := codec.Message(board.NewState(damaged, s.last), after, op); err != nil {
						t.Errorf("%s without %s: %v", p.Op(), path, err)
					}
				}
			}
		}
		if !met[path] {
			t.Errorf("nothing missed %s", path)
		}
	}
}

// TestTriggeredForNothing checks that a breaker that tripped without a recorded reason stops the
// board and can be resolved.
func TestTriggeredForNothing(t *testing.T) {
	s := begun(t)
	s.do(human, &board.SetCheckpoint{})
	damaged := board.NewState(s.mem, s.last)
	damaged.Changes()[board.BreakerPath] = &board.Breaker{Status: board.BreakerTriggered}
	for _, p := range []board.Payload{&board.Trip{Pattern: "retry_cluster"}, &board.Resume{}, &board.Resolve{Text: "a hand edit"}} {
		op := board.Operation{Actor: human, Time: s.now, Request: "r", Payload: p}
		after, err := board.Step(damaged, op)
		if _, resolves := p.(*board.Resolve); resolves != (err == nil) {
			t.Errorf("%s: %v", p.Op(), err)
		}
		if err == nil {
			_, _, err = codec.Message(damaged, after, op)
			equal(t, "message", err, nil)
		}
	}
}

// lacking is a source without one of its records.
type lacking struct {
	board.Source
	path string
}

func (l *lacking) Record(path string) (any, error) {
	if path == l.path {
		return nil, nil
	}
	return l.Source.Record(path)
}
