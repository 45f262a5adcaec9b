package share_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A scene is a call in a new world, with the first clone as it is after before.
type scene struct {
	name   string
	update string // the hub's update hook
	before func(w *world)
	call   func(w *world) (any, error)
	fails  string // how git fails, see testrun.Git; "" for a code that is no command's answer
	again  int    // how many retries it may have
	once   bool   // it is made without a failure only: another scene has the same children
}

// TestFaults makes each call, and again for each child of git that it starts, which fails. It
// compares the call's result, and the refs and files that differ afterwards, with the golden file:
// no effect that the remote may have had is reported as not done.
func TestFaults(t *testing.T) {
	testrun.NotShort(t)
	all := map[string]scene{}
	var names []string
	for _, c := range scenes {
		names, all[c.name] = append(names, c.name), c
	}
	var shim *testrun.Git
	due := func(i int) bool { return testrun.OneIn(13, i) }
	golden.Sections(t, filepath.Join("testdata", "faults.txt"), names, due, func(name string) string {
		if shim == nil {
			shim = testrun.NewGit(t)
		}
		c := all[name]
		if c.once {
			_, result := c.try(t, shim, "")
			return name + "\n\t" + result + "\n"
		}
		return testrun.Faults(name, func(fails string) ([]string, string) { return c.try(t, shim, fails) })
	})
}

// try makes the call in a world in which a call of git fails.
func (c scene) try(t *testing.T, shim *testrun.Git, fails string) (calls []string, result string) {
	t.Helper()
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "world")
	testrepo.Copy(t, templateOf(t, c.update), dir)
	defer os.RemoveAll(dir)
	w := &world{t: t, ctx: ctx, hub: filepath.Join(dir, "hub.git"), n: 1}
	w.a, w.b = w.still(first), w.still(second)
	if c.before != nil {
		c.before(w)
		w.check(w.a.Local().Close())
		w.a = w.still(first)
	}
	defer func() { w.check(errors.Join(w.a.Local().Close(), w.b.Local().Close())) }()
	w.ctx, _ = retry.With(ctx, c.again)
	was := w.files(dir)
	how := c.fails
	if how == "" {
		how = "3"
	}
	shim.Watch(fails, how)
	got, err := c.call(w)
	calls = shim.Calls()
	result = plainText(fmt.Sprintf("%+v", got), dir)
	if err != nil {
		result = "error: " + plainText(err.Error(), dir) + kinds(err)
	}
	if changed := testrun.Changes(was, w.files(dir)); len(changed) > 0 {
		result += "; changed: " + strings.Join(changed, " ")
	}
	return calls, result
}

// still opens a clone whose clock stands still: nothing depends on how long a push takes.
func (w *world) still(name string) *clone {
	w.t.Helper()
	repo := testrun.Must(git.OpenWith(w.ctx, filepath.Join(filepath.Dir(w.hub), name), git.Options{}))(w.t)
	now := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	s := share.New(repo, filepath.Join(repo.CommonDir(), "liza"), func() time.Time { return now })
	testrun.Must(s.Sharing(w.ctx))(w.t)
	_, _ = repo.Object(w.ctx, "HEAD") // has cat-file started, which is no part of the tried call
	return &clone{s, w}
}

// kinds names what callers tell errors by.
func kinds(err error) (text string) {
	for _, known := range []error{git.ErrNotFound, git.ErrRefMoved, git.ErrBusy, git.ErrRejected, git.ErrDeclinedThere,
		git.ErrNotAtomic, git.ErrUnsent, git.ErrSilent, log.ErrNoBoard} {
		if errors.Is(err, known) {
			text += " [" + known.Error() + "]"
		}
	}
	f := failure{}
	_ = errors.As(err, &f)
	for kind, is := range map[string]bool{
		"lost": f.Kind == log.Lost, "alone": f.Exclusive, "unclear": errors.As(err, new(*log.UnclearError)), "torn": errors.As(err, new(*share.TornError)),
		"diverged": errors.As(err, new(*share.DivergedError)), "refused": errors.As(err, new(*board.Refusal)),
		"network": errors.As(err, new(*git.NetworkError)),
	} {
		if is {
			text += " [" + kind + "]"
		}
	}
	words := strings.SplitAfter(text, "]")
	slices.Sort(words)
	return strings.Join(words, "")
}

