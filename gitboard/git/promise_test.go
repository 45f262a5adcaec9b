package git

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestImports checks that go-git is used for object formats only: its ref writer does not respect
// git's lock files, and its storage supports neither worktrees nor fsync.
func TestImports(t *testing.T) {
	const goGit = "github.com/go-git/go-git/v5/"
	formats := []string{"plumbing", "plumbing/object", "plumbing/filemode", "plumbing/format/config", "plumbing/format/objfile"}
	for _, name := range must[[]string](t)(filepath.Glob("*.go")) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		check(t, err)
		for _, spec := range file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if part, found := strings.CutPrefix(path+"/", goGit); found && !slices.Contains(formats, strings.TrimSuffix(part, "/")) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func TestStorageSentences(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "disk is full; make room", syscall.EDQUOT: "quota is used up", syscall.EROFS: "read-only", syscall.EBUSY: "a disk is mounted there; unmount it",
		syscall.EACCES: "read-only", syscall.EPERM: "read-only", syscall.ENOTDIR: "not a directory",
	} {
		err := storageError("/repo/.git", &fs.PathError{Op: "open", Path: "/repo/.git/x", Err: cause})
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/repo/.git") || !errors.Is(err, cause) {
			t.Errorf("%v: got %v", cause, err)
		}
	}
}
