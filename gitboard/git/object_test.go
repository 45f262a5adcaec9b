package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestWriteAndRead(t *testing.T) {
	ctx, r := scratch(t)
	texts := []string{"", "x", "x", strings.Repeat("long\n", 100_000), "NUL \x00 and \xff"}
	ids := store(t, ctx, r, texts...)
	for i, id := range ids {
		got := must[plumbing.Object](t)(r.Object(ctx, string(id)))
		if got.Type != plumbing.BlobObject || string(got.Data) != texts[i] {
			t.Errorf("object %d came back changed", i)
		}
		info := must[os.FileInfo](t)(os.Stat(loosePath(r, id)))
		if info.Mode().Perm()&0o222 != 0 {
			t.Errorf("object %d can be written to: %v", i, info.Mode())
		}
	}
	testrun.Fsck(t, r.CommonDir())
	left := must[[]string](t)(filepath.Glob(filepath.Join(r.CommonDir(), "objects", "*", "tmp_obj_*")))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	wrong := plumbing.Object{OID: blob("a").OID, Type: plumbing.BlobObject, Data: []byte("b")}
	if err := r.WriteObjects(ctx, []plumbing.Object{wrong}); err == nil {
		t.Error("an object was written under the name of another")
	}
	if _, err := r.Object(ctx, string(wrong.OID)); !errors.Is(err, ErrNotFound) {
		t.Errorf("what was not written is read: %v", err)
	}
}

// many returns n objects.
func many(n int) (objects []plumbing.Object) {
	for i := range n {
		objects = append(objects, blob(fmt.Sprint("many ", i)))
	}
	return objects
}

// TestManyObjects checks that many objects are one pack, with each object once, and are written
// again if a git deletes it before their ref has moved.
func TestManyObjects(t *testing.T) {
	ctx, r := scratch(t)
	files := func(pattern string) []string {
		return must[[]string](t)(filepath.Glob(filepath.Join(r.CommonDir(), "objects", pattern)))
	}
	before := len(files("??/*"))
	objects := many(packFrom - 1)
	objects = append(objects, objects[0])
	all := func(have bool) {
		t.Helper()
		for _, o := range objects {
			if _, is := loose.Read(loosePath(r, o.OID), knownBytes); is != have {
				t.Fatalf("that %s is loose is %v", o.OID, is)
			}
		}
		native(t, r.TopLevel(), "fsck", "--strict")
	}
	check(t, r.WriteAndUpdate(ctx, objects, []plumbing.RefUpdate{{Ref: "refs/liza/many", New: objects[7].OID}}, ""))
	all(false)
	if n := len(files("??/*")); n != before || len(files("pack/*.pack")) != 1 {
		t.Errorf("%d loose objects, not %d, and the packs %q", n, before, files("pack/*"))
	}
	check(t, r.Close())
	r = open(t, ctx, r.TopLevel())
	for _, o := range objects {
		if got := must[plumbing.Object](t)(r.Object(ctx, string(o.OID))); string(got.Data) != string(o.Data) {
			t.Errorf("%s came back as %q", o.OID, got.Data)
		}
	}
	path := must[string](t)(r.keep(objects))
	for _, file := range files("pack/*") {
		check(t, os.Remove(file))
	}
	check(t, r.Close())
	r = open(t, ctx, r.TopLevel())
	r.unsettled.Add(path, objects)
	check(t, r.settle(ctx, nil))
	all(true)

	objects[3].Data = []byte("something else")
	if err := r.WriteObjects(ctx, objects); err == nil || len(files("pack/*")) > 0 {
		t.Errorf("an object with another content is written: %v", err)
	}
}

func loosePath(r *Repo, id plumbing.OID) string {
	return filepath.Join(r.CommonDir(), "objects", string(id[:2]), string(id[2:]))
}

// TestWriteAgain checks that an object that is written again outlives a prune: its file is younger then,
// and one that was only packed has a file.
func TestWriteAgain(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, "kept")[0]
	long := time.Now().Add(-1000 * time.Hour)
	check(t, os.Chtimes(loosePath(r, id), long, long))
	was := must[os.FileInfo](t)(os.Lstat(loosePath(r, id)))
	store(t, ctx, r, "kept")
	if is := must[os.FileInfo](t)(os.Lstat(loosePath(r, id))); !os.SameFile(was, is) {
		t.Error("it was written again")
	}
	native(t, r.TopLevel(), "prune", "--expire=1.hour.ago")
	must[plumbing.Object](t)(r.Object(ctx, string(id)))
	id = must[plumbing.OID](t)(r.History().FileOID(ctx, must[plumbing.OID](t)(r.ResolveCommit(ctx, "main")), "a.txt"))
	native(t, r.CommonDir(), "gc", "--quiet")
	if exists(loosePath(r, id)) {
		t.Fatal("still loose")
	}
	check(t, r.WriteObjects(ctx, []plumbing.Object{must[plumbing.Object](t)(r.Object(ctx, string(id)))}))
	if !exists(loosePath(r, id)) {
		t.Error("an object that is packed was not written again")
	}
}

