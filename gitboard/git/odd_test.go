//go:build unix

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestDyingBatch checks what is read from a child that dies of some of the names: of those that it
// dies of each time it says nothing, and the others are read.
func TestDyingBatch(t *testing.T) {
	ctx, r := scratch(t)
	mark := filepath.Join(t.TempDir(), "once")
	instead(t, `while read name; do
		case $name in
		once) [ -e '`+mark+`' ] || { : >'`+mark+`'; exit 128; } ;;
		twice) [ -e '`+mark+`' ] && exit 1; : >'`+mark+`'; exit 128 ;;
		fatal) exit 128 ;;
		failed) exit 1 ;;
		esac
		echo "`+string(blob("x").OID)+` blob 1"; echo x
	done`)
	for asked, want := range map[string]string{
		"a b":                   "x x",
		"fatal":                 "-",
		"a fatal b":             "x - x",
		"fatal a fatal fatal b": "- x - - x",
		"a once b fatal c":      "x x x - x",
		"a failed b":            "error",
		"a twice b":             "error",
		"fatal failed b":        "error",
		"fatal a failed":        "error",
		"a fatal":               "x -",
	} {
		_ = os.Remove(mark)
		b := child.NewBatch(r.environ, command{})
		answers, err := b.Ask(ctx, strings.Fields(asked))
		got := "error"
		if err == nil {
			said := make([]string, len(answers))
			for i, o := range answers {
				if said[i] = string(o.Data); o.OID == "" {
					said[i] = "-"
				}
			}
			got = strings.Join(said, " ")
		}
		testrun.Equal(t, got, want, "%s: %s, not %s (%v)", asked, got, want, err)
		check(t, b.Close())
	}
	b := child.NewBatch(r.environ, command{})
	b.Partial = func() bool { return true }
	if _, err := b.Ask(ctx, []string{"fatal"}); err == nil {
		t.Error("what a partial clone could not fetch counts as missing")
	}
	said := filepath.Join(t.TempDir(), "said")
	instead(t, `while read name; do echo "$name" >>'`+said+`'; echo "$name missing"; done`)
	for range 2 {
		must[[]plumbing.Object](t)(b.Ask(ctx, []string{"x"}))
	}
	testrun.Equal(t, readIn(t, filepath.Dir(said), "said"), "x\nx\n", "asked twice for x, it was asked")
	check(t, b.Close())
}

// TestSilentBatch checks that a child that answers no more is not waited for: not once the context
// ends, nor if its last answer was none and it is still being asked.
func TestSilentBatch(t *testing.T) {
	ctx, r := scratch(t)
	sleep, fifo := must[string](t)(exec.LookPath("sleep")), filepath.Join(t.TempDir(), "fifo")
	check(t, syscall.Mkfifo(fifo, 0o600))
	instead(t, `read name; : >'`+fifo+`'; exec '`+sleep+`' 600`)
	b := child.NewBatch(r.environ, command{})
	cancelled, cancel := context.WithCancel(ctx)
	asked := make(chan error, 1)
	go func() { asked <- second(b.Ask(cancelled, []string{"x"})) }()
	must[[]byte](t)(os.ReadFile(fifo))
	cancel()
	testrun.ErrorIs(t, <-asked, context.Canceled, "after the end")
	instead(t, `echo "`+string(blob("x").OID)+` blob 1"; echo xxx; exec '`+sleep+`' 600`)
	if _, err := b.Ask(ctx, slices.Repeat([]string{strings.Repeat("name", 1000)}, 100)); err == nil {
		t.Error("what is out of step is an answer")
	}
	check(t, b.Close())
}