var (
	ids    = regexp.MustCompile(`\b[0-9a-f]{10,40}\b`)
	probes = regexp.MustCompile(`probe/\d+`)
)

// plainText takes out of a text what differs from run to run.
func plainText(text, dir string) string {
	text = probes.ReplaceAllString(strings.ReplaceAll(text, dir, "DIR"), "probe/N")
	text = strings.NewReplacer("\n", `\n`, first+"/.git", "one", second+"/.git", "two", "hub.git", "hub").Replace(strings.TrimRight(text, "\n"))
	return ids.ReplaceAllString(text, "ID")
}

// files are the refs, settings and own files of all repositories.
func (w *world) files(dir string) map[string]string {
	all := map[string]string{}
	w.check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, dir+"/")
		if err != nil || !e.Type().IsRegular() || strings.Contains(name, "/objects/") || strings.Contains(name, "/logs/") || strings.Contains(name, "/kept/") {
			return err
		}
		text, err := os.ReadFile(path)
		switch filepath.Base(path) {
		case "index", "FETCH_HEAD", "ORIG_HEAD", "fetching", "fetched", "pushed", "last", "turn":
			return err
		}
		all[plainText(name, dir)] = string(text)
		return err
	}))
	return all
}

func done(err error) (any, error) { return "done", err }

// commitOn makes a commit in the first clone, without git.
func (w *world) commitOn(parent plumbing.OID, message string) plumbing.OID {
	w.t.Helper()
	o := testrun.Must(w.a.Local().Object(context.Background(), string(parent)))(w.t)
	c := testrun.Must(plumbing.DecodeCommit(o))(w.t)
	c.Parents, c.Message = []plumbing.OID{parent}, message+"\n"
	next := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
	w.check(w.a.Local().WriteObjects(context.Background(), []plumbing.Object{next}))
	return next.OID
}

// publish moves the branch of a task.
func (w *world) publish(was, to plumbing.OID) error {
	return w.a.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: w.a.Task("one"), Old: was, New: to}}, "")
}

// ref is the value of a ref of the first clone.
func (w *world) ref(name string) plumbing.OID {
	w.t.Helper()
	return testrun.Must(w.a.Local().Ref(context.Background(), name))(w.t)
}

// unshare makes the first clone one that shares its board with nobody, and the hub one without it.
func (w *world) unshare() {
	defer func() {
		w.git(w.a.Local().TopLevel(), "update-ref", plumbing.HomeRef, plumbing.BoardRef)
	}()
	top := w.a.Local().TopLevel()
	w.git(top, "config", "--unset", git.RemoteKey)
	for dir, patterns := range map[string][]string{
		w.hub: {"refs/heads/liza", "refs/heads/integration", "refs/liza"}, top: {"refs/liza", "refs/remotes"},
	} {
		refs := w.git(dir, append([]string{"for-each-ref", "--format=%(refname)"}, patterns...)...)
		for _, ref := range strings.Fields(refs) {
			w.git(dir, "update-ref", "-d", ref)
		}
	}
}

// newcomer makes the first clone one that has just been cloned.
func (w *world) newcomer() {
	top := w.a.Local().TopLevel()
	w.check(os.RemoveAll(top))
	w.git("", "clone", "-q", "file://"+w.hub, top)
}

func shareProbe(w *world) (any, error) { return done(w.a.Share(w.ctx, "origin", "probe")) }

func join(w *world) (any, error) { return done(w.a.Join(w.ctx, "origin")) }

func fetch(w *world) (any, error) { return done(w.a.Fetch(w.ctx)) }

func writes(w *world) (any, error) {
	_, err := w.write(w.a, note("mine"))
	return "done", err
}