// TestKnown checks that git is not asked again for an object that this process has read, and that a
// ref which leads to one is still looked at.
func TestKnown(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "one", "two")
	const ref = "refs/liza/known"
	r.known = &known{}
	for _, id := range ids {
		native(t, r.TopLevel(), "update-ref", ref, string(id))
		if at := must[plumbing.OID](t)(r.Ref(ctx, ref)); at != id || !r.known.has(id) {
			t.Errorf("the ref is at %s, not %s, which is known: %v", at, id, r.known.has(id))
		}
	}
	check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	check(t, os.Remove(loosePath(r, ids[0])))
	if _, is := r.objectAtHand(ids[0]); !is {
		t.Error("what is known is not at hand")
	}
	if o := must[plumbing.Object](t)(r.Object(ctx, string(ids[0]))); string(o.Data) != "one" {
		t.Errorf("got %q", o.Data)
	}
	native(t, r.TopLevel(), "update-ref", "-d", ref)
	if at := must[plumbing.OID](t)(r.Ref(ctx, ref)); !at.IsZero() {
		t.Errorf("the ref is gone, and at %s", at)
	}
}

// harms returns ways to damage the file of an object.
func harms(t *testing.T, r *Repo) map[string]func(plumbing.OID) {
	t.Helper()
	put := func(id plumbing.OID, data []byte) {
		check(t, os.Remove(loosePath(r, id)))
		check(t, os.WriteFile(loosePath(r, id), data, 0o444))
	}
	return map[string]func(plumbing.OID){
		"empty":    func(id plumbing.OID) { put(id, nil) },
		"garbage":  func(id plumbing.OID) { put(id, []byte("garbage")) },
		"cut":      func(id plumbing.OID) { put(id, must[[]byte](t)(os.ReadFile(loosePath(r, id)))[:20]) },
		"replaced": func(id plumbing.OID) { put(id, must[[]byte](t)(os.ReadFile(loosePath(r, blob("other").OID)))) },
	}
}

// TestDamagedObject checks that a damaged object counts as missing, however git fails on it, that
// other objects are still read, and that writing it again repairs it.
func TestDamagedObject(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "the first of the three", "the second of the three", "the third of the three", "other")
	check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	for how, harm := range harms(t, r) {
		harm(ids[1])
		r.known = &known{} // as in another process
		got := must[[]plumbing.Object](t)(r.Objects(ctx, []string{string(ids[0]), string(ids[1]), string(ids[2]), string(ids[1]), "HEAD"}))
		if got[0].OID != ids[0] || got[1].OID != "" || got[2].OID != ids[2] || got[3].OID != "" || got[4].OID == "" {
			t.Errorf("%s: %v", how, got)
		}
		if _, err := r.Object(ctx, string(ids[1])); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", how, err)
		}
		store(t, ctx, r, "the second of the three")
		must[plumbing.Object](t)(r.Object(ctx, string(ids[1])))
		check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	}
}

