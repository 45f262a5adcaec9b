package gitio

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

	"github.com/git-liza/git-liza/gitboard/git"
)

// LargeFile is a file that git-lfs keeps: a commit has a pointer to it alone.
type LargeFile struct {
	Path   string
	Object string // its SHA-256
}

// pointer is a file in place of a large one (git-lfs, docs/spec.md), which has
// less than maxPointer bytes.
var pointer = regexp.MustCompile(`\Aversion https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})\n`)

const maxPointer = 1024

// LargeFiles returns the large files that a commit needs and another one, in
// its history, does not, each object once. changed are the files that differ
// between the two. No child is started where no attributes name git-lfs.
func (r *Repo) LargeFiles(ctx context.Context, from, to git.OID, changed []string) ([]LargeFile, error) {
	if uses, err := r.usesLFS(ctx, to, changed); !uses || err != nil {
		return nil, err
	}
	lines, err := r.revList(ctx, from, to, "--objects")
	if err != nil {
		return nil, err
	}
	var names, paths []string
	for _, line := range lines {
		if oid, path, named := strings.Cut(line, " "); named && path != "" {
			names, paths = append(names, oid), append(paths, path)
		}
	}
	sizes, err := r.SizesOf(ctx, names)
	if err != nil {
		return nil, err
	}
	var large []LargeFile
	for i, size := range sizes {
		if size.Type != git.BlobObject || size.Bytes >= maxPointer {
			continue
		}
		blob, err := r.Object(ctx, names[i])
		if err != nil {
			return nil, err
		}
		if found := pointer.FindSubmatch(blob.Data); found != nil {
			object := string(found[1])
			if !slices.ContainsFunc(large, func(l LargeFile) bool { return l.Object == object }) {
				large = append(large, LargeFile{paths[i], object})
			}
		}
	}
	return large, nil
}

// usesLFS reports whether attributes of a commit that hold for some files give
// any to git-lfs.
func (r *Repo) usesLFS(ctx context.Context, commit git.OID, files []string) (bool, error) {
	asked := map[string]bool{}
	for _, file := range files {
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			asked[string(commit)+":"+path.Join(dir, ".gitattributes")] = true
			if dir == "." || dir == "/" {
				break
			}
		}
	}
	var names []string
	for name := range asked {
		names = append(names, name)
	}
	found, err := r.Objects(ctx, names)
	return slices.ContainsFunc(found, func(o git.Object) bool { return strings.Contains(string(o.Data), "filter=lfs") }), err
}

// HasLargeFile reports whether this clone has a large file, where git-lfs keeps
// it unless lfs.storage says otherwise.
func (r *Repo) HasLargeFile(f LargeFile) bool {
	_, err := os.Stat(filepath.Join(r.common, "lfs", "objects", f.Object[:2], f.Object[2:4], f.Object))
	return err == nil
}

// ErrNoLFS says that git-lfs is not installed.
var ErrNoLFS = fmt.Errorf("git-lfs is not installed")

// objectsAtOnce is how many objects one child of git-lfs is given.
const objectsAtOnce = 500

// Upload brings large files to the remote, those that it lacks. ErrNoLFS, or
// a NetworkError with what git-lfs said.
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
