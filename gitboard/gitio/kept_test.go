package gitio

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git"
)

// written makes a commit with a tree and a file, held by a ref, as an operation does.
func written(t *testing.T) (r *Repo, objects []git.Object, commit git.OID) {
	t.Helper()
	ctx, r := scratch(t)
	blob := git.NewObject(git.BlobObject, []byte("what was acknowledged\n"))
	tree := git.NewObject(git.TreeObject, git.EncodeTree([]git.TreeEntry{{Name: "file", Mode: filemode.Regular, OID: blob.OID}}))
	c := git.NewObject(git.CommitObject, git.EncodeCommit(git.Commit{Tree: tree.OID, Author: git.Signature{Name: "a", Email: "a@x"}, Committer: git.Signature{Name: "a", Email: "a@x"}, Message: "m\n"}))
	objects = []git.Object{blob, tree, c}
	check(t, r.WriteAndUpdate(ctx, objects, []git.RefUpdate{{Ref: "refs/heads/liza/x", New: c.OID}}, ""))
	return r, objects, c.OID
}

// deleteLoose deletes objects like a `git prune` that has not seen the ref move.
func deleteLoose(t *testing.T, r *Repo, objects []git.Object) {
	t.Helper()
	for _, o := range objects {
		check(t, os.Remove(loosePath(r, o.OID)))
	}
}

// TestDeletedObjectsComeBack covers a git that started before an operation and deletes its objects:
// every reader still finds them, and git has them again.
func TestDeletedObjectsComeBack(t *testing.T) {
	reads := map[string]func(r *Repo, commit git.OID) error{
		"by id":    func(r *Repo, commit git.OID) error { _, err := r.Object(t.Context(), string(commit)); return err },
		"by ref":   func(r *Repo, commit git.OID) error { _, err := r.Ref(t.Context(), "refs/heads/liza/x"); return err },
		"history":  func(r *Repo, commit git.OID) error { _, err := r.Log(t.Context(), git.ZeroOID, commit); return err },
		"all refs": func(r *Repo, _ git.OID) error { _, err := r.Refs(t.Context(), "refs/heads"); return err },
		"another write": func(r *Repo, _ git.OID) error {
			mark := filepath.Join(r.keptDir(), "looked-after")
			long := time.Now().Add(-time.Hour)
			check(t, os.Chtimes(mark, long, long))
			o := git.NewObject(git.BlobObject, []byte("another"))
			return r.WriteAndUpdate(t.Context(), []git.Object{o}, []git.RefUpdate{{Ref: "refs/liza/y", New: o.OID}}, "")
		},
	}
	for name, read := range reads {
		for _, packed := range []bool{false, true} {
			r, objects, commit := written(t)
			if packed {
				native(t, r.TopLevel(), "pack-refs", "--all")
			}
			deleteLoose(t, r, objects)
			if err := read(r, commit); err != nil {
				t.Errorf("%s, packed %v: %v", name, packed, err)
			}
			native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", string(commit))
		}
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
		write := func(age int) git.Object {
			o := blob(fmt.Sprint(age))
			check(t, r.writeLoose(t.Context(), []git.Object{o}))
			then := time.Now().Add(-time.Duration(age) * time.Second)
			check(t, os.Chtimes(must[string](t)(r.keep([]git.Object{o})), then, then))
			return o
		}
		var deleted []git.Object
		for _, age := range files.deleted {
			deleted = append(deleted, write(age))
		}
		for _, age := range files.left {
			write(age)
		}
		deleteLoose(t, r, deleted)
		writeIn(t, r.keptDir(), "looked-after", "")
		then := time.Now().Add(-last * time.Second)
		if name == "whatever the clock" {
			then = time.Now().Add(time.Hour)
		}
		check(t, os.Chtimes(filepath.Join(r.keptDir(), "looked-after"), then, then))
		r.tidyKept(t.Context())
		for i, o := range deleted {
			if !isLoose(r.objectDir(), o) {
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
					check(t, os.RemoveAll(r.keptDir()))
				}
				harm(objects[at].OID)
				whole := r.Whole(t.Context(), commit)
				_, log := r.Log(t.Context(), git.ZeroOID, commit)
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

// TestPackedRefToNothing checks that a packed ref whose object does not exist is broken, not
// absent.
func TestPackedRefToNothing(t *testing.T) {
	r, objects, _ := written(t)
	native(t, r.TopLevel(), "pack-refs", "--all")
	deleteLoose(t, r, objects)
	check(t, os.RemoveAll(r.keptDir()))
	if _, err := r.Ref(t.Context(), "refs/heads/liza/x"); err == nil {
		t.Error("no error")
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
		"cut within a name": whole[:len(whole)-len("^"+git.ZeroOID+"\n")-1], "no id": whole + "garbage refs/heads/x\n",
		"an id alone": whole + string(git.ZeroOID) + "\n", "cut within an id": whole[:len(whole)-30] + "\n", "no name": whole + whole[len(whole)-41:len(whole)-1] + " \n",
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
	files := func() int { return len(must[[]string](t)(filepath.Glob(filepath.Join(r.keptDir(), keptFile+"*")))) }
	age := func(by time.Duration) {
		then := time.Now().Add(-by)
		for _, path := range must[[]string](t)(filepath.Glob(filepath.Join(r.keptDir(), "*"))) {
			check(t, os.Chtimes(path, then, then))
		}
	}
	store(t, t.Context(), r, "not moved to yet")
	age(keptLong / 2)
	r.tidyKept(t.Context())
	if files() != 2 {
		t.Fatalf("%d files, two young ones", files())
	}
	deleteLoose(t, r, objects)
	age(2 * keptBlind)
	r.tidyKept(t.Context())
	for n := 2; n <= keptBatch; n++ {
		if files() != n {
			t.Fatalf("%d files of %d, which are too few to be dropped", files(), n)
		}
		must[string](t)(r.keep([]git.Object{blob(fmt.Sprint("no commit ", n))}))
		age(2 * keptBlind)
		r.tidyKept(t.Context())
	}
	if files() != 1 || !slices.Equal(r.KeptTips(), []git.OID{commit}) {
		t.Errorf("%d files, and the tips %v", files(), r.KeptTips())
	}
	must[git.Object](t)(r.Object(t.Context(), string(commit)))
}
