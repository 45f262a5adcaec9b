package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// writers limits how many objects are flushed at once: a few concurrent flushes are faster, and
// open files are limited.
const writers = 16

// packFrom is from how many objects on they are stored as one pack, like those of a fetch
// (git-config, fetch.unpackLimit): each file takes time, and an inode until the next gc.
const packFrom = 100

// WriteObjects stores objects, flushed to disk before they get their names: many as one pack, few
// as loose objects, in parallel. An existing loose object gets a fresh modification time instead,
// which keeps `git prune` from deleting it before a ref points to it; an object that is only in a
// pack is written again for the same reason. In the quarantine of a push, objects go where the push
// keeps its own. They are also kept for a while where no git deletes them.
//
// Errors: a StorageError if the object directory can't be written.
func (r *Repo) WriteObjects(ctx context.Context, objects []plumbing.Object) error {
	kept, err := r.keep(objects)
	if err != nil {
		return err
	}
	if err := r.write(ctx, objects); err != nil {
		return err
	}
	r.unsettled.Add(kept, objects)
	r.known.add(objects)
	return nil
}

// write is WriteObjects for objects that are already kept.
func (r *Repo) write(ctx context.Context, objects []plumbing.Object) error {
	if len(objects) < packFrom {
		return r.writeLoose(ctx, objects)
	}
	pack, err := plumbing.EncodePack(objects)
	if err != nil {
		return err
	}
	index := slices.Concat(durable, []string{"index-pack", "--stdin"})
	if err := r.command("index-pack", index...).Feed(pack).Run(ctx); err != nil {
		return cmp.Or(r.probe(), err)
	}
	return nil
}

// writeLoose writes objects one by one.
func (r *Repo) writeLoose(ctx context.Context, objects []plumbing.Object) error {
	dir := r.objectDir()
	work := make(chan plumbing.Object)
	failures := make(chan error, len(objects))
	var group sync.WaitGroup
	for range min(writers, len(objects)) {
		group.Go(func() {
			for object := range work {
				if err := loose.Write(dir, object); err != nil {
					failures <- err
				}
			}
		})
	}
	for _, object := range objects {
		if err := ctx.Err(); err != nil {
			failures <- err
			break
		}
		work <- object
	}
	close(work)
	group.Wait()
	close(failures)
	return <-failures // nil if there were none
}

// objectDir returns the directory for new objects.
func (r *Repo) objectDir() string {
	if r.environ.Quarantined() {
		if dir := r.environ.Get("GIT_OBJECT_DIRECTORY"); dir != "" {
			return dir
		}
	}
	return filepath.Join(r.common, "objects")
}

// discarding returns a child that writes its objects to a directory of its own, which discard
// removes.
func (r *Repo) discarding(c command) (child command, discard func(), err error) {
	scrap, err := os.MkdirTemp("", "liza-objects-")
	if err != nil {
		return c, nil, err
	}
	read := []string{quotedDir(r.objectDir()), quotedDir(filepath.Join(r.common, "objects"))}
	child = c.With("GIT_OBJECT_DIRECTORY="+scrap, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(read, string(filepath.ListSeparator)))
	return child, func() { _ = os.RemoveAll(scrap) }, nil
}

// quotedDir returns a path as git reads it in a list of object directories, whatever its name is.
func quotedDir(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
