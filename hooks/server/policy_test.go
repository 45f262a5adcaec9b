package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/hooks/server"
)

// none is the value of a ref that does not exist.
const none = string(plumbing.ZeroOID)

// history is a hub that has all objects of a board, whose refs a test sets as before a push.
type history struct {
	*world
	board                      *gitboard.Board // of the hub
	first, note, coder, landed string          // commits of the board
	start, next                string          // of integration
	lease                      string          // of coder-1
}

// past is the history that all others are copied from, below dir; the first test makes it.
var past struct {
	dir string
	history
}

func newHistory(t *testing.T) *history {
	t.Helper()
	testrun.NotShort(t)
	testrepo.Environment(t)
	if past.dir == "" {
		makePast(t)
	}
	dir := t.TempDir()
	testrepo.Copy(t, past.dir, dir)
	h := past.history
	h.world = &world{t: t, ctx: t.Context(), hub: filepath.Join(dir, "hub.git")}
	h.board = h.open(h.hub)
	return &h
}

func makePast(t *testing.T) {
	t.Helper()
	h := &history{world: newWorld(t, 1)}
	h.board = h.open(h.hub)
	a := h.clones[0]
	tip := func() string { return h.git(h.hub, "rev-parse", "liza/state") }
	h.first, h.start = tip(), h.git(h.hub, "rev-parse", "integration")
	h.do(a, note("one"))
	h.note = tip()
	coder := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}
	_, err := a.Do(h.ctx, gitboard.Request{Actor: coder}, gitboard.Just(&board.Register{Session: "mine", Clone: "here", PID: 7}))
	h.check(err)
	h.coder, h.lease = tip(), h.git(h.hub, "rev-parse", plumbing.LeaseRef("coder-1"))
	h.next = h.git(h.hub, "commit-tree", "-p", h.start, "-m", "next", h.start+"^{tree}")
	h.landed = h.onTop(h.coder, &board.Land{Before: h.start, Commit: h.next})
	past.dir = testrun.Must(os.MkdirTemp("", "liza-past-"))(h.t)
	testrepo.Copy(t, filepath.Dir(h.hub), past.dir)
	past.history = *h
}

// onTop makes an operation's commit in the hub, on a commit of its board.
func (h *history) onTop(at string, p board.Payload) string {
	h.t.Helper()
	return h.by(ada, at, p)
}

// by is onTop for an operation by somebody.
func (h *history) by(a board.Actor, at string, p board.Payload) string {
	h.t.Helper()
	return h.signed(nil, a, at, p)
}

// signed is by with a key, for a commit that must be signed.
func (h *history) signed(key *sshsig.Signer, a board.Actor, at string, p board.Payload) string {
	h.t.Helper()
	b := h.board
	s := testrun.Must(b.Log().At(h.ctx, plumbing.OID(at)))(h.t)
	op := board.Operation{Actor: a, Time: max(s.State.Time(), board.At(time.Now())), Request: "on-" + at[:10], Payload: p}
	prepared := testrun.Must(log.Prepare(s, op))(h.t)
	built := testrun.Must(prepared.Build(log.Committer{Name: ada.Name, Email: ada.Email, Key: key}))(h.t)
	h.check(b.Repo().WriteObjects(h.ctx, built.Objects()))
	return string(built.Commit)
}

// set sets refs of the hub without its hooks; none deletes one.
func (h *history) set(refs map[string]string) {
	h.t.Helper()
	var lines strings.Builder
	for ref, value := range refs {
		if value == none {
			fmt.Fprintf(&lines, "delete %s\n", ref)
		} else {
			fmt.Fprintf(&lines, "update %s %s\n", ref, value)
		}
	}
	cmd := exec.Command("git", "-c", "core.hooksPath="+os.DevNull, "update-ref", "--stdin")
	cmd.Dir, cmd.Stdin = h.hub, strings.NewReader(lines.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("%v\n%s", err, out)
	}
}

// write writes an object into the hub.
func (h *history) write(kind plumbing.ObjectType, data []byte) string {
	h.t.Helper()
	o := plumbing.NewObject(kind, data)
	h.check(h.board.Repo().WriteObjects(h.ctx, []plumbing.Object{o}))
	return string(o.OID)
}

