package log_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLog is the conformance suite of a log in normal operation.
func TestLog(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s)
		empty := w.tip()
		if !empty.Commit.IsZero() || empty.State.Meta() != nil || empty.State.Err() != nil {
			t.Fatalf("no board: %+v", empty)
		}
		var refused *board.Refusal
		if _, err := log.Prepare(empty, w.op(empty, note("x"))); !errors.As(err, &refused) || refused.Code != board.CodeNoBoard {
			t.Errorf("a note on no board: %v", err)
		}
		w.init()
		var commits []plumbing.OID
		for i := range 3 {
			e := w.do(task(fmt.Sprintf("task-%d", i)))
			commits = append(commits, e.Commit)
			if e.After.Task(fmt.Sprintf("task-%d", i)) == nil || e.Subject != fmt.Sprintf("add-task(task-%d): Do task-%d", i, i) {
				t.Errorf("%q", e.Subject)
			}
		}
		tip := w.tip()
		if tip.Commit != commits[2] || tip.Head.Author.Name != "Ada" || tip.Head.Committer.Name != "Clone" || len(tip.Head.Parents) != 1 {
			t.Errorf("%+v", tip.Head)
		}
		if ids := tip.State.List(board.TaskDir); !slices.Equal(ids, []string{"task-0", "task-1", "task-2"}) {
			t.Errorf("%v", ids)
		}
		// The board at an earlier commit.
		old := testrun.Must(w.log.At(w.ctx, commits[0]))(t)
		if ids := old.State.List(board.TaskDir); !slices.Equal(ids, []string{"task-0"}) {
			t.Errorf("at the first task: %v", ids)
		}
		// The history in order, complete and from a commit on.
		all := testrun.Must(s.Log(w.ctx, plumbing.ZeroOID, tip.Commit))(t)
		since := testrun.Must(s.Log(w.ctx, commits[0], tip.Commit))(t)
		if len(all) != 4 || len(since) != 2 || since[0].OID != commits[1] || since[1].OID != commits[2] || all[1].OID != commits[0] {
			t.Errorf("%d, %d", len(all), len(since))
		}
		if _, err := w.log.At(w.ctx, plumbing.OID(strings.Repeat("ab", 20))); !errors.As(err, new(*log.RecordError)) {
			t.Errorf("no such commit: %v", err)
		}
	})
}

func TestAuthor(t *testing.T) {
	for who, want := range map[board.Actor]string{ada: "Ada <ada@example.org>", {ID: "coder-1", Role: roles.Coder}: "coder-1 <coder-1@liza>"} {
		if name, email := log.Author(who); name+" <"+email+">" != want {
			t.Errorf("%s <%s>, not %s", name, email, want)
		}
	}
}

// TestDamage checks that a damaged board is distinguished from a failed read, and that its other
// records remain readable.
func TestDamage(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		w.do(task("good"))
		w.do(task("bad"))
		sound := w.tip()
		back := func() {
			check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: w.tip().Commit, New: sound.Commit}}, ""))
		}
		var record *log.RecordError
		for name, files := range map[string]map[string][]byte{
			"line 2":            {"tasks/bad.yaml": []byte("id: bad\nstatus: [\n")},
			"holds the task":    {"tasks/bad.yaml": []byte("id: other\ndescription: d\nstatus: DRAFT\nstatus_changed_at: 2026-02-03T08:00:00Z\npriority: 3\ncreated: 2026-02-03T08:00:00Z\ncreated_by: human\nkind: code\nhistory: []\n")},
			"unknown key":       {"tasks/bad.yaml": []byte("id: bad\ncolour: red\n")},
			"a mapping":         {"tasks/bad.yaml": []byte("- bad\n")},
			"is not a record":   {"tasks/READ ME.yaml": []byte("id: bad\n")},
			"bytes; 262144 are": {"tasks/bad.yaml": []byte("id: bad\n" + strings.Repeat("#", codec.MaxDocument))},
		} {
			at := w.byHand(files)
			tip := w.tip()
			if tip.State.Task("good") == nil || tip.State.TheGoal() == nil || tip.State.Err() != nil {
				t.Errorf("%s: the others can't be read: %v", name, tip.State.Err())
			}
			if tip.State.Tasks(); !errors.As(tip.State.Err(), &record) || record.Commit != at || !strings.HasPrefix(record.Path, "tasks/") || !strings.Contains(record.Error(), name) {
				t.Errorf("%s: %v", name, tip.State.Err())
			}
			// Operations that need the damaged record fail, all others succeed.
			tip = w.tip()
			if _, err := log.Prepare(tip, w.op(tip, &board.Abandon{About: board.About{Task: "bad"}, Reason: "r"})); !errors.As(err, &record) {
				t.Errorf("%s: abandon: %v", name, err)
			}
			w.do(note("still works"))
			back()
		}
		w.byHand(map[string][]byte{"sprint.yaml": nil})
		tip := w.tip()
		if tip.State.Sprint(); !errors.As(tip.State.Err(), &record) || record.Path != "sprint.yaml" {
			t.Errorf("no goal: %v", tip.State.Err())
		}
		back()
		var newer *log.NewerFormatError
		at := w.byHand(map[string][]byte{"board.yaml": []byte("format: 2\nshape: round\n"), "tasks/bad.yaml": []byte("{")})
		if _, err := w.log.Tip(w.ctx); !errors.As(err, &newer) || newer.Format != 2 {
			t.Errorf("a later format: %v", err)
		}
		check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: at, New: sound.Commit}}, ""))
		for _, text := range []string{"format: [\n", "", "format: many\n"} {
			at := w.byHand(map[string][]byte{"board.yaml": []byte(text)})
			if _, err := w.log.Tip(w.ctx); !errors.As(err, &record) || record.Path != "board.yaml" {
				t.Errorf("board.yaml %q: %v", text, err)
			}
			check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: at, New: sound.Commit}}, ""))
		}
		// A reader that is cancelled does not report damage.
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		if _, err := w.log.Tip(ctx); errors.As(err, &record) {
			t.Errorf("a cancelled reading: %v", err)
		}
	})
}

