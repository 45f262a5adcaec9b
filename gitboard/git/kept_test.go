package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/kept"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// written makes a commit with a tree and a file, held by a ref, as an operation does.
func written(t *testing.T) (r *Repo, objects []plumbing.Object, commit plumbing.OID) {
	t.Helper()
	ctx, r := scratch(t)
	blob := plumbing.NewObject(plumbing.BlobObject, []byte("what was acknowledged\n"))
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "file", Mode: filemode.Regular, OID: blob.OID}}))
	c := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Author: plumbing.Signature{Name: "a", Email: "a@x"}, Committer: plumbing.Signature{Name: "a", Email: "a@x"}, Message: "m\n"}))
	objects = []plumbing.Object{blob, tree, c}
	check(t, r.WriteAndUpdate(ctx, objects, []plumbing.RefUpdate{{Ref: "refs/heads/liza/x", New: c.OID}}, ""))
	return r, objects, c.OID
}

// deleteLoose deletes objects like a `git prune` that has not seen the ref move.
func deleteLoose(t *testing.T, r *Repo, objects []plumbing.Object) {
	t.Helper()
	for _, o := range objects {
		check(t, os.Remove(loosePath(r, o.OID)))
	}
}

// TestDeletedObjectsComeBack covers a git that started before an operation and deletes its objects:
// every reader still finds them, and git has them again.
func TestDeletedObjectsComeBack(t *testing.T) {
	reads := map[string]func(r *Repo, commit plumbing.OID) error{
		"by id": func(r *Repo, commit plumbing.OID) error { _, err := r.Object(t.Context(), string(commit)); return err },
		"by ref": func(r *Repo, commit plumbing.OID) error {
			_, err := r.Ref(t.Context(), "refs/heads/liza/x")
			return err
		},
		"history": func(r *Repo, commit plumbing.OID) error {
			_, err := r.Log(t.Context(), plumbing.ZeroOID, commit)
			return err
		},
		"all refs": func(r *Repo, _ plumbing.OID) error { _, err := r.Refs(t.Context(), "refs/heads"); return err },
		"another write": func(r *Repo, _ plumbing.OID) error {
			mark := filepath.Join(r.Upkeep().KeptDir(), "looked-after")
			long := time.Now().Add(-time.Hour)
			check(t, os.Chtimes(mark, long, long))
			o := plumbing.NewObject(plumbing.BlobObject, []byte("another"))
			return r.WriteAndUpdate(t.Context(), []plumbing.Object{o}, []plumbing.RefUpdate{{Ref: "refs/liza/y", New: o.OID}}, "")
		},
	}
	for name, read := range reads {
		for _, packed := range []bool{false, true} {
			r, objects, commit := written(t)
			if packed {
				native(t, r.TopLevel(), "pack-refs", "--all")
			}
			deleteLoose(t, r, objects)
			testrun.ErrorIs(t, read(r, commit), nil, "%s, packed %v", name, packed)
			native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", string(commit))
		}
	}
}

// TestDeletedBeforeTheRefMoves: what a git deletes between a write and the update of the refs, which
// may be calls of their own, is there when the update has succeeded, and is known as a tip. The commit
// of an attempt that has lost the race, with the same lease, is none.
func TestDeletedBeforeTheRefMoves(t *testing.T) {
	r, _, commit := written(t)
	next := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: plumbing.EmptyTree, Parents: []plumbing.OID{commit}, Message: "next\n"}))
	other := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: plumbing.EmptyTree, Parents: []plumbing.OID{commit}, Message: "other\n"}))
	lease := blob("a lease\n")
	objects := []plumbing.Object{plumbing.NewObject(plumbing.TreeObject, nil), next, lease}
	check(t, r.WriteObjects(t.Context(), objects))
	check(t, r.WriteObjects(t.Context(), []plumbing.Object{lease, other}))
	deleteLoose(t, r, objects)
	move := []plumbing.RefUpdate{{Ref: "refs/heads/liza/x", Old: commit, New: next.OID}, {Ref: "refs/liza/leases/a", New: lease.OID}}
	if check(t, r.UpdateRefs(t.Context(), move, "")); !loose.Has(r.objectDir(), next) {
		t.Error("the ref is at a commit that is missing")
	}
	if tips := r.Upkeep().KeptTips(); !slices.Contains(tips, next.OID) || slices.Contains(tips, other.OID) {
		t.Errorf("the tips are %v, of %v, and not %v", tips, next.OID, other.OID)
	}
	if left := r.unsettled.Take(); left != nil {
		t.Errorf("left %v", left)
	}
}