// carry makes the commit that carries a blob in a branch.
func (h *history) carry(blob string) string {
	h.t.Helper()
	text := testrun.Must(h.board.Repo().Object(h.ctx, blob))(h.t)
	carrier := plumbing.CarryTree(text.OID)
	h.write(carrier.Type, carrier.Data)
	o := plumbing.Carrier("", text.OID, text.Type, carrier.OID, plumbing.Signature{Name: "a", Email: "a@b", When: time.Now()})
	return h.write(o.Type, o.Data)
}

// moves are those that bring refs from where they are to new values.
func (h *history) moves(to map[string]string) (moves []hooks.Move) {
	h.t.Helper()
	for ref, value := range to {
		now := plumbing.ZeroOID
		if strings.HasPrefix(ref, plumbing.RefsPrefix) {
			now = testrun.Must(h.board.Repo().Ref(h.ctx, ref))(h.t)
		}
		moves = append(moves, hooks.Move{Ref: ref, Old: string(now.OrZero()), New: value})
	}
	return moves
}

// submits returns the board on which coder-1, who has a task, submits an empty commit as the nth of
// those on top of base.
func (h *history) submits(at, base, head string, n int) (tip, work string) {
	h.t.Helper()
	coder, task := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}, board.About{Task: "parse"}
	name, email := log.Author(coder)
	who := plumbing.Signature{Name: name, Email: email, When: time.Now()}
	tree := plumbing.OID(h.git(h.hub, "rev-parse", base+"^{tree}"))
	work = h.write(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree, Parents: []plumbing.OID{plumbing.OID(head)}, Author: who, Committer: who, Message: "work\n"}))
	at = h.by(coder, at, &board.PreExec{About: task, Checkpoint: board.Checkpoint{
		Intent: "i", Validation: "v", FilesToModify: []string{"f"}, Assumptions: []string{"a"}, Head: head, Clock: board.At(time.Now())}})
	at = h.by(coder, at, &board.Submit{About: task, Commit: work, Tree: string(tree), ReviewBase: base, Commits: n, NoTestsBecause: "none"})
	return at, work
}

// submitted returns the board on which coder-1 has submitted an empty commit on top of base.
func (h *history) submitted(at, base string) (tip, work string) {
	h.t.Helper()
	return h.submits(h.claimed(at, base), base, base, 1)
}

// claimed returns the board on which coder-1 works on a task.
func (h *history) claimed(at, base string) string {
	h.t.Helper()
	coder, task := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}, board.About{Task: "parse"}
	at = h.onTop(at, &board.AddTask{About: task, Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "d", DoneWhen: "go test ./parse passes", Scope: "IN: parse", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3}})
	return h.by(coder, at, &board.Claim{About: task, Clone: "here", BaseCommit: base})
}

// takable returns the board on which coder-1 works on a task, and coder-2 is registered.
func (h *history) takable() string {
	h.t.Helper()
	return h.by(board.Actor{ID: "coder-2", Role: roles.Coder, Session: "theirs"}, h.claimed(h.coder, h.start), &board.Register{Session: "theirs", Clone: "there"})
}

