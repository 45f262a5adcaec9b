package plumbing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
	"pgregory.net/rapid"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

var (
	noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	ada  = Signature{Name: "Ada", Email: "ada@example.org", When: noon}
)

func TestMalformed(t *testing.T) {
	for _, data := range []string{"x", "100644 a", "100644 a\x00short", "zz a\x00" + strings.Repeat("x", 20), "100644 \x00" + strings.Repeat("x", 20)} {
		if entries, err := DecodeTree([]byte(data)); err == nil {
			t.Errorf("%q decoded as %v", data, entries)
		}
	}
	for _, data := range []string{"", "tree", "tree x\n\n", "parent " + string(ZeroOID) + "\n\nx"} {
		if commit, err := DecodeCommit(NewObject(CommitObject, []byte(data))); err == nil {
			t.Errorf("%q decoded as %v", data, commit)
		}
	}
	if _, err := DecodeCommit(NewObject(BlobObject, []byte("x"))); err == nil {
		t.Error("a blob decoded as a commit")
	}
	good := NewObject(CommitObject, EncodeCommit(Commit{Tree: EmptyTree, Author: ada, Committer: ada}))
	good.OID = ZeroOID
	if _, err := DecodeCommit(good); err == nil {
		t.Error("a commit passed under another name")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(EncodeCommit(Commit{Tree: EmptyTree, Author: ada, Committer: ada, Message: "x"}))
	f.Add(EncodeTree([]TreeEntry{{Name: "a", Mode: filemode.Regular, OID: EmptyTree}}))
	f.Add([]byte("100664 a\x00" + strings.Repeat("x", 20) + "40755 .b\x00" + strings.Repeat("y", 20)))
	for _, data := range foreign {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) { asGoGit(t, data) })
}

