package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestUpdateRefs(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "one", "two", "three")
	one, two, three := ids[0], ids[1], ids[2]
	const x, y = "refs/liza/x", "refs/liza/y"
	steps := []struct {
		name    string
		updates []plumbing.RefUpdate
		want    error
		x, y    plumbing.OID
	}{
		{"nothing", nil, nil, plumbing.ZeroOID, plumbing.ZeroOID},
		{"create", []plumbing.RefUpdate{{Ref: x, Old: "", New: one}}, nil, one, plumbing.ZeroOID},
		{"create what exists", []plumbing.RefUpdate{{Ref: x, Old: plumbing.ZeroOID, New: two}}, ErrRefMoved, one, plumbing.ZeroOID},
		{"find it in place", []plumbing.RefUpdate{{Ref: x, Old: three, New: one}}, nil, one, plumbing.ZeroOID},
		{"move", []plumbing.RefUpdate{{Ref: x, Old: one, New: two}}, nil, two, plumbing.ZeroOID},
		{"move from another", []plumbing.RefUpdate{{Ref: x, Old: one, New: three}}, ErrRefMoved, two, plumbing.ZeroOID},
		{"all or nothing", []plumbing.RefUpdate{{Ref: y, Old: "", New: one}, {Ref: x, Old: one, New: three}}, ErrRefMoved, two, plumbing.ZeroOID},
		{"verify", []plumbing.RefUpdate{{Ref: x, Old: two, New: two}, {Ref: y, Old: "", New: ""}}, nil, two, plumbing.ZeroOID},
		{"verify and move", []plumbing.RefUpdate{{Ref: y, Old: "", New: three}, {Ref: x, Old: two, New: two}}, nil, two, three},
		{"verify fails", []plumbing.RefUpdate{{Ref: y, Old: three, New: one}, {Ref: x, Old: one, New: one}}, ErrRefMoved, two, three},
		{"two are elsewhere", []plumbing.RefUpdate{{Ref: y, Old: two, New: one}, {Ref: x, Old: one, New: one}}, ErrRefMoved, two, three},
		{"delete another", []plumbing.RefUpdate{{Ref: y, Old: one, New: ""}}, ErrRefMoved, two, three},
		{"delete and move", []plumbing.RefUpdate{{Ref: x, Old: two, New: one}, {Ref: y, Old: three, New: ""}}, nil, one, plumbing.ZeroOID},
	}
	for _, packed := range []bool{false, true} {
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s packed=%t", step.name, packed), func(t *testing.T) {
				if err := r.UpdateRefs(ctx, step.updates, "test"); !errors.Is(err, step.want) || (err == nil) != (step.want == nil) {
					t.Errorf("got %v, want %v", err, step.want)
				} else if err != nil && !strings.Contains(err.Error(), "refs/liza/") {
					t.Errorf("%v does not name the ref", err)
				} else if step.name == "two are elsewhere" && !strings.Contains(err.Error(), y) {
					t.Errorf("%v names another than the first", err)
				}
				if gotX, gotY := must[plumbing.OID](t)(r.Ref(ctx, x)), must[plumbing.OID](t)(r.Ref(ctx, y)); gotX != step.x || gotY != step.y {
					t.Errorf("x is %s, y is %s", gotX, gotY)
				}
				if packed {
					native(t, r.TopLevel(), "pack-refs", "--all")
				}
			})
		}
		check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: x, Old: one, New: ""}}, ""))
	}
}

func TestUpdateRefsRefused(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "one")[0]
	var failed *CommandError
	absent := blob("never written").OID
	for _, ref := range []plumbing.RefUpdate{{Ref: "refs/heads/main/below", Old: "", New: id}, {Ref: "refs/liza/x", Old: "", New: absent}, {Ref: "refs/liza/x.lock", Old: "", New: id}} {
		if err := r.UpdateRefs(ctx, []plumbing.RefUpdate{ref}, ""); !errors.As(err, &failed) || failed.Exit != 128 {
			t.Errorf("%v: got %v", ref, err)
		}
	}
}

func TestUpdateRefsBusy(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "one")[0]
	update := []plumbing.RefUpdate{{Ref: "refs/liza/x", Old: "", New: id}}
	lock := filepath.Join(r.CommonDir(), "refs", "liza", "x.lock")
	asGit(t, r.TopLevel(), "update-ref")
	writeIn(t, filepath.Dir(lock), "x.lock", "")
	want := lock
	if runtime.GOOS == "linux" { // where processes are visible
		want += " (git update-ref, process "
	}
	if err := hurry(r).UpdateRefs(ctx, update, ""); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	// Git waits for a lock that is removed soon.
	r.patience = Patience{Git: time.Minute}.OrDefault()
	timer := time.AfterFunc(200*time.Millisecond, func() { os.Remove(lock) })
	defer timer.Stop()
	check(t, r.UpdateRefs(ctx, update, ""))
}

