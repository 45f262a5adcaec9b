package server_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/hooks/server"
)

// TestMain lets the test's own program answer the hooks of a server: hook --server -- NAME ARG.
func TestMain(m *testing.M) {
	testrun.Prepare()
	if len(os.Args) < 4 || os.Args[1] != "hook" {
		code := m.Run()
		for _, dir := range []string{pair, past.dir} {
			if dir != "" {
				os.RemoveAll(dir)
			}
		}
		os.Exit(code)
	}
	if err := answer(os.Args[4], append(os.Args[5:], "")[0]); err != nil {
		fmt.Fprintln(os.Stderr, "liza:", err)
		os.Exit(1)
	}
}

func answer(hook, argument string) error {
	ctx := context.Background()
	b, err := gitboard.Open(ctx, ".", gitboard.Options{})
	if err != nil {
		return err
	}
	defer b.Close()
	if hook == "proc-receive" {
		return server.ProcReceive(ctx, b, argument, time.Now(), os.Stdin, forger{os.Stdout})
	}
	moves, err := hooks.ReadMoves(os.Stdin)
	if err != nil {
		return err
	}
	policy := map[string]func(context.Context, *gitboard.Board, []hooks.Move, time.Time) (*board.Refusal, error){
		"pre-receive": server.Receive, "reference-transaction": server.Transaction,
	}[hook]
	refusal, err := policy(ctx, b, moves, time.Now())
	switch {
	case err != nil:
		return err
	case refusal != nil:
		fmt.Println("refuse")
		return errors.New(refusal.Message)
	}
	fmt.Println("allow")
	return nil
}

// world is a hub that sequences, and clones that share a board by it.
type world struct {
	t      *testing.T
	ctx    context.Context
	hub    string
	clones []*gitboard.Board
}

var (
	operations = flag.Int("operations", 100_000, "how many with -long")
)

var ada = board.HumanActor("Ada", "ada@example.org")

// pair is the directory of a hub with two clones that every world is copied from; the first test
// makes it.
var pair string

func newWorld(t *testing.T, clones int) *world {
	t.Helper()
	testrun.NotShort(t)
	testrepo.Environment(t)
	if pair == "" {
		var err error
		if pair, err = os.MkdirTemp("", "liza-hub-"); err != nil {
			t.Fatal(err)
		}
		makePair(t, pair)
	}
	dir := t.TempDir()
	testrepo.Copy(t, pair, dir)
	w := &world{t: t, ctx: t.Context(), hub: filepath.Join(dir, "hub.git")}
	for n := range clones {
		clone := filepath.Join(dir, fmt.Sprint("clone", n))
		if n < 2 {
			w.clones = append(w.clones, w.open(clone))
		} else {
			w.join(clone)
		}
	}
	return w
}

// join adds a clone.
func (w *world) join(dir string) {
	w.t.Helper()
	w.git("", "clone", "-q", w.hub, dir)
	b := w.open(dir)
	w.check(b.Sharing().Join(w.ctx, "origin"))
	w.clones = append(w.clones, b)
}

// makePair makes a hub with two clones in a directory.
func makePair(t *testing.T, dir string) {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), hub: filepath.Join(dir, "hub.git")}
	first := filepath.Join(dir, "clone0")
	w.git("", "init", "-q", "--bare", "-b", "main", w.hub)
	w.install("")
	w.git("", "init", "-q", "-b", "main", first)
	w.git(first, "commit", "-q", "--allow-empty", "-m", "first")
	w.git(first, "branch", "integration")
	w.git(first, "remote", "add", "origin", w.hub)
	w.git(first, "push", "-q", "origin", "main")
	a := w.open(first)
	w.do(a, &board.Init{Goal: "a goal", IntegrationBranch: "integration"})
	w.check(a.Sharing().Share(w.ctx, "origin"))
	w.clones = append(w.clones, a)
	w.join(filepath.Join(dir, "clone1"))
	w.check(a.Refresh(w.ctx))
	for _, b := range w.clones {
		b.Close()
	}
}