// TestPushCancelled checks that a push that was cancelled while it asked for the remote's refs is a
// cancelled one, not one that the network has failed.
func TestPushCancelled(t *testing.T) {
	ctx, r := scratch(t)
	commit := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	store(t, ctx, r, "kept")
	native(t, r.TopLevel(), "remote", "add", "hub", t.TempDir())
	m := must[*Remote](t)(r.Remote(ctx, "hub"))
	sleep, fifo := must[string](t)(exec.LookPath("sleep")), filepath.Join(t.TempDir(), "fifo")
	check(t, syscall.Mkfifo(fifo, 0o600))
	instead(t, `echo '"event":"region_enter","category":"transport_push","label":"get_refs_list"' >>"$GIT_TRACE2_EVENT"
		: >'`+fifo+`'; exec '`+sleep+`' 600`)
	cancelled, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = os.ReadFile(fifo)
		cancel()
	}()
	if err := m.Push(cancelled, []Push{{Ref: plumbing.BoardRef, New: commit}}); !errors.Is(err, context.Canceled) || errors.As(err, new(*NetworkError)) {
		t.Errorf("got %v", err)
	}
}

// TestFarBack checks that a chain of commits is read as far as it is asked for, and no further.
func TestFarBack(t *testing.T) {
	ctx, r := scratch(t)
	instead(t, `case "$*" in *cat-file*) while read name; do echo "$name missing"; done; exit;; esac
		most=0
		for word; do case $word in --max-count=*) most=${word#*=} ;; esac; done
		i=0
		while [ $i -lt $most ] && [ $i -lt 1500 ]; do printf '%040d\n' $i; i=$((i + 1)); done`)
	for at, want := range map[int]int{0: 100, 99: 100, 100: 1000, 1200: 1500, 5000: 1500} {
		from, tip := plumbing.OID(fmt.Sprintf("%040d", at)), plumbing.OID(fmt.Sprintf("%040d", 9999))
		if chain := must[[]plumbing.OID](t)(r.History().Since(ctx, from, tip)); len(chain) != want {
			t.Errorf("back to the commit %d: %d commits", at, len(chain))
		}
	}
}

// TestDamagedLog checks that a commit that git lists and nobody can read is an error, and never a
// gap in the history.
func TestDamagedLog(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	if log, err := r.Log(ctx, head, head); len(log) != 0 || err != nil {
		t.Errorf("after itself: %v, %v", log, err)
	}
	malformed := plumbing.NewObject(plumbing.CommitObject, []byte("tree\n"))
	check(t, r.WriteObjects(ctx, []plumbing.Object{malformed}))
	check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	for what, id := range map[string]plumbing.OID{"missing": blob("none").OID, "malformed": malformed.OID} {
		instead(t, `case "$*" in *cat-file*) while read name; do echo "$name missing"; done; exit;; esac
			echo `+string(id))
		if log, err := r.Log(ctx, plumbing.ZeroOID, head); !errors.As(err, new(*DamagedError)) {
			t.Errorf("%s: %v, %v", what, log, err)
		}
	}
	if chain, _, err := r.near(ctx, head, malformed.OID); chain != nil || err != nil {
		t.Errorf("from a malformed commit: %v, %v", chain, err)
	}
}