// TestPolicies asks the server's two hooks about pushes to a hub.
func TestPolicies(t *testing.T) {
	h := newHistory(t)
	const state, integration, home = plumbing.BoardRef, "refs/heads/integration", plumbing.HomeRef
	lease, leaseBranch, homeBranch := plumbing.LeaseRef("coder-1"), plumbing.AsBranch(plumbing.LeaseRef("coder-1")), plumbing.AsBranch(plumbing.HomeRef)
	commit := func(tree string, parents ...string) string {
		args := []string{"commit-tree", "-m", "forged", tree}
		for _, p := range parents {
			args = append(args, "-p", p)
		}
		return h.git(h.hub, args...)
	}
	file := func(text string) string { return h.write(plumbing.BlobObject, []byte(text)) }
	tree := h.first + "^{tree}"
	own := testrun.Must(h.board.Repo().Object(h.ctx, h.lease))(h.t)
	padded := file(string(own.Data) + strings.Repeat("\n", hooks.MaxLease))
	other := file("not a lease")
	entries := testrun.Must(plumbing.DecodeTree(testrun.Must(h.board.Repo().Object(h.ctx, tree))(h.t).Data))(h.t)
	big := plumbing.TreeEntry{Name: "zz", Mode: filemode.Regular, OID: plumbing.OID(file(strings.Repeat("\x00", 1<<20+1)))}
	large := h.write(plumbing.TreeObject, plumbing.EncodeTree(append(entries, big)))
	submitted, work := h.submitted(h.coder, h.start)
	ahead, aheadWork := h.submitted(h.coder, h.next)
	together, togetherWork := h.submitted(h.landed, h.next)
	review := plumbing.ReviewRef("parse", 1)
	probe := fmt.Sprintf("%s%d-x", plumbing.ProbePrefix, time.Now().Unix())
	withdrawn := h.by(board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}, submitted, &board.Withdraw{About: board.About{Task: "parse"}, Reason: "one more"})
	resubmitted, moreWork := h.submits(withdrawn, h.start, work, 2)
	unknown := h.git(h.hub, "commit-tree", tree, "-p", h.first, "-m", h.git(h.hub, "log", "-1", "--format=%B", submitted))
	like := func(from, to string) string { return file(strings.Replace(string(own.Data), from, to, 1)) }
	theirs, nobody := like(`"coder-1"`, `"coder-2"`), like(`"mine"`, `""`)
	another := h.onTop(none, &board.Init{Goal: "Another", IntegrationBranch: "integration", SpecRef: "specs/vision.md"})
	head, message, _ := strings.Cut(h.git(h.hub, "cat-file", "commit", h.carry(h.lease))+"\n", "\n\n")
	long := h.write(plumbing.CommitObject, []byte(head+"\nx-long "+strings.Repeat("x", hooks.MaxLease)+"\n\n"+message))
	hours := board.At(time.Now().Add(-time.Hour))
	lapsed := &board.Lease{Agent: "coder-1", Session: "mine", Expires: hours, Heartbeat: hours}
	claimed := h.takable()
	taken := func(lease *board.Lease) string {
		claim := &board.Claim{About: board.About{Task: "parse"}, Clone: "there", BaseCommit: h.start}
		claim.ShowLease(lease)
		return h.by(board.Actor{ID: "coder-2", Role: roles.Coder, Session: "theirs"}, claimed, claim)
	}
	type refs = map[string]string
	atNote := refs{state: h.note, integration: h.start, lease: none, home: h.first}
	for name, c := range map[string]struct {
		at, to      refs // at is besides atNote
		late        time.Duration
		receive     string // what pre-receive refuses
		transaction string // what reference-transaction refuses
	}{
		"an operation":           {refs{state: h.first}, refs{state: h.note}, 0, "", ""},
		"another branch":         {nil, refs{"refs/heads/feature": h.next}, 0, "", ""},
		"a ref outside of refs/": {nil, refs{"MERGE_HEAD": h.next}, 0, "", ""},
		"the board, back":        {nil, refs{state: h.first}, 0, "liza/state only grows", "liza/state only grows"},
		"a merge":                {refs{state: h.first}, refs{state: commit(tree, h.first, h.next)}, 0, "has several parents", ""},
		"a large file":           {refs{state: h.first}, refs{state: commit(large, h.first)}, 0, "bytes to the board", ""},
		"no operation":           {refs{state: h.first}, refs{state: commit(tree, h.first)}, 0, "it carries no operation", ""},
		"an early operation":     {refs{state: h.first}, refs{state: h.note}, time.Hour, "and here it is", ""},

		"integration alone":             {nil, refs{integration: h.next}, 0, "nothing on the board records", "nothing on the board records"},
		"integration, where it is":      {nil, refs{integration: h.start}, 0, "nothing on the board records", ""},
		"a landing":                     {refs{state: h.coder}, refs{state: h.landed, integration: h.next}, 0, "", ""},
		"an operation after a landing":  {refs{state: h.landed, integration: h.next}, refs{state: h.onTop(h.landed, note("on"))}, 0, "", ""},
		"a landing without its move":    {refs{state: h.coder}, refs{state: h.landed}, 0, "does not move with it", "does not move with it"},
		"a board's first push":          {refs{state: none, integration: none, home: none}, refs{state: h.landed, integration: h.next, home: h.landed}, 0, "", ""},
		"its board without its branch":  {refs{state: none, integration: none, home: none}, refs{state: h.landed}, 0, "the board begins without integration", "the board begins without integration"},
		"its board where its branch is": {refs{state: none, home: none}, refs{state: h.first}, 0, "", ""},
		"a home elsewhere":              {refs{home: none}, refs{home: another}, 0, "no commit of the board", ""},
		"a home beside one in a branch": {refs{home: none, homeBranch: h.first}, refs{home: h.first}, 0, "where the board is at home in liza/home", "where the board is at home in liza/home"},
		"both homes at once":            {refs{state: none, home: none}, refs{state: h.first, home: h.first, homeBranch: h.first}, 0, "where the board is at home in liza/home", "where the board is at home in liza/home"},
		"a lost board":                  {refs{state: none}, refs{state: h.note}, 0, "", ""},
		"a lost board, and a landing":   {refs{state: none}, refs{state: h.landed, integration: h.next}, 0, "", ""},
		"another board for a lost one":  {refs{state: none}, refs{state: another}, 0, "is another board", "is another board"},
		"another for one in branches":   {refs{state: none, home: none, homeBranch: h.first}, refs{state: another, integration: h.next}, 0, "is another board", "is another board"},
		"a lost board, unrecorded work": {refs{state: none}, refs{state: h.note, integration: h.next}, 0, "nothing on the board records", "nothing on the board records"},
		"a branch before the board":     {refs{state: none, home: none}, refs{integration: h.next}, 0, "", ""},

		"a lease":                    {refs{state: h.coder}, refs{lease: h.lease}, 0, "", ""},
		"a lease before its agent":   {nil, refs{lease: h.lease}, 0, "is registered in another session, or not at all", "is registered in another session, or not at all"},
		"a lease with its agent":     {nil, refs{state: h.coder, lease: h.lease}, 0, "", ""},
		"no lease":                   {refs{state: h.coder}, refs{lease: other}, 0, "is not a lease of it", "is not a lease of it"},
		"a commit for a lease":       {refs{state: h.coder}, refs{lease: h.next}, 0, "is not a lease of it", "is not a lease of it"},
		"a long lease":               {refs{state: h.coder}, refs{lease: padded}, 0, "is not a lease of it", "is not a lease of it"},
		"integration beside a lease": {refs{state: h.coder}, refs{lease: h.lease, integration: h.next}, 0, "nothing on the board records", "nothing on the board records"},
		"a lease, deleted":           {refs{state: h.coder, lease: h.lease}, refs{lease: none}, 0, "ends by an operation", "ends by an operation"},

		"a claim whose lease is not shown": {refs{state: claimed, lease: h.lease}, refs{state: taken(nil)}, 0, "coder-1 has a lease here", ""},
		"a claim whose lease is shown":     {refs{state: claimed, lease: h.lease}, refs{state: taken(lapsed), lease: none}, 0, "", ""},
		"a claim without a lease":          {refs{state: claimed}, refs{state: taken(nil)}, 0, "", ""},
		"a claim beside what is no lease":  {refs{state: claimed, lease: other}, refs{state: taken(nil), lease: none}, 0, "", ""},
		"a claim beside another's lease":   {refs{state: claimed, lease: theirs}, refs{state: taken(nil), lease: none}, 0, "", ""},
		"a claim beside nobody's lease":    {refs{state: claimed, lease: nobody}, refs{state: taken(nil), lease: none}, 0, "", ""},
		"a lost board with such a claim":   {refs{state: none, lease: h.lease}, refs{state: taken(nil)}, 0, "", ""},
		"a claim whose lease is in a branch": {refs{state: claimed, home: none, homeBranch: h.first, leaseBranch: h.carry(h.lease)},
			refs{state: taken(nil)}, 0, "coder-1 has a lease here", ""},

		"a submission":                           {refs{state: h.coder}, refs{state: submitted, review: work}, 0, "", ""},
		"a submission on what integration lacks": {refs{state: h.coder}, refs{state: ahead, review: aheadWork}, 0, "which the review began at, is not on the integration branch", ""},
		"a submission on what lands with it":     {refs{state: h.coder}, refs{state: together, integration: h.next, review: togetherWork}, 0, "", ""},
		"a submission without its ref":           {refs{state: h.coder}, refs{state: submitted}, 0, "does not come with it", "does not come with it"},
		"a submission whose ref is elsewhere":    {refs{state: h.coder, review: h.next}, refs{state: submitted}, 0, "does not come with it", "does not come with it"},
		"a submission after another":             {refs{state: withdrawn, review: work}, refs{state: resubmitted, plumbing.ReviewRef("parse", 2): moreWork}, 0, "", ""},
		"a submission of no task":                {refs{state: h.first}, refs{state: unknown}, 0, "the author is Ada", ""},
		"a submission whose ref is here":         {refs{state: h.coder, review: work}, refs{state: submitted}, 0, "", ""},
		"a submission that is on the board":      {refs{state: submitted}, refs{review: work}, 0, "", ""},
		"a submission in a branch":               {refs{state: submitted, home: none, homeBranch: h.first}, refs{plumbing.AsBranch(review): work}, 0, "", ""},

		"a candidate":                        {nil, refs{plumbing.CandidatePrefix + "x": h.next}, 0, "", ""},
		"a probe":                            {nil, refs{probe: h.next}, 0, "", ""},
		"a probe as branch":                  {nil, refs{plumbing.AsBranch(probe): h.next}, 0, "", ""},
		"a lease as branch":                  {refs{state: h.coder}, refs{leaseBranch: h.carry(h.lease)}, 0, "below liza/ there are the board", ""},
		"a lease as branch, with both homes": {refs{state: h.coder, homeBranch: h.first}, refs{leaseBranch: h.carry(h.lease)}, 0, "below liza/ there are the board", ""},
		"a long lease in a branch": {
			refs{state: h.coder, home: none, homeBranch: h.first}, refs{leaseBranch: long}, 0, "is not a lease of it", "is not a lease of it",
		},
		"a lease at home in a branch": {
			refs{state: h.coder, home: none, homeBranch: h.first}, refs{leaseBranch: h.carry(h.lease)}, 0, "", "",
		},
		"a lease with the home": {refs{state: none, integration: none, home: none},
			refs{state: h.coder, integration: h.start, homeBranch: h.coder, leaseBranch: h.carry(h.lease)}, 0, "", ""},
		"no lease in a branch": {
			refs{state: h.coder, home: none, homeBranch: h.first}, refs{leaseBranch: h.next}, 0, "is not a lease of it", "is not a lease of it",
		},
		"a blob in a branch": {
			refs{state: h.coder, home: none, homeBranch: h.first}, refs{leaseBranch: h.lease}, 0, "", "", // git itself refuses it
		},
		"a lease in a branch, deleted": {
			refs{state: h.coder, home: none, homeBranch: h.first, leaseBranch: h.carry(h.lease)}, refs{leaseBranch: none}, 0, "ends by an operation", "ends by an operation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			before := refs{homeBranch: none, leaseBranch: none, review: none, plumbing.ReviewRef("parse", 2): none, plumbing.AsBranch(review): none}
			for _, some := range []refs{atNote, c.at} {
				for ref, value := range some {
					before[ref] = value
				}
			}
			h.set(before)
			now := time.Now().Add(-c.late)
			refusal, err := server.Receive(h.ctx, h.board, h.moves(c.to), now)
			h.refuses("pre-receive", refusal, err, c.receive)
			refusal, err = server.Transaction(h.ctx, h.board, h.moves(c.to), now)
			h.refuses("reference-transaction", refusal, err, c.transaction)
		})
	}
}

