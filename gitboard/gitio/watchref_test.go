package gitio

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestWatchRef: whoever watches a ref is woken when it moves.
func TestWatchRef(t *testing.T) {
	ctx, r := scratch(t)
	const name = "refs/liza/pending/origin"
	var at git.OID
	move := func(text string) {
		t.Helper()
		o := git.NewObject(git.BlobObject, []byte(text))
		check(t, r.WriteAndUpdate(ctx, []git.Object{o}, []git.RefUpdate{{Ref: name, Old: at, New: o.OID}}, ""))
		at = o.OID
	}
	move("one")
	moved, stop := r.WatchRef(name)
	defer stop()
	if moved == nil {
		t.Skip("files can't be watched here")
	}
	move("two")
	<-moved
}