// TestAbsentRef checks how a ref that git does not see is told from one that is broken.
func TestAbsentRef(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	at := func(name, text string) string {
		if text != "" {
			writeIn(t, r.common, name, text)
		}
		oid, err := r.absentRef(ctx, name)
		return strings.ReplaceAll(fmt.Sprint(oid.OrZero(), " ", err), string(head), "HEAD")
	}
	none, lost := string(plumbing.ZeroOID), blob("lost").OID
	for name, c := range map[string]struct{ text, want string }{
		"refs/heads/none":     {"", none + " <nil>"},
		"refs/heads/back":     {string(head) + "\n", "HEAD <nil>"},
		"refs/heads/dangling": {"ref: refs/heads/none\n", none + " <nil>"},
		"refs/heads/name":     {"main\n", none + " " + (&BrokenRefError{Ref: "refs/heads/name", Text: "main"}).Error()},
		"refs/heads/lost":     {string(lost) + "\n", none + " " + (&BrokenRefError{Ref: "refs/heads/lost", Text: string(lost)}).Error()},
		"refs/heads/empty":    {"\n", none + " " + (&BrokenRefError{Ref: "refs/heads/empty", Text: ""}).Error()},
	} {
		testrun.Equal(t, at(name, c.text), c.want, "%s", name)
	}
	writeIn(t, r.common, "refs/heads/odd", "dies\n")
	search := os.Getenv("PATH")
	instead(t, `while read name; do [ "$name" = dies ] && exit 1; echo "$name missing"; done`)
	again := *r // has no child yet
	again.batch = child.NewBatch(r.environ, r.command("cat-file", "cat-file", "--batch"))
	if _, err := again.absentRef(ctx, "refs/heads/odd"); err == nil {
		t.Error("what it leads to can't be read")
	}
	check(t, again.Close())
	if _, err := again.absentRef(ctx, "refs/heads/odd"); err == nil {
		t.Error("nothing can be read")
	}
	t.Setenv("PATH", search)
	check(t, os.Symlink("nowhere", filepath.Join(r.common, "refs", "heads", "link")))
	if _, err := r.Ref(ctx, "refs/heads/link"); err == nil {
		t.Error("a link to nowhere is no ref")
	}
	check(t, os.RemoveAll(filepath.Join(r.common, "packed-refs")))
	check(t, os.Mkdir(filepath.Join(r.common, "packed-refs"), 0o755))
	if got := at("refs/heads/none", ""); strings.HasSuffix(got, "<nil>") {
		t.Errorf("what packed-refs has can't be known: %s", got)
	}
}

// TestEndedContext checks that a call in a context that has ended reports that, and has changed nothing.
func TestEndedContext(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	must[plumbing.Object](t)(r.Object(ctx, string(head)))
	m := must[*Remote](t)(r.Remote(ctx, r.TopLevel()))
	lock := leave(t, r, "refs/heads/x.lock")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range map[string]error{
		"Ref":             second(r.Ref(ended, "refs/heads/main")),
		"Object":          second(r.Object(ended, string(head))),
		"Object by name":  second(r.Object(ended, "HEAD")),
		"WriteObjects":    r.WriteObjects(ended, []plumbing.Object{blob("x")}),
		"UpdateRefs":      r.UpdateRefs(ended, []plumbing.RefUpdate{{Ref: "refs/liza/x", New: head}}, ""),
		"Deliver":         second(m.Deliver(ended, Push{Ref: "refs/heads/x", New: head}, "")),
		"Push":            m.Push(ended, []Push{{Ref: "refs/heads/x", New: head}}),
		"Fetch":           m.Fetch(ended, false, false, "refs/heads/main:refs/liza/main"),
		"ModulePublished": second(r.ModulePublished(ended, r.TopLevel(), head)),
		"Open":            second(Open(ended, r.TopLevel())),
	} {
		if !errors.Is(err, context.Canceled) || errors.As(err, new(*NetworkError)) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "ModulePublished" && !Unfinished(err) && !errors.Is(err, ended.Err()) {
			t.Errorf("%s is finished: %v", name, err)
		}
	}
	if r.Locks().Await(ended, &BusyError{Paths: []string{lock}}) || !exists(lock) {
		t.Error("a lock is free")
	}
	if !r.Locks().Await(ended, &BusyError{Paths: []string{lock, lock + ".gone"}}) {
		t.Error("a lock that is gone is waited for")
	}
	if refs := must[[]plumbing.Ref](t)(r.Refs(ctx, "refs/liza")); len(refs) > 0 || loose.Has(r.objectDir(), blob("x")) {
		t.Errorf("something was written: %v", refs)
	}
	for err, want := range map[error]bool{
		errors.New("x"): false, &CommandError{Exit: 1}: false, fmt.Errorf("x: %w", &CommandError{Exit: -1, Err: ended.Err()}): true,
	} {
		testrun.Equal(t, Unfinished(err), want, "%v is unfinished: %v", err, !want)
	}
}

