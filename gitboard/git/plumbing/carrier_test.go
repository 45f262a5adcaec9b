package plumbing_test

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestCarrier: what a carrier stands for is read back from it, and a commit that only says that it
// is one stands for itself.
func TestCarrier(t *testing.T) {
	by := plumbing.Signature{Name: "Ada", Email: "ada@example.org", When: time.Unix(1, 0).UTC()}
	blob := plumbing.NewObject(plumbing.BlobObject, []byte("a lease\n")).OID
	before := plumbing.Carrier(plumbing.ZeroOID, plumbing.ZeroOID, "", plumbing.EmptyTree, by).OID
	work := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: plumbing.EmptyTree, Author: by, Committer: by, Message: "work\n"})).OID
	for name, c := range map[string]struct {
		carrier plumbing.Object
		want    plumbing.OID // "" for the commit itself
	}{
		"the first lease":         {plumbing.Carrier(plumbing.ZeroOID, blob, plumbing.BlobObject, plumbing.CarryTree(blob).OID, by), blob},
		"a renewed lease":         {plumbing.Carrier(before, blob, plumbing.BlobObject, plumbing.CarryTree(blob).OID, by), blob},
		"a lease that ended":      {plumbing.Carrier(before, plumbing.ZeroOID, "", plumbing.EmptyTree, by), plumbing.ZeroOID},
		"a rewritten branch":      {plumbing.Carrier(before, work, plumbing.CommitObject, plumbing.EmptyTree, by), work},
		"a blob it does not keep": {plumbing.Carrier(before, blob, plumbing.BlobObject, plumbing.EmptyTree, by), ""},
		"no id":                   {plumbing.Carrier(before, "--all", plumbing.BlobObject, plumbing.EmptyTree, by), ""},
	} {
		commit := testrun.Must(plumbing.DecodeCommit(c.carrier))(t)
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
