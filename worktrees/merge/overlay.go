package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// overlay makes trees that consist of one tree with some files of another.
type overlay struct {
	repo    *git.Repo
	written []plumbing.Object
}

// file returns the entry of a commit at a path. It is a refusal if there is no file.
func (o *overlay) file(ctx context.Context, commit plumbing.OID, path string) (plumbing.TreeEntry, error) {
	tree, err := o.treeOf(ctx, commit)
	if err != nil {
		return plumbing.TreeEntry{}, err
	}
	parts := strings.Split(path, "/")
	for i, name := range parts {
		entries, err := o.entries(ctx, tree)
		if err != nil {
			return plumbing.TreeEntry{}, err
		}
		at := slices.IndexFunc(entries, func(e plumbing.TreeEntry) bool { return e.Name == name })
		switch {
		case at < 0:
		case entries[at].Mode == filemode.Dir:
			tree = entries[at].OID
			continue
		case i == len(parts)-1 && entries[at].Mode.IsFile():
			return entries[at], nil
		}
		break
	}
	return plumbing.TreeEntry{}, board.Refuse(board.CodeInvalid, fmt.Sprintf("%s has no file %q", commit.Short(), text.Line(path, 80)), "paths count from the project's root; commit it first, or name the commit that has it: --from COMMIT")
}

func (o *overlay) treeOf(ctx context.Context, commit plumbing.OID) (plumbing.OID, error) {
	tree, err := o.repo.Object(ctx, string(commit)+"^{tree}")
	return tree.OID, err
}

func (o *overlay) entries(ctx context.Context, tree plumbing.OID) ([]plumbing.TreeEntry, error) {
	for _, made := range o.written {
		if made.OID == tree {
			return plumbing.DecodeTree(made.Data)
		}
	}
	object, err := o.repo.Object(ctx, string(tree))
	if err != nil {
		return nil, err
	}
	return plumbing.DecodeTree(object.Data)
}

// put returns a tree with a file at a path; a zero tree is an empty one.
func (o *overlay) put(ctx context.Context, tree plumbing.OID, path string, file plumbing.TreeEntry) (plumbing.OID, error) {
	with, made, err := plumbing.PutFile(tree, path, file, func(tree plumbing.OID) ([]plumbing.TreeEntry, error) { return o.entries(ctx, tree) })
	o.written = append(o.written, made...)
	return with, err
}
