package git

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"pgregory.net/rapid"
)

// memory returns an object in the form that go-git's decoders need.
func memory(o Object) *plumbing.MemoryObject {
	m := &plumbing.MemoryObject{}
	m.SetType(o.Type.plumbing())
	m.Write(o.Data) // can't fail
	return m
}

// TestAsGoGit compares the decoders with those of go-git, on objects as odd as they come. Ours
// don't accept ids in capitals, which no program writes.
func TestAsGoGit(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"parent " + string(EmptyBlob), "parent x", "author A <a@b> 1 +0000", "author A B  <a> 12 -0730", "author ", "author <", "author A <b> x +0100",
		"author A> <b>  3 +0100 ", "committer C <c> 99 +1345", "committer C <c>", "committer  <> -5 +0200", "encoding ISO-8859-1", "gpgsig one", " two", " ",
		"x", "x y", "mergetag object x", "tree " + string(EmptyTree), "gpgsign x",
	})
	commit := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(line, 0, 7).Draw(t, "lines")
		head := strings.Join(append([]string{"tree " + string(EmptyTree)}, lines...), "\n")
		return head + rapid.SampledFrom([]string{"", "\n", "\n\n", "\n\nmessage\n\n x\n"}).Draw(t, "end")
	})
	piece := rapid.SampledFrom([]string{"100644 a", "100664 .b", "40000 c/d", "040000 é", "100700 x", "120000 l", "160000 s", "1 o", " ", "9 n", "\x00", "twenty bytes of an id"})
	tree := rapid.Map(rapid.SliceOfN(piece, 0, 8), func(all []string) string { return strings.Join(all, "\x00") })
	rapid.Check(t, func(t *rapid.T) {
		compareCommit(t, NewObject(CommitObject, []byte(commit.Draw(t, "commit"))))
		compareTree(t, NewObject(TreeObject, []byte(tree.Draw(t, "tree"))))
	})
}

func compareCommit(t *rapid.T, o Object) {
	var want object.Commit
	wanted := want.Decode(memory(o))
	got, err := DecodeCommit(o)
	if (wanted == nil) != (err == nil) {
		t.Fatalf("%q: go-git says %v, we say %v", o.Data, wanted, err)
	}
	if err != nil {
		return
	}
	same := got.OID == OID(want.Hash.String()) && got.Tree == OID(want.TreeHash.String()) && got.Message == want.Message &&
		len(got.Parents) == len(want.ParentHashes) && sameSignature(got.Author, want.Author) && sameSignature(got.Committer, want.Committer)
	// go-git joins several signatures; and where the last line lacks its end, ours has it.
	if strings.Count("\n"+string(o.Data), "\ngpgsig ") == 1 {
		same = same && strings.TrimRight(got.GPGSig, "\n") == strings.TrimRight(want.PGPSignature, "\n")
	}
	if !same {
		t.Fatalf("%q: go-git decodes %+v, we %+v", o.Data, want, got)
	}
}

func sameSignature(got Signature, want object.Signature) bool {
	return got.Name == want.Name && got.Email == want.Email && got.When.String() == want.When.String()
}

func compareTree(t *rapid.T, o Object) {
	var want object.Tree
	wanted := want.Decode(memory(o))
	got, err := DecodeTree(o.Data)
	if (wanted == nil) != (err == nil) || len(got) != len(want.Entries) && err == nil {
		t.Fatalf("%q: go-git says %v, we say %v", o.Data, wanted, err)
	}
	for i, entry := range got {
		if w := want.Entries[i]; entry.Name != w.Name || entry.Mode != w.Mode || entry.OID != OID(w.Hash.String()) {
			t.Fatalf("%q: go-git decodes %v, we %v", o.Data, w, entry)
		}
	}
}
