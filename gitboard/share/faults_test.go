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
	due := func(i int) bool { return testrun.OneIn(7, i) }
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
	repo, err := git.OpenWith(w.ctx, filepath.Join(filepath.Dir(w.hub), name), git.Options{})
	w.check(err)
	now := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	s := share.New(repo, filepath.Join(repo.CommonDir(), "liza"), func() time.Time { return now })
	_, err = s.Sharing(w.ctx)
	w.check(err)
	_, _ = repo.Object(w.ctx, "HEAD") // has cat-file started, which is no part of the tried call
	return &clone{s, w, log.NewReader(s, "")}
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
		"lost": f.Kind == log.Lost, "alone": f.Alone, "unclear": errors.As(err, new(*log.UnclearError)), "torn": errors.As(err, new(*share.TornError)),
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
		case "index", "FETCH_HEAD", "ORIG_HEAD", "fetching", "fetched", "pushed", "turn":
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
	o, err := w.a.Local().Object(context.Background(), string(parent))
	w.check(err)
	c, err := plumbing.DecodeCommit(o)
	w.check(err)
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
	oid, err := w.a.Local().Ref(context.Background(), name)
	w.check(err)
	return oid
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
func (w *world) newcomer(args ...string) {
	top := w.a.Local().TopLevel()
	w.check(os.RemoveAll(top))
	w.git("", append(append([]string{"clone", "-q"}, args...), "file://"+w.hub, top)...)
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

// theirs has the second clone write.
func theirs(w *world) { w.must(w.b, note("theirs")) }

// retired has the first clone remember a sequencer that the hub does not have any more.
func retired(w *world) {
	w.git(w.a.Local().TopLevel(), "update-ref", plumbing.TrackingRef("origin", parcel.Tracked), "main")
}

// dies leaves updates behind that were not pushed.
func (w *world) dies(objects []plumbing.Object, updates ...plumbing.RefUpdate) {
	w.check(w.a.Die(w.ctx, objects, updates))
}

var scenes = []scene{
	{name: "Fetch", call: fetch},
	{name: "Fetch what is new", once: true, before: theirs, call: fetch},
	{name: "Fetch what is new, killed", before: theirs, call: fetch, fails: "killed"},
	{name: "Fetch, and again", call: fetch, fails: "3 on", again: 1},
	{name: "Fetch all", before: func(w *world) {
		w.git(w.hub, "update-ref", plumbing.ReviewPrefix+"one/1", "main")
	}, call: func(w *world) (any, error) { return done(w.a.FetchAll(w.ctx)) }},
	{name: "Fetch where the boards have come apart", once: true, before: func(w *world) {
		theirs(w)
		mine := w.commitOn(w.a.here(), "mine")
		w.git(w.a.Local().TopLevel(), "update-ref", plumbing.BoardRef, string(mine))
	}, call: fetch},
	{name: "Fetch from another board", once: true, before: func(w *world) {
		another := w.git(w.hub, "commit-tree", "-m", "another", "main^{tree}")
		w.git(w.hub, "update-ref", plumbing.BoardRef, another)
	}, call: fetch},
	{name: "Fetch from a hub that was reset", before: func(w *world) {
		at := w.there()
		w.must(w.a, note("mine"))
		w.git(w.hub, "update-ref", plumbing.BoardRef, string(at))
	}, call: fetch, fails: "1"},
	{name: "Fetch where the humans' branch is spared", once: true, before: func(w *world) {
		w.git(w.a.Local().TopLevel(), "config", "--add", "remote.origin.fetch", "^refs/heads/integration")
		w.git(w.hub, "update-ref", "refs/heads/integration", "main")
	}, call: fetch},
	{name: "Fetch where there is no board", once: true, before: func(w *world) {
		w.git(w.a.Local().TopLevel(), "update-ref", "-d", plumbing.BoardRef)
	}, call: fetch},
	{name: "Write", call: writes},
	{name: "Write, and again", call: writes, again: 3},
	{name: "Write while others write", before: theirs, call: writes},
	{name: "Write where a hook declines", once: true, before: hubHook("update", "echo liza: no >&2; exit 1"), call: writes},
	{name: "Write where another push has a lock", once: true, before: hubHook("pre-receive",
		`if [ -e lately ]; then rm -f refs/heads/liza/state.lock; else touch lately refs/heads/liza/state.lock; fi`), call: writes, again: 1},
	{name: "Write to one that is not atomic", once: true, before: func(w *world) {
		w.git(w.hub, "config", "receive.advertiseAtomic", "false")
	}, call: writes},
	{name: "Write what others may follow", once: true, call: func(w *world) (any, error) {
		return done(w.append(w.a, 1, note("mine"), func() {}))
	}},
	{name: "Write behind pending operations", before: func(w *world) {
		update, object := lease.Renew(nil, leaseOf("dead", 0))
		w.check(w.a.Die(w.ctx, []plumbing.Object{object}, []plumbing.RefUpdate{update}))
	}, call: func(w *world) (any, error) { return done(w.append(w.a, 1, note("mine"), func() {})) }},
	{name: "Write behind pending operations where a hook declines", once: true, before: func(w *world) {
		update, object := lease.Renew(nil, leaseOf("dead", 0))
		w.check(w.a.Die(w.ctx, []plumbing.Object{object}, []plumbing.RefUpdate{update}))
		hubHook("update", "exit 1")(w)
	}, call: func(w *world) (any, error) { return done(w.append(w.a, 1, note("mine"), func() {})) }},
	{name: "Write, alone after pending operations", before: func(w *world) {
		update, object := lease.Renew(nil, leaseOf("dead", 0))
		w.check(w.a.Die(w.ctx, []plumbing.Object{object}, []plumbing.RefUpdate{update}))
	}, call: takes, again: 3},
	{name: "Write, and never alone", once: true, before: func(w *world) {
		update, object := lease.Renew(nil, leaseOf("dead", 0))
		w.check(w.a.Die(w.ctx, []plumbing.Object{object}, []plumbing.RefUpdate{update}))
	}, call: takes},
	{name: "Write integration with what stays here", once: true, call: func(w *world) (any, error) {
		at := w.ref("refs/heads/integration")
		stays := plumbing.RefUpdate{Ref: "refs/liza/attic/x", New: at}
		return done(w.a.UpdateRefs(w.ctx, []plumbing.RefUpdate{stays, {Ref: "refs/heads/integration", Old: at, New: w.commitOn(at, "next")}}, ""))
	}},
	{name: "Write what stays here", call: func(w *world) (any, error) {
		return done(w.a.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: "refs/liza/attic/x", New: w.ref("refs/heads/main")}}, ""))
	}},
	{name: "Write integration", call: func(w *world) (any, error) {
		at := w.ref("refs/heads/integration")
		return done(w.a.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: "refs/heads/integration", Old: at, New: w.commitOn(at, "next")}}, ""))
	}},
	{name: "Take a lease", call: takes},
	{name: "Take a lease that is taken", before: func(w *world) { w.check(w.b.take(nil, "b")) }, call: takes},
	{name: "Take a lease after one that is old", once: true, before: func(w *world) {
		w.check(w.a.take(nil, "a"))
		held, err := lease.Read(w.ctx, w.a, "coder-1")
		w.check(err)
		w.check(w.b.Fetch(w.ctx))
		w.check(w.b.take(held, "b"))
	}, call: func(w *world) (any, error) {
		held, err := lease.Read(context.Background(), w.a, "coder-1")
		w.check(err)
		return done(w.a.take(held, "a"))
	}},
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
	{name: "Publish", call: func(w *world) (any, error) { return done(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) }},
	{name: "Publish more", before: func(w *world) { w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) },
		call: func(w *world) (any, error) {
			at := w.ref(w.a.Task("one"))
			return done(w.publish(at, w.commitOn(at, "more")))
		}},
	{name: "Publish anew", before: func(w *world) { w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) },
		call: func(w *world) (any, error) {
			return done(w.publish(w.ref(w.a.Task("one")), w.commitOn(w.ref("refs/heads/main"), "anew")))
		}},
	{name: "Delete a branch", before: func(w *world) { w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) },
		call: func(w *world) (any, error) { return done(w.publish(w.ref(w.a.Task("one")), "")) }},
	{name: "Delete a branch that was submitted", before: func(w *world) {
		work := w.commitOn(w.ref("refs/heads/main"), "work")
		w.check(w.publish("", work))
		w.git(w.a.Local().TopLevel(), "update-ref", plumbing.ReviewPrefix+"one/1", string(work))
	}, call: func(w *world) (any, error) { return done(w.publish(w.ref(w.a.Task("one")), "")) }},
	{name: "Publish anew where another push has a lock", once: true, before: func(w *world) {
		w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work")))
		hubHook("pre-receive", `lock=refs/heads/liza/task/one.lock; if [ -e lately ]; then rm -f $lock; else touch lately $lock; fi`)(w)
	}, call: func(w *world) (any, error) {
		return done(w.publish(w.ref(w.a.Task("one")), w.commitOn(w.ref("refs/heads/main"), "anew")))
	}, again: 1},
	{name: "Delete a branch that lands with it", once: true, before: func(w *world) {
		w.check(w.publish("", w.commitOn(w.ref("refs/heads/integration"), "work")))
	}, call: func(w *world) (any, error) {
		at, work := w.ref("refs/heads/integration"), w.ref(w.a.Task("one"))
		return done(w.a.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: "refs/heads/integration", Old: at, New: work}, {Ref: w.a.Task("one"), Old: work}}, ""))
	}},
	{name: "Delete a branch where nobody may", once: true, before: func(w *world) {
		w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work")))
		w.git(w.hub, "config", "receive.denyDeletes", "true")
	}, call: func(w *world) (any, error) { return done(w.publish(w.ref(w.a.Task("one")), "")) }, again: 1},
	{name: "Delete a branch with a note where nobody may", before: func(w *world) {
		w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work")))
		w.git(w.hub, "config", "receive.denyDeletes", "true")
	}, call: func(w *world) (any, error) {
		on, err := w.a.log.Tip(context.WithoutCancel(w.ctx))
		if err != nil {
			return nil, err
		}
		p, err := log.Prepare(on, w.operation(1, note("mine")))
		w.check(err)
		return done(w.a.put(w.ctx, p, log.Batch{Refs: []plumbing.RefUpdate{{Ref: w.a.Task("one"), Old: w.ref(w.a.Task("one"))}}}))
	}, again: 1},
	{name: "Flush", before: func(w *world) {
		update, object := lease.Renew(nil, leaseOf("dead", 0))
		w.check(w.a.Die(w.ctx, []plumbing.Object{object}, []plumbing.RefUpdate{update}))
	}, call: func(w *world) (any, error) { return done(w.a.Flush(w.ctx)) }},
	{name: "Flush nothing", call: func(w *world) (any, error) { return done(w.a.Flush(w.ctx)) }},
	{name: "Write to one that sequences no more", before: retired, call: writes},
	{name: "Publish to one that sequences no more", before: func(w *world) {
		retired(w)
		w.git(w.hub, "update-ref", parcel.Ref, "main")
	}, call: func(w *world) (any, error) { return done(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) }},
	{name: "Publish to one that sequences in another form", once: true, before: func(w *world) {
		retired(w)
		w.git(w.hub, "update-ref", parcel.Ref, w.git(w.hub, "commit-tree", "-m", "another", "main^{tree}"))
	}, call: func(w *world) (any, error) { return done(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) }},
	{name: "Flush to one that sequences no more", once: true, before: func(w *world) {
		w.check(w.publish("", w.ref("refs/heads/integration")))
		retired(w)
		update, object := lease.Renew(nil, leaseOf("dead", 0))
		work := w.commitOn(w.ref("refs/heads/main"), "work")
		w.dies([]plumbing.Object{object}, update)
		w.dies(nil, plumbing.RefUpdate{Ref: w.a.Task("two"), New: work}, plumbing.RefUpdate{Ref: plumbing.LeaseRef("another"), New: object.OID})
		w.dies(nil, plumbing.RefUpdate{Ref: w.a.Task("three"), New: work})
		w.dies(nil, plumbing.RefUpdate{Ref: w.a.Task("one"), Old: w.ref("refs/heads/integration")})
	}, call: func(w *world) (any, error) { return done(w.a.Flush(w.ctx)) }},
	{name: "What settings in another file say", before: func(w *world) {
		top := w.a.Local().TopLevel()
		w.git(top, "config", "--unset", git.RemoteKey)
		w.git(top, "config", "include.path", "another")
		w.git(top, "update-ref", plumbing.HomeRef, plumbing.BoardRef)
	}, call: func(w *world) (any, error) {
		n, err := w.a.Waiting(w.ctx)
		_, nextErr := w.a.Tip(w.ctx)
		_, ownErr := w.a.Own(w.ctx)
		_, writeErr := writes(w)
		return n, errors.Join(err, nextErr, ownErr, writeErr, w.a.Fetch(w.ctx))
	}},
	{name: "Share", once: true, before: (*world).unshare, call: shareProbe},
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
	{name: "Share where another host accepted only branches", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.a.Local().TopLevel(), "config", git.OnlyBranchesKey, "true")
	}, call: shareProbe},
	{name: "Share what is shared there", once: true, before: func(w *world) {
		w.git(w.a.Local().TopLevel(), "config", "--unset", git.RemoteKey)
	}, call: shareProbe},
	{name: "Share again", once: true, call: shareProbe},
	{name: "Share what another shares meanwhile", once: true, before: func(w *world) {
		tip := w.there()
		w.unshare()
		hubHook("update", fmt.Sprintf(`case $1 in refs/heads/liza/state) ;; *) exit 0 ;; esac
unset GIT_QUARANTINE_PATH
for ref in refs/heads/liza/state refs/liza/home; do git update-ref $ref %s; done
git update-ref refs/heads/integration main
exit 1`, tip))(w)
	}, call: shareProbe},
	{name: "Share what is shared by another", before: func(w *world) { w.git(w.a.Local().TopLevel(), "remote", "add", "another", w.hub) }, call: func(w *world) (any, error) { return done(w.a.Share(w.ctx, "another", "probe")) }},
	{name: "Share without a board", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.a.Local().TopLevel(), "update-ref", "-d", plumbing.BoardRef)
	}, call: shareProbe},
	{name: "Share in a shallow clone", once: true, before: func(w *world) {
		w.unshare()
		w.check(os.WriteFile(filepath.Join(w.a.Local().CommonDir(), "shallow"), nil, 0o644))
	}, call: shareProbe},
	{name: "Share by a mirror", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.a.Local().TopLevel(), "config", "remote.origin.mirror", "true")
	}, call: shareProbe},
	{name: "Share where a fetch overwrites", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.a.Local().TopLevel(), "config", "--add", "remote.origin.fetch", "+refs/heads/*:refs/heads/*")
	}, call: shareProbe},
	{name: "Share by one that declines", once: true, before: func(w *world) {
		w.unshare()
		hubHook("update", "exit 1")(w)
	}, call: shareProbe},
	{name: "Share by one that is not atomic", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.hub, "config", "receive.advertiseAtomic", "false")
	}, call: shareProbe},
	{name: "Share by one whose integration is elsewhere", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.hub, "update-ref", "refs/heads/integration", w.git(w.hub, "commit-tree", "-m", "x", "main^{tree}"))
	}, call: shareProbe},
	{name: "Share by one with a branch of that name", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.hub, "update-ref", "refs/heads/liza", "main")
	}, call: shareProbe},
	{name: "Share by one with a branch below the board's", once: true, before: func(w *world) {
		w.unshare()
		w.git(w.hub, "update-ref", plumbing.BoardRef+"/more", "main")
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
	{name: "Join", once: true, before: func(w *world) { w.newcomer() }, call: join},
	{name: "Join, of a clone with leases and branches", before: func(w *world) {
		w.check(w.b.take(nil, "b"))
		w.git(w.hub, "update-ref", plumbing.PublishedRef("one"), "main")
		w.git(w.hub, "update-ref", plumbing.ReviewPrefix+"one/1", "main")
		w.newcomer()
	}, call: join},
	{name: "Join a host that accepts only branches", once: true, update: onlyBranches, before: func(w *world) {
		w.check(w.b.take(nil, "b"))
		w.newcomer()
	}, call: join},
	{name: "Join where integration is the standard branch", once: true, before: func(w *world) {
		w.git(w.hub, "symbolic-ref", "HEAD", "refs/heads/integration")
		w.newcomer()
	}, call: func(w *world) (any, error) {
		_, err := join(w)
		return w.git(w.a.Local().TopLevel(), "config", "--get-all", "remote.origin.fetch"), err
	}},
	{name: "Join with a partial clone", once: true, before: func(w *world) {
		w.git(w.hub, "config", "uploadpack.allowFilter", "true")
		w.newcomer("--filter=blob:none")
	}, call: join},
	{name: "Join a copy", once: true, before: func(w *world) {
		w.git(w.hub, "update-ref", "-d", plumbing.HomeRef)
		w.newcomer()
	}, call: join},
	{name: "Join nothing", once: true, before: func(w *world) {
		w.unshare()
		w.newcomer()
	}, call: join},
	{name: "Join with another board", before: func(w *world) {
		w.newcomer()
		top := w.a.Local().TopLevel()
		w.git(top, "update-ref", plumbing.BoardRef, w.git(top, "commit-tree", "-m", "another", "main^{tree}"))
	}, call: join},
	{name: "Join with a later board", once: true, before: func(w *world) {
		top := w.a.Local().TopLevel()
		w.must(w.a, note("mine"))
		w.git(top, "config", "--unset", git.RemoteKey)
		w.git(w.hub, "update-ref", plumbing.BoardRef, plumbing.BoardRef+"~1")
	}, call: join},
	{name: "Find", before: func(w *world) {
		w.git(w.a.Local().TopLevel(), "remote", "add", "another", w.b.Local().CommonDir())
	}, call: func(w *world) (any, error) {
		found, err := w.a.Find(w.ctx)
		return found, err
	}},
	{name: "Find a copy", once: true, before: func(w *world) { w.git(w.hub, "update-ref", "-d", plumbing.HomeRef) },
		call: func(w *world) (any, error) {
			found, err := w.a.Find(w.ctx)
			return found, err
		}},
	{name: "Own", before: func(w *world) { w.git(w.a.Local().TopLevel(), "config", "--unset", git.RemoteKey) },
		call: func(w *world) (any, error) {
			is, err := w.a.Own(w.ctx)
			return is, err
		}},
	{name: "Write to a copy", before: func(w *world) { w.git(w.a.Local().TopLevel(), "config", "--unset", git.RemoteKey) }, call: writes},
	{name: "Write to one's own", before: func(w *world) {
		top := w.a.Local().TopLevel()
		w.git(top, "config", "--unset", git.RemoteKey)
		w.git(top, "update-ref", plumbing.HomeRef, plumbing.BoardRef)
	}, call: writes},
	{name: "Write to a mirror", once: true, before: func(w *world) {
		top := w.a.Local().TopLevel()
		w.git(top, "config", "--unset", git.RemoteKey)
		w.git(top, "config", "--replace-all", "remote.origin.fetch", "+refs/*:refs/*")
	}, call: writes},
	{name: "Write where there is no remote", before: func(w *world) {
		w.unshare()
		w.git(w.a.Local().TopLevel(), "remote", "remove", "origin")
	}, call: writes},
	{name: "Probe", once: true, call: func(w *world) (any, error) { return done(w.a.Probe(w.ctx, "again")) }},
	{name: "Probe, and again", call: func(w *world) (any, error) { return done(w.a.Probe(w.ctx, "again")) }, again: 1},
	{name: "Probe a host that accepts only branches", update: onlyBranches, call: func(w *world) (any, error) {
		return done(w.a.Probe(w.ctx, "again"))
	}},
	{name: "Probe a host that accepts only branches, and declines", once: true, update: onlyBranches,
		before: hubHook("update", `case $1$3 in */probe/*[!0]*) exit 1; esac; exit 0`),
		call:   func(w *world) (any, error) { return done(w.a.Probe(w.ctx, "again")) }},
	{name: "Probe a host that accepts only branches, and is gone", once: true, update: onlyBranches,
		before: hubHook("update", "rm HEAD; exit 1"), call: func(w *world) (any, error) { return done(w.a.Probe(w.ctx, "again")) }},
	{name: "Probe where nothing may be replaced", once: true, before: hubHook("update", `case $1$2 in */probe/*[!0]*) exit 1; esac; exit 0`),
		call: func(w *world) (any, error) { return done(w.a.Probe(w.ctx, "again")) }},
	{name: "Write to a host that accepts only branches", update: onlyBranches, call: writes},
	{name: "Take a lease at a host that accepts only branches", update: onlyBranches, call: takes},
	{name: "Take a lease whose carrier alone was fetched", once: true, update: onlyBranches, before: func(w *world) {
		w.check(w.b.take(nil, "b"))
		w.git(w.a.Local().TopLevel(), "fetch", "-q", "origin", plumbing.AsBranch(plumbing.LeaseRef("coder-1"))+":"+plumbing.TrackingRef("origin", "carriers/leases/coder-1"))
	}, call: takes},
	{name: "Publish anew at a host that accepts only branches", update: onlyBranches,
		before: func(w *world) { w.check(w.publish("", w.commitOn(w.ref("refs/heads/main"), "work"))) },
		call: func(w *world) (any, error) {
			return done(w.publish(w.ref(w.a.Task("one")), w.commitOn(w.ref("refs/heads/main"), "anew")))
		}},
	{name: "Fetch from a host that accepts only branches", update: onlyBranches, before: func(w *world) {
		w.check(w.a.take(nil, "a"))
		w.check(w.b.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: w.b.Task("two"), New: w.b.here()}}, ""))
		w.git(w.a.Local().TopLevel(), "update-ref", w.a.Task("gone"), "main")
	}, call: fetch},
}
