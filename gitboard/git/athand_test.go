package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
			if at := must[plumbing.OID](t)(r.Ref(ctx, ref)); at != want {
				t.Errorf("%s: %s is at %s", when, ref, at)
			}
		}
		if started := asked(watched); started != child {
			t.Errorf("%s: cat-file started: %t", when, started)
		}
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
	if at := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/odd")); at != malformed[1].OID {
		t.Errorf("a ref to what is malformed is at %s", at)
	}
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