// TestLongPayload checks that a payload too long for a message is in the tree until the next
// operation.
func TestLongPayload(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		short := w.do(note(strings.Repeat("x", 3000)))
		long := w.do(note(strings.Repeat("y", 5000)))
		longer := w.do(note(strings.Repeat("z", 6000)))
		after := w.do(note("short again"))
		for commit, want := range map[plumbing.OID]string{short.Commit: "", long.Commit: "yyy", longer.Commit: "zzz", after.Commit: ""} {
			at := testrun.Must(w.log.At(w.ctx, commit))(t)
			text := testrun.Must(at.PayloadFile(w.ctx, s))(t)
			if (text == "") != (want == "") || !strings.Contains(text, want) {
				t.Errorf("%q has %.40q", at.Head.Message[:20], text)
			}
			_, op, err := codec.ReadOperation(at.Head, text)
			check(t, err)
			if !strings.Contains(op.Payload.(*board.AddNote).Message, want) {
				t.Errorf("%+v", op)
			}
			if o, err := s.Object(w.ctx, string(commit)+":"+codec.PayloadFile); (err == nil) != (want != "") || err == nil && string(o.Data) != text {
				t.Errorf("by its path: %v", err)
			}
		}
	})
}

// TestOrderOfIDs checks that ids are sorted as ids and not as file names. Otherwise a state layered
// over them would list a task twice.
func TestOrderOfIDs(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		for _, id := range []string{"add", "add-auth", "add-a"} {
			w.do(task(id))
		}
		want := []string{"add", "add-a", "add-auth"}
		e := w.do(&board.AmendTask{About: board.About{Task: "add"}, Set: []string{"priority"}, Definition: board.Definition{Priority: 1}})
		if ids := e.After.List(board.TaskDir); !slices.Equal(ids, want) {
			t.Errorf("after: %v", ids)
		}
		if ids := w.tip().State.List(board.TaskDir); !slices.Equal(ids, want) {
			t.Errorf("read again: %v", ids)
		}
	})
}

// TestRemovedRecords checks that a record that an operation removes is gone from the tree, and that
// the operation replays.
func TestRemovedRecords(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s).init()
		w.do(task("one"))
		w.do(&board.Abandon{About: board.About{Task: "one"}, Reason: "not needed"})
		done := w.do(&board.Archive{Sprint: "sprint-1", Tasks: []string{"one"}})
		at := w.tip()
		if live := at.State.List(board.TaskDir); len(live) > 0 || board.ArchivedIn(at.State, "one") != "sprint-1" {
			t.Errorf("tasks %v, archive %v", at.State.List(board.TaskDir), at.State.List(board.ArchiveDir))
		}
		check(t, w.log.Replays(w.ctx, done.Commit))
	})
}
