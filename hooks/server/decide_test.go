package server_test

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/hooks/server"
)

// again is a commit of the board as a clone's operation, in a request of its own. The pairs are
// replaced in it.
func (h *history) again(commit, request string, pairs ...string) parcel.Operation {
	h.t.Helper()
	raw := h.git(h.hub, "cat-file", "commit", commit) + "\n"
	_, rest, _ := strings.Cut(raw, "Liza-Request: ")
	was, _, _ := strings.Cut(rest, "\n")
	return parcel.Operation{Commit: strings.NewReplacer(append(pairs, "Liza-Request: "+was, "Liza-Request: "+request)...).Replace(raw)}
}

// leases are further leases of coder-1, as contents and ids.
func (h *history) leases(n int) (texts []string, oids []plumbing.OID) {
	h.t.Helper()
	o := testrun.Must(h.board.Repo().Object(h.ctx, h.lease))(h.t)
	c := lease.Decode(o)
	for range n {
		c.Expires = c.Expires.Add(time.Second)
		next := c.Object()
		texts, oids = append(texts, string(next.Data)), append(oids, next.OID)
	}
	return texts, oids
}

// text is a parcel as the option of a push.
func (h *history) text(p parcel.Parcel) server.Pushed {
	h.t.Helper()
	text, short := p.Text()
	if !short {
		h.t.Fatal("the parcel is too long for an option")
	}
	return server.Pushed{Text: text}
}

// TestDecided checks what a server takes of a parcel, and that it says so.
func TestDecided(t *testing.T) {
	h := newHistory(t)
	held, review := plumbing.LeaseRef("coder-1"), plumbing.ReviewRef("parse", 1)
	texts, leases := h.leases(2)
	task := board.About{Task: "parse"}
	planned := h.onTop(h.coder, &board.AddTask{About: task, NoSpecFile: true, Definition: board.Definition{
		Description: "d", DoneWhen: "go test ./parse passes", Scope: "IN: parse", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3}})
	ended := h.onTop(planned, &board.Abandon{About: task, Reason: "no need"})
	coder, claimed := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}, h.claimed(h.coder, h.start)
	checkpoint := h.by(coder, claimed, &board.PreExec{About: task, Checkpoint: board.Checkpoint{Intent: "i", Validation: "v: ok", FilesToModify: []string{"f"}}})
	land := &board.Land{Before: h.start, Commit: h.next}
	private := testrun.Must(ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))))(h.t)
	key := testrun.Must(sshsig.NewSigner(private, nil))(h.t)
	keyed := h.onTop(h.first, &board.KeysAdd{Principal: ada.Email, Public: key.Public()})
	keyed = h.signed(key, ada, keyed, &board.SetConfig{Key: "require_signatures", Value: "true"})
	noted := h.git(h.hub, "log", "-1", "--format=%at", h.note)
	on := func(base string, refs []plumbing.RefUpdate, operations ...parcel.Operation) parcel.Transaction {
		return parcel.Transaction{Base: plumbing.OID(base), Integration: plumbing.OID(h.start), Operations: operations, Refs: refs}
	}
	move := func(ref, from string, to plumbing.OID) []plumbing.RefUpdate {
		return []plumbing.RefUpdate{{Ref: ref, Old: plumbing.OID(from), New: to}}
	}
	type transactions = []parcel.Transaction
	for _, c := range []struct {
		name         string
		at           string // the board
		lease        string
		transactions transactions
		answer       parcel.Answer
		moved        []string
		integration  string // there, "" for h.start
	}{
		{"as pushed", h.first, none, transactions{on(h.first, nil, h.again(h.note, "a"))}, parcel.AsPushed, []string{plumbing.BoardRef}, ""},
		{"the first of two", h.first, none, transactions{on(h.first, nil, h.again(h.note, "a")), on(h.first, move(review, h.next, plumbing.OID(h.start)))}, parcel.Rewritten, []string{plumbing.BoardRef}, ""},
		{"after one that is refused", planned, none, transactions{
			on(planned, nil, h.again(ended, "a", `"no need"`, `""`)), on(planned, nil, h.again(ended, "b"))}, parcel.Overtaken, nil, ""},
		{"a lease that is there already", h.coder, h.lease, transactions{on(h.coder, move(held, none, plumbing.OID(h.lease)), h.again(h.note, "a"))}, parcel.Overtaken, nil, ""},
		{"a value that the ref has already", h.coder, h.lease, transactions{on(h.coder, move(review, h.next, plumbing.ZeroOID), h.again(h.note, "a"))}, parcel.Rewritten, []string{plumbing.BoardRef}, ""},
		{"what does not rest on integration", h.first, none, transactions{{Base: plumbing.OID(h.first), Integration: plumbing.OID(h.next), Operations: []parcel.Operation{h.again(h.note, "a")}}},
			parcel.AsPushed, []string{plumbing.BoardRef}, ""},
		{"by a slow clock", h.coder, none, transactions{on(h.coder, nil, h.again(h.note, "a", "> "+noted, "> 1700000000"))}, parcel.Rewritten, []string{plumbing.BoardRef}, ""},
		{"by one who has to sign", keyed, none, transactions{on(keyed, nil, h.again(h.note, "a"))}, parcel.Declined, nil, ""},
		{"a branch of the project", h.first, none, transactions{on(h.first, move("refs/heads/main", h.start, plumbing.OID(h.next)))}, parcel.Declined, nil, ""},
		{"a lease renewed twice", h.coder, h.lease, transactions{on(h.coder, move(held, h.lease, leases[0])), on(h.coder, move(held, string(leases[0]), leases[1]))}, parcel.AsPushed, []string{held}, ""},
		{"before integration moved", h.onTop(claimed, land), h.lease, transactions{on(claimed, nil, h.again(checkpoint, "a"))}, parcel.Rewritten, []string{plumbing.BoardRef}, h.next},
		{"on integration that has moved", h.onTop(planned, land), h.lease, transactions{on(planned, nil, h.again(ended, "a"))}, parcel.Overtaken, nil, h.next},
		{"after integration was set back", claimed, h.lease, transactions{{Base: plumbing.OID(claimed), Integration: plumbing.OID(h.next), Operations: []parcel.Operation{h.again(checkpoint, "a")}}}, parcel.Overtaken, nil, ""},
	} {
		// Without a place to wait in, a parcel is decided at once.
		h.check(os.RemoveAll(install.Dir(h.board.Repo())))
		h.check(os.WriteFile(install.Dir(h.board.Repo()), nil, 0o644))
		h.set(map[string]string{plumbing.BoardRef: c.at, held: c.lease, "refs/heads/integration": cmp.Or(c.integration, h.start)})
		done, err := server.Sequence(h.ctx, h.open(h.hub), h.text(parcel.Parcel{Transactions: c.transactions, Blobs: texts}), time.Now())
		h.check(err)
		var moved []string
		for _, u := range done.Moves {
			moved = append(moved, u.Ref)
		}
		if done.Answer != c.answer || !slices.Equal(moved, c.moved) {
			t.Errorf("%s: it says %s %s, and moves %v", c.name, done.Answer, done.Why, moved)
		}
	}
}

