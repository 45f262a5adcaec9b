package gitio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestUpdateRefs(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "one", "two", "three")
	one, two, three := ids[0], ids[1], ids[2]
	const x, y = "refs/liza/x", "refs/liza/y"
	steps := []struct {
		name    string
		updates []RefUpdate
		want    error
		x, y    OID
	}{
		{"nothing", nil, nil, ZeroOID, ZeroOID},
		{"create", []RefUpdate{{x, "", one}}, nil, one, ZeroOID},
		{"create what exists", []RefUpdate{{x, ZeroOID, two}}, ErrRefMoved, one, ZeroOID},
		{"find it in place", []RefUpdate{{x, three, one}}, nil, one, ZeroOID},
		{"move", []RefUpdate{{x, one, two}}, nil, two, ZeroOID},
		{"move from another", []RefUpdate{{x, one, three}}, ErrRefMoved, two, ZeroOID},
		{"all or nothing", []RefUpdate{{y, "", one}, {x, one, three}}, ErrRefMoved, two, ZeroOID},
		{"verify", []RefUpdate{{x, two, two}, {y, "", ""}}, nil, two, ZeroOID},
		{"verify and move", []RefUpdate{{y, "", three}, {x, two, two}}, nil, two, three},
		{"verify fails", []RefUpdate{{y, three, one}, {x, one, one}}, ErrRefMoved, two, three},
		{"delete another", []RefUpdate{{y, one, ""}}, ErrRefMoved, two, three},
		{"delete and move", []RefUpdate{{x, two, one}, {y, three, ""}}, nil, one, ZeroOID},
	}
	for _, packed := range []bool{false, true} {
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s packed=%t", step.name, packed), func(t *testing.T) {
				if err := r.UpdateRefs(ctx, step.updates, "test"); !errors.Is(err, step.want) || (err == nil) != (step.want == nil) {
					t.Errorf("got %v, want %v", err, step.want)
				} else if err != nil && !strings.Contains(err.Error(), "refs/liza/") {
					t.Errorf("%v does not name the ref", err)
				}
				if gotX, gotY := must[OID](t)(r.Ref(ctx, x)), must[OID](t)(r.Ref(ctx, y)); gotX != step.x || gotY != step.y {
					t.Errorf("x is %s, y is %s", gotX, gotY)
				}
				if packed {
					git(t, r.TopLevel(), "pack-refs", "--all")
				}
			})
		}
		check(t, r.UpdateRefs(ctx, []RefUpdate{{x, one, ""}}, ""))
	}
}

func TestBrokenRef(t *testing.T) {
	ctx, r := scratch(t)
	const x = "refs/liza/x"
	check(t, r.UpdateRefs(ctx, []RefUpdate{{x, "", store(t, ctx, r, "one")[0]}}, ""))
	file := filepath.Join(r.CommonDir(), filepath.FromSlash(x))
	for _, text := range []string{"", strings.Repeat("12345678", 5) + "\n", "rubbish\n"} {
		check(t, os.WriteFile(file, []byte(text), 0o666))
		var broken *BrokenRefError
		if got, err := r.Ref(ctx, x); !errors.As(err, &broken) || broken.Ref != x {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
	check(t, os.WriteFile(file, []byte("ref: refs/liza/nowhere\n"), 0o666))
	if got := must[OID](t)(r.Ref(ctx, x)); !got.IsZero() {
		t.Errorf("a symbolic ref to nowhere: %s", got)
	}
	check(t, os.Remove(file))
	if got := must[OID](t)(r.Ref(ctx, x)); !got.IsZero() {
		t.Errorf("got %s", got)
	}
}

func TestUpdateRefsRefused(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "one")[0]
	var failed *CommandError
	absent := blob("never written").OID
	for _, ref := range []RefUpdate{{"refs/heads/main/below", "", id}, {"refs/liza/x", "", absent}, {"refs/liza/x.lock", "", id}} {
		if err := r.UpdateRefs(ctx, []RefUpdate{ref}, ""); !errors.As(err, &failed) || failed.Exit != 128 {
			t.Errorf("%v: got %v", ref, err)
		}
	}
	for _, ref := range []RefUpdate{{"main", "", id}, {"refs/a\x00b", "", id}, {"refs/a\nb", "", id}, {"refs/x", "", "main"}} {
		if err := r.UpdateRefs(ctx, []RefUpdate{ref}, ""); err == nil {
			t.Errorf("%q was accepted", ref)
		}
	}
}

func TestUpdateRefsBusy(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "one")[0]
	update := []RefUpdate{{"refs/liza/x", "", id}}
	lock := filepath.Join(r.CommonDir(), "refs", "liza", "x.lock")
	writeIn(t, filepath.Dir(lock), "x.lock", "")
	if err := r.UpdateRefs(ctx, update, ""); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), lock) {
		t.Errorf("got %v", err)
	}
	// Git waits for one that goes away.
	timer := time.AfterFunc(200*time.Millisecond, func() { os.Remove(lock) })
	defer timer.Stop()
	check(t, r.UpdateRefs(ctx, update, ""))
}