func TestMissing(t *testing.T) {
	ctx, r := scratch(t)
	names := []string{"HEAD", "", "nope", "a\nb", "HEAD:no such file", "HEAD:a.txt", "HEAD:./a.txt", "HEAD:../x",
		":/[", ":/nope", "HEAD^{/[}", "HEAD^{/x:../}", "HEAD@{", "@{-1}", ":1:./x", ":0:../x", ":../x",
		"HEAD^9", "HEAD~999999999999", "-h", "--help", "HEAD ", " HEAD", "a..b", "HEAD^{bogus}", string(plumbing.ZeroOID), string(plumbing.EmptyTree)}
	objects := must[[]plumbing.Object](t)(r.Objects(ctx, names))
	var found []string
	for i, object := range objects {
		if object.OID != "" {
			found = append(found, names[i])
		}
	}
	if got, want := fmt.Sprint(found), fmt.Sprint([]string{"HEAD", "HEAD:a.txt", string(plumbing.EmptyTree)}); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if _, err := r.Object(ctx, "nope"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestObjectsLargeSet(t *testing.T) {
	ctx, r := scratch(t)
	var names []string
	big := store(t, ctx, r, strings.Repeat("0123456789", 50_000))[0]
	for i := range 2_000 { // questions and answers are more than a pipe holds
		name := strings.Repeat("absent", 8)
		if i%100 == 0 {
			name = string(big)
		}
		names = append(names, name)
	}
	for i, object := range must[[]plumbing.Object](t)(r.Objects(ctx, names)) {
		if (object.OID == "") != (i%100 != 0) {
			t.Fatalf("answer %d belongs to another question", i)
		}
	}
}

// TestBatchCancelledAnyTime checks that an answer is right or an error whenever the context ends,
// and that the next answer is right.
func TestBatchCancelledAnyTime(t *testing.T) {
	ctx, r := scratch(t)
	id := store(t, ctx, r, strings.Repeat("0123456789", 200_000))[0]
	for i := range 20 {
		short, cancel := context.WithTimeout(ctx, time.Duration(i)*400*time.Microsecond)
		object, err := r.Object(short, string(id))
		if err == nil && object.OID != id || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %q, %v", object.OID, err)
		}
		cancel()
		if got := must[plumbing.Object](t)(r.Object(ctx, "HEAD:a.txt")); string(got.Data) != "one\ntwo\nthree\n" {
			t.Fatalf("got %q", got.Data)
		}
	}
}

// TestTreeAgainstGit checks that git writes the same tree, in entry order and byte for byte.
func TestTreeAgainstGit(t *testing.T) {
	ctx, r := scratch(t)
	file := store(t, ctx, r, "x")[0]
	entries := []plumbing.TreeEntry{
		{Name: "b", Mode: filemode.Executable, OID: file}, {Name: "a", Mode: filemode.Dir, OID: plumbing.EmptyTree}, {Name: "a.b", Mode: filemode.Regular, OID: file},
		{Name: "a0", Mode: filemode.Symlink, OID: file}, {Name: "é ", Mode: filemode.Regular, OID: file}, {Name: "a-b", Mode: filemode.Regular, OID: file},
	}
	given := append([]plumbing.TreeEntry(nil), entries...)
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(entries))
	if !reflect.DeepEqual(given, entries) {
		t.Error("EncodeTree changed its argument")
	}
	check(t, r.WriteObjects(ctx, []plumbing.Object{tree, plumbing.NewObject(plumbing.TreeObject, nil)}))
	native(t, r.TopLevel(), "fsck", "--strict")
	again := must[[]plumbing.TreeEntry](t)(plumbing.DecodeTree(must[plumbing.Object](t)(r.Object(ctx, string(tree.OID))).Data))
	if got := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(again)); got.OID != tree.OID {
		t.Errorf("got %v", again)
	}
	testrun.Equal(t, plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree(nil)).OID, plumbing.EmptyTree, "the empty tree has another name")
}

// TestAtHand checks that what an operation reads needs no cat-file while it is loose, and that a
// damaged file is no answer.
func TestAtHand(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "dir/file", "content\n")
	commit := commitAll(t, r, "first")
	file := plumbing.NewObject(plumbing.BlobObject, []byte("content\n"))
	watched := testrun.NewGit(t)
	look := func(when string, child bool) {
		t.Helper()
		r := open(t, ctx, r.TopLevel())
		watched.Watch("", "")
		answers := must[[]plumbing.Object](t)(r.Objects(ctx, []string{string(commit), string(file.OID)}))
		if answers[0].OID != commit || string(answers[1].Data) != "content\n" {
			t.Errorf("%s: %v", when, answers)
		}
		for ref, want := range map[string]plumbing.OID{"refs/heads/main": commit, "refs/heads/none": plumbing.ZeroOID} {
			testrun.Equal(t, must[plumbing.OID](t)(r.Ref(ctx, ref)), want, "%s: %s is at", when, ref)
		}
		testrun.Equal(t, asked(watched), child, "%s: cat-file started", when)
	}
	look("loose", false)
	below := must[[]plumbing.Object](t)(r.Objects(ctx, []string{string(commit) + ":dir/file", string(commit) + ":dir/none", string(commit) + ":dir"}))
	if below[0].OID != file.OID || below[1].OID != "" || below[2].Type != plumbing.TreeObject {
		t.Errorf("below the commit: %v", below)
	}
	path := loose.Path(r.objectDir(), file.OID)
	sound := must[[]byte](t)(os.ReadFile(path))
	native(t, r.TopLevel(), "gc", "-q", "--prune=now")
	look("packed", true)
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, append(sound[:len(sound)-8:len(sound)-8], "damaged!"...), 0o644))
	look("damaged beside its packed copy", true)
}

