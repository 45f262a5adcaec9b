package share_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMain gives all tests the same environment, so that they can run beside each other.
func TestMain(m *testing.M) {
	testrun.Prepare()
	home, err := os.MkdirTemp("", "remote-test")
	if err != nil {
		panic(err)
	}
	settings := filepath.Join(home, "settings") // a hub whose pushes start no housekeeping
	if err := os.WriteFile(settings, []byte("[receive]\n\tautogc = false\n"), 0o644); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_GLOBAL": settings, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada",
		"GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
	} {
		os.Setenv(name, value)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// clone is a store that shares its board through a hub.
type clone struct {
	*share.Store
	w *world
}

// world is a bare repository and two clones that share a board through it.
type world struct {
	t    *testing.T
	ctx  context.Context
	hub  string
	a, b *clone
	n    int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldBy(t, "")
}

// onlyBranches is the update hook of a host that accepts only branches, and lets them only grow.
const onlyBranches = `#!/bin/sh
case $1 in refs/heads/*) ;; *) echo "only branches" >&2; exit 1 ;; esac
case $2 in *[!0]*) ;; *) exit 0 ;; esac
git merge-base --is-ancestor $2 $3 || { echo "branches only grow" >&2; exit 1; }
`

// newWorldBy is newWorld with an update hook at the hub.
func newWorldBy(t *testing.T, update string) *world {
	t.Helper()
	testrun.NotShort(t)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	dir := t.TempDir()
	testrepo.Copy(t, templateOf(t, update), dir)
	w := &world{t: t, ctx: ctx, hub: filepath.Join(dir, "hub.git"), n: 1}
	w.a, w.b = w.open(filepath.Join(dir, first)), w.open(filepath.Join(dir, second))
	return w
}

// templates are the worlds that all others are copied from, by the hub's update hook.
var templates = map[string]*template{"": {}, onlyBranches: {}}

func templateOf(t *testing.T, update string) string {
	t.Helper()
	like := templates[update]
	like.once.Do(func() { like.dir = makeWorld(t.Context(), t, update) })
	if like.dir == "" {
		t.Fatal("the world could not be made")
	}
	return like.dir
}

type template struct {
	once sync.Once
	dir  string
}

// The directories of a world's clones.
const first, second = "dépôt à moi", "second"

// makeWorld makes a world, and returns its directory.
func makeWorld(ctx context.Context, t *testing.T, update string) string {
	dir, err := os.MkdirTemp(os.Getenv("HOME"), "world-") // TestMain removes it
	testrun.Check(t, err)
	w := &world{t: t, ctx: ctx, hub: filepath.Join(dir, "hub.git")}
	first, second := filepath.Join(dir, first), filepath.Join(dir, second)
	w.git("", "init", "-q", "--bare", "-b", "main", w.hub)
	if update != "" {
		w.check(testrun.WriteProgram(filepath.Join(w.hub, "hooks", "update"), update))
	}
	w.git("", "init", "-q", "-b", "main", first)
	w.git(first, "commit", "-q", "--allow-empty", "-m", "first")
	w.git(first, "branch", "integration")
	w.git(first, "remote", "add", "origin", w.hub)
	w.git(first, "push", "-q", "origin", "main")
	w.a = w.open(first)
	w.must(w.a, &board.Init{Goal: "a goal", IntegrationBranch: "integration"})
	testrun.Must(w.a.Own(ctx))(w.t)
	w.check(w.a.Share(ctx, "origin", "probe"))
	w.git("", "clone", "-q", w.hub, second)
	w.b = w.open(second)
	w.check(w.b.Join(ctx, "origin"))
	w.check(w.a.Local().Close())
	w.check(w.b.Local().Close())
	return dir
}

func (w *world) open(dir string) *clone { return w.openWith(dir, git.Options{}) }

func (w *world) openWith(dir string, o git.Options) *clone {
	w.t.Helper()
	repo := testrun.Must(git.OpenWith(w.ctx, dir, o))(w.t)
	w.t.Cleanup(func() { repo.Close() })
	s := share.New(repo, filepath.Join(repo.CommonDir(), "liza"), time.Now)
	testrun.Must(s.Sharing(w.ctx))(w.t)
	return &clone{s, w}
}

func (w *world) check(err error) {
	w.t.Helper()
	testrun.Check(w.t, err)
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	return testrun.RunGit(w.t, dir, args...)
}

// write decides an operation on a clone's view and appends it.
func (w *world) write(c *clone, p board.Payload) (plumbing.OID, error) {
	w.t.Helper()
	return w.writeWith(c, p, log.Batch{})
}

// writeWith is write for an operation that moves other refs, too.
func (w *world) writeWith(c *clone, p board.Payload, side log.Batch) (plumbing.OID, error) {
	w.t.Helper()
	commit, o := writer{c, c}.writeIn(w.ctx, w.t, p, side)
	return commit, failed(o)
}

// failure is the outcome of a batch that is not done, or not entirely, as an error.
type failure struct{ log.Outcome }

func (f failure) Error() string { return fmt.Sprint(f.Err) }

func (f failure) Unwrap() error { return f.Err }

func failed(o log.Outcome) error {
	if o.Kind == log.Done && o.Err == nil {
		return nil
	}
	return failure{o}
}

// lost reports whether an error is that of a batch that lost the race.
func lost(err error) bool {
	f := failure{}
	return errors.As(err, &f) && f.Kind == log.Lost
}

// update stores objects and moves refs.
func (c *clone) update(objects []plumbing.Object, updates ...plumbing.RefUpdate) error {
	if err := c.WriteObjects(c.w.ctx, objects); err != nil {
		return err
	}
	return c.UpdateRefs(c.w.ctx, updates, "")
}

func (w *world) must(c *clone, p board.Payload) plumbing.OID {
	w.t.Helper()
	return testrun.Must(w.write(c, p))(w.t)
}

func note(text string) board.Payload { return &board.AddNote{For: "human", Message: text} }

// here returns the clone's tip of the board; there returns the hub's.
func (c *clone) here() plumbing.OID {
	c.w.t.Helper()
	oid, err := c.Local().Ref(context.Background(), plumbing.BoardRef)
	c.w.check(err)
	return oid
}

func (w *world) there() plumbing.OID {
	w.t.Helper()
	return plumbing.OID(w.git("", "--git-dir="+w.hub, "rev-parse", plumbing.BoardRef))
}

// hook runs a shell script once, when a push reaches that hook in the hub. In it $PPID is the
// receive-pack.
func (w *world) hook(name, script string) {
	w.t.Helper()
	armed := filepath.Join(w.t.TempDir(), "armed")
	w.check(os.WriteFile(armed, nil, 0o644))
	w.t.Cleanup(func() {
		if _, err := os.Stat(armed); err == nil {
			w.t.Errorf("no push has got so far as %s: the test shows nothing", name)
		}
	})
	text := "#!/bin/sh\n[ -e '" + armed + "' ] || exit 0\n" + script + "\n"
	w.check(testrun.WriteProgram(filepath.Join(w.hub, "hooks", name), strings.ReplaceAll(text, "DISARM", "rm '"+armed+"'")))
}

// killed ends the receive-pack right after the push took effect: its answer is lost.
const killed = `[ "$1" = committed ] || exit 0
DISARM
kill -9 $PPID`

// end fetches in both clones and checks that they and the hub have the same board, with this number
// of notes, and that it verifies.
func (w *world) end(notes int) {
	w.t.Helper()
	for _, c := range []*clone{w.a, w.b} {
		w.check(c.Fetch(w.ctx))
		if c.here() != w.there() {
			w.t.Errorf("the board is at %s here, at %s there", c.here().Short(), w.there().Short())
		}
		report := testrun.Must(audit.Verify(w.ctx, c.Local(), c.Local(), audit.Range{}, nil))(w.t)
		if !report.OK() || report.Commits != notes+1 {
			w.t.Errorf("%d commits for %d notes: %v", report.Commits, notes, report.Findings)
		}
	}
	w.git("", "--git-dir="+w.hub, "fsck", "--full")
}

// TestAnswerLost checks that a push whose answer is lost is done exactly once.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("reference-transaction", killed)
	if commit := w.must(w.a, note("unheard")); commit != w.there() || commit != w.a.here() {
		t.Errorf("%s stands at %s there, at %s here", commit.Short(), w.there().Short(), w.a.here().Short())
	}
	w.end(1)
}