// TestDeletedSinceTheLastCheck checks that a writer who looks at few of the kept files still
// notices what a git has deleted since the last check, 100 seconds ago.
func TestDeletedSinceTheLastCheck(t *testing.T) {
	const last = 100
	for name, files := range map[string]struct{ deleted, left []int }{ // by age in seconds
		"written since":      {[]int{90}, []int{1, 2, 3, 4, 5, 6}},
		"written meanwhile":  {[]int{105}, []int{101, 102, 103, 104}},
		"all before":         {[]int{200, 210, 220, 230, 240, 250, 260}, []int{300}},
		"before and since":   {[]int{90, 300, 310}, []int{320}},
		"whatever the clock": {[]int{350}, []int{110, 120, 130, 140, 150}},
	} {
		_, r := scratch(t)
		now := time.Now()
		write := func(age int) plumbing.Object {
			o := blob(fmt.Sprint(age))
			check(t, r.writeLoose(t.Context(), []plumbing.Object{o}))
			then := now.Add(-time.Duration(age) * time.Second)
			check(t, os.Chtimes(must[string](t)(r.keep([]plumbing.Object{o})), then, then))
			return o
		}
		var deleted []plumbing.Object
		for _, age := range files.deleted {
			deleted = append(deleted, write(age))
		}
		for _, age := range files.left {
			write(age)
		}
		deleteLoose(t, r, deleted)
		writeIn(t, r.Upkeep().KeptDir(), "looked-after", "")
		then := now.Add(-last * time.Second)
		if name == "whatever the clock" {
			then = now.Add(time.Hour)
		}
		check(t, os.Chtimes(filepath.Join(r.Upkeep().KeptDir(), "looked-after"), then, then))
		r.tidyKept(t.Context())
		for i, o := range deleted {
			if !loose.Has(r.objectDir(), o) {
				t.Errorf("%s: the object of %d seconds ago is missing", name, files.deleted[i])
			}
		}
	}
}

// TestDamagedHistory checks that a damaged object is restored from the kept copies, and that
// readers get an error if there is none.
func TestDamagedHistory(t *testing.T) {
	for _, kept := range []bool{true, false} {
		for at, kind := range []string{"file", "tree", "commit"} {
			r, objects, commit := written(t)
			store(t, t.Context(), r, "other")
			for how, harm := range harms(t, r) {
				if !kept {
					check(t, os.RemoveAll(r.Upkeep().KeptDir()))
				}
				harm(objects[at].OID)
				whole := r.History().Whole(t.Context(), commit)
				_, log := r.Log(t.Context(), plumbing.ZeroOID, commit)
				if kept {
					check(t, whole)
					check(t, log)
					native(t, r.TopLevel(), "fsck", "--strict", string(commit))
					continue
				}
				if whole == nil || kind == "commit" && !errors.As(log, new(*DamagedError)) {
					t.Errorf("a %s that is %s: %v, %v", kind, how, whole, log)
				}
				check(t, r.WriteObjects(t.Context(), objects))
			}
		}
	}
}