// TestUpdateRefsCancelled checks that a cancelled update either happened or did not, and left no
// lock.
func TestUpdateRefsCancelled(t *testing.T) {
	ctx, r := scratch(t)
	now := plumbing.ZeroOID
	for i := range 30 {
		next := store(t, ctx, r, fmt.Sprint(i))[0]
		short, cancel := context.WithTimeout(ctx, time.Duration(i)*160*time.Microsecond)
		err := r.UpdateRefs(short, []plumbing.RefUpdate{{Ref: "refs/liza/x", Old: now, New: next}}, "")
		cancel()
		got := must[plumbing.OID](t)(r.Ref(ctx, "refs/liza/x"))
		ended := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) // Canceled if git took very long
		if err == nil && got != next || err != nil && (got != now || !ended) {
			t.Fatalf("it is %s after %v", got, err)
		}
		check(t, r.Locks().Find("refs/liza/x.lock"))
		now = got
	}
}

// TestRacers checks that no acknowledged update is lost while `git pack-refs` runs. Each racer wins
// several times, and its lease comes first in the transaction: git reads packed-refs for the first
// ref long before it locks the second.
func TestRacers(t *testing.T) {
	ctx, r := scratch(t)
	const racers, wins = 5, 3
	const ref = "refs/heads/liza/counter"
	seen := make([][]plumbing.OID, racers)
	packing, stop := context.WithCancel(ctx)
	var packer, group sync.WaitGroup
	packer.Go(func() {
		for packing.Err() == nil {
			r.command("pack-refs", "pack-refs", "--all").Run(packing)
		}
	})
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	for i := range racers {
		lease := plumbing.RefUpdate{Ref: fmt.Sprintf("refs/liza/leases/coder-%d", i), Old: base, New: base}
		check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: lease.Ref, Old: plumbing.ZeroOID, New: base}}, ""))
		group.Go(func() {
			for n := 0; len(seen[i]) < wins; n++ {
				old, err := r.Ref(ctx, ref)
				if err != nil {
					t.Error(err)
					return
				}
				c := plumbing.Commit{Tree: plumbing.EmptyTree, Author: ada, Committer: ada, Message: fmt.Sprintln(i, n), Parents: []plumbing.OID{base}}
				if !old.IsZero() {
					c.Parents = []plumbing.OID{old}
				}
				object := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
				err = errors.Join(
					r.WriteObjects(ctx, []plumbing.Object{object, plumbing.NewObject(plumbing.TreeObject, nil)}),
					r.UpdateRefs(ctx, []plumbing.RefUpdate{lease, {Ref: ref, Old: old, New: object.OID}}, "race"))
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
	tip := must[plumbing.OID](t)(r.Ref(ctx, ref))
	if n := must[int](t)(r.History().CountCommits(ctx, base, tip)); n != racers*wins {
		t.Errorf("%d commits are left of %d", n, racers*wins)
	}
	left := must[[]plumbing.OID](t)(r.History().RevList(ctx, base, tip))
	for _, oid := range slices.Concat(seen...) {
		if !slices.Contains(left, oid) {
			t.Errorf("%s is lost", oid)
		}
	}
}

// TestRefs checks which refs a prefix has. One of another name that ends like it is not the ref, and a
// broken one hides no other.
func TestRefs(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "a lease")[0]
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{
		{Ref: "refs/liza/leases/a", Old: "", New: id}, {Ref: "refs/liza/leases/b", Old: "", New: head}, {Ref: "refs/liza/leasesx", Old: "", New: id},
	}, ""))
	want := fmt.Sprint([]plumbing.Ref{{Name: "refs/liza/leases/a", OID: id, Type: plumbing.BlobObject}, {Name: "refs/liza/leases/b", OID: head, Type: plumbing.CommitObject}})
	for _, prefix := range []string{"refs/liza/leases", "refs/liza/leases/"} {
		testrun.Equal(t, fmt.Sprint(must[[]plumbing.Ref](t)(r.Refs(ctx, prefix))), want, "%s:", prefix)
	}
	if got := must[[]plumbing.Ref](t)(r.Refs(ctx)); len(got) != 4 {
		t.Errorf("all: got %v", got)
	}
	if got := must[[]plumbing.Ref](t)(r.Refs(ctx, "refs/none")); got != nil {
		t.Errorf("none: got %v", got)
	}
	if got, err := r.Refs(ctx, "--count=1"); err == nil {
		t.Errorf("an option: got %v", got)
	}
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/tags/refs/liza/x", Old: "", New: id}}, ""))
	testrun.Equal(t, must[plumbing.OID](t)(r.Ref(ctx, "refs/liza/x")), plumbing.ZeroOID, "a tag that ends like it")
	lost := strings.Repeat("1", 40)
	writeIn(t, r.CommonDir(), "refs/liza/leases/b", lost+"\n")
	if got := must[[]plumbing.Ref](t)(r.Refs(ctx, "refs/liza/leases")); len(got) != 2 || got[0].OID != id || string(got[1].OID) != lost {
		t.Errorf("beside a broken one: %v", got)
	}
}