// TestOthersLock checks that settings whose lock others take again and again are waited for, and not
// for ever.
func TestOthersLock(t *testing.T) {
	ctx, r := scratch(t)
	config := filepath.Join(r.common, "config")
	r.patience = Patience{} // however little, it waits once
	writeIn(t, r.common, "config.lock", "")
	check(t, r.unlocked(ctx, config, func() error {
		if exists(config + ".lock") {
			return errors.New("locked")
		}
		return nil
	}))
	writeIn(t, r.common, "config.lock", "")
	writes := 0
	if check(t, r.unlocked(ctx, config, func() error { writes++; return nil })); writes != 1 {
		t.Errorf("what was written beside another's lock is written %d times", writes)
	}
	hurry(r)
	for free, want := range map[int]bool{2: true, 3: true, 1 << 30: false} {
		tries := 0
		if r.patience.Git = time.Hour; !want {
			r.patience.Git = time.Millisecond
		}
		err := r.unlocked(ctx, config, func() error {
			if tries++; tries == free {
				_ = os.Remove(config + ".lock") // on a slow machine it counts as left behind, and is gone
				return nil
			}
			check(t, os.WriteFile(config+".lock.next", nil, 0o644))
			check(t, os.Rename(config+".lock.next", config+".lock"))
			before := time.Now().Add(-time.Duration(tries) * time.Hour) // another file, whatever its number
			time.AfterFunc(time.Millisecond, func() { _ = os.Chtimes(config+".lock", before, before) })
			return errors.New("locked")
		})
		if (err == nil) != want || err != nil && !errors.Is(err, ErrBusy) {
			t.Errorf("free at try %d: %v after %d", free, err, tries)
		}
		_ = os.Remove(config + ".lock")
	}
}

// TestLockedWorktree checks that what changes a worktree does not begin while another git has a lock
// there.
func TestLockedWorktree(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	dir := must[string](t)(r.Worktree(path).gitDir(ctx))
	was := readIn(t, dir, "HEAD")
	asGit(t, path, "commit")
	hurry(r)
	for _, lock := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock"} {
		writeIn(t, dir, lock, "")
		for name, err := range map[string]error{
			"MergeInto":        second(r.Worktree(path).MergeInto(ctx, head, "merge", ada)),
			"CheckoutDetached": r.Worktree(path).CheckoutDetached(ctx, head),
			"AttachHead":       r.Worktree(path).AttachHead(ctx, "task/one"),
		} {
			if !errors.Is(err, ErrBusy) || readIn(t, dir, "HEAD") != was {
				t.Errorf("%s beside %s: %v", name, lock, err)
			}
		}
		check(t, os.Remove(filepath.Join(dir, lock)))
	}
}

// TestSettingsKeepTheirFile checks that settings which do not change keep their file, and others its
// permissions.
func TestSettingsKeepTheirFile(t *testing.T) {
	_, r := scratch(t)
	path := filepath.Join(r.common, "config")
	for text, same := range map[string]bool{"": true, "# more\n": false} {
		check(t, os.Chmod(path, 0o640))
		was := must[os.FileInfo](t)(os.Stat(path))
		check(t, r.Settings().Edit(func(old []byte) ([]byte, error) { return append(old, text...), nil }))
		if is := must[os.FileInfo](t)(os.Stat(path)); os.SameFile(was, is) != same || is.Mode() != was.Mode() {
			t.Errorf("with %q it is the same file: %v, and has the mode %v", text, !same, is.Mode())
		}
	}
	if exists(path + ".lock") {
		t.Error("it is still locked")
	}
}

