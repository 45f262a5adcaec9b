package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Size is the size of an object in bytes, uncompressed and without its header.
type Size struct {
	OID   plumbing.OID
	Type  plumbing.ObjectType
	Bytes int64
}

// Sizes returns the sizes of the objects reachable from to and not from from, trees and blobs
// included. A zero from excludes nothing. No content is read into this process's memory.
func (h History) Sizes(ctx context.Context, from, to plumbing.OID) ([]Size, error) {
	names, err := h.repo.revList(ctx, from, to, "--objects", "--no-object-names")
	if err != nil {
		return nil, err
	}
	sizes, err := h.SizesOf(ctx, names)
	for i, s := range sizes {
		if s.OID == "" {
			return nil, fmt.Errorf("the size of %s: %w", names[i], ErrNotFound)
		}
	}
	return sizes, err
}

// SizesOf returns the sizes of objects in the order of names, an empty Size for a missing object.
func (h History) SizesOf(ctx context.Context, names []string) ([]Size, error) {
	if len(names) == 0 {
		return nil, nil
	}
	out, err := h.repo.command("cat-file", "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)").
		Feed([]byte(strings.Join(names, "\n") + "\n")).Output(ctx)
	if err != nil {
		return nil, err
	}
	lines := child.Lines(out)
	if len(lines) != len(names) {
		return nil, fmt.Errorf("sizes: git cat-file answered %d lines to %d names", len(lines), len(names))
	}
	sizes := make([]Size, len(lines))
	for i, line := range lines {
		fields := strings.Fields(line)
		// A name that contains a space also gives three fields.
		if len(fields) != 3 || fields[2] == "missing" || fields[2] == "ambiguous" {
			continue
		}
		bytes, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the size of %s: %w", fields[0], err)
		}
		sizes[i] = Size{plumbing.OID(fields[0]), plumbing.ObjectType(fields[1]), bytes}
	}
	return sizes, nil
}