// TestAnswerLostAndOvertaken checks the same if another clone pushes on top of it before anybody
// can check.
func TestAnswerLostAndOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.b.Local().TopLevel()
	// The other clone writes after the first one's push took effect and before it is answered.
	w.hook("reference-transaction", `[ "$1" = committed ] || exit 0
DISARM
unset $(git rev-parse --local-env-vars) GIT_QUARANTINE_PATH
cd '`+other+`' && git fetch -q origin liza/state && c=$(git commit-tree -p FETCH_HEAD -m next FETCH_HEAD^{tree}) && git push -q origin $c:refs/heads/liza/state
kill -9 $PPID`)
	commit := w.must(w.a, note("unheard"))
	if follows, err := w.a.Local().History().IsAncestor(w.ctx, commit, w.there()); err != nil || !follows || commit == w.there() {
		t.Errorf("%s is not behind %s, which the hub has: %v", commit.Short(), w.there().Short(), err)
	}
	// The other clone's commit is not an operation.
	w.git("", "--git-dir="+w.hub, "update-ref", plumbing.BoardRef, string(commit))
	w.git(w.a.Local().TopLevel(), "update-ref", plumbing.BoardRef, string(commit))
	w.end(1)
}

// TestDeadBeforeThePush checks that a process that dies before its push takes no other operation
// with it.
func TestDeadBeforeThePush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dies(w)
	w.must(w.a, note("alive"))
	if held := w.b.lease(); held == nil || held.Session != "dead" {
		t.Errorf("the lease is %+v", held)
	}
	w.end(1)
}