// TestMovedTwice checks that a push which moves a ref twice is refused: without --atomic git would
// take the second move, which nobody has looked at.
func TestMovedTwice(t *testing.T) {
	h := newHistory(t)
	h.set(map[string]string{plumbing.BoardRef: h.first, "refs/heads/integration": h.start, plumbing.LeaseRef("coder-1"): none})
	forged := h.git(h.hub, "commit-tree", "-m", "forged", "-p", h.note, h.first+"^{tree}")
	for _, ref := range []string{plumbing.BoardRef, "refs/heads/feature"} {
		moves := []hooks.Move{{Ref: ref, Old: h.first, New: h.note}, {Ref: ref, Old: h.note, New: forged}}
		refusal, err := server.Receive(h.ctx, h.board, moves, time.Now())
		h.refuses("pre-receive", refusal, err, ref+" is moved twice")
	}
}

// TestStaleHalf checks that a push whose board half can't succeed, because it is from where the board
// is not, is refused as a whole: without --atomic git would take the other half, and end a lease
// without an operation.
func TestStaleHalf(t *testing.T) {
	h := newHistory(t)
	lease := plumbing.LeaseRef("coder-1")
	h.set(map[string]string{plumbing.BoardRef: h.coder, "refs/heads/integration": h.start, lease: h.lease})
	moves := h.moves(map[string]string{plumbing.BoardRef: h.onTop(h.coder, note("on")), lease: none})
	for old, want := range map[string]string{h.coder: "", h.note: "liza/state is at", none: "liza/state is at"} {
		for i := range moves {
			if moves[i].Ref == plumbing.BoardRef {
				moves[i].Old = old
			}
		}
		refusal, err := server.Receive(h.ctx, h.board, moves, time.Now())
		h.refuses("pre-receive from "+old, refusal, err, want)
	}
}