// install installs the hub's hooks. A script, if there is one, runs once before the program that
// answers proc-receive; its $PPID is the receive-pack.
func (w *world) install(script string) {
	w.t.Helper()
	program := testrun.Must(os.Executable())(w.t)
	if script != "" {
		armed, wrapper := filepath.Join(w.t.TempDir(), "armed"), filepath.Join(w.t.TempDir(), "program")
		w.check(os.WriteFile(armed, nil, 0o644))
		w.t.Cleanup(func() {
			if _, err := os.Stat(armed); err == nil {
				w.t.Error("no push has got so far: the test shows nothing")
			}
		})
		text := "#!/bin/sh\nif [ \"$4\" = proc-receive ] && [ -e '" + armed + "' ]; then rm '" + armed + "'\n" + script + "\nfi\nexec '" + program + "' \"$@\"\n"
		w.check(os.WriteFile(wrapper, []byte(text), 0o755))
		program = wrapper
	}
	b := w.open(w.hub)
	w.check(install.Install(w.ctx, b.Repo(), install.Setup{Program: program, Server: true}))
}

func (w *world) open(dir string) *gitboard.Board {
	w.t.Helper()
	b := testrun.Must(gitboard.Open(w.ctx, dir, gitboard.Options{}))(w.t)
	w.t.Cleanup(func() { b.Close() })
	return b
}

func (w *world) check(err error) {
	w.t.Helper()
	testrun.Check(w.t, err)
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	return testrun.RunGit(w.t, dir, args...)
}

func (w *world) do(b *gitboard.Board, p board.Payload) *gitboard.Done {
	w.t.Helper()
	return testrun.Must(b.Do(w.ctx, gitboard.Request{Actor: ada}, gitboard.Just(p)))(w.t)
}

func (w *world) refs() string {
	return w.git(w.hub, "for-each-ref", "--format=%(refname) %(objectname)")
}

// end checks that the hub and its clones agree on a sound board with this number of operations, and
// that no parcel or lock is left.
func (w *world) end(operations int) {
	w.t.Helper()
	hub := w.open(w.hub)
	tip := testrun.Must(hub.Repo().Ref(w.ctx, plumbing.BoardRef))(w.t)
	for _, b := range w.clones {
		w.check(b.Refresh(w.ctx))
		if here, err := b.Repo().Ref(w.ctx, plumbing.BoardRef); err != nil || here != tip {
			w.t.Errorf("a clone has the board at %s, the hub at %s: %v", here.Short(), tip.Short(), err)
		}
	}
	report := testrun.Must(audit.Verify(w.ctx, hub.Repo(), hub.Repo(), audit.Range{}, nil))(w.t)
	if !report.OK() || report.Commits != operations {
		w.t.Errorf("%d operations, not %d: %v", report.Commits, operations, report.Findings)
	}
	if refs := w.refs(); strings.Contains(refs, plumbing.InboxPrefix) {
		w.t.Errorf("the hub has\n%s", refs)
	}
	w.until(func() bool { // a hook whose receive-pack was killed may still be at it
		left := false
		err := filepath.WalkDir(w.hub, func(path string, _ fs.DirEntry, err error) error {
			left = left || strings.HasSuffix(path, ".lock")
			return err
		})
		return err == nil && !left
	})
	w.git("", "--git-dir="+w.hub, "fsck", "--full")
}

func note(text string) board.Payload { return &board.AddNote{For: "human", Message: text} }

// pushes makes a clone count its pushes.
func (w *world) pushes(b *gitboard.Board) func() int { return w.counted(b, "receive-pack") }

// fetches makes a clone count its fetches.
func (w *world) fetches(b *gitboard.Board) func() int { return w.counted(b, "upload-pack") }

// counted makes a clone count how often it starts a service of its remote.
func (w *world) counted(b *gitboard.Board, service string) func() int {
	w.t.Helper()
	log, script := filepath.Join(w.t.TempDir(), "started"), filepath.Join(w.t.TempDir(), service)
	w.check(os.WriteFile(script, []byte("#!/bin/sh\necho started >>'"+log+"'\nexec git-"+service+" \"$@\"\n"), 0o755))
	w.check(b.Repo().Settings().Set(w.ctx, "remote.origin."+strings.ReplaceAll(service, "-", ""), script))
	return func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "started\n")
	}
}