// TestLinksOfTwoBases: of two transactions that were decided without knowing each other, the second is
// left out if the first has changed what it was decided by, and not done again if it is the same
// request.
func TestLinksOfTwoBases(t *testing.T) {
	h := newHistory(t)
	h.set(map[string]string{plumbing.BoardRef: h.note, plumbing.LeaseRef("coder-1"): none, "refs/heads/integration": h.start})
	cycles := func(base, value string) parcel.Operation {
		return h.again(h.onTop(base, &board.SetConfig{Key: "max_review_cycles", Value: value}), value)
	}
	p, once := parcel.Parcel{}, h.again(h.note, "once")
	for n, op := range []parcel.Operation{cycles(h.first, "7"), cycles(h.note, "8"), once, once} {
		base := plumbing.OID([]string{h.first, h.note}[n%2])
		p.Transactions = append(p.Transactions, parcel.Transaction{Base: base, Integration: plumbing.OID(h.start), Operations: []parcel.Operation{op}})
	}
	done := testrun.Must(server.Sequence(h.ctx, h.open(h.hub), h.text(p), time.Now()))(h.t)
	v := testrun.Must(h.open(h.hub).View(h.ctx))(h.t)
	taken := h.git(h.hub, "rev-list", "--count", h.note+".."+plumbing.BoardRef)
	if done.Answer != parcel.Rewritten || v.State.Config().MaxReviewCycles != 7 || taken != "2" {
		t.Errorf("%s: %s were taken, and max_review_cycles is %d", done.Answer, taken, v.State.Config().MaxReviewCycles)
	}
}