// TestUnreadablePackedRefs checks that no ref counts as absent while git can't read packed-refs.
func TestUnreadablePackedRefs(t *testing.T) {
	ctx, r := scratch(t)
	native(t, r.TopLevel(), "tag", "-a", "-m", "peeled", "one")
	native(t, r.TopLevel(), "pack-refs", "--all")
	whole := string(must[[]byte](t)(os.ReadFile(filepath.Join(r.common, "packed-refs"))))
	if !strings.Contains(whole, "\n^") {
		t.Fatalf("no tag is peeled in %q", whole)
	}
	for name, text := range map[string]string{
		"whole": whole, "empty": "",
		"garbage": "garbage\n", "a line too many": whole + "garbage\n", "cut within a line": whole[:len(whole)-1],
		"cut within a name": whole[:len(whole)-len("^"+plumbing.ZeroOID+"\n")-1], "no id": whole + "garbage refs/heads/x\n",
		"an id alone": whole + string(plumbing.ZeroOID) + "\n", "cut within an id": whole[:len(whole)-30] + "\n", "no name": whole + whole[len(whole)-41:len(whole)-1] + " \n",
	} {
		writeIn(t, r.common, "packed-refs", text)
		readable := exec.Command("git", "-C", r.TopLevel(), "for-each-ref").Run() == nil
		oid, err := r.Ref(ctx, "refs/heads/none")
		if readable != (err == nil) || readable && !oid.IsZero() || !readable && !strings.Contains(err.Error(), "packed-refs") {
			t.Errorf("%s: git can read it is %v, and here it is %q, %v", name, readable, oid, err)
		}
	}
}

// TestKeptObjectsGo checks that kept objects are deleted once they are old and there are enough of
// them, except the last commit that a ref was moved to.
func TestKeptObjectsGo(t *testing.T) {
	r, objects, commit := written(t)
	files := func() int {
		return len(must[[]string](t)(filepath.Glob(filepath.Join(r.Upkeep().KeptDir(), kept.Prefix+"*"))))
	}
	age := func(by time.Duration) {
		then := time.Now().Add(-by)
		for _, path := range must[[]string](t)(filepath.Glob(filepath.Join(r.Upkeep().KeptDir(), "*"))) {
			check(t, os.Chtimes(path, then, then))
		}
	}
	store(t, t.Context(), r, "not moved to yet")
	age(kept.Long / 2)
	r.tidyKept(t.Context())
	if files() != 2 {
		t.Fatalf("%d files, two young ones", files())
	}
	deleteLoose(t, r, objects)
	age(2 * kept.Blind)
	r.tidyKept(t.Context())
	for n := 2; n <= kept.Batch; n++ {
		if files() != n {
			t.Fatalf("%d files of %d, which are too few to be dropped", files(), n)
		}
		check(t, os.Chmod(must[string](t)(r.keep([]plumbing.Object{blob(fmt.Sprint("no commit ", n))})), kept.MovedMode))
		age(2 * kept.Blind)
		r.tidyKept(t.Context())
	}
	if files() != 1 || !slices.Equal(r.Upkeep().KeptTips(), []plumbing.OID{commit}) {
		t.Errorf("%d files, and the tips %v", files(), r.Upkeep().KeptTips())
	}
	must[plumbing.Object](t)(r.Object(t.Context(), string(commit)))
}

// TestKeptWhileGitFails checks that kept objects stay while nobody can know that git has what they
// hold, or can write what it lacks, and that the failure is reported to who waits for it.
func TestKeptWhileGitFails(t *testing.T) {
	for how, fail := range map[string]func(t *testing.T, r *Repo, o plumbing.Object){
		"reading": func(t *testing.T, r *Repo, _ plumbing.Object) { check(t, r.Close()) },
		"writing": func(t *testing.T, r *Repo, o plumbing.Object) {
			check(t, os.RemoveAll(filepath.Dir(loosePath(r, o.OID))))
			check(t, os.WriteFile(filepath.Dir(loosePath(r, o.OID)), nil, 0o644))
		},
	} {
		ctx, r := scratch(t)
		lost := blob("lost")
		then := time.Now().Add(-2 * kept.Blind)
		for i := range kept.Batch {
			o := blob(fmt.Sprint(i))
			if i == 0 {
				o = lost
			} else {
				check(t, r.writeLoose(ctx, []plumbing.Object{o}))
			}
			check(t, os.Chtimes(must[string](t)(r.keep([]plumbing.Object{o})), then, then))
		}
		fail(t, r, lost)
		r.tidyKept(ctx)
		if left := len(kept.All(r.Upkeep().KeptDir())); left != kept.Batch {
			t.Errorf("%s fails, and %d files are left", how, left)
		}
		if r.bringBack(ctx) {
			t.Errorf("%s fails, and all objects are there", how)
		}
		r.unsettled.Add("kept", []plumbing.Object{lost})
		if err := r.settle(ctx, nil); err == nil {
			t.Errorf("%s fails, and the objects are written", how)
		}
	}
	ctx, r := scratch(t)
	if r.bringBack(ctx) {
		t.Error("nothing is kept, and comes back")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	r.unsettled.Add("kept", []plumbing.Object{blob("acknowledged")})
	if check(t, r.settle(ended, nil)); !loose.Has(r.objectDir(), blob("acknowledged")) {
		t.Error("what refs have moved to is not written once the context has ended")
	}
	check(t, os.Symlink(filepath.Join(t.TempDir(), "none"), filepath.Join(r.common, "liza")))
	if _, err := r.keep([]plumbing.Object{blob("x")}); !errors.As(err, new(*StorageError)) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where no directory can be made: %v", err)
	}
}

