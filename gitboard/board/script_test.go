package board_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMain has half as many random histories tried as usual, unless a flag asks for more.
func TestMain(m *testing.M) {
	testrun.Prepare()
	if err := flag.Set("rapid.checks", "50"); err != nil {
		panic(err)
	}
	m.Run()
}

// script runs operations on a board in memory. After each it checks what must always hold: no
// invariant is broken, a refusal changed nothing, records, payload and message survive encoding,
// and a board decoded from its bytes decides the same.
type script struct {
	t    failer
	now  board.Time
	last board.Time // of the last allowed operation
	n    int

	mem, mirror *board.Memory     // mirror holds decoded records only
	bytes       map[string]string // the encoded records
	copies      map[string]any    // the records, decoded from their bytes
	messages    []string
	payloads    []string
	times       []board.Time
}

type failer interface {
	testrun.T
	Fatalf(format string, args ...any)
}

const start = board.Time("2026-01-31T09:00:00Z")

func newScript(t failer) *script {
	return &script{t: t, now: start, mem: board.NewMemory(), mirror: board.NewMemory(), bytes: map[string]string{}, copies: map[string]any{}}
}

// begun returns a board with a goal and its agents. The operations that lead to it run and are
// checked once.
func begun(t failer) *script {
	s := prepared().clone()
	s.t = t
	return s
}

// once runs steps that many tests begin with. On a board on which nothing has happened yet they
// run, and are checked, once for all tests.
func (s *script) once(name string, steps func(*script)) *script {
	s.t.Helper()
	p := prepared()
	if s.n != p.n || s.now != p.now || len(s.messages) != len(p.messages) || !slices.Equal(s.mem.Paths(), p.mem.Paths()) {
		steps(s)
		return s
	}
	if scenes[name] == nil {
		first := begun(s.t)
		steps(first)
		scenes[name] = first
	}
	t := s.t
	*s = *scenes[name].clone()
	s.t = t
	return s
}

// scenes are the scripts of once, by name.
var scenes = map[string]*script{}

var prepared = sync.OnceValue(func() *script {
	s := newScript(panics{})
	s.do(human, &board.Init{Goal: "Ship it", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	for _, a := range []board.Actor{planner, coder1, coder2, coder3, reviewer1, reviewer2} {
		s.do(a, &board.Register{Session: a.Session, Clone: "here"})
	}
	return s
})

// panics fails where there is no test to fail.
type panics struct{}

func (panics) Helper()                           {}
func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panics) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }

// clone returns a script that continues from here. No step changes a record, so both share them.
func (s *script) clone() *script {
	c := *s
	c.mem, c.mirror = copied(s.mem), copied(s.mirror)
	c.bytes, c.copies = maps.Clone(s.bytes), maps.Clone(s.copies)
	c.messages, c.payloads, c.times = slices.Clone(s.messages), slices.Clone(s.payloads), slices.Clone(s.times)
	return &c
}

// copied returns a source with the same records.
func copied(m *board.Memory) *board.Memory {
	all, c := board.NewState(board.NewMemory(), start), board.NewMemory()
	for _, path := range m.Paths() {
		all.Changes()[path], _ = m.Record(path)
	}
	c.Absorb(all)
	return c
}

func agent(id string) board.Actor {
	role, err := roles.Of(id)
	if err != nil {
		panic(err)
	}
	return board.Actor{ID: id, Role: role, Session: "s-" + id}
}

var (
	human     = board.HumanActor("Ada", "ada@example.org")
	planner   = agent("planner-1")
	coder1    = agent("coder-1")
	coder2    = agent("coder-2")
	coder3    = agent("coder-3")
	reviewer1 = agent("code-reviewer-1")
	reviewer2 = agent("code-reviewer-2")
)

// sha returns a commit id made of one hex digit.
func sha(digit string) string { return strings.Repeat(digit, 40) }

func (s *script) state() *board.State { return board.NewState(s.mem, s.last) }

func (s *script) task(id string) *board.Task { return s.state().Task(id) }

func (s *script) agent(id string) *board.Agent { return s.state().Agent(id) }