// TestSequenced: an operation that was decided on an old board takes one push, keeps its author and
// request, and is acknowledged as the commit that the server made of it. On the present board it is
// the clone's own commit.
func TestSequenced(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.clones[0], w.clones[1]
	pushed := w.pushes(b)
	first := w.do(a, note("one"))
	if head := w.git(w.hub, "rev-parse", "liza/state"); head != string(first.Commit) {
		t.Errorf("the hub has %s, not the clone's own commit %s", head, first.Commit)
	}
	second := testrun.Must(b.Do(w.ctx, gitboard.Request{Actor: ada, ID: "mine"}, gitboard.Just(note("two"))))(w.t)
	testrun.Equal(t, pushed(), 1, "pushes")
	if head := w.git(w.hub, "rev-parse", "liza/state"); head != string(second.Commit) || second.Repeated {
		t.Errorf("it is acknowledged as %s, and the hub has %s", second.Commit, head)
	}
	if second.Op.Request != "mine" || second.Op.Actor.Email != ada.Email {
		t.Errorf("the operation is %+v", second.Op)
	}
	w.do(a, note("three"))
	both, err := b.DoAll(w.ctx, gitboard.Request{Actor: ada}, func(context.Context, *gitboard.View) ([]board.Payload, []plumbing.RefUpdate, error) {
		return []board.Payload{note("four"), note("five")}, nil, nil
	})
	w.check(err)
	if len(both) != 2 || both[0].Op.Payload.(*board.AddNote).Message != "four" || both[1].Op.Payload.(*board.AddNote).Message != "five" {
		t.Errorf("of two operations together it gets %+v", both)
	}
	w.end(6)
}

// TestSettingsOfTheCaller: settings given by `git -c key=value liza` apply to the push of a parcel,
// too.
func TestSettingsOfTheCaller(t *testing.T) {
	w := newWorld(t, 1)
	dir := testrun.Must(w.clones[0].Root(w.ctx))(w.t)
	w.git(dir, "config", "remote.origin.url", "far:hub")
	settings := gitenv.AddSettings("", gitenv.Setting{Key: "url." + w.hub + ".insteadOf", Value: "far:hub"})
	b, err := gitboard.Open(gitenv.With(w.ctx, append(os.Environ(), gitenv.ParametersVar+"="+settings)), dir, gitboard.Options{})
	w.check(err)
	w.do(b, note("one"))
	w.check(b.Close())
	w.git(dir, "config", "remote.origin.url", w.hub)
	w.end(2)
}

// TestFewChildren: for an operation that brings no commits of a task the server's git packs,
// unpacks and walks nothing, and starts no hook that has nothing to say.
func TestFewChildren(t *testing.T) {
	w := newWorld(t, 1)
	a := w.clones[0]
	log, script := filepath.Join(t.TempDir(), "trace"), filepath.Join(t.TempDir(), "receive-pack")
	w.check(os.WriteFile(script, []byte("#!/bin/sh\nGIT_TRACE='"+log+"' exec git-receive-pack \"$@\"\n"), 0o755))
	w.check(a.Repo().Settings().Set(w.ctx, "remote.origin.receivepack", script))
	actor := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}
	_, err := a.Do(w.ctx, gitboard.Request{Actor: actor}, gitboard.Just(&board.Register{Session: "mine", Clone: "here", PID: 7}))
	w.check(err)
	text := testrun.Must(os.ReadFile(log))(w.t)
	if !strings.Contains(string(text), "hooks/proc-receive") {
		t.Fatalf("it was not sequenced:\n%s", text)
	}
	for _, child := range []string{"unpack-objects", "rev-list --objects", "reference-transaction", "post-receive", "post-update"} {
		if strings.Contains(string(text), child) {
			t.Errorf("%s was started:\n%s", child, text)
		}
	}
	w.end(2)
}