// TestDueKept checks that writers take turns to look after kept objects.
func TestDueKept(t *testing.T) {
	_, r := scratch(t)
	dir := r.Upkeep().KeptDir()
	mark := filepath.Join(dir, "looked-after")
	if _, is := kept.Due(dir, noon); is {
		t.Error("without a directory it is due")
	}
	check(t, os.MkdirAll(dir, 0o755))
	if last, is := kept.Due(dir, noon); !is || !last.IsZero() || !exists(mark) {
		t.Errorf("at first it is due: %v, after %v", is, last)
	}
	for after, want := range map[time.Duration]bool{0: false, kept.Every - 1: false, kept.Every: true, time.Hour: true, -time.Hour: true} {
		check(t, os.Chtimes(mark, noon, noon))
		last, is := kept.Due(dir, noon.Add(after))
		if info := must[os.FileInfo](t)(os.Stat(mark)); is != want || !last.Equal(noon) || info.ModTime().Equal(noon) == want {
			t.Errorf("%v after %v it is due: %v, and the next one is after %v", after, last, is, info.ModTime())
		}
	}
}

// TestFollowBoard checks that plumbing.LastRef follows the board where nothing is lost by that, and stays
// where the board has gone back, or can't be read.
func TestFollowBoard(t *testing.T) {
	ctx, r := scratch(t)
	hurry(r)
	for _, message := range []string{"second", "third"} {
		native(t, r.TopLevel(), "commit", "-q", "--allow-empty", "-m", message)
	}
	first, second, third := plumbing.OID(native(t, r.TopLevel(), "rev-parse", "HEAD~2")), plumbing.OID(native(t, r.TopLevel(), "rev-parse", "HEAD~1")), plumbing.OID(native(t, r.TopLevel(), "rev-parse", "HEAD"))
	const none, broken = plumbing.OID(""), plumbing.OID("broken")
	at := func(ref string) (oid plumbing.OID) {
		oid, err := r.Ref(ctx, ref)
		if errors.As(err, new(*BrokenRefError)) {
			return broken
		}
		check(t, err)
		if oid.IsZero() {
			return none
		}
		return oid
	}
	for name, c := range map[string]struct {
		board, last, after plumbing.OID
		holds              bool
	}{
		"no board":                  {none, none, none, true},
		"a new board":               {first, none, first, true},
		"a board that has moved on": {third, first, third, true},
		"a board that has not":      {second, second, second, true},
		"a board that went back":    {second, third, third, false},
		"a board that has gone":     {none, third, third, false},
		"a broken board":            {broken, second, second, false},
		"a broken last ref":         {third, broken, third, true},
		"only a broken last ref":    {none, broken, broken, false},
	} {
		for ref, oid := range map[string]plumbing.OID{plumbing.BoardRef: c.board, plumbing.LastRef: c.last} {
			check(t, os.RemoveAll(filepath.Join(r.common, ref)))
			if oid != none {
				writeIn(t, r.common, ref, string(oid)+"\n")
			}
		}
		if holds := r.Upkeep().FollowBoard(ctx); holds != c.holds || at(plumbing.LastRef) != c.after || at(plumbing.BoardRef) != c.board {
			t.Errorf("%s: it holds the board: %v; it is at %q, not at %q", name, holds, at(plumbing.LastRef), c.after)
		}
	}
}