// refuses checks a hook's answer; "" is none.
func (h *history) refuses(hook string, refusal *board.Refusal, err error, want string) {
	h.t.Helper()
	if err != nil || (refusal == nil) != (want == "") || refusal != nil && !strings.Contains(refusal.Message, want) {
		h.t.Errorf("%s says %v, %v: not %q", hook, refusal, err, want)
	}
}

// TestReceived checks what pre-receive leaves for the transaction that follows it.
func TestReceived(t *testing.T) {
	h := newHistory(t)
	h.set(map[string]string{plumbing.BoardRef: h.first, plumbing.LeaseRef("coder-1"): none})
	lock, moved := filepath.Join(h.hub, "refs", "heads", "feature.lock"), time.Now().Add(-time.Hour)
	proven := func(commit string) string {
		text, _ := os.ReadFile(filepath.Join(install.Dir(h.board.Repo()), "proven", commit))
		return string(text)
	}
	receive := func(moves []hooks.Move) *board.Refusal {
		t.Helper()
		h.check(os.RemoveAll(filepath.Join(install.Dir(h.board.Repo()), "proven", h.note)))
		h.check(os.WriteFile(lock, nil, 0o644))
		h.check(os.Chtimes(lock, moved, moved))
		return testrun.Must(server.Receive(h.ctx, h.board, moves, time.Now()))(h.t)
	}
	locked := func() bool { _, err := os.Stat(lock); return err == nil }

	both := h.moves(map[string]string{plumbing.BoardRef: h.note, "refs/heads/feature": h.next})
	if refusal := receive(both); refusal != nil || locked() {
		t.Errorf("%v; a killed git's lock is there: %v", refusal, locked())
	}
	want := ""
	for _, m := range both {
		want += m.Old + " " + m.New + " " + m.Ref + "\n"
	}
	testrun.Equal(t, proven(h.note), want, "proven is")
	// A push from another place than where the refs are is not proven as a transaction.
	for i := range both {
		if both[i].Ref != plumbing.BoardRef {
			both[i].Old = strings.Repeat("a", 40)
		}
	}
	if refusal := receive(both); refusal != nil || proven(h.note) != "" {
		t.Errorf("%v; proven is %q", refusal, proven(h.note))
	}
	// A refused push clears and proves nothing.
	refused := append(h.moves(map[string]string{plumbing.BoardRef: h.note, "refs/heads/feature": h.next}), h.moves(map[string]string{plumbing.OwnPrefix + "x": h.next})...)
	if refusal := receive(refused); refusal == nil || !locked() || proven(h.note) != "" {
		t.Errorf("%v; a lock is there: %v; proven is %q", refusal, locked(), proven(h.note))
	}
	h.check(os.Remove(lock))
	// Which branch is integration is noted for pushes of other branches.
	note := filepath.Join(install.Dir(h.board.Repo()), "integration")
	h.check(os.RemoveAll(note))
	if refusal := receive(h.moves(map[string]string{"refs/heads/feature": h.next})); refusal != nil {
		t.Errorf("%v", refusal)
	}
	settings := h.git(h.hub, "rev-parse", h.first+":config.yaml")
	if text, _ := os.ReadFile(note); string(text) != settings+"\nrefs/heads/integration\n" {
		t.Errorf("noted: %q", text)
	}
}

