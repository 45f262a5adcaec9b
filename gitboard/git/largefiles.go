package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// LargeFile is a file stored by git-lfs: the commit itself holds only a pointer to it.
type LargeFile struct {
	Path   string
	Object string // its SHA-256
}

// pointer matches the file that stands in for a large one (git-lfs, docs/spec.md). It is shorter
// than maxPointer bytes.
var pointer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\Aversion https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})\n`)
})

const maxPointer = 1024

// LargeFiles returns the large files that commit to needs and its ancestor from does not, each
// object once. changed are the files that differ between the two. It starts no child if no
// attributes name git-lfs.
func (h History) LargeFiles(ctx context.Context, from, to plumbing.OID, changed []string) ([]LargeFile, error) {
	if uses, err := h.repo.usesLFS(ctx, to, changed); err != nil || !uses {
		return nil, err
	}
	lines, err := h.repo.revList(ctx, from, to, "--objects")
	if err != nil {
		return nil, err
	}
	var names, paths []string
	for _, line := range lines {
		oid, path, _ := strings.Cut(line, " ") // commits have no path
		names, paths = append(names, oid), append(paths, path)
	}
	sizes, err := h.repo.History().SizesOf(ctx, names)
	if err != nil {
		return nil, err
	}
	var large []LargeFile
	for i, size := range sizes {
		if size.Type != plumbing.BlobObject || size.Bytes >= maxPointer {
			continue
		}
		blob, err := h.repo.Object(ctx, names[i])
		if err != nil {
			return nil, err
		}
		if found := pointer().FindSubmatch(blob.Data); found != nil {
			object := string(found[1])
			if !slices.ContainsFunc(large, func(l LargeFile) bool { return l.Object == object }) {
				large = append(large, LargeFile{paths[i], object})
			}
		}
	}
	return large, nil
}

// usesLFS reports whether the attributes of a commit that apply to the given files mention git-lfs.
func (r *Repo) usesLFS(ctx context.Context, commit plumbing.OID, files []string) (bool, error) {
	asked := map[string]bool{}
	for _, file := range files {
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			asked[string(commit)+":"+path.Join(dir, ".gitattributes")] = true
			if dir == "." {
				break
			}
		}
	}
	var names []string
	for name := range asked {
		names = append(names, name)
	}
	found, err := r.Objects(ctx, names)
	return slices.ContainsFunc(found, func(o plumbing.Object) bool { return strings.Contains(string(o.Data), "filter=lfs") }), err
}

// HasLargeFile reports whether this clone has a large file. It looks in the default directory of
// git-lfs and ignores lfs.storage.
func (h History) HasLargeFile(f LargeFile) bool {
	_, err := os.Stat(filepath.Join(h.repo.common, "lfs", "objects", f.Object[:2], f.Object[2:4], f.Object))
	return err == nil
}

// ErrNoLFS means that git-lfs is not installed.
var ErrNoLFS = fmt.Errorf("git-lfs is not installed")

// objectsAtOnce is how many objects are passed to one git-lfs child.
const objectsAtOnce = 500

// Upload uploads the large files that the remote lacks. It returns ErrNoLFS, or a NetworkError with
// git-lfs's message.
func (m *Remote) Upload(ctx context.Context, files []LargeFile) error {
	if len(files) == 0 {
		return nil
	}
	if _, err := exec.LookPath("git-lfs"); err != nil {
		return ErrNoLFS
	}
	for some := range slices.Chunk(files, objectsAtOnce) {
		args := []string{"lfs", "push", "--object-id", m.Name}
		for _, f := range some {
			args = append(args, f.Object)
		}
		if _, err := m.talk(ctx, "lfs push", args, nil, "GIT_LFS_FORCE_PROGRESS=1"); err != nil {
			return err
		}
	}
	return nil
}