// TestUnclear checks that, if the remote disappears before anybody can check a push, the outcome is
// reported as unknown. The next fetch finds it.
func TestUnclear(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, away := w.a.here(), w.hub+".away"
	w.hook("reference-transaction", `[ "$1" = committed ] || exit 0
DISARM
mv '`+w.hub+`' '`+away+`'
kill -9 $PPID`)
	_, err := w.write(w.a, note("who knows"))
	unclear := (*log.UnclearError)(nil)
	if !errors.As(err, &unclear) || !errors.As(err, new(*git.NetworkError)) || lost(err) {
		t.Fatalf("it is told as %v", err)
	}
	testrun.Equal(t, w.a.here(), before, "what nobody knows of stands here")
	w.check(os.Rename(away, w.hub))
	if w.there() == before {
		t.Fatal("the push was not done: the test shows nothing")
	}
	w.end(1)
}

// TestNotSettled checks that an operation that reached the remote, but could not be written here because
// of a lock that stays, is done. The next fetch brings it.
func TestNotSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.a = w.openWith(w.a.Local().TopLevel(), git.Options{Patience: git.Patience{Git: 10 * time.Millisecond, Watch: 50 * time.Millisecond}})
	before, lock := w.a.here(), filepath.Join(w.a.Local().CommonDir(), plumbing.BoardRef+".lock")
	w.check(os.MkdirAll(filepath.Join(lock, "held"), 0o755))
	commit := w.must(w.a, note("not here yet"))
	if w.a.here() != before || w.there() != commit {
		t.Fatalf("the board is at %s here, at %s there: the test shows nothing", w.a.here().Short(), w.there().Short())
	}
	w.check(os.RemoveAll(lock))
	w.end(1)
}