// TestPartlyAtHand checks that what is loose is not taken for all that there is: below it something
// may be packed, or damaged.
func TestPartlyAtHand(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "dir/packed", "packed\n")
	commitAll(t, r, "packed")
	native(t, r.TopLevel(), "gc", "-q", "--prune=now")
	check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	native(t, r.TopLevel(), "commit", "-q", "--allow-empty", "-m", "of a packed tree")
	empty := native(t, r.TopLevel(), "rev-parse", "HEAD")
	write(t, r, "dir/loose", "loose\n")
	commit := string(commitAll(t, r, "of a loose one"))
	tree := native(t, r.TopLevel(), "rev-parse", commit+":dir")
	loose := []string{commit + ":dir/loose", commit + ":dir/none", tree + ":loose", tree + ":none"}
	malformed := []plumbing.Object{plumbing.NewObject(plumbing.TreeObject, []byte("malformed")), plumbing.NewObject(plumbing.CommitObject, []byte("malformed"))}
	check(t, r.WriteObjects(ctx, malformed))
	large := plumbing.NewObject(plumbing.BlobObject, make([]byte, knownBytes+1))
	check(t, r.WriteObjects(ctx, []plumbing.Object{large}))
	writeIn(t, r.common, "refs/heads/odd", string(malformed[1].OID)+"\n")
	watched := testrun.NewGit(t)
	for name, want := range map[string]string{
		empty + ":dir/packed": "packed\n", commit + ":dir/packed": "packed\n", commit + ":dir/loose": "loose\n", commit + ":dir/none": "",
		tree + ":loose": "loose\n", tree + ":none": "", tree + ":": string(must[plumbing.Object](t)(r.Object(ctx, tree)).Data),
		string(malformed[0].OID) + ":dir": "", string(malformed[1].OID) + ":dir": "", string(large.OID): string(large.Data),
	} {
		r := open(t, ctx, r.TopLevel())
		watched.Watch("", "")
		o := must[[]plumbing.Object](t)(r.Objects(ctx, []string{name}))[0]
		if string(o.Data) != want || want == "" && o.OID != "" {
			t.Errorf("%.60s: %.60q", name, o.Data)
		}
		if asked := asked(watched); asked == slices.Contains(loose, name) { // it may have died of it
			t.Errorf("%.60s: git was asked: %v", name, asked)
		}
	}
	testrun.Equal(t, must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/odd")), malformed[1].OID, "a ref to what is malformed is at")
}

// TestKnownIsBounded checks that what is remembered does not grow for ever.
func TestKnownIsBounded(t *testing.T) {
	k := &known{}
	k.add([]plumbing.Object{{}, {OID: "large", Data: make([]byte, knownBytes+1)}})
	if len(k.objects) != 0 {
		t.Errorf("%d are known", len(k.objects))
	}
	data := make([]byte, knownBytes)
	for i := range knownMost/knownBytes + 2 {
		k.add([]plumbing.Object{{OID: plumbing.OID(fmt.Sprint(i)), Data: data}})
	}
	if len(k.objects) != 1 || k.bytes != knownBytes || !k.has(plumbing.OID(fmt.Sprint(knownMost/knownBytes+1))) {
		t.Errorf("%d are known, of %d bytes", len(k.objects), k.bytes)
	}
}

// asked reports whether a child was started to read objects.
func asked(watched *testrun.Git) bool {
	return slices.ContainsFunc(watched.Calls(), func(call string) bool { return strings.HasPrefix(call, "cat-file ") })
}