// TestAsGoGit: commits and trees mean the same as to go-git, whose decoders cost every start too
// much. Half of the texts are headers in any order.
func TestAsGoGit(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"tree " + string(EmptyTree), "tree " + strings.ToUpper(string(EmptyTree)), "tree x", "tree", "parent " + string(EmptyBlob), "parent -", "parent",
		"author A <a@b> 1 +0130", "author A", "author <x> y", "author A B <a <b> 12345 -0730", "author", "author A <a> 9 +1", "author A <a> 9 +aaaa", "author >A<",
		"committer C <c@d> 2 -0730", "committer  <> -3 +0000", "encoding x", "encoding UTF-8", "encoding", "mergetag object", "mergetag", "gpgsig -----BEGIN", "gpgsig",
		"gpgsig-sha256 x", " continued", " ", "", "", "x", "x y", "x ", "HG:extra a b", "treex", "\r",
	})
	rapid.Check(t, func(t *rapid.T) {
		asGoGit(t, rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes"))
		lines := append([]string{"tree " + string(EmptyTree)}, rapid.SliceOfN(line, 0, 12).Draw(t, "lines")...)
		asGoGit(t, []byte(strings.Join(lines[rapid.IntRange(0, 1).Draw(t, "first"):], "\n")+rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")))
		var tree []byte
		for _, mode := range rapid.SliceOfN(rapid.SampledFrom([]string{"100644", "100664", "100600", "100700", "40000", "040000", "40755", "120777", "160000", "0", "1", "", "8", "77777777777"}), 0, 4).Draw(t, "modes") {
			tree = append(append(tree, mode+" "...), rapid.SampledFrom([]string{"a", ".git", "a/b", "", "\xff"}).Draw(t, "name")...)
			tree = append(append(tree, 0), strings.Repeat("i", rapid.SampledFrom([]int{20, 20, 20, 19, 21}).Draw(t, "id"))...)
		}
		asGoGit(t, tree)
	})
}

// asGoGit compares what data means as a commit, and as a tree, with what go-git makes of it.
func asGoGit(t interface {
	Helper()
	Fatalf(string, ...any)
}, data []byte) {
	t.Helper()
	m := &plumbing.MemoryObject{}
	m.SetType(plumbing.CommitObject)
	m.Write(data)
	var wanted object.Commit
	failed := wanted.Decode(m)
	c, err := DecodeCommit(Object{Type: CommitObject, Data: data})
	if (err == nil) != (failed == nil) {
		t.Fatalf("commit %q: %v; go-git: %v", data, err, failed)
	}
	if err == nil {
		if again := (&plumbing.MemoryObject{}); wanted.Encode(again) == nil && !unwritable(wanted) {
			if got := EncodeCommit(c); string(got) != content(again) {
				t.Fatalf("commit %q: encoded as %q; by go-git as %q", data, got, content(again))
			}
		}
		as := Commit{OID: OID(wanted.Hash.String()), Tree: OID(wanted.TreeHash.String()), Author: Signature(wanted.Author), Committer: Signature(wanted.Committer), Message: wanted.Message, GPGSig: wanted.PGPSignature}
		for _, p := range wanted.ParentHashes {
			as.Parents = append(as.Parents, OID(p.String()))
		}
		c.rest = nil
		if got, want := fmt.Sprintf("%q", fmt.Sprint(c)), fmt.Sprintf("%q", fmt.Sprint(as)); got != want {
			t.Fatalf("commit %q: %s; go-git: %s", data, got, want)
		}
	}
	m = &plumbing.MemoryObject{}
	m.SetType(plumbing.TreeObject)
	m.Write(data)
	var tree object.Tree
	failed = tree.Decode(m)
	entries, err := DecodeTree(data)
	if (err == nil) != (failed == nil) || len(entries) != len(tree.Entries) && err == nil {
		t.Fatalf("tree %q: %v, %v; go-git: %v, %v", data, entries, err, tree.Entries, failed)
	}
	for i, e := range entries {
		if want := tree.Entries[i]; e != (TreeEntry{want.Name, want.Mode, OID(want.Hash.String())}) {
			t.Fatalf("tree %q: %v; go-git: %v", data, e, want)
		}
	}
	if err == nil {
		EncodeTree(entries)
	}
}

// unwritable reports whether a signature has characters that EncodeCommit leaves out, and go-git writes.
func unwritable(c object.Commit) bool {
	return strings.ContainsAny(c.Author.Name+c.Author.Email+c.Committer.Name+c.Committer.Email, "<>\n\x00")
}

func content(m *plumbing.MemoryObject) string {
	r, _ := m.Reader()
	data, _ := io.ReadAll(r)
	return string(data)
}

const head = "tree " + string(EmptyTree) + "\nauthor A <a@b> 1 +0000\ncommitter  <> 2 -0730\n"

// foreign are commits with what other programs put into them.
var foreign = []string{
	head + "\n",
	head + "encoding ISO-8859-1\n\ncaf\xe9\n",
	head + "gpgsig -----BEGIN SSH SIGNATURE-----\n abc\n \n -----END SSH SIGNATURE-----\n\nsigned\n",
	head + "mergetag object " + string(EmptyTree) + "\n type commit\n tag v1\n tagger A <a@b> 1 +0000\n \n v1\n\nmerge\n",
	head + "HG:extra a\n b\n\nmessage\n\nwith: trailer\n",
}

// What other programs put into commits comes through.
func TestForeignCommits(t *testing.T) {
	for _, data := range foreign {
		commit := testrun.Must(DecodeCommit(NewObject(CommitObject, []byte(data))))(t)
		if got := EncodeCommit(commit); string(got) != data {
			t.Errorf("%q became %q", data, got)
		}
	}
}

func TestNamesCannotForge(t *testing.T) {
	evil := Signature{Name: "x\ntree 1 <", Email: "a>\nb", When: noon}
	data := EncodeCommit(Commit{Tree: EmptyTree, Author: evil, Committer: ada, Message: "x\n"})
	c := testrun.Must(DecodeCommit(NewObject(CommitObject, data)))(t)
	if c.Author.Name != "xtree 1" || c.Author.Email != "ab" || c.Message != "x\n" {
		t.Errorf("got %+v", c)
	}
}

// TestPutFile checks that a file is put into a tree, beside others, in place of another, and of a
// directory in its way.
func TestPutFile(t *testing.T) {
	known := map[OID][]TreeEntry{}
	tree := ZeroOID
	for _, path := range []string{"b", "dir/a", "dir/deep/a", "dir/b", "b", "dir/deep", "b/c"} {
		next, made, err := PutFile(tree, path, TreeEntry{Mode: filemode.Regular, OID: EmptyTree}, func(oid OID) ([]TreeEntry, error) { return known[oid], nil })
		testrun.Check(t, err)
		for _, o := range made {
			known[o.OID] = testrun.Must(DecodeTree(o.Data))(t)
		}
		tree = next
	}
	var list func(OID, string) []string
	list = func(tree OID, dir string) (all []string) {
		for _, e := range known[tree] {
			if e.Mode == filemode.Dir {
				all = append(all, list(e.OID, dir+e.Name+"/")...)
			} else {
				all = append(all, dir+e.Name)
			}
		}
		return all
	}
	testrun.Equal(t, strings.Join(list(tree, ""), " "), "b/c dir/a dir/b dir/deep", "got")
	failed := errors.New("it can't be read")
	if _, _, err := PutFile(tree, "x", TreeEntry{}, func(OID) ([]TreeEntry, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// TestMoves checks what is read of a reflog, and that what is no move is left out.
func TestMoves(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	text := fmt.Sprintf("%s %s Ada <x> 1 +0000\tfirst\nodd\n%s x Ada\tsecond\n%s %s Ada <x> 2 +0000\n", b, a, a, a, b)
	testrun.Equal(t, fmt.Sprint(ParseReflog(text)), fmt.Sprint([]RefMove{{OID(b), ""}, {OID(a), "first"}}), "got")
}

func TestEncodePack(t *testing.T) {
	one, two := NewObject(BlobObject, []byte("one")), NewObject(TreeObject, nil)
	pack := testrun.Must(EncodePack([]Object{one, two, one}))(t)
	if n := binary.BigEndian.Uint32(pack[8:]); n != 2 {
		t.Errorf("%d objects are packed, not 2", n)
	}
	back := memory.NewStorage()
	testrun.Check(t, packfile.UpdateObjectStorage(back, bytes.NewReader(pack)))
	if len(back.Objects) != 2 || back.Objects[plumbing.NewHash(string(one.OID))] == nil || back.Objects[plumbing.NewHash(string(two.OID))] == nil {
		t.Errorf("the pack has %v", back.Objects)
	}
	one.OID = two.OID
	if _, err := EncodePack([]Object{one}); err == nil || !strings.Contains(err.Error(), string(two.OID)) {
		t.Errorf("an object with another id: %v", err)
	}
	if _, err := EncodePack([]Object{{OID: NewObject("", nil).OID}}); err == nil {
		t.Error("an object without a type is packed")
	}
}

// The names are part of the board's format: clones of every version and hooks on servers know them.
func TestRefNames(t *testing.T) {
	for got, want := range map[string]string{
		BoardRef:                           "refs/heads/liza/state",
		BoardPrefix:                        "refs/heads/liza/",
		OwnPrefix:                          "refs/liza/",
		LeaseRef("coder-1"):                "refs/liza/leases/coder-1",
		ReviewRef("add-auth", 2):           "refs/liza/review/add-auth/2",
		AtticRef("add-auth", 10):           "refs/liza/attic/add-auth/10",
		TrackingRef("origin", "state"):     "refs/liza/remotes/origin/state",
		RemoteRef("origin", BoardRef):      "refs/remotes/origin/liza/state",
		RemoteRef("origin", "integration"): "refs/remotes/origin/integration",
		BranchRef("integration"):           "refs/heads/integration",
		BranchRef(BoardRef):                BoardRef,
		BranchName(BoardRef):               "liza/state",
		BranchName("liza/state"):           "liza/state",
		AsBranch(LeaseRef("coder-1")):      "refs/heads/liza/leases/coder-1",
		AsBranch(HomeRef):                  "refs/heads/liza/home",
		AsBranch(BoardRef):                 BoardRef,
	} {
		testrun.Equal(t, got, want, "the value")
		testrun.ErrorIs(t, CheckRefName(BranchRef(got)), nil, "it ends")
	}
	for _, own := range []string{LeaseRef("coder-1"), ReviewRef("add-auth", 2), ProbePrefix + "1-x", HomeRef} {
		if got := FromBranch(AsBranch(own)); got != own {
			t.Errorf("%s comes back as %s", own, got)
		}
	}
	for _, other := range []string{BoardRef, PublishedRef("home"), AsBranch(HomeRef) + "less", "refs/heads/liza/notes"} {
		if got := FromBranch(other); got != other {
			t.Errorf("%s comes back as %s", other, got)
		}
	}
	for _, bad := range []string{"", "main", "refs/heads/a b", "refs/heads/a..b", "-refs/heads/x", "refs/heads/*", "refs/heads/a\nb"} {
		if CheckRefName(bad) == nil {
			t.Errorf("%q passes as the full name of a ref", bad)
		}
	}
}