// TestManyClonesSequenced: clones that write at once lose nothing and do nothing twice, and of
// several that want the same one gets it.
func TestManyClonesSequenced(t *testing.T) {
	clones, writers := 3, 2
	most, enough := clones*writers, time.Now().Add(24*time.Hour)
	if *testrun.Long {
		clones, writers, most = 8, 16, *operations
		if end, is := t.Deadline(); is {
			enough = end.Add(-time.Until(end) / 4) // the rest is for the proof
		}
	}
	w := newWorld(t, clones)
	var noted, won sync.Map
	var begun atomic.Int64
	var wait sync.WaitGroup
	for n, b := range w.clones {
		for range writers {
			wait.Go(func() {
				for i := int(begun.Add(1)); i <= most && time.Now().Before(enough); i = int(begun.Add(1)) {
					text := fmt.Sprint("note ", i)
					if _, err := b.Do(w.ctx, gitboard.Request{Actor: ada}, gitboard.Just(note(text))); err != nil {
						t.Errorf("clone %d: %v", n, err)
						return
					}
					noted.Store(text, true)
					if i%1000 == 0 {
						// Only objects that a gc would pack anew each time are left.
						w.git(b.Repo().CommonDir(), "repack", "--geometric=2", "-d", "-l", "-q")
					}
				}
			})
		}
		wait.Go(func() {
			session := fmt.Sprint("session-", n)
			actor := board.Actor{ID: "coder-1", Role: roles.Coder, Session: session}
			_, err := b.Do(w.ctx, gitboard.Request{Actor: actor}, gitboard.Just(&board.Register{Session: session, Clone: fmt.Sprint(n)}))
			refused := (*board.Refusal)(nil)
			switch {
			case err == nil:
				won.Store(n, session)
			case !errors.As(err, &refused):
				t.Errorf("clone %d: %v", n, err)
			}
		})
	}
	wait.Wait()
	winners := 0
	won.Range(func(_, session any) bool {
		winners++
		w.check(w.clones[0].Refresh(w.ctx))
		if held, err := lease.Read(w.ctx, w.clones[0].Log().Store(), "coder-1"); err != nil || held == nil || held.Session != session {
			t.Errorf("%s has registered, and the lease is %+v: %v", session, held, err)
		}
		return true
	})
	if winners != 1 {
		t.Errorf("%d clones have registered the same agent", winners)
	}
	notes := 0
	for subject := range strings.Lines(w.git(w.hub, "log", "--format=%s", "liza/state") + "\n") {
		if _, text, is := strings.Cut(strings.TrimSpace(subject), "for human: "); is {
			notes++
			if _, acknowledged := noted.LoadAndDelete(text); !acknowledged {
				t.Errorf("%q is on the board twice, or was not acknowledged", text)
			}
		}
	}
	noted.Range(func(text, _ any) bool {
		t.Errorf("%q was acknowledged, and is not on the board", text)
		return true
	})
	t.Logf("%d notes by %d clones", notes, clones)
	w.end(1 + notes + 1)
}

// late lets a clone make two operations on a board that has moved: the second while the first is on
// its way. It returns how often each was decided.
func (w *world) late(b *gitboard.Board, payloads ...board.Payload) (decided [2]int) {
	w.t.Helper()
	came, on := filepath.Join(w.t.TempDir(), "came"), filepath.Join(w.t.TempDir(), "on")
	w.install("touch '" + came + "'; while [ ! -e '" + on + "' ]; do sleep 0.01; done")
	var all sync.WaitGroup
	for n, p := range payloads {
		own := w.open(b.Repo().TopLevel()) // acts as a separate process
		all.Go(func() {
			_, err := own.Do(w.ctx, gitboard.Request{Actor: ada}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
				decided[n]++
				return p, nil, nil
			})
			if err != nil {
				w.t.Error(err)
			}
		})
		w.until(func() bool {
			waiting, err := own.Sharing().Pending(w.ctx)
			_, there := os.Stat(came)
			return err == nil && there == nil && waiting == n+1
		})
	}
	w.check(os.WriteFile(on, nil, 0o644))
	all.Wait()
	return decided
}

// until waits for an event.
func (w *world) until(is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatal("it does not come to that")
		}
	}
}