// TestIdentityFromElsewhere checks that the identity is that of the repository which GIT_DIR names,
// also for a program that has been started elsewhere.
func TestIdentityFromElsewhere(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Set(ctx, "user.name", "Own Name"))
	check(t, r.Settings().Set(ctx, "user.email", "own@x"))
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		for _, what := range []string{"NAME", "EMAIL"} {
			t.Setenv("GIT_"+who+"_"+what, "")
			os.Unsetenv("GIT_" + who + "_" + what)
		}
	}
	t.Setenv("GIT_DIR", r.GitDir())
	t.Chdir(t.TempDir())
	people := askIdentities(ctx, ".")
	if s, _ := people.take("GIT_AUTHOR_IDENT"); s.Name != "Own Name" || s.Email != "own@x" {
		t.Errorf("the author is %+v", s)
	}
	there := must[*Repo](t)(Open(ctx, ""))
	t.Cleanup(func() { check(t, there.Close()) })
	if there.CommonDir() != r.CommonDir() && !slices.Contains([]string{resolved(t, r.CommonDir())}, there.CommonDir()) {
		t.Errorf("it is %s", there.CommonDir())
	}
}

// TestLingering checks that what may outlive a context for a while ends after that, and that its context,
// which may last as long as a daemon, forgets it.
func TestLingering(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	later, stop := lingering(ctx, time.Millisecond)
	defer stop()
	forever, end := lingering(ctx, time.Hour)
	cancel()
	select {
	case <-later.Done():
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	if !errors.Is(context.Cause(later), context.Canceled) || forever.Err() != nil {
		t.Errorf("it ended by %v, and another by %v", context.Cause(later), forever.Err())
	}
	if end(); forever.Err() == nil {
		t.Error("it goes on after its end")
	}
	daemon := &registering{Context: t.Context(), done: make(chan struct{})}
	_, end = lingering(daemon, time.Hour)
	if end(); daemon.registered != 0 {
		t.Errorf("a context that goes on still has %d functions to call", daemon.registered)
	}
}

// registering is a context that counts the functions that wait for its end.
type registering struct {
	context.Context
	done       chan struct{}
	registered int
}

func (c *registering) Done() <-chan struct{} { return c.done }

func (c *registering) AfterFunc(func()) (stop func() bool) {
	c.registered++
	return func() bool { c.registered--; return true }
}

// TestHeadFromElsewhere checks that the HEAD of a worktree is not that of the repository in which
// this process runs.
func TestHeadFromElsewhere(t *testing.T) {
	ctx, r := scratch(t)
	_, other := scratch(t)
	native(t, other.TopLevel(), "checkout", "-q", "-b", "other")
	t.Chdir(other.GitDir())
	if _, branch, err := r.Worktree(r.TopLevel()).Head(ctx); branch != "refs/heads/main" || err != nil {
		t.Errorf("it is on %s: %v", branch, err)
	}
}

// TestChildrenOfChildren checks that what a child has started is asked to end with it, so that it can
// clear up, and ends even if it does not listen to signals.
func TestChildrenOfChildren(t *testing.T) {
	fifo, sleep := filepath.Join(t.TempDir(), "fifo"), must[string](t)(exec.LookPath("sleep"))
	check(t, syscall.Mkfifo(fifo, 0o600))
	mark := filepath.Join(t.TempDir(), "mark")
	instead(t, `trap : TERM; exec 3>'`+fifo+`' >/dev/null 2>&1 </dev/null
		( trap '' TERM; echo up >&3; exec '`+sleep+`' 600 ) &
		( trap ': >"`+mark+`"; exit 1' TERM; echo up >&3; '`+sleep+`' 600 & wait ) &
		wait $!; wait $!`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- command{Op: "x", Alone: true}.Run(ctx) }()
	running := must[*os.File](t)(os.Open(fifo))
	must[int](t)(io.ReadFull(running, make([]byte, 6))) // both say that they are up
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || !exists(mark) {
		t.Errorf("got %v, and its child was asked to end: %v", err, exists(mark))
	}
	check(t, running.SetReadDeadline(time.Now().Add(time.Minute)))
	if _, err := running.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("its child has not ended: %v", err)
	}
}