// TestWellFormed compares what is found malformed of a history with what git-fsck --strict refuses.
func TestWellFormed(t *testing.T) {
	ctx, r := scratch(t)
	dir := r.TopLevel()
	from := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	oids := store(t, ctx, r, "text", "[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n", "* text\n")
	file, modules, attributes := string(oids[0]), string(oids[1]), string(oids[2])
	entry := func(mode, name, oid string) string {
		return mode + " " + name + "\x00" + string(must[[]byte](t)(hex.DecodeString(oid)))
	}
	object := func(kind plumbing.ObjectType, data string) plumbing.OID {
		o := plumbing.NewObject(kind, []byte(data))
		check(t, r.WriteObjects(ctx, []plumbing.Object{o}))
		return o.OID
	}
	commit := func(tree plumbing.OID, who, rest string, parents ...plumbing.OID) plumbing.OID {
		text := fmt.Sprintf("tree %s\n", tree)
		for _, parent := range parents {
			text += fmt.Sprintf("parent %s\n", parent)
		}
		return object(plumbing.CommitObject, text+"author "+who+"\ncommitter "+who+"\n"+rest)
	}
	const ann = "Ann <ann@example.org> 1700000000 +0100"
	whole := plumbing.OID(strings.TrimSpace(native(t, dir, "rev-parse", "HEAD^{tree}")))
	inner := string(object(plumbing.TreeObject, entry("100644", "..", file)))
	cases := map[string]plumbing.OID{
		"a missing space": commit(whole, "Ann<ann@example.org> 1700000000 +0100", "\nx\n", from),
		"no address":      commit(whole, "Ann 1700000000 +0100", "\nx\n", from),
		"no zone":         commit(whole, "Ann <a@x> 1700000000", "\nx\n", from),
		"a padded date":   commit(whole, "Ann <a@x> 01700000000 +0100", "\nx\n", from),
		"a NUL":           commit(whole, ann, "\nx\x00y\n", from),
		"no name":         commit(whole, " <a@x> 1700000000 +0100", "\nx\n", from),
		"two authors":     commit(whole, ann+"\nauthor "+ann, "\nx\n", from),
		"a signature":     commit(whole, ann, "gpgsig x\n y\n\nx\n", from),
	}
	for name, tree := range map[string]string{
		"usual":         entry("100644", ".gitignore", file) + entry("40000", "a", string(whole)) + entry("100755", "b", file) + entry("120000", "c", file) + entry("160000", "é", string(from)),
		"a path":        entry("100644", "x/y", file),
		"deep":          entry("40000", "d", inner),
		"twice":         entry("100644", "a", file) + entry("100644", "a", file),
		"both kinds":    entry("100644", "a", file) + entry("100644", "a-b", file) + entry("40000", "a", string(whole)),
		"unsorted":      entry("100644", "b", file) + entry("100644", "a", file),
		"a padded mode": entry("0100644", "a", file), "a null id": entry("160000", "a", string(plumbing.ZeroOID)),
		"group may write": entry("100664", "a", file), "an unknown mode": entry("100600", "a", file),
		"git~1": entry("40000", "git~1", string(whole)), ".GIT": entry("40000", ".GIT", string(whole)), ".git.": entry("40000", ".git .", string(whole)),
		"hidden": entry("40000", ".g\u200cit", string(whole)), ".git:x": entry("100644", ".git:x", file), `a\.git`: entry("100644", `a\.git`, file),
		".": entry("40000", ".", string(whole)), "...": entry("100644", "...", file), "a~": entry("100644", "a~", file), "’": entry("100644", "’", file),
		"modules": entry("100644", ".gitmodules", modules), "modules by a link": entry("120000", ".gitmodules", file), "GITMOD~1": entry("120000", "GITMOD~1", file),
		"attributes": entry("100644", ".gitattributes", attributes),
	} {
		cases[name] = commit(object(plumbing.TreeObject, tree), ann, "\nx\n", from)
	}
	cases["in the middle"] = commit(whole, ann, "\nmended\n", cases["a path"])
	cases["in a merge"] = commit(whole, ann, "\nmerged\n", from, cases["in the middle"])
	cases["a merge"] = commit(whole, ann, "\nmerged\n", from, cases["usual"])
	said, _ := exec.Command("git", "-C", dir, "fsck", "--strict", "--no-dangling", "--no-reflogs").CombinedOutput()
	for name, tip := range testrun.Some(9, cases) {
		refuses := slices.ContainsFunc(reached(t, dir, from, tip), func(oid string) bool { return regexp.MustCompile("error in [a-z]+ " + oid + ": ").Match(said) })
		repo := open(t, ctx, dir)
		all := must[[]error](t)(repo.History().AllWellFormed(ctx, [][2]plumbing.OID{{from, from}, {from, tip}, {from, cases["a merge"]}}))
		for what, err := range map[string]error{
			"WellFormed": repo.History().WellFormed(ctx, from, tip), "WholeSince": repo.History().WholeSince(ctx, from, tip), "AllWellFormed": all[1],
		} {
			if malformed := errors.As(err, new(*MalformedError)); malformed != refuses || err != nil && !malformed && name != "a null id" {
				t.Errorf("%s, %s: %v, and git-fsck refuses it: %v", name, what, err, refuses)
			}
		}
	}
}

// reached lists the objects that tip has and from does not.
func reached(t *testing.T, dir string, from, tip plumbing.OID) []string {
	return strings.Fields(native(t, dir, "rev-list", "--objects", "--no-object-names", string(tip), "^"+string(from)))
}