// TestComeApart checks, with a hub without our hooks, that a fetch does not replace the board here by
// one that does not follow from it, whatever the user's settings say about forced updates.
func TestComeApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git(w.a.Local().TopLevel(), "config", "fetch.showForcedUpdates", "false")
	before := w.there()
	mine := w.must(w.a, note("mine"))
	w.git(w.hub, "update-ref", plumbing.BoardRef, string(before))
	w.check(w.a.Fetch(w.ctx)) // the next operation brings the hub's board back
	if w.a.here() != mine {
		t.Errorf("the hub was reset, and the board here is at %s, not at %s", w.a.here().Short(), mine.Short())
	}
	w.check(w.b.Fetch(w.ctx))
	theirs := w.must(w.b, note("theirs"))
	err := w.a.Fetch(w.ctx)
	if apart := (*share.DivergedError)(nil); !errors.As(err, &apart) || apart.Here != mine || apart.There != theirs || apart.Unrelated {
		t.Errorf("two boards that have come apart: %v", err)
	}
	if w.a.here() != mine {
		t.Errorf("the board here is at %s, not at %s", w.a.here().Short(), mine.Short())
	}
}

// TestDroppedBranchIsKept checks that work on a branch deleted from the remote goes to the remote's
// attic unless another ref there holds it, and that a branch which somebody moved there stays.
func TestDroppedBranchIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base := w.ref("refs/heads/integration")
	submitted, anew, theirs := w.commitOn(base, "submitted"), w.commitOn(base, "anew"), w.commitOn(base, "theirs")
	there := func() string {
		return w.git("", "--git-dir="+w.hub, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/liza/task", "refs/liza/attic")
	}
	w.check(w.a.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: w.a.Task("one"), New: submitted}, {Ref: plumbing.ReviewRef("one", 1), New: submitted}}, ""))
	w.check(w.publish(submitted, plumbing.ZeroOID))
	testrun.Equal(t, there(), "", "what was submitted is in the attic, too")
	w.check(w.publish(plumbing.ZeroOID, anew))
	w.check(w.publish(anew, submitted)) // which is no fast-forward
	want := fmt.Sprintf("refs/heads/liza/task/one %s\nrefs/liza/attic/one/%s %s", submitted, anew, anew)
	testrun.Equal(t, there(), want, "the hub has")
	w.git(w.a.Local().TopLevel(), "-c", "core.hooksPath="+os.DevNull, "push", "-q", "-f", w.hub, string(theirs)+":refs/heads/liza/task/one")
	if err := w.publish(submitted, anew); err == nil || !strings.Contains(there(), "task/one "+string(theirs)) {
		t.Errorf("moved back over what somebody has pushed, with %v:\n%s", err, there())
	}
}