// TestAppendedOnTheWay: what a clone decides while a push is on its way is not decided again
// because the server has rewritten that push. It is if it was decided after an operation that was
// left out, because its author saw another version of the record. The answer brings what is looked at.
func TestAppendedOnTheWay(t *testing.T) {
	set := func(value string) board.Payload { return &board.SetConfig{Key: "max_review_cycles", Value: value} }
	for _, c := range []struct {
		name        string
		first, then board.Payload
		decided     [2]int
	}{
		{"after one that is taken", note("first"), note("then"), [2]int{1, 1}},
		{"after one that is left out", set("4"), set("6"), [2]int{2, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 2)
			w.do(w.clones[0], set("7"))
			fetched := w.fetches(w.clones[1])
			if decided := w.late(w.clones[1], c.first, c.then); decided != c.decided || fetched() != 0 {
				t.Errorf("they were decided %v times, not %v, after %d fetches", decided, c.decided, fetched())
			}
			w.end(4)
		})
	}
}

// TestSequencedUnheard: whatever ends the connection, an operation is done once.
func TestSequencedUnheard(t *testing.T) {
	scripts := map[string]string{
		"before":     "kill -9 $PPID\nexit 1",
		"beside":     "kill -9 $PPID", // the hook goes on, and nobody hears its answer
		"no program": "exit 1",
		"behind":     "",
	}
	for name := range testrun.Some(2, scripts) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			behind := filepath.Join(w.hub, "hooks", "post-receive")
			if name == "behind" {
				w.check(os.WriteFile(behind, []byte("#!/bin/sh\nrm hooks/post-receive\nkill -9 $PPID\n"), 0o755))
			} else {
				w.install(scripts[name])
			}
			w.do(w.clones[1], note("one"))
			w.do(w.clones[0], note("two"))
			if _, err := os.Stat(behind); err == nil {
				t.Error("the hook did not run: the test shows nothing")
			}
			w.end(3)
		})
	}
}

// TestNoSequencer: a clone that remembers a sequencer which is gone pushes the refs itself, leaves
// no parcel at the hub, and forgets it.
func TestNoSequencer(t *testing.T) {
	ways := map[string]func(w *world){
		"uninstalled":   func(w *world) { w.check(install.Uninstall(w.ctx, w.open(w.hub).Repo())) },
		"settings lost": func(w *world) { w.git(w.hub, "config", "--unset", "include.path") },
		"a hook of the hub's": func(w *world) {
			w.check(os.WriteFile(filepath.Join(w.hub, "hooks", "update"), []byte("#!/bin/sh\n"), 0o755))
		},
	}
	for name, way := range testrun.Some(2, ways) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			way(w)
			pushed := w.pushes(w.clones[0])
			for _, b := range w.clones {
				w.do(b, note("one"))
			}
			if n := pushed(); n < 2 {
				t.Errorf("%d push: its parcel was taken", n)
			}
			if refs := w.refs(); name == "settings lost" && strings.Contains(refs, parcel.Ref) {
				t.Errorf("it still seems to sequence:\n%s", refs)
			}
			w.end(3)
		})
	}
}

