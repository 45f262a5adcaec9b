package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks/server"
)

// forgeries are what a server may make of its news.
var forgeries = map[string]func(n *parcel.News){
	"another start":         func(n *parcel.News) { n.Since = plumbing.OID(strings.Repeat("7", 40)) },
	"one operation too few": func(n *parcel.News) { n.Operations = n.Operations[1:] },
	"true, but too old":     func(n *parcel.News) { n.Operations = n.Operations[:len(n.Operations)-1] },
	"true, but nothing":     func(n *parcel.News) { n.Operations = nil },
	"another operation":     func(n *parcel.News) { edit(n, "Ada <", "Eve <") },
	"another tree":          func(n *parcel.News) { edit(n, "tree ", "tree 7") },
	"not a commit":          func(n *parcel.News) { n.Operations[0].Commit = "tree\n" },
	"a payload":             func(n *parcel.News) { n.Operations[0].Payload = "message: x\n" },
	"no integration":        func(n *parcel.News) { delete(n.Refs, "refs/heads/integration") },
	"another sequencer":     func(n *parcel.News) { n.Refs[plumbing.SequencerPrefix+"2"] = n.Since },
	"cut off":               nil,
}

func edit(n *parcel.News, from, to string) {
	n.Operations[0].Commit = strings.Replace(n.Operations[0].Commit, from, to, 1)
}

// forger passes on a server's answers, and forges its news once if the file "forge" says how.
type forger struct{ out io.Writer }

func (f forger) Write(p []byte) (int, error) {
	const key = "option refname " // of a packet, after the four digits of its length
	how, err := os.ReadFile("forge")
	at := bytes.Index(p, []byte(key))
	if err != nil || at < 4 {
		return f.out.Write(p)
	}
	var length int
	if _, err := fmt.Sscanf(string(p[at-4:at]), "%04x", &length); err != nil {
		return 0, err
	}
	end := at - 4 + length
	inbox, text, is := strings.Cut(string(p[at+len(key):end]), "/"+string(parcel.Rewritten)+"/")
	if !is {
		return 0, fmt.Errorf("there is nothing to forge in %q", p)
	}
	n, err := parcel.ParseNews(text)
	if err != nil {
		return 0, err
	}
	if forge := forgeries[string(how)]; forge != nil {
		forge(n)
		text, _ = n.Text()
	} else {
		text = text[:len(text)/2]
	}
	line := key + parcel.AnswerRef(inbox, parcel.Rewritten, text)
	if _, err := fmt.Fprintf(f.out, "%s%04x%s%s", p[:at-4], len(line)+4, line, p[end:]); err != nil {
		return 0, err
	}
	return len(p), os.Remove("forge")
}

// view is a clone's view of the hub.
func (w *world) view(b *gitboard.Board) string {
	w.t.Helper()
	return w.git(b.Repo().TopLevel(), "for-each-ref", "--format=%(refname) %(objectname)", "refs/liza", "refs/remotes", plumbing.BoardPrefix)
}

// TestNews: a clone whose operation was rewritten learns from the answer what a fetch would show,
// and does not fetch, unless something has moved whose objects it does not have.
func TestNews(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.clones[0], w.clones[1]
	fetched, pushed := w.fetches(b), w.pushes(b)
	store, proven, operations := b.Log().Store().(*share.Store), plumbing.OID(""), 1
	prove := store.Learned
	store.Learned = func(on, tip plumbing.OID) {
		proven = tip
		prove(on, tip)
	}
	coder := func(id string) board.Actor { return board.Actor{ID: id, Role: roles.Coder, Session: "mine"} }
	by := func(id string, p board.Payload) {
		testrun.Must(a.Do(w.ctx, gitboard.Request{Actor: coder(id)}, gitboard.Just(p)))(w.t)
	}
	notes := func(texts ...string) {
		_, err := a.DoAll(w.ctx, gitboard.Request{Actor: ada}, func(context.Context, *gitboard.View) (all []board.Payload, _ []plumbing.RefUpdate, _ error) {
			for _, text := range texts {
				all = append(all, note(text))
			}
			return all, nil, nil
		})
		w.check(err)
	}
	main := plumbing.OID(w.git(w.hub, "rev-parse", "main"))
	moved := w.git(w.hub, "commit-tree", "-p", "main", "-m", "moved", "main^{tree}")
	behind := func(args ...string) {
		notes("beside")
		w.git(w.hub, append([]string{"-c", "core.hooksPath=" + os.DevNull, "update-ref"}, args...)...)
	}
	for _, c := range []struct {
		name       string
		beside     func()       // what others do
		operations int          // that this makes
		published  plumbing.OID // where the clone publishes the branch of a task with its operation
		fetches    int
	}{
		{"notes, one of them in a file", func() { notes("short", strings.Repeat("long ", 1000)) }, 2, plumbing.ZeroOID, 0},
		{"new leases", func() {
			by("coder-1", &board.Register{Session: "mine", Clone: "here", PID: 7})
			by("coder-2", &board.Register{Session: "mine", Clone: "here", PID: 7})
		}, 2, main, 0},
		{"leases renewed, ended and deleted, and packed refs", func() {
			by("coder-2", &board.Deregister{})
			w.check(a.Sessions().EndLease(w.ctx, coder("coder-1"), "its supervisor has ended"))
			w.git(w.hub, "pack-refs", "--all")
		}, 1, plumbing.ZeroOID, 0},
		{"integration moved", func() { behind("refs/heads/integration", moved) }, 1, plumbing.ZeroOID, 1},
		{"a task's branch", func() { behind(plumbing.PublishedRef("parse"), moved) }, 1, main, 1},
		{"more than an answer brings", func() { notes(slices.Repeat([]string{"n"}, parcel.MaxNews)...) }, parcel.MaxNews, main, 1},
	} {
		if c.operations == parcel.MaxNews && !testrun.OneIn(2, 1) {
			continue // it takes seconds
		}
		c.beside()
		operations += c.operations + 1
		before, pushes, began := fetched(), pushed(), b.Sharing().Moment()
		done, err := b.Do(w.ctx, gitboard.Request{Actor: ada}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
			published, err := b.Sharing().Publish(w.ctx, "mine", c.published)
			return note("after " + c.name), published, err
		})
		w.check(err)
		w.check(b.Sharing().RefreshSince(w.ctx, began)) // the view is fresh
		if n := fetched() - before; n != c.fetches || pushed() != pushes+1 {
			t.Errorf("%s: %d fetches and %d pushes", c.name, n, pushed()-pushes)
		}
		if (proven == done.Commit) != (c.fetches == 0) {
			t.Errorf("%s: it is proven up to %s, and at %s", c.name, proven, done.Commit)
		}
		testrun.Equal(t, w.git(w.hub, "rev-parse", "liza/state"), string(done.Commit), "%s: it is acknowledged as %s, and the hub has", c.name, done.Commit)
		learned := w.view(b)
		if w.check(b.Refresh(w.ctx)); w.view(b) != learned {
			t.Errorf("%s: the clone has\n%s\nand after a fetch\n%s", c.name, learned, w.view(b))
		}
	}
	w.end(operations)
}

