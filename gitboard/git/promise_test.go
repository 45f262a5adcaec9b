package git

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
