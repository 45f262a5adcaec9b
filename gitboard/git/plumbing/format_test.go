package plumbing

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"pgregory.net/rapid"
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
	f.Fuzz(func(t *testing.T, data []byte) { // it must not panic
		if c, err := DecodeCommit(Object{Type: CommitObject, Data: data}); err == nil {
			EncodeCommit(c)
		}
		if entries, err := DecodeTree(data); err == nil {
			EncodeTree(entries)
		}
	})
}

func TestCommitRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[A-Za-zé.'-]{1,8}( [A-Za-zé]{1,8})?`)
	who := rapid.Custom(func(t *rapid.T) Signature {
		zone := time.FixedZone("", rapid.IntRange(-11*4, 14*4).Filter(func(n int) bool { return n <= -4 || n >= 0 }).Draw(t, "zone")*15*60)
		return Signature{Name: word.Draw(t, "name"), Email: word.Draw(t, "email"), When: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "when"), 0).In(zone)}
	})
	oid := rapid.Map(rapid.StringMatching(`[0-9a-f]{40}`), func(s string) OID { return OID(s) })
	rapid.Check(t, func(t *rapid.T) {
		c := Commit{
			Tree: oid.Draw(t, "tree"), Parents: rapid.SliceOfN(oid, 0, 3).Draw(t, "parents"),
			Author: who.Draw(t, "author"), Committer: who.Draw(t, "committer"),
			Message: rapid.StringMatching(`[ -~\n]{0,40}`).Draw(t, "message"),
			GPGSig:  rapid.SampledFrom([]string{"", "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n"}).Draw(t, "signature"),
		}
		data := EncodeCommit(c)
		got, err := DecodeCommit(NewObject(CommitObject, data))
		if err != nil {
			t.Fatal(err)
		}
		if again := EncodeCommit(got); string(again) != string(data) {
			t.Fatalf("%q became %q", data, again)
		}
		if got.Author.Name != c.Author.Name || !got.Committer.When.Equal(c.Committer.When) || got.Message != c.Message || got.GPGSig != c.GPGSig {
			t.Fatalf("%+v became %+v", c, got)
		}
	})
}

// What other programs put into commits comes through.
func TestForeignCommits(t *testing.T) {
	const head = "tree " + string(EmptyTree) + "\nauthor A <a@b> 1 +0000\ncommitter  <> 2 -0730\n"
	for _, data := range []string{
		head + "\n",
		head + "encoding ISO-8859-1\n\ncaf\xe9\n",
		head + "gpgsig -----BEGIN SSH SIGNATURE-----\n abc\n \n -----END SSH SIGNATURE-----\n\nsigned\n",
		head + "mergetag object " + string(EmptyTree) + "\n type commit\n tag v1\n tagger A <a@b> 1 +0000\n \n v1\n\nmerge\n",
		head + "HG:extra a\n b\n\nmessage\n\nwith: trailer\n",
	} {
		commit, err := DecodeCommit(NewObject(CommitObject, []byte(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got := EncodeCommit(commit); string(got) != data {
			t.Errorf("%q became %q", data, got)
		}
	}
}

func TestNamesCannotForge(t *testing.T) {
	evil := Signature{Name: "x\ntree 1 <", Email: "a>\nb", When: noon}
	data := EncodeCommit(Commit{Tree: EmptyTree, Author: evil, Committer: ada, Message: "x\n"})
	c, err := DecodeCommit(NewObject(CommitObject, data))
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range made {
			if known[o.OID], err = DecodeTree(o.Data); err != nil {
				t.Fatal(err)
			}
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
	if got := strings.Join(list(tree, ""), " "); got != "b/c dir/a dir/b dir/deep" {
		t.Errorf("got %s", got)
	}
	failed := errors.New("it can't be read")
	if _, _, err := PutFile(tree, "x", TreeEntry{}, func(OID) ([]TreeEntry, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}
