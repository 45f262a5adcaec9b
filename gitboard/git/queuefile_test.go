package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMovedRepository: what writes to a repository that is moved away meanwhile does not take its
// old place, so that it can come back.
func TestMovedRepository(t *testing.T) {
	ctx, r := scratch(t)
	queue := filepath.Join(r.common, "liza", "hooks", "sequence")
	file := testrun.Must(r.OpenQueue(queue))(t)
	check(t, file.Close())
	check(t, os.Rename(r.common, r.common+".away"))
	if _, err := r.OpenQueue(queue); err == nil {
		t.Error("a queue could be opened")
	}
	if err := r.WriteObjects(ctx, []plumbing.Object{plumbing.NewObject(plumbing.BlobObject, []byte("a word\n"))}); err == nil {
		t.Error("an object could be written")
	}
	if _, err := os.Stat(r.common); !os.IsNotExist(err) {
		t.Errorf("the old place: %v, not %v", err, fs.ErrNotExist)
	}
	check(t, os.Rename(r.common+".away", r.common))
}
