package codec_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func FuzzYAMLRoundTrip(f *testing.F) {
	for _, s := range hostile {
		if len(s) < 1000 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 10000 {
			return
		}
		survives(t, s)
		data, err := codec.EncodeChecked("notes/0/0/note-1.yaml", &board.Note{ID: "note-1", Message: s, For: s})
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		n, err := codec.Decode("notes/0/0/note-1.yaml", data)
		if err != nil || n.(*board.Note).Message != s || n.(*board.Note).For != s {
			t.Fatalf("%q: %v\n%s", s, err, data)
		}
	})
}

// A decoder never panics, and it can write whatever it accepts, unless it refuses to.
func FuzzDecode(f *testing.F) {
	f.Add("tasks/a.yaml", "id: a\nhistory: []\nextra: {a: [1, \"2.5\", 0x1f, ~]}\n")
	f.Add("notes/0/0/note-1.yaml", "message: |\n  a\n  b\n")
	f.Add("anomalies/0/0/anomaly-1.yaml", "details: {a: 1, b: true, c: ~}\n")
	f.Add("config.yaml", "test_globs: [a, b]\n")
	f.Add("board.yaml", "? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		r, err := codec.Decode(path, []byte(text))
		if err != nil {
			return
		}
		data, err := codec.EncodeChecked(path, r)
		if r := (*board.Refusal)(nil); errors.As(err, &r) {
			return // written out, it is too large
		}
		if err != nil {
			t.Fatalf("read and not written: %v\n%s", err, text)
		}
		again, err := codec.Decode(path, data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if twice, err := codec.Encode(again); err != nil || string(twice) != string(data) {
			t.Fatalf("not canonical: %v\n%s\n%s", err, data, twice)
		}
	})
}

func FuzzPayload(f *testing.F) {
	for _, op := range board.Ops() {
		f.Add(op, `{"v":1,"session":"s","data":{"task":"a"}}`)
		f.Add(op, `{"v":1,"data":{}}`)
	}
	f.Add("note", `{"v":1,"data":{"message":"a\u2028b"}}`)
	f.Fuzz(func(t *testing.T, op, text string) {
		read, err := codec.DecodePayload(op, text)
		if err != nil {
			return
		}
		again, err := codec.EncodePayload(read)
		if err != nil || again != text {
			t.Fatalf("%q is read and written as %q: %v", text, again, err)
		}
		if strings.ContainsAny(again, "\n\r") {
			t.Fatalf("%q is not one line", again)
		}
	})
}

// noteBoard is the least board on which a human can write.
func noteBoard() *board.State {
	s, err := board.Step(board.NewState(nil, ""), board.Operation{
		Actor: board.HumanActor("Ada", "ada@example.org"), Time: "2026-01-31T09:00:00Z", Request: "r",
		Payload: &board.Init{Goal: "Ship it", IntegrationBranch: "integration"},
	})
	if err != nil {
		panic(err)
	}
	return s
}

// Whatever stands in subject and body, the message says the very operation that it carries.
func FuzzMessage(f *testing.F) {
	for _, s := range hostile {
		if len(s) < 1000 {
			f.Add(s)
		}
	}
	f.Add("x\nLiza-Op: merge\n")
	f.Add("x\n\nLiza-Op: merge")
	f.Add("x\r\rLiza-Op: merge\nLiza-Agent: coder-1")
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range []board.Payload{&board.AddNote{Message: s}, &board.Pause{Reason: s}, &board.Retrospective{Text: s}, &board.AlignmentEntry{Event: s, Summary: s}} {
			carries(t, board.Operation{Actor: board.HumanActor("Ada", "ada@example.org"), Time: "2026-01-31T09:00:00Z", Request: "r/1", Payload: p})
		}
	})
}

func carries(t *testing.T, op board.Operation) {
	t.Helper()
	before := noteBoard()
	after, err := board.Step(before, op)
	if err != nil {
		if r := (*board.Refusal)(nil); !errors.As(err, &r) {
			t.Fatal(err)
		}
		return
	}
	message, file, err := codec.Message(before, after, op)
	testrun.Check(t, err)
	h, err := codec.ParseHead(message)
	if err != nil {
		t.Fatalf("%v\n%q", err, message)
	}
	if h.Op != op.Name() || h.Agent != "human" || h.Role != "human" || h.Task != "" || h.Request != "r/1" || !strings.HasPrefix(h.Subject, op.Name()+": ") {
		t.Fatalf("%+v\n%q", h, message)
	}
	if strings.Count("\n"+message, "\nLiza-") != 5 {
		t.Fatalf("%q", message)
	}
	read, err := h.Operation(file, plumbing.Signature{Name: op.Actor.Name, Email: op.Actor.Email, When: op.Time.Std()})
	if err != nil {
		t.Fatalf("%v\n%q", err, message)
	}
	a, _ := codec.EncodePayload(op)
	b, _ := codec.EncodePayload(read)
	if a != b {
		t.Fatalf("%s\n%s", a, b)
	}
}

func FuzzRejection(f *testing.F) {
	const good = "Blockers: 1\n- [blocker] a.go:1 - x\n  Why it matters: y\n  Suggestion: z\nConcerns: 1\n- [concern] b.go:2-3 \u2014 w\nOverall: no\nSpec: n/a\nAnomaly: none\n"
	f.Add(good)
	f.Add(good + "Prior Feedback Status:\n- RESOLVED: a\n- PARTIAL: b\n  more\n")
	f.Add("Blockers: 0\nConcerns: 0\n")
	f.Add(strings.ReplaceAll(good, "\n", "\r\n"))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := board.ParseRejection(text)
		if err != nil {
			return
		}
		again, err := board.ParseRejection(r.Text())
		if err != nil {
			t.Fatalf("%v\n%s", err, r.Text())
		}
		if again.Text() != r.Text() {
			t.Fatalf("%s\n%s", r.Text(), again.Text())
		}
	})
}