// step runs an operation some minutes after the last one, by default one.
func (s *script) step(a board.Actor, p board.Payload, minutes ...int) error {
	s.t.Helper()
	wait := time.Minute
	if len(minutes) > 0 {
		wait = time.Duration(minutes[0]) * time.Minute
	}
	s.now = s.now.Add(wait)
	s.n++
	op := board.Operation{Actor: a, Time: s.now, Request: fmt.Sprintf("r/%d", s.n), Payload: p}
	if a.Role != roles.Human && board.HandsOver(p.Op()) {
		for _, n := range board.Unread(s.state(), a.ID, op.TaskID()) {
			op.Read = append(op.Read, n.ID)
		}
	}
	return s.run(op)
}

func (s *script) run(op board.Operation) error {
	s.t.Helper()
	before := s.state()
	after, err := board.Step(before, op)
	if err == nil || s.n%10 == 0 {
		s.sourceUnchanged(op) // a change by a refused operation is seen before the next allowed one
	}
	if err != nil {
		var r *board.Refusal
		if !errors.As(err, &r) {
			s.t.Fatalf("%s: not a refusal: %v", op.Name(), err)
		}
		s.mirrored(op, nil, err)
		return err
	}
	message, file, err := codec.Message(before, after, op)
	if err != nil {
		s.t.Fatalf("%s: message: %v", op.Name(), err)
	}
	read := s.readBack(op, message, file)
	changed := s.encoded(after.Changes())
	s.mirrored(read, changed, nil)
	s.mem.Absorb(after)
	s.last = op.Time
	for path, text := range changed {
		if text == "" {
			delete(s.bytes, path)
			delete(s.copies, path)
		} else {
			s.bytes[path], s.copies[path] = text, checked[path+"\n"+text]
		}
	}
	s.messages, s.payloads, s.times = append(s.messages, message), append(s.payloads, file), append(s.times, op.Time)
	if v := board.Violations(s.state()); len(v) > 0 {
		s.t.Fatalf("%s by %s: %v", op.Name(), op.Actor.ID, v)
	}
	return nil
}

// sourceUnchanged checks that a step did not modify any record of its source.
func (s *script) sourceUnchanged(op board.Operation) {
	s.t.Helper()
	for _, path := range s.mem.Paths() {
		r, _ := s.mem.Record(path)
		if reflect.DeepEqual(r, s.copies[path]) {
			continue
		}
		if text, err := codec.Encode(r); err != nil || string(text) != s.bytes[path] {
			s.t.Fatalf("%s changed %s of its source:\n%s", op.Name(), path, text)
		}
	}
}

// encoded returns the bytes of changed records, "" for a removed one, and checks that each can be
// decoded.
func (s *script) encoded(changes map[string]any) map[string]string {
	s.t.Helper()
	texts := map[string]string{}
	for path, r := range changes {
		if r == nil {
			texts[path] = ""
			continue
		}
		data, err := codec.Encode(r)
		testrun.Check(s.t, err)
		texts[path] = string(data)
		if reflect.DeepEqual(r, checked[path+"\n"+string(data)]) {
			continue
		}
		if most := board.Size(r); len(data) > most {
			s.t.Fatalf("%s has %d bytes, and Size says %d at most:\n%s", path, len(data), most, data)
		}
		back, err := codec.Decode(path, data)
		testrun.Check(s.t, err)
		if !reflect.DeepEqual(r, back) {
			s.sameBytes(path, r, back, texts[path])
		}
		checked[path+"\n"+string(data)] = back
	}
	return texts
}

// sameBytes checks that a record and its decoded copy, which differ as Go values, are the same in a
// board: one is read back as the other, and both have the same bytes.
func (s *script) sameBytes(path string, r, back any, text string) {
	s.t.Helper()
	testrun.Check(s.t, codec.ReadBack(path, r, []byte(text)))
	if again, err := codec.Encode(back); err != nil || string(again) != text {
		s.t.Fatalf("%s: encoded again it differs:\n%s\n%s", path, text, again)
	}
}

// checked are decoded copies of all records that encoded has checked, by path and bytes.
var checked = map[string]any{}