// TestWrittenSince checks how many kept files count as written since a ref was.
func TestWrittenSince(t *testing.T) {
	_, r := scratch(t)
	files := []*kept.File{{Written: noon.Add(3 * time.Second)}, {Written: noon.Add(time.Second)}, {Written: noon.Add(-time.Second)}}
	is := func(when string, want int) {
		t.Helper()
		testrun.Equal(t, kept.Since(filepath.Join(r.common, "refs/liza/x"), files), want, "%s", when)
	}
	is("without the ref", 3)
	writeIn(t, r.common, "refs/liza/x", "x")
	for at, want := range map[time.Duration]int{4: 0, 2: 1, 0: 2, -2: 3} {
		then := noon.Add(at * time.Second)
		check(t, os.Chtimes(filepath.Join(r.common, "refs/liza/x"), then, then))
		is(fmt.Sprint(at), want)
	}
}

// TestTooManyKept checks that kept objects go at last though the board has gone back, so that
// plumbing.LastRef does not follow it.
func TestTooManyKept(t *testing.T) {
	ctx, r := scratch(t)
	head := native(t, r.TopLevel(), "rev-parse", "HEAD")
	native(t, r.TopLevel(), "commit", "-q", "--allow-empty", "-m", "second")
	native(t, r.TopLevel(), "update-ref", plumbing.BoardRef, head)
	native(t, r.TopLevel(), "update-ref", plumbing.LastRef, "HEAD")
	o := blob("x")
	check(t, r.WriteObjects(ctx, []plumbing.Object{o}))
	text := fmt.Sprintf("%s blob 1\n\nx", o.OID)
	then := time.Now().Add(-2 * kept.Blind)
	left := func(files int) int {
		t.Helper()
		for n := range files {
			path := filepath.Join(r.Upkeep().KeptDir(), fmt.Sprint(kept.Prefix, n))
			check(t, os.WriteFile(path, []byte(text), 0o600))
			check(t, os.Chtimes(path, then, then))
		}
		_ = os.Remove(filepath.Join(r.Upkeep().KeptDir(), "looked-after"))
		r.tidyKept(ctx)
		return len(kept.List(r.Upkeep().KeptDir()))
	}
	if n := left(kept.Max - 10); n < kept.Max-10 {
		t.Errorf("%d of them are left", n)
	}
	if n := left(kept.Max); n > kept.Newest {
		t.Errorf("of too many, %d are left", n)
	}
}

// TestNewestRelease: the newest release is that of the highest numbers among tags of releases.
func TestNewestRelease(t *testing.T) {
	ctx, r := scratch(t)
	if got, err := NewestRelease(ctx, r.TopLevel()); got != "" || err != nil {
		t.Errorf("without tags: %q, %v", got, err)
	}
	write(t, r, "file", "text\n")
	commit := commitAll(t, r, "first")
	for _, tag := range []string{"v0.9.0", "v0.10.0", "v0.10.1-rc1", "1.0.0", "v2", "w3.0.0", "v0.2.11", "tools/v4.0.0"} {
		check(t, r.command("tag", "tag", tag, string(commit)).Run(ctx))
	}
	if got, err := NewestRelease(ctx, r.TopLevel()); got != "0.10.0" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := NewestRelease(ctx, t.TempDir()); !errors.As(err, new(*NetworkError)) {
		t.Errorf("no repository: %v", err)
	}
	for version, older := range map[string]bool{"0.9.9": true, "0.10.0-snapshot.1": true, "0.10.0": false, "0.10.1": false, "devel": false, "": false} {
		testrun.Equal(t, plumbing.OlderRelease(version, "0.10.0"), older, "%q is older than 0.10.0: %v", version, !older)
	}
	if plumbing.OlderRelease("0.1.0", "") {
		t.Error("0.1.0 is older than no release")
	}
}
