package git_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestCarrier: what a carrier stands for is read back from it, and a commit that only says that it
// is one stands for itself.
func TestCarrier(t *testing.T) {
	by := git.Signature{Name: "Ada", Email: "ada@example.org", When: time.Unix(1, 0).UTC()}
	blob := git.NewObject(git.BlobObject, []byte("a lease\n")).OID
	before := git.Carrier(git.ZeroOID, git.ZeroOID, "", git.EmptyTree, by).OID
	work := git.NewObject(git.CommitObject, git.EncodeCommit(git.Commit{Tree: git.EmptyTree, Author: by, Committer: by, Message: "work\n"})).OID
	for name, c := range map[string]struct {
		carrier git.Object
		want    git.OID // "" for the commit itself
	}{
		"the first lease":         {git.Carrier(git.ZeroOID, blob, git.BlobObject, git.CarryTree(blob).OID, by), blob},
		"a renewed lease":         {git.Carrier(before, blob, git.BlobObject, git.CarryTree(blob).OID, by), blob},
		"a lease that ended":      {git.Carrier(before, git.ZeroOID, "", git.EmptyTree, by), git.ZeroOID},
		"a rewritten branch":      {git.Carrier(before, work, git.CommitObject, git.EmptyTree, by), work},
		"a blob it does not keep": {git.Carrier(before, blob, git.BlobObject, git.EmptyTree, by), ""},
		"no id":                   {git.Carrier(before, "--all", git.BlobObject, git.EmptyTree, by), ""},
	} {
		commit, err := git.DecodeCommit(c.carrier)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			c.want = c.carrier.OID
		}
		if got := commit.Carried(); got != c.want {
			t.Errorf("%s: it stands for %s, not for %s", name, got, c.want)
		}
		if !before.IsZero() && len(commit.Parents) > 0 && commit.Parents[0] != before {
			t.Errorf("%s: it does not follow from the previous value", name)
		}
	}
}