// TestMovedSubmission checks that a submission which was replaced or deleted at the remote is named
// and kept here, and that everything else is fetched.
func TestMovedSubmission(t *testing.T) {
	t.Parallel()
	forged := func(w *world, parents ...string) string {
		return strings.TrimSpace(w.git(w.hub, append([]string{"commit-tree", "-m", "forged", "main^{tree}"}, parents...)...))
	}
	changes := map[string]struct {
		made func(w *world, ref string)
		gone bool
	}{
		"replaced":       {func(w *world, ref string) { w.git(w.hub, "update-ref", ref, forged(w)) }, false},
		"fast-forwarded": {func(w *world, ref string) { w.git(w.hub, "update-ref", ref, forged(w, "-p", "main")) }, false},
		"deleted":        {func(w *world, ref string) { w.git(w.hub, "update-ref", "-d", ref) }, true},
		"deleted and pushed again": {func(w *world, ref string) {
			w.git(w.hub, "update-ref", "-d", ref)
			if err := w.a.FetchAll(w.ctx); err == nil {
				w.t.Error("that it is gone is not said")
			}
			w.git(w.hub, "update-ref", ref, forged(w, "-p", "main"))
		}, false},
	}
	for host, update := range map[string]string{"any host": "", "only branches": onlyBranches} {
		for change, c := range testrun.Some(2, changes) {
			if update != "" && !strings.HasPrefix(change, "deleted") {
				continue // it is seen as at any host
			}
			t.Run(host+"/"+change, func(t *testing.T) {
				t.Parallel()
				w := newWorldBy(t, update)
				at := func(n int) string {
					if ref := plumbing.ReviewRef("one", n); update == "" {
						return ref
					}
					return plumbing.AsBranch(plumbing.ReviewRef("one", n))
				}
				w.git(w.hub, "update-ref", at(1), "main")
				w.check(w.a.FetchAll(w.ctx))
				w.check(w.a.CheckThere(w.ctx))
				was := w.ref(plumbing.ReviewRef("one", 1))
				c.made(w, at(1))
				w.git(w.hub, "update-ref", at(2), "main")
				w.must(w.b, note("theirs"))
				for _, ask := range []func(context.Context) error{w.a.FetchAll, w.a.CheckThere, w.a.FetchAll} {
					moved := (*share.MovedError)(nil)
					if err := ask(w.ctx); !errors.As(err, &moved) {
						t.Fatalf("it ends with %v", err)
					}
					named := moved.Refs
					if c.gone {
						named = moved.Gone
					}
					if len(moved.Refs)+len(moved.Gone) != 1 || len(named) != 1 || named[0] != plumbing.ReviewRef("one", 1) {
						t.Errorf("it ends with %v", moved)
					}
					w.check(w.a.Fetch(w.ctx))
				}
				testrun.Equal(t, w.ref(plumbing.ReviewRef("one", 1)), was, "the submission that was here is at")
				if w.ref(plumbing.ReviewRef("one", 2)).IsZero() || w.a.here() != w.there() {
					t.Error("not everything else has come")
				}
				w.end(1)
			})
		}
	}
}

// TestOneRemote checks that a share to a second remote, which has begun before the first one ended,
// is refused: the board would have two judges.
func TestOneRemote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unshare()
	top, other := w.a.Local().TopLevel(), filepath.Join(t.TempDir(), "other.git")
	w.git("", "init", "-q", "--bare", other)
	w.git(top, "remote", "add", "other", other)
	a, late := w.openWith(top, git.Options{ToWrite: true}), w.openWith(top, git.Options{ToWrite: true})
	w.check(a.Share(w.ctx, "origin", "probe"))
	refused := (*board.Refusal)(nil)
	if err := late.Share(w.ctx, "other", "probe"); !errors.As(err, &refused) || refused.Code != board.CodeExists {
		t.Errorf("the second share ends with %v", err)
	}
	testrun.Equal(t, w.git(other, "for-each-ref"), "", "the other remote has")
}

// TestBesideDeletingGits: two clones write in turn, and another git deletes in one of them what no ref
// holds, over and over.
func TestBesideDeletingGits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.b.Local().TopLevel()
	ctx, stop := context.WithCancel(w.ctx)
	var loop sync.WaitGroup
	loop.Go(func() {
		for ctx.Err() == nil { // it may fail, too: another git deletes beside it
			for _, deletes := range [][]string{{"prune", "--expire=now"}, {"gc", "--quiet", "--prune=now"}} {
				git := exec.Command("git", deletes...)
				git.Dir = dir
				_ = git.Run()
			}
		}
	})
	rounds := 3
	if *testrun.Long {
		rounds = 24
	}
	for range rounds {
		w.check(w.a.Fetch(w.ctx))
		w.must(w.a, note("here"))
		b := w.open(dir) // acts as a separate process
		w.check(b.Fetch(w.ctx))
		w.must(b, note("beside it"))
	}
	stop()
	loop.Wait()
	w.end(2 * rounds)
	w.git(dir, "fsck", "--strict", "--connectivity-only")
}