// TestUpdateRefsWithoutHooks checks that a user's hook can't stop an update that has been checked
// already.
func TestUpdateRefsWithoutHooks(t *testing.T) {
	ctx, r := scratch(t)
	hook := filepath.Join(r.CommonDir(), "hooks", "reference-transaction")
	check(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	check(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o777))
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/x", Old: "", New: store(t, ctx, r, "x")[0]}}, ""))
}

// TestRefThatComesAndGoes checks that a ref is found or not found while another process creates and
// deletes it.
func TestRefThatComesAndGoes(t *testing.T) {
	_, r := scratch(t)
	file := filepath.Join(r.common, "refs", "heads", "task", "login")
	check(t, os.MkdirAll(filepath.Dir(file), 0o755))
	done := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			check(t, os.WriteFile(file+".lock", []byte(plumbing.ZeroOID+"\n"), 0o644))
			check(t, os.Rename(file+".lock", file))
			check(t, os.Remove(file))
		}
	})
	defer other.Wait()
	defer close(done)
	for range 4_000 {
		if _, err := r.refText("refs/heads/task/login"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUpdateRefsOfAnAlias checks that a branch which is a symbolic ref is deleted and moved itself,
// and not the branch that it leads to: that is somebody else's.
func TestUpdateRefsOfAnAlias(t *testing.T) {
	ctx, r := scratch(t)
	native(t, r.TopLevel(), "branch", "-M", "main")
	main := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	native(t, r.TopLevel(), "commit", "-q", "--allow-empty", "-m", "second")
	second := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	const alias = "refs/heads/task/one"
	for name, c := range map[string]struct{ to, want plumbing.OID }{
		"deleted": {"", plumbing.ZeroOID}, "moved": {main, main},
	} {
		for _, packed := range []bool{false, true} {
			native(t, r.TopLevel(), "symbolic-ref", alias, "refs/heads/main")
			if packed {
				native(t, r.TopLevel(), "pack-refs", "--all")
			}
			check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: alias, Old: second, New: c.to}}, "test"))
			testrun.Equal(t, must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main")), second, "%s, packed %v: main is at", name, packed)
			testrun.Equal(t, must[plumbing.OID](t)(r.Ref(ctx, alias)), c.want, "%s, packed %v: the alias is at", name, packed)
			native(t, r.TopLevel(), "update-ref", "--no-deref", "-d", alias)
			native(t, r.TopLevel(), "update-ref", "refs/heads/main", string(second))
		}
	}
}