// TestKeepLast checks that the ref that keeps the board's history follows it at some distance, from
// within the quarantine of a push too, and that only a board that has it comes back.
func TestKeepLast(t *testing.T) {
	h := newHistory(t)
	ctx := gitenv.With(h.ctx, append(gitenv.Of(h.ctx), "GIT_QUARANTINE_PATH="+t.TempDir(), "GIT_OBJECT_DIRECTORY="+filepath.Join(h.hub, "objects")))
	h.set(map[string]string{plumbing.BoardRef: h.note, plumbing.HomeRef: h.first, plumbing.LastRef: h.first})
	last := func() string {
		at := testrun.Must(h.board.Repo().Ref(h.ctx, plumbing.LastRef))(h.t)
		return string(at)
	}
	before, tip := "", h.note
	for n := range 33 {
		before, tip = tip, h.onTop(tip, note(fmt.Sprint("note ", n)))
		if n < 29 {
			continue // not pushed alone
		}
		b := testrun.Must(gitboard.Open(ctx, h.hub, gitboard.Options{}))(h.t)
		refusal, err := server.Receive(ctx, b, h.moves(map[string]string{plumbing.BoardRef: tip}), time.Now())
		h.refuses("pre-receive", refusal, err, "")
		h.check(b.Close())
		h.set(map[string]string{plumbing.BoardRef: tip})
		if moved := last() != h.first; moved != (n >= 31) {
			t.Fatalf("after %d notes it is at %.10s", n+1, last())
		}
		if n == 31 && last() != before {
			t.Errorf("it is at %.10s, not at %.10s", last(), before)
		}
	}
	// One that is broken is left to the next push.
	file := filepath.Join(h.hub, filepath.FromSlash(plumbing.LastRef))
	h.check(os.MkdirAll(filepath.Dir(file), 0o755))
	kept := last()
	h.check(os.WriteFile(file, []byte("garbage\n"), 0o644))
	refusal, err := server.Receive(h.ctx, h.board, h.moves(map[string]string{plumbing.BoardRef: h.onTop(tip, note("later"))}), time.Now())
	h.refuses("pre-receive", refusal, err, "")
	h.check(os.WriteFile(file, []byte(kept+"\n"), 0o644))
	h.set(map[string]string{plumbing.BoardRef: none})
	for to, says := range map[string]string{h.note: "is another board", tip: ""} {
		refusal, err := server.Receive(h.ctx, h.board, h.moves(map[string]string{plumbing.BoardRef: to}), time.Now())
		h.refuses("pre-receive", refusal, err, says)
	}
}

