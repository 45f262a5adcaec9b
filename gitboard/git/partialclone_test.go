package git

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestWorktreeOfAPartialClone checks that objects missing from a partial clone are fetched for a
// worktree, and that a silent server does not block that, a merge or a diff forever.
func TestWorktreeOfAPartialClone(t *testing.T) {
	testrun.NotShort(t)
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			ctx, there := scratch(t)
			old := commitFiles(t, ctx, there, map[string]string{"deep/b.txt": "old\n"}, must[plumbing.OID](t)(there.ResolveCommit(ctx, "HEAD")))
			last := commitFiles(t, ctx, there, map[string]string{"deep/b.txt": "new\n"}, old)
			native(t, there.TopLevel(), "update-ref", "HEAD", string(last))
			native(t, there.TopLevel(), "config", "uploadpack.allowFilter", "true")
			native(t, there.TopLevel(), "config", "uploadpack.allowAnySHA1InWant", "true")
			dir := filepath.Join(t.TempDir(), "partial")
			native(t, there.TopLevel(), "clone", "-q", "--filter="+filter, "file://"+there.TopLevel(), dir)
			native(t, dir, "config", "liza.networktimeout", "1")
			deaf := filepath.Join(t.TempDir(), "deaf")
			check(t, os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
			native(t, dir, "config", "remote.origin.uploadpack", deaf)
			r := open(t, ctx, dir)
			tree := filepath.Join(t.TempDir(), "tree")
			if err := r.Worktree(tree).Add(ctx, old); !errors.Is(err, ErrSilent) || !errors.As(err, new(*NetworkError)) {
				t.Errorf("the server says nothing, and the worktree ends with %v", err)
			}
			if _, _, err := r.History().MergeTree(ctx, old, last); !errors.Is(err, ErrSilent) {
				t.Errorf("the server says nothing, and the merge ends with %v", err)
			}
			if _, err := r.History().Diff(ctx, old, last); !errors.Is(err, ErrSilent) {
				t.Errorf("the server says nothing, and the diff ends with %v", err)
			}
			native(t, dir, "config", "--unset", "remote.origin.uploadpack")
			native(t, dir, "config", "--unset", "liza.networktimeout")
			native(t, dir, "config", "remote.elsewhere.url", t.TempDir())
			native(t, dir, "config", "remote.elsewhere.promisor", "yes")
			check(t, r.Worktree(tree).Add(ctx, old))
			if text, err := os.ReadFile(filepath.Join(tree, "deep", "b.txt")); string(text) != "old\n" || err != nil {
				t.Errorf("the worktree has %q: %v", text, err)
			}
		})
	}
}

// TestSnapshotInAPartialClone checks that a snapshot asks no server for the files that it is not
// about.
func TestSnapshotInAPartialClone(t *testing.T) {
	ctx, there := scratch(t)
	write(t, there, "deep/b.txt", "far away\n")
	head := commitAll(t, there, "second")
	native(t, there.TopLevel(), "config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "partial")
	native(t, there.TopLevel(), "clone", "-q", "--filter=blob:none", "--sparse", "file://"+there.TopLevel(), dir)
	native(t, dir, "config", "remote.origin.uploadpack", "false")
	r := open(t, ctx, dir)
	write(t, r, "new", "new\n")
	snap := func(which string) {
		t.Helper()
		id, err := r.Worktree(dir).Snapshot(ctx, "what was left", ada)
		if err != nil {
			t.Errorf("%s: %v", which, err)
		}
		if files := must[[]string](t)(r.History().ChangedFiles(ctx, head, id)); len(files) != 1 {
			t.Errorf("%s: it changes %v", which, files)
		}
	}
	snap("on its branch")
	native(t, dir, "update-ref", "-d", "HEAD")
	snap("without its branch")
	check(t, os.RemoveAll(filepath.Join(r.GitDir(), "logs")))
	snap("without a reflog")
}

// TestImports checks that go-git is used for object formats only: its ref writer does not respect
// git's lock files, and its storage supports neither worktrees nor fsync.
func TestImports(t *testing.T) {
	const goGit = "github.com/go-git/go-git/v5/"
	formats := []string{"plumbing", "plumbing/filemode"}
	for _, name := range must[[]string](t)(filepath.Glob("*.go")) {
		file := testrun.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly))(t)
		for _, spec := range file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if part, found := strings.CutPrefix(path+"/", goGit); found && !slices.Contains(formats, strings.TrimSuffix(part, "/")) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