func takes(w *world) (any, error) { return done(w.a.take(nil, "a")) }

// hubHook has the hub run a hook.
func hubHook(name, text string) func(w *world) {
	return func(w *world) {
		w.check(testrun.WriteProgram(filepath.Join(w.hub, "hooks", name), "#!/bin/sh\n"+text+"\n"))
	}
}

// dies has a process of the first clone die before it pushes a lease.
func dies(w *world) {
	update, object := lease.Renew(nil, leaseOf("dead", 0))
	w.check(w.a.Die(w.ctx, []plumbing.Object{object}, []plumbing.RefUpdate{update}))
}

// published publishes the branch of a task, and anew another in its place.
func published(w *world) { w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) }

func anew(w *world) (any, error) {
	return done(w.publish(w.ref(w.a.Task("one")), w.commitOn(w.ref("refs/heads/main"), "anew")))
}

// theirs has the second clone write.
func theirs(w *world) { w.must(w.b, note("theirs")) }

// retired has the first clone remember a sequencer that the hub does not have any more.
func retired(w *world) {
	w.git(w.a.Local().TopLevel(), "update-ref", plumbing.TrackingRef("origin", parcel.Tracked), "main")
}

var scenes = []scene{
	{name: "Fetch", call: fetch},
	{name: "Fetch all", before: func(w *world) {
		w.git(w.hub, "update-ref", plumbing.ReviewPrefix+"one/1", "main")
	}, call: func(w *world) (any, error) { return done(w.a.FetchAll(w.ctx)) }},
	{name: "Fetch from a hub that was reset", before: func(w *world) {
		at := w.there()
		w.must(w.a, note("mine"))
		w.git(w.hub, "update-ref", plumbing.BoardRef, string(at))
	}, call: fetch, fails: "1"},
	{name: "Write", call: writes},
	{name: "Write while others write", before: theirs, call: writes},
	{name: "Write where another push has a lock", once: true, before: hubHook("pre-receive",
		`if [ -e lately ]; then rm -f refs/heads/liza/state.lock; else touch lately refs/heads/liza/state.lock; fi`), call: writes, again: 1},
	{name: "Write behind pending operations", before: dies, call: writes},
	{name: "Write, alone after pending operations", before: dies, call: takes, again: 3},
	{name: "Take a lease that is taken", before: func(w *world) { w.check(w.b.take(nil, "b")) }, call: takes},
	{name: "Take a lease behind an operation that is lost", once: true, before: func(w *world) {
		at := w.a.here()
		lost := w.must(w.a, note("lost"))
		for _, dir := range []string{w.a.Local().TopLevel(), w.hub} {
			w.git(dir, "update-ref", plumbing.BoardRef, string(at))
		}
		w.git(w.a.Local().TopLevel(), "update-ref", plumbing.TrackingRef("origin", "state"), string(at))
		theirs(w)
		w.check(w.a.Die(w.ctx, nil, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: at, New: lost}}))
	}, call: takes, again: 3},
	{name: "Publish anew", before: published, call: anew},
	{name: "Delete a branch", before: published,
		call: func(w *world) (any, error) { return done(w.publish(w.ref(w.a.Task("one")), "")) }},
	{name: "Delete a branch with a note where nobody may", before: func(w *world) {
		published(w)
		w.git(w.hub, "config", "receive.denyDeletes", "true")
	}, call: func(w *world) (any, error) {
		_, err := w.writeWith(w.a, note("mine"), log.Batch{Refs: []plumbing.RefUpdate{{Ref: w.a.Task("one"), Old: w.ref(w.a.Task("one"))}}})
		return done(err)
	}, again: 1},
	{name: "Flush", before: dies, call: func(w *world) (any, error) { return done(w.a.Flush(w.ctx)) }},
	{name: "Write to one that sequences no more", before: retired, call: writes},
	{name: "Publish to one that sequences no more", before: func(w *world) {
		retired(w)
		w.git(w.hub, "update-ref", parcel.Ref, "main")
	}, call: func(w *world) (any, error) { return done(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) }},
	{name: "Share, with more", before: func(w *world) {
		w.unshare()
		top := w.a.Local().TopLevel()
		w.git(top, "update-ref", plumbing.ReviewPrefix+"one/1", "main")
		w.git(top, "update-ref", plumbing.HomeRef, plumbing.BoardRef)
		w.git(top, "update-ref", plumbing.LeaseRef("coder-1"), w.git(top, "hash-object", "-w", ".git/config"))
		w.git(top, "update-ref", "refs/heads/task/one", "main")
	}, call: shareProbe},
	{name: "Share by a host that accepts only branches", update: onlyBranches, before: func(w *world) {
		w.unshare()
		top := w.a.Local().TopLevel()
		w.git(top, "config", "--unset", git.OnlyBranchesKey)
		w.git(top, "update-ref", plumbing.LeaseRef("coder-1"), w.git(top, "hash-object", "-w", ".git/config"))
	}, call: shareProbe},
	{name: "Share by one whose integration is elsewhere", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.hub, "update-ref", "refs/heads/integration", w.git(w.hub, "commit-tree", "-m", "x", "main^{tree}"))
	}, call: shareProbe},
	{name: "Share by one with a branch of that name", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.hub, "update-ref", "refs/heads/liza", "main")
	}, call: shareProbe},
	{name: "Share by a host that accepts only branches, with one in the way", once: true, update: onlyBranches, before: func(w *world) {
		w.unshare()
		w.git(w.a.Local().TopLevel(), "config", "--unset", git.OnlyBranchesKey)
		w.git(w.hub, "update-ref", "refs/heads/liza/leases", "main")
	}, call: shareProbe},
	{name: "Share by one that is pushed elsewhere", once: true, before: func(w *world) {
		w.unshare()
		another := filepath.Join(filepath.Dir(w.hub), "another.git")
		w.git("", "init", "-q", "--bare", another)
		w.git(w.a.Local().TopLevel(), "config", "remote.origin.pushurl", another)
	}, call: shareProbe},
	{name: "Join, of a clone with leases and branches", before: func(w *world) {
		w.check(w.b.take(nil, "b"))
		w.git(w.hub, "update-ref", plumbing.PublishedRef("one"), "main")
		w.git(w.hub, "update-ref", plumbing.ReviewPrefix+"one/1", "main")
		w.newcomer()
	}, call: join},
	{name: "Join nothing", once: true, before: func(w *world) {
		w.unshare()
		w.newcomer()
	}, call: join},
	{name: "Join with another board", once: true, before: func(w *world) {
		w.newcomer()
		top := w.a.Local().TopLevel()
		w.git(top, "update-ref", plumbing.BoardRef, w.git(top, "commit-tree", "-m", "another", "main^{tree}"))
	}, call: join},
	{name: "Find", before: func(w *world) {
		w.git(w.a.Local().TopLevel(), "remote", "add", "another", w.b.Local().CommonDir())
	}, call: func(w *world) (any, error) {
		found, err := w.a.Find(w.ctx)
		return found, err
	}},
	{name: "Write to one's own", before: func(w *world) {
		top := w.a.Local().TopLevel()
		w.git(top, "config", "--unset", git.RemoteKey)
		w.git(top, "update-ref", plumbing.HomeRef, plumbing.BoardRef)
	}, call: writes},
	{name: "Take a lease at a host that accepts only branches", update: onlyBranches, call: takes},
	{name: "Publish anew at a host that accepts only branches", update: onlyBranches, before: published, call: anew},
	{name: "Fetch from a host that accepts only branches", update: onlyBranches, before: func(w *world) {
		w.check(w.a.take(nil, "a"))
		w.check(w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: w.b.Task("two"), New: w.b.here()}}, ""))
		w.git(w.a.Local().TopLevel(), "update-ref", w.a.Task("gone"), "main")
	}, call: fetch},
}