// TestManyOperations checks that a parcel is decided in part while others wait, and declined if its
// operations can't be parted.
func TestManyOperations(t *testing.T) {
	h := newHistory(t)
	one, many := h.again(h.note, "a request").Commit, []parcel.Operation{}
	for n := range 201 {
		many = append(many, parcel.Operation{Commit: strings.Replace(one, "a request", fmt.Sprint(n), 1)})
	}
	transaction := func(of ...parcel.Operation) parcel.Transaction {
		return parcel.Transaction{Base: plumbing.OID(h.first), Integration: plumbing.OID(h.start), Operations: of}
	}
	for _, c := range []struct {
		transactions []parcel.Transaction
		answer       parcel.Answer
		taken        string
	}{
		{[]parcel.Transaction{transaction(many[:150]...), transaction(many[150:200]...), transaction(many[200])}, parcel.Rewritten, "200"},
		{[]parcel.Transaction{transaction(many...)}, parcel.Declined, "0"},
	} {
		h.set(map[string]string{plumbing.BoardRef: h.first, plumbing.LeaseRef("coder-1"): none, "refs/heads/integration": h.start})
		text, _ := (&parcel.Parcel{Transactions: c.transactions}).Text()
		done := testrun.Must(server.Sequence(h.ctx, h.open(h.hub), server.Pushed{Text: text}, time.Now()))(h.t)
		if taken := h.git(h.hub, "rev-list", "--count", h.first+".."+plumbing.BoardRef); done.Answer != c.answer || taken != c.taken {
			t.Errorf("%s: %s were taken", done.Answer, taken)
		}
	}
}

// TestMovedMeanwhile checks that a parcel is decided again as long as others push beside it, and
// given up in the end or if git fails.
func TestMovedMeanwhile(t *testing.T) {
	h := newHistory(t)
	places := []string{h.first}
	for len(places) < 8 {
		places = append(places, h.onTop(places[len(places)-1], note(fmt.Sprint(len(places)))))
	}
	one := h.text(parcel.Parcel{Transactions: []parcel.Transaction{{Base: plumbing.OID(h.first), Integration: plumbing.OID(h.start), Operations: []parcel.Operation{h.again(h.note, "a")}}}})
	real := testrun.Must(exec.LookPath("git"))(h.t)
	bin, lock := t.TempDir(), filepath.Join(h.hub, plumbing.BoardRef+".lock")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range []struct {
		beside int    // how many others push
		then   string // what git does after that
		tries  int
		answer parcel.Answer
	}{
		{1, "", 2, parcel.Rewritten},
		{4, "", 5, parcel.Rewritten},
		{5, "", 5, ""},
		{0, "exit 128", 3, ""}, // tries of UpdateRefs
		{0, "[ $n = 1 ] || rm -r '" + lock + "'", 2, parcel.AsPushed}, // the first has waited for the lock
	} {
		count := filepath.Join(t.TempDir(), "count")
		text := fmt.Sprintf(`#!/bin/sh
case " $* " in *" update-ref "*)
	echo >>'%[1]s'
	n=$(wc -l <'%[1]s')
	if [ "$n" -le %[2]d ]; then
		'%[3]s' -c core.hooksPath=/dev/null update-ref refs/heads/liza/state "$(echo %[4]s | cut -d ' ' -f $((n + 1)))"
	else
		:
		%[5]s
	fi
esac
exec '%[3]s' "$@"
`, count, c.beside, real, strings.Join(places, " "), c.then)
		h.set(map[string]string{plumbing.BoardRef: h.first, plumbing.LeaseRef("coder-1"): none, "refs/heads/integration": h.start})
		h.check(os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o755))
		if strings.Contains(c.then, lock) {
			h.check(os.MkdirAll(filepath.Join(lock, "held"), 0o755))
		}
		done, err := server.Sequence(h.ctx, h.open(h.hub), one, time.Now())
		lines, _ := os.ReadFile(count)
		h.check(os.Remove(filepath.Join(bin, "git")))
		if done.Answer != c.answer || (err == nil) != (c.answer != "") || len(lines) != c.tries {
			t.Errorf("%d others, then %q: %s after %d tries, %v", c.beside, c.then, done.Answer, len(lines), err)
		}
	}
}