// TestBrokenRefs checks that refs which lead to no object are found, loose and packed, and that one
// can be deleted although git refuses to.
func TestBrokenRefs(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	ghost := strings.Repeat("ab", 20)
	writeIn(t, r.common, "packed-refs", ghost+" refs/liza/packed\n"+ghost+" refs/other/packed\n")
	for name, text := range map[string]string{
		"refs/liza/empty": "", "refs/liza/garbage": "garbage\n", "refs/liza/ghost": ghost + "\n", "refs/liza/whole": string(head) + "\n",
		"refs/liza/symbolic": "ref: refs/liza/whole\n", "refs/liza/x.lock": "", "refs/other/empty": "",
		"refs/liza/zero": string(plumbing.ZeroOID) + "\n", "refs/liza/.DS_Store": "x", "refs/liza/a..b": "", "refs/liza/alone": "",
		"refs/liza/noted": string(head) + " a note\n", // git reads no further than the id
	} {
		check(t, os.MkdirAll(filepath.Join(r.common, filepath.Dir(name)), 0o755))
		writeIn(t, r.common, name, text)
	}
	check(t, os.Symlink("nowhere", filepath.Join(r.common, "refs/liza/link")))
	for _, name := range []string{"refs/liza/alone", "refs/liza/packed"} {
		broken, err := r.BrokenRefs(ctx, name)
		if err != nil || len(broken) != 1 || broken[0].Ref != name {
			t.Errorf("found of %s alone: %v, %v", name, broken, err)
		}
	}
	check(t, os.Remove(filepath.Join(r.common, "refs/liza/alone")))
	broken := testrun.Must(r.BrokenRefs(ctx, "refs/liza/", "refs/none/"))(t)
	var names []string
	for _, b := range broken {
		names = append(names, strings.TrimPrefix(b.Ref, "refs/liza/"))
	}
	if got := strings.Join(names, " "); got != "empty garbage ghost packed zero" {
		t.Fatalf("found %q", got)
	}
	for _, b := range broken {
		check(t, r.ReplaceBroken(ctx, b, plumbing.ZeroOID))
		if oid, err := r.Ref(ctx, b.Ref); err != nil || !oid.IsZero() {
			t.Errorf("%s is at %q, %v", b.Ref, oid, err)
		}
		check(t, r.ReplaceBroken(ctx, b, plumbing.ZeroOID))
		testrun.ErrorIs(t, r.ReplaceBroken(ctx, b, head), ErrRefMoved, "%s, replaced after it was deleted", b.Ref)
	}
	if left, err := r.BrokenRefs(ctx, "refs/liza/"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	// What can't be read may be broken.
	if left, err := r.BrokenRefs(ctx, "packed-refs/below/"); err == nil {
		t.Errorf("below a file: %v", left)
	}
	writeIn(t, r.common, "packed-refs", "garbage\n")
	if left, err := r.BrokenRefs(ctx, "refs/liza/"); err == nil {
		t.Errorf("beside packed refs that can't be read: %v", left)
	}
}

// TestBelow checks that refs are listed without git, loose ones before packed ones, and that git is
// asked about a file that is not a plain ref.
func TestBelow(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "old", "new")
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{
		{Ref: "refs/liza/leases/a", New: ids[0]}, {Ref: "refs/liza/leases/b", New: ids[0]}, {Ref: "refs/liza/leasesx", New: ids[0]}, {Ref: "refs/liza/review/a/1", New: ids[0]},
	}, ""))
	native(t, r.TopLevel(), "pack-refs", "--all")
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/leases/b", Old: ids[0], New: ids[1]}, {Ref: "refs/liza/leases/c/d", New: ids[1]}}, ""))
	lock := filepath.Join(r.common, "refs/liza/leases/b.lock")
	check(t, os.WriteFile(lock, nil, 0o644))
	prefixes := []string{"refs/liza/leases/", "refs/liza/review/", "refs/liza/none/"}
	want := map[string]plumbing.OID{"refs/liza/leases/a": ids[0], "refs/liza/leases/b": ids[1], "refs/liza/leases/c/d": ids[1], "refs/liza/review/a/1": ids[0]}
	path := os.Getenv("PATH")
	t.Setenv("PATH", "")
	if got := must[map[string]plumbing.OID](t)(r.Below(ctx, prefixes...)); !maps.Equal(got, want) {
		t.Errorf("from files: %v", got)
	}
	check(t, os.Remove(lock))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Below(ended, prefixes...); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
	other := *r
	other.plain = false // refs may be stored in another way
	if got, err := other.Below(ctx, prefixes...); err == nil {
		t.Errorf("without git: %v", got)
	}
	testrun.Equal(t, other.refAtHand("refs/liza/leases/b"), "", "without git it is at")
	for name, c := range map[string]struct{ file, text, prefix, want string }{
		"a symbolic ref":   {"refs/liza/leases/s", "ref: refs/liza/leases/b\n", "", "refs/liza/leases/s"},
		"a link":           {"refs/liza/leases/link", "", "", ""},
		"a ref to nothing": {"refs/liza/leases/zero", string(plumbing.ZeroOID) + "\n", "", ""},
		"no directory":     {"", "", "refs/liza/leases/b/x/", ""},
		"what is packed":   {"packed-refs", "garbage\n", "", "error"},
	} {
		asked, want := prefixes, maps.Clone(want)
		if c.prefix != "" {
			asked, want = []string{c.prefix}, map[string]plumbing.OID{}
		}
		if c.want != "" {
			want[c.want] = ids[1]
		}
		packed := must[[]byte](t)(os.ReadFile(filepath.Join(r.common, "packed-refs")))
		switch {
		case name == "a link":
			check(t, os.Symlink("nowhere", filepath.Join(r.common, c.file)))
		case c.file != "":
			writeIn(t, r.common, c.file, c.text)
		}
		t.Setenv("PATH", "")
		if got, err := r.Below(ctx, asked...); err == nil {
			t.Errorf("%s, without git: %v", name, got)
		}
		t.Setenv("PATH", path)
		if got, err := r.Below(ctx, asked...); (err != nil) != (c.want == "error") || err == nil && !maps.Equal(got, want) {
			t.Errorf("%s, by git: %v, %v", name, got, err)
		}
		if c.file != "" {
			check(t, os.Remove(filepath.Join(r.common, c.file)))
		}
		writeIn(t, r.common, "packed-refs", string(packed))
	}
}