// TestNewsText checks what an answer brings: what came to the board since the clone has fetched,
// and nothing if that can't be read or is too long.
func TestNewsText(t *testing.T) {
	h := newHistory(t)
	const integration = "refs/heads/integration"
	held := plumbing.LeaseRef("coder-1")
	// Text that can't be compressed.
	random, longer := rand.New(rand.NewPCG(1, 1)), h.coder
	for range 30 {
		text := ""
		for range 500 {
			text += fmt.Sprintf("%016x", random.Uint64())
		}
		longer = h.onTop(longer, note(text))
	}
	try := func(ctx context.Context, at, has, landed string) server.Sequenced {
		h.set(map[string]string{plumbing.BoardRef: at, held: h.lease, integration: landed})
		transaction := parcel.Transaction{Base: plumbing.OID(h.first), Integration: plumbing.OID(landed), Operations: []parcel.Operation{h.again(h.note, "a")}}
		done, err := server.Sequence(ctx, h.open(h.hub), h.text(parcel.Parcel{Has: plumbing.OID(has), Transactions: []parcel.Transaction{transaction}}), time.Now())
		if h.check(err); done.Answer != parcel.Rewritten || len(done.Moves) != 1 {
			t.Errorf("it is answered %s, and moves %v", done.Answer, done.Moves)
		}
		return done
	}
	for name, c := range map[string]struct {
		at, has, landed string
		operations      int // 0 for no news
	}{
		"all since the base": {h.coder, h.first, h.start, 3},
		"the rest":           {h.coder, h.note, h.start, 2},
		"its own":            {h.coder, h.coder, h.start, 1},
		"no integration":     {h.coder, h.first, none, 3},
		"not asked for":      {h.coder, "", h.start, 0},
		"too long":           {longer, h.first, h.start, 0},
	} {
		done := try(h.ctx, c.at, c.has, c.landed)
		if c.operations == 0 {
			testrun.Equal(t, done.News, "", "%s: it brings", name)
			continue
		}
		refs := map[string]plumbing.OID{held: plumbing.OID(h.lease), integration: plumbing.OID(c.landed)}
		maps.DeleteFunc(refs, func(_ string, at plumbing.OID) bool { return at.IsZero() })
		n := testrun.Must(parcel.ParseNews(done.News))(h.t)
		maps.DeleteFunc(n.Refs, func(ref string, _ plumbing.OID) bool { return strings.HasPrefix(ref, plumbing.SequencerPrefix) })
		if n.Since != plumbing.OID(c.has) || len(n.Operations) != c.operations || !maps.Equal(n.Refs, refs) || len(n.Leases) != 1 {
			t.Errorf("%s: it brings %+v", name, n)
		}
		for _, op := range n.Operations {
			if _, err := op.Decode(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	places := func(place string) (news string, places []string) {
		ctx := testrepo.InterruptedIn(h.ctx, "github.com/git-liza/git-liza/hooks/server", place)
		return try(ctx, h.coder, h.first, h.start).News, ctx.Places()
	}
	_, all := places("")
	tried := 0
	for _, place := range all {
		if strings.Contains(place, ".news:") {
			tried++
			if news, _ := places(place); news != "" {
				t.Errorf("interrupted at %s, it brings %q", place, news)
			}
		}
	}
	if tried < 4 {
		t.Errorf("it reads at %d places: %q", tried, all)
	}
}

// TestForgedNews: a clone builds nothing on news that are not what the board has become, and
// fetches.
func TestForgedNews(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.clones[0], w.clones[1]
	fetched, operations := w.fetches(b), 1
	for name := range testrun.Some(3, forgeries) {
		w.do(a, note(name))
		w.check(os.WriteFile(filepath.Join(w.hub, "forge"), []byte(name), 0o644))
		fetches := fetched()
		done := w.do(b, note("after "+name))
		operations += 2
		if n := fetched() - fetches; n != 1 && !strings.HasPrefix(name, "true, ") {
			t.Errorf("%s: %d fetches", name, n)
		}
		testrun.Equal(t, w.git(w.hub, "rev-parse", "liza/state"), string(done.Commit), "%s: it is acknowledged as %s, and the hub has", name, done.Commit)
		if _, err := os.Stat(filepath.Join(w.hub, "forge")); err == nil {
			t.Errorf("%s was not forged", name)
		}
	}
	w.end(operations)
}