// TestForgedParcels: what the lock refuses is refused in a parcel, too, and no ref moves.
func TestForgedParcels(t *testing.T) {
	w := newWorld(t, 1)
	a := w.clones[0]
	dir := a.Repo().TopLevel()
	done := w.do(a, note("genuine"))
	raw := w.git(dir, "cat-file", "commit", string(done.Commit)) + "\n"
	base, head := plumbing.OID(w.git(dir, "rev-parse", "liza/state")), plumbing.OID(w.git(dir, "rev-parse", "main"))
	sneak := plumbing.OID(w.git(dir, "commit-tree", "-p", "main", "-m", "sneak", "main^{tree}"))
	edited := func(pairs ...string) []parcel.Operation {
		return []parcel.Operation{{Commit: strings.NewReplacer(append(pairs, "Liza-Request: "+done.Op.Request, "Liza-Request: again")...).Replace(raw)}}
	}
	moves := func(ref string, old, to plumbing.OID) parcel.Parcel {
		return parcel.Parcel{Transactions: []parcel.Transaction{{Base: base, Integration: head, Refs: []plumbing.RefUpdate{{Ref: ref, Old: old.OrZero(), New: to.OrZero()}}}}}
	}
	operations := func(all []parcel.Operation) parcel.Parcel {
		return parcel.Parcel{Transactions: []parcel.Transaction{{Base: base, Integration: head, Operations: all}}}
	}
	author := fmt.Sprintf("> %d +0000", done.Op.Time.Std().Unix())
	later := fmt.Sprintf("> %d +0000", time.Now().Add(24*time.Hour).Unix())
	forged := lease.Content{Lease: board.Lease{Agent: "coder-1", Session: "mine", Expires: board.At(time.Now()), Heartbeat: board.At(time.Now())}}.Object()
	w.check(a.Repo().WriteObjects(w.ctx, []plumbing.Object{forged}))
	before := w.refs()
	for i, c := range []struct {
		name   string
		p      parcel.Parcel
		answer string
	}{
		{"an agent that is not registered", operations(edited("Liza-Agent: human", "Liza-Agent: planner-1", "Liza-Role: human", "Liza-Role: planner")), string(parcel.Overtaken)},
		{"an operation of the future", operations(edited(author, later)), "and here it is"},
		{"a role that an id does not have", operations(edited("Liza-Agent: human", "Liza-Agent: coder-1")), string(parcel.Overtaken)},
		{"a signed operation", operations([]parcel.Operation{{Commit: strings.Replace(edited()[0].Commit, "\n\n", "\ngpgsig -----BEGIN SSH SIGNATURE-----\n x\n -----END SSH SIGNATURE-----\n\n", 1)}}), "a signature holds for one commit only"},
		{"a large commit", operations(edited("committer ", "committer "+strings.Repeat("x", 1<<20))), "bytes to the board"},
		{"no operation", operations([]parcel.Operation{{Commit: w.git(dir, "cat-file", "commit", "main") + "\n"}}), "not a board commit's trailers"},
		{"more than 4 MiB", operations([]parcel.Operation{{Commit: raw + strings.Repeat("x", 4<<20)}}), "too large"},
		{"not a commit", operations([]parcel.Operation{{Commit: "tree\n"}}), "are malformed"},
		{"a branch of the project", moves("refs/heads/main", head, sneak), "refs/heads/main is not moved by an operation"},
		{"integration without an operation", moves("refs/heads/integration", head, sneak), "nothing on the board records"},
		{"integration, deleted", moves("refs/heads/integration", head, ""), "is not deleted"},
		{"the board itself", moves(plumbing.BoardRef, base, sneak), "is not moved by an operation"},
		{"a submission that nobody made", moves(plumbing.ReviewRef("parse", 1), "", sneak), "no task"},
		{"a lease of nobody's", moves(plumbing.LeaseRef("coder-1"), "", forged.OID), "is registered in another session, or not at all"},
		{"an old value that is wrong", moves("refs/heads/integration", "", sneak), string(parcel.Overtaken)},
		{"another parcel", moves(plumbing.InboxPrefix+"x", "", sneak), "is not moved by an operation"},
		{"the sign of a sequencer", moves(parcel.Ref, "", sneak), "is not moved by an operation"},
		{"a ref's name that is an option", moves("--all", "", sneak), "is not the full name"},
		{"a base that is an option", parcel.Parcel{Transactions: []parcel.Transaction{{Base: "--all"}}}, "is not the id"},
		{"a base from elsewhere", parcel.Parcel{Transactions: []parcel.Transaction{{Base: plumbing.OID(strings.Repeat("a", 40)), Integration: head, Operations: edited()}}}, string(parcel.Declined)},
		{"a request carried out before", parcel.Parcel{Transactions: []parcel.Transaction{{Base: plumbing.OID(w.git(dir, "rev-parse", "liza/state~1")), Integration: head, Operations: []parcel.Operation{{Commit: raw}}}}}, ""},
	} {
		if !testrun.OneIn(2, i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var commits, blobs []plumbing.OID
			for _, l := range c.p.Transactions {
				for _, u := range l.Refs {
					switch u.New {
					case sneak, head:
						commits = append(commits, u.New)
					case forged.OID:
						blobs = append(blobs, u.New)
					}
				}
			}
			objects := testrun.Must(c.p.Encode(commits, blobs, time.Now()))(w.t)
			w.check(a.Repo().WriteObjects(w.ctx, objects))
			commit := objects[len(objects)-1].OID
			ways := [][]string{{"origin", string(commit) + ":" + parcel.InboxRef(commit)}}
			if blobs != nil {
				c.p.Blobs = []string{string(forged.Data)}
			}
			if text, short := c.p.Text(); short && commits == nil {
				ways = append(ways, []string{"-o", text, "origin", ":" + parcel.Ref})
			}
			for _, way := range ways {
				out, err := exec.Command("git", append([]string{"-C", dir, "push", "--porcelain"}, way...)...).CombinedOutput()
				if (err == nil) != (c.answer == "") || !strings.Contains(string(out), c.answer) {
					t.Errorf("%v\n%s", err, out)
				}
				if after := w.refs(); after != before {
					t.Errorf("the refs are\n%s\nand were\n%s", after, before)
				}
			}
		})
	}
	refuses := func(name, refspec, says string) {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command("git", "-C", dir, "push", "origin", refspec).CombinedOutput()
			if err == nil || !strings.Contains(string(out), says) || w.refs() != before {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	refuses("a plain commit", "main:"+plumbing.InboxPrefix+"mine", "is not a parcel")
	refuses("the sign of a sequencer, deleted", ":"+parcel.Ref, "not a parcel")
	w.git(w.hub, "config", "--file", "liza/hooks/gitconfig", "--unset-all", "receive.procReceiveRefs")
	refuses("without proc-receive", "main:"+plumbing.InboxPrefix+"mine", "is not kept as a ref")
	t.Run("until gc", func(t *testing.T) {
		there := func() bool { return exec.Command("git", "-C", w.hub, "cat-file", "-e", string(sneak)).Run() == nil }
		if !there() {
			t.Error("what refused parcels brought is not there")
		}
		w.git(w.hub, "gc", "-q", "--prune=now")
		if there() {
			t.Error("what refused parcels brought survives gc")
		}
	})
}

// TestForgedTip: a server does not build on a board that was forged behind its hooks, and neither
// does a clone.
func TestForgedTip(t *testing.T) {
	w := newWorld(t, 1)
	w.do(w.clones[0], note("honest"))
	forged := w.git(w.hub, "commit-tree", "-p", "liza/state", "-m", "forged", "liza/state^{tree}")
	w.git(w.hub, "-c", "core.hooksPath="+os.DevNull, "update-ref", plumbing.BoardRef, forged)
	_, err := w.clones[0].Do(w.ctx, gitboard.Request{Actor: ada}, gitboard.Just(note("hello")))
	if damaged := (*log.RecordError)(nil); !errors.As(err, &damaged) {
		t.Errorf("it gets %v", err)
	}
	testrun.Equal(t, w.git(w.hub, "rev-parse", "liza/state"), forged, "the hub builds on it")
}

// TestUnseenLeaseInAParcel checks that a server leaves out an operation that ends no lease where it
// has one, and that the clone decides it again with the lease.
func TestUnseenLeaseInAParcel(t *testing.T) {
	w := newWorld(t, 2)
	a, b := w.clones[0], w.clones[1]
	coder := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "mine"}
	_, err := a.Do(w.ctx, gitboard.Request{Actor: coder}, gitboard.Just(&board.Register{Session: "mine", Clone: "here", PID: 7}))
	w.check(err)
	w.check(b.Refresh(w.ctx))
	w.check(b.Repo().UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.LeaseRef("coder-1"), Old: plumbing.OID(w.git(w.hub, "rev-parse", plumbing.LeaseRef("coder-1")))}}, ""))
	var seen []*lease.Held
	_, err = b.Do(w.ctx, gitboard.Request{Actor: ada}, func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		held, err := v.Lease(ctx, "coder-1")
		seen = append(seen, held)
		return note("taken over"), []plumbing.RefUpdate{lease.Fence("coder-1", held)}, err
	})
	w.check(err)
	if len(seen) != 2 || seen[0] != nil || seen[1] == nil {
		t.Errorf("it was decided with the leases %v", seen)
	}
	w.end(3)
}