// A cancelled update has happened or not, and leaves no lock.
func TestUpdateRefsCancelled(t *testing.T) {
	ctx, r := scratch(t)
	now := ZeroOID
	for i := range 60 {
		next := store(t, ctx, r, fmt.Sprint(i))[0]
		short, cancel := context.WithTimeout(ctx, time.Duration(i)*80*time.Microsecond)
		err := r.UpdateRefs(short, []RefUpdate{{"refs/liza/x", now, next}}, "")
		cancel()
		got := must[OID](t)(r.Ref(ctx, "refs/liza/x"))
		if err == nil && got != next || err != nil && (got != now || !errors.Is(err, context.DeadlineExceeded)) {
			t.Fatalf("it is %s after %v", got, err)
		}
		if err := r.locked("refs/liza/x.lock"); err != nil {
			t.Fatal(err)
		}
		now = got
	}
}

// No acknowledged update may get lost, whatever `git pack-refs` does beside.
func TestRacers(t *testing.T) {
	t.Run("alone", func(t *testing.T) { race(t, 10, func(int, OID) []RefUpdate { return nil }) })
	// Git reads packed-refs for the first ref, and long before it has the lock of the second.
	t.Run("beside another ref", func(t *testing.T) {
		race(t, 20, func(racer int, at OID) []RefUpdate {
			return []RefUpdate{{fmt.Sprintf("refs/liza/leases/coder-%d", racer), at, at}}
		})
	})
}