// TestInterruptedPolicies interrupts each place that uses git in turn: a
// hook may fail, but not allow what it otherwise refuses, or refuse what it allows.
func TestInterruptedPolicies(t *testing.T) {
	h := newHistory(t)
	state, integration, lease := plumbing.BoardRef, "refs/heads/integration", plumbing.LeaseRef("coder-1")
	homeBranch, leaseBranch := plumbing.AsBranch(plumbing.HomeRef), plumbing.AsBranch(lease)
	submitted, work := h.submitted(h.coder, h.start)
	claimed := h.takable()
	taken := h.by(board.Actor{ID: "coder-2", Role: roles.Coder, Session: "theirs"}, claimed, &board.Claim{About: board.About{Task: "parse"}, Clone: "there", BaseCommit: h.start})
	far := h.note
	for n := range 33 {
		far = h.onTop(far, note(fmt.Sprint(n)))
	}
	type refs = map[string]string
	for name, c := range map[string]struct {
		at, to  refs
		allowed bool
	}{
		"the board":   {refs{state: h.note, integration: h.start, lease: none}, refs{state: h.landed}, false},
		"in a branch": {refs{state: h.coder, integration: h.start, plumbing.HomeRef: none, homeBranch: h.first}, refs{leaseBranch: h.carry(h.lease)}, true},
		"a new board": {refs{state: none, integration: none, plumbing.HomeRef: none}, refs{state: h.landed, integration: h.next, plumbing.HomeRef: h.landed}, true},
		"without it":  {refs{state: none, integration: h.start}, refs{integration: h.next}, false},
		"submitted":   {refs{state: h.coder, integration: h.start}, refs{state: submitted, plumbing.ReviewRef("parse", 1): work}, true},
		"far on":      {refs{state: far, integration: h.start, plumbing.LastRef: h.first}, refs{state: h.onTop(far, note("on"))}, true},
		"unshown": {refs{state: claimed, integration: h.start, plumbing.HomeRef: none, homeBranch: h.first, leaseBranch: h.carry(h.lease)},
			refs{state: taken}, false},
	} {
		h.git(h.hub, "repack", "-adkq") // loose objects are read without git, and so without the context
		h.set(refs{plumbing.HomeRef: h.first, plumbing.LastRef: none, homeBranch: none, lease: none, leaseBranch: none, plumbing.ReviewRef("parse", 1): none})
		h.set(c.at)
		moves := h.moves(c.to)
		for hook, ask := range map[string]func(context.Context, *gitboard.Board, []hooks.Move, time.Time) (*board.Refusal, error){
			"pre-receive": server.Receive, "reference-transaction": server.Transaction,
		} {
			attempt := func(place string) (allowed bool, places []string, err error) {
				b := h.open(h.hub) // one that has read nothing yet
				ctx := testrepo.InterruptedIn(h.ctx, "github.com/git-liza/git-liza/hooks/server", place)
				refusal, err := ask(ctx, b, moves, time.Now())
				return refusal == nil, ctx.Places(), err
			}
			whole, places, err := attempt("")
			h.check(err)
			if hook == "pre-receive" && whole != c.allowed {
				t.Errorf("%s is allowed: %v", name, whole)
			}
			for i, place := range places {
				if !testrun.OneIn(16, i) {
					continue
				}
				allowed, _, err := attempt(place)
				if whole && allowed && strings.HasPrefix(place, ".(*arrival).keepLast:") {
					continue // what this push does not keep, a later one does
				}
				if err == nil {
					t.Errorf("%s, %s, interrupted at %s: it is allowed: %v", name, hook, place, allowed)
				}
			}
			t.Logf("%s, %s: %d places", name, hook, len(places))
		}
	}
}

// TestPackets checks that violations of git's protocol are errors.
func TestPackets(t *testing.T) {
	version := "000eversion=1\n0000"
	for _, in := range []string{"", "00", "zzzz", "zzzz00000000", "0003", "0009ab", version, version + "0008aaaa", version + "0008aaaa0000"} {
		if err := server.ProcReceive(t.Context(), nil, "", time.Now(), strings.NewReader(in), io.Discard); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
	late := iotest.TimeoutReader(io.MultiReader(strings.NewReader("0009ab"), strings.NewReader("00000000")))
	if err := server.ProcReceive(t.Context(), nil, "", time.Now(), late, io.Discard); err == nil {
		t.Error("half a line is taken")
	}
	if err := server.ProcReceive(t.Context(), nil, "", time.Now(), strings.NewReader(version+"0000"), deaf{}); err == nil {
		t.Error("nobody hears the answer, and that is no error")
	}
	out := &strings.Builder{}
	if err := server.ProcReceive(t.Context(), nil, "", time.Now(), strings.NewReader(version+"0000"), out); err != nil || out.String() != "000dversion=100000000" {
		t.Errorf("nothing to do is answered by %q, %v", out, err)
	}
}

// deaf can't be written to.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("nobody hears") }