// readBack decodes the operation from its message.
func (s *script) readBack(op board.Operation, message, file string) board.Operation {
	s.t.Helper()
	head, err := codec.ParseHead(message)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, message)
	}
	read, err := head.Operation(file, plumbing.Signature{Name: op.Actor.Name, Email: op.Actor.Email, When: op.Time.Std()})
	if err != nil {
		s.t.Fatalf("%v\n%s", err, message)
	}
	want, _ := codec.EncodePayload(op)
	if got, err := codec.EncodePayload(read); err != nil || got != want {
		s.t.Fatalf("the payload reads back as\n%s, not\n%s", got, want)
	}
	if read.Actor != op.Actor || read.Request != op.Request || head.Op != op.Name() || head.Task != op.TaskID() {
		s.t.Fatalf("the message reads back as %+v, not %+v", read, op)
	}
	return read
}

// mirrored runs an operation on the board of decoded records and checks that the outcome is the
// same. The boards of all scripts share these records: sourceUnchanged has checked that the
// operation changes none.
func (s *script) mirrored(op board.Operation, changed map[string]string, refused error) {
	s.t.Helper()
	before := board.NewState(s.mirror, s.last)
	after, err := board.Step(before, op)
	if err != nil || refused != nil {
		if err == nil || refused == nil || err.Error() != refused.Error() {
			s.t.Fatalf("%s: decoded records decide otherwise: %v, not %v", op.Name(), err, refused)
		}
		return
	}
	if again := after.Changes(); !sameRecords(again, changed) && !maps.Equal(s.encoded(again), changed) {
		s.t.Fatalf("%s: decoded records lead to\n%v, not\n%v", op.Name(), s.encoded(again), changed)
	}
	decoded := board.NewState(s.mirror, op.Time)
	for path, text := range changed {
		if text == "" {
			decoded.Changes()[path] = nil
			continue
		}
		decoded.Changes()[path] = checked[path+"\n"+text]
	}
	s.mirror.Absorb(decoded)
}

// sameRecords reports whether these are, as Go values, the records that the texts decode to.
func sameRecords(records map[string]any, texts map[string]string) bool {
	for path, r := range records {
		text, ok := texts[path]
		if !ok || (r == nil) != (text == "") || r != nil && !reflect.DeepEqual(r, checked[path+"\n"+text]) {
			return false
		}
	}
	return len(records) == len(texts)
}

// do runs an operation and fails the test if it is refused.
func (s *script) do(a board.Actor, p board.Payload, minutes ...int) *script {
	s.t.Helper()
	if err := s.step(a, p, minutes...); err != nil {
		s.t.Fatalf("%s by %s is refused: %v", p.Op(), a.ID, err)
	}
	return s
}

// refused checks that an operation is refused with this code, and that the message or the hint
// contains the words.
func (s *script) refused(code board.ErrorCode, a board.Actor, p board.Payload, words ...string) *board.Refusal {
	s.t.Helper()
	err := s.step(a, p)
	var r *board.Refusal
	if !errors.As(err, &r) {
		s.t.Fatalf("%s by %s is not refused: %v", p.Op(), a.ID, err)
	}
	if r.Code != code {
		s.t.Fatalf("%s by %s is refused as %s (%s), not as %s", p.Op(), a.ID, r.Code, r.Message, code)
	}
	for _, w := range words {
		if !strings.Contains(r.Message+"\n"+cmdline.Hint(r.Hint), w) {
			s.t.Fatalf("the refusal of %s does not say %q: %s\n%s", p.Op(), w, r.Message, cmdline.Hint(r.Hint))
		}
	}
	return r
}

// lease returns a lease that expires some time after the next operation, which is a minute after
// the last.
func (s *script) lease(holder string, left time.Duration) board.Evidence {
	at := s.now.Add(time.Minute)
	return board.Evidence{Lease: &board.Lease{Agent: holder, Session: "s-" + holder, Expires: at.Add(left), Heartbeat: at.Add(left - 5*time.Minute)}}
}

func events(t *board.Task) []string {
	var names []string
	for _, e := range t.History {
		names = append(names, e.Event)
	}
	return names
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	testrun.Equal(t, got, want, "%s", what)
}

func equals(t *testing.T, what string, got, want any) {
	t.Helper()
	testrun.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "%s: %v, not %v", what, got, want)
}

// ask is a report.Ask as it is shown.
type ask struct{ What, Do string }

func asks(all []report.Ask) (shown []ask) {
	for _, a := range all {
		shown = append(shown, ask{a.What, cmdline.Hint(a.Do)})
	}
	return shown
}