// TestHollowParcels: a parcel moves no ref to a commit whose history is not complete on the server.
// A push that git refuses for that can leave one there, and nobody can fetch a ref that leads to it.
func TestHollowParcels(t *testing.T) {
	w := newWorld(t, 1)
	clone := w.clones[0].Repo().TopLevel()
	base, head := plumbing.OID(w.git(clone, "rev-parse", "liza/state")), plumbing.OID(w.git(clone, "rev-parse", "main"))
	sound := plumbing.OID(w.git(clone, "rev-parse", "main^{tree}"))
	by := plumbing.Signature{Name: "Eve", Email: "eve@example.org", When: time.Unix(1_700_000_000, 0).UTC()}
	gone := plumbing.NewObject(plumbing.BlobObject, []byte("that the server has not\n")).OID
	lacking := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "gone", Mode: filemode.Regular, OID: gone}}))
	commit := func(message string, tree plumbing.OID, parents ...plumbing.OID) plumbing.Object {
		return plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree, Parents: parents, Author: by, Committer: by, Message: message + "\n"}))
	}
	noFile := commit("no file", lacking.OID, head)
	noTree := commit("no tree", gone, head)
	hollow := map[string]plumbing.Object{
		"a file": noFile, "a tree": noTree, "a file of the commit before": commit("removes it", sound, noFile.OID),
		"the commit before": commit("no parent", sound, gone), "nothing": commit("all is there", sound, head),
	}
	written := []plumbing.Object{lacking, noFile, noTree}
	for _, c := range hollow {
		written = append(written, c)
	}
	w.check(w.open(w.hub).Repo().WriteObjects(w.ctx, written))
	for name, c := range hollow {
		t.Run(name, func(t *testing.T) {
			before := w.refs()
			p := parcel.Parcel{Transactions: []parcel.Transaction{{Base: base, Integration: head, Refs: []plumbing.RefUpdate{{Ref: plumbing.PublishedRef("parse"), Old: plumbing.ZeroOID, New: c.OID}}}}}
			text, _ := p.Text()
			out, err := exec.Command("git", "-C", clone, "push", "--porcelain", "-o", text, "origin", ":"+parcel.Ref).CombinedOutput()
			if name == "nothing" {
				if err != nil || !strings.Contains(w.refs(), string(c.OID)) {
					t.Errorf("%v\n%s", err, out)
				}
				w.git(w.hub, "update-ref", "-d", plumbing.PublishedRef("parse"))
				return
			}
			if err == nil || !strings.Contains(string(out), "are missing or damaged") || w.refs() != before {
				t.Errorf("%v\n%s\nthe refs are\n%s", err, out, w.refs())
			}
		})
	}
	t.Run("a replacement", func(t *testing.T) { // git would check the history of the replacement
		whole, zero := hollow["nothing"].OID, string(plumbing.ZeroOID)
		w.pushRaw(zero + " " + string(whole) + " " + plumbing.ReplacePrefix + string(noFile.OID))
		before := w.refs()
		if said := w.pushRaw(zero + " " + string(noFile.OID) + " " + plumbing.PublishedRef("parse")); !strings.Contains(said, "missing necessary objects") || w.refs() != before {
			t.Errorf("%s\nthe refs are\n%s", said, w.refs())
		}
	})
	w.git("", "clone", "-q", "--mirror", "--no-local", w.hub, filepath.Join(t.TempDir(), "all"))
}

// pushRaw pushes objects that the hub has already, which git push would not do if the clone lacks a
// part of them. It returns what git says.
func (w *world) pushRaw(command string) string {
	w.t.Helper()
	send := exec.Command("git", "receive-pack", w.hub)
	command += "\x00report-status"
	send.Stdin = strings.NewReader(fmt.Sprintf("%04x%s0000", len(command)+4, command) + w.emptyPack())
	out := testrun.Must(send.CombinedOutput())(w.t)
	return string(out)
}

func (w *world) emptyPack() string {
	w.t.Helper()
	out := testrun.Must(exec.Command("git", "-C", w.hub, "pack-objects", "-q", "--stdout").Output())(w.t)
	return string(out)
}
