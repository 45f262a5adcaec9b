package definition

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Files returns the distinct files in references to specs (path, optionally #anchor).
func Files(refs []string) []string {
	var files []string
	for _, ref := range refs {
		file, _, _ := strings.Cut(ref, "#")
		if file = path.Clean(filepath.ToSlash(file)); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// FileIn is the object of a file in a commit, "" if there is none.
func FileIn(ctx context.Context, repo *git.Repo, commit plumbing.OID, file string) (plumbing.OID, error) {
	oid, err := repo.History().FileOID(ctx, commit, file)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return oid, err
}

// Lacking describes the changes of a spec that integration lacks, committed here or not.
func Lacking(ctx context.Context, c *call.Call, spec string) ([]string, error) {
	file := Files([]string{spec})[0]
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Board.Repo().Worktrees(ctx)
	if err != nil || all[0].Bare { // then the project's root has no specs to edit
		return nil, err
	}
	root, err := c.Board.Root(ctx)
	if err != nil {
		return nil, err
	}
	here, err := c.Board.Repo().Worktree(root).Checkout(ctx)
	if err != nil {
		return nil, err
	}
	name, land := v.State.Config().IntegrationBranch, "git liza land --spec "+text.Quote(file)
	if slices.ContainsFunc(here.Dirty, func(e git.StatusEntry) bool { return e.Path == file }) {
		return []string{fmt.Sprintf("%s has changes that are not committed, and %s lacks them: a human commits them, then %s", file, name, land)}, nil
	}
	committed, err := FileIn(ctx, c.Board.Repo(), here.Head, file)
	if err != nil {
		return nil, err
	}
	landed, err := FileIn(ctx, c.Board.Repo(), tip, file)
	switch {
	case err != nil || landed != "" && (committed == landed || committed == ""):
		return nil, err
	case committed == "":
		return []string{fmt.Sprintf("%s is not a file in HEAD, and not in %s", file, name)}, nil
	}
	return []string{fmt.Sprintf("%s lacks %s as it is in HEAD: a human brings it there with %s", name, file, land)}, nil
}