// race lets racers win several times each. beside are updates that come first in a transaction, of refs at that commit.
func race(t *testing.T, wins int, beside func(racer int, at OID) []RefUpdate) {
	ctx, r := scratch(t)
	const racers = 8
	const ref = "refs/heads/liza/counter"
	seen := make([][]OID, racers)
	packing, stop := context.WithCancel(ctx)
	var packer, group sync.WaitGroup
	packer.Go(func() {
		for packing.Err() == nil {
			r.command("pack-refs", "pack-refs", "--all").run(packing)
		}
	})
	base := must[OID](t)(r.ResolveCommit(ctx, "HEAD"))
	for i := range racers {
		updates := beside(i, base)
		for _, u := range updates {
			check(t, r.UpdateRefs(ctx, []RefUpdate{{u.Ref, ZeroOID, base}}, ""))
		}
		group.Go(func() {
			for n := 0; len(seen[i]) < wins; n++ {
				old, err := r.Ref(ctx, ref)
				if err != nil {
					t.Error(err)
					return
				}
				c := Commit{Tree: EmptyTree, Author: ada, Committer: ada, Message: fmt.Sprintln(i, n), Parents: []OID{base}}
				if !old.IsZero() {
					c.Parents = []OID{old}
				}
				object := NewObject(CommitObject, EncodeCommit(c))
				err = errors.Join(
					r.WriteObjects(ctx, []Object{object, NewObject(TreeObject, nil)}),
					r.UpdateRefs(ctx, append(slices.Clone(updates), RefUpdate{ref, old, object.OID}), "race"))
				switch {
				case err == nil:
					seen[i] = append(seen[i], object.OID)
				case !errors.Is(err, ErrRefMoved) && !errors.Is(err, ErrBusy):
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	stop()
	packer.Wait()
	tip := must[OID](t)(r.Ref(ctx, ref))
	if n := must[int](t)(r.CountCommits(ctx, base, tip)); n != racers*wins {
		t.Errorf("%d commits are left of %d", n, racers*wins)
	}
	for _, list := range seen {
		for _, oid := range list {
			if !must[bool](t)(r.IsAncestor(ctx, oid, tip)) {
				t.Errorf("%s is lost", oid)
			}
		}
	}
}

func TestRefs(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "a lease")[0]
	head := must[OID](t)(r.ResolveCommit(ctx, "HEAD"))
	check(t, r.UpdateRefs(ctx, []RefUpdate{
		{"refs/liza/leases/a", "", id}, {"refs/liza/leases/b", "", head}, {"refs/liza/leasesx", "", id},
	}, ""))
	want := fmt.Sprint([]Ref{{"refs/liza/leases/a", id, BlobObject}, {"refs/liza/leases/b", head, CommitObject}})
	for _, prefix := range []string{"refs/liza/leases", "refs/liza/leases/"} {
		if got := fmt.Sprint(must[[]Ref](t)(r.Refs(ctx, prefix))); got != want {
			t.Errorf("%s: got %s", prefix, got)
		}
	}
	if got := must[[]Ref](t)(r.Refs(ctx)); len(got) != 4 {
		t.Errorf("all: got %v", got)
	}
	if got := must[[]Ref](t)(r.Refs(ctx, "refs/none")); got != nil {
		t.Errorf("none: got %v", got)
	}
}

// "refs/liza/x" must not be answered with "refs/tags/refs/liza/x".
func TestRefIsExact(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "x")[0]
	check(t, r.UpdateRefs(ctx, []RefUpdate{{"refs/tags/refs/liza/x", "", id}}, ""))
	if got := must[OID](t)(r.Ref(ctx, "refs/liza/x")); got != ZeroOID {
		t.Errorf("got %s", got)
	}
}

// A tag is not peeled.
func TestRefToTag(t *testing.T) {
	ctx, r := scratch(t)
	git(t, r.TopLevel(), "tag", "-a", "-m", "v1", "v1")
	tag := must[OID](t)(r.Ref(ctx, "refs/tags/v1"))
	if got := must[Object](t)(r.Object(ctx, string(tag))); got.Type != TagObject {
		t.Errorf("got %v", got.Type)
	}
	if must[OID](t)(r.ResolveCommit(ctx, "v1")) != must[OID](t)(r.ResolveCommit(ctx, "HEAD")) {
		t.Error("the tag's commit is HEAD")
	}
}

// A hook of the user's cannot stop what has been checked already.
func TestUpdateRefsWithoutHooks(t *testing.T) {
	ctx, r := scratch(t)
	hook := filepath.Join(r.CommonDir(), "hooks", "reference-transaction")
	check(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	check(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o777))
	check(t, r.UpdateRefs(ctx, []RefUpdate{{"refs/liza/x", "", store(t, ctx, r, "x")[0]}}, ""))
}

// A ref that leads nowhere doesn't hide the others.
func TestRefsBesideABrokenOne(t *testing.T) {
	ctx, r := scratch(t)
	whole := store(t, ctx, r, "whole")[0]
	check(t, r.UpdateRefs(ctx, []RefUpdate{{"refs/liza/leases/a", "", whole}}, ""))
	lost := strings.Repeat("1", 40)
	writeIn(t, r.CommonDir(), "refs/liza/leases/b", lost+"\n")
	refs := must[[]Ref](t)(r.Refs(ctx, "refs/liza/leases"))
	if len(refs) != 2 || refs[0].OID != whole || string(refs[1].OID) != lost {
		t.Errorf("%v", refs)
	}
}
