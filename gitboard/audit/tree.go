package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

// most limits the differing files that a finding names.
const most = 20

// treeDifference describes in which files a tree differs from the one that an operation results in.
func (p *replay) treeDifference(ctx context.Context, got plumbing.OID, want *log.Result) (string, error) {
	tree, err := log.ReadTree(ctx, p.store, got)
	if damaged(err) {
		return "it can't be read: " + err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	wanted, err := want.Tree.Files()
	if err != nil {
		return "", err
	}
	there, err := tree.Files()
	if damaged(err) {
		return "it can't be read: " + err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	made := map[plumbing.OID][]byte{}
	for _, o := range want.Objects() {
		made[o.OID] = o.Data
	}
	paths := differing(wanted, there)
	var texts []string
	for _, path := range paths[:min(most, len(paths))] {
		text, err := p.fileDifference(ctx, wanted[path], there[path], made)
		if err != nil {
			return "", err
		}
		texts = append(texts, path+" "+text)
	}
	switch {
	case len(paths) == 0:
		return "the same files in other bytes", nil
	case len(paths) > most:
		texts = append(texts, fmt.Sprintf("and %d more", len(paths)-most))
	}
	return strings.Join(texts, "; "), nil
}

// differing lists the paths at which two trees differ, sorted.
func differing(a, b map[string]plumbing.TreeEntry) []string {
	paths := map[string]bool{}
	for path, e := range a {
		if b[path] != e {
			paths[path] = true
		}
	}
	for path, e := range b {
		if a[path] != e {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

func (p *replay) fileDifference(ctx context.Context, want, got plumbing.TreeEntry, made map[plumbing.OID][]byte) (string, error) {
	switch {
	case got.OID == "":
		return "is missing", nil
	case want.OID == "":
		return "should not be there", nil
	case want.Mode != got.Mode:
		return fmt.Sprintf("has the mode %s, not %s", got.Mode, want.Mode), nil
	}
	old, known := made[want.OID]
	if !known {
		o, err := p.store.Object(ctx, string(want.OID))
		if err != nil && !damaged(err) {
			return "", err
		}
		old = o.Data
	}
	o, err := p.store.Object(ctx, string(got.OID))
	if damaged(err) {
		return "lacks its content", nil
	}
	if err != nil {
		return "", err
	}
	return "differs: " + difference(string(o.Data), string(old)), err
}

// damaged reports whether a read failed because an object is missing or malformed.
func damaged(err error) bool {
	if err == nil {
		return false
	}
	var failed *git.CommandError
	return errors.Is(err, git.ErrNotFound) || !errors.As(err, &failed) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, git.ErrClosed)
}

// difference shows the first line in which a text differs from the expected one.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return fmt.Sprintf("line %d, %s, is missing", i+1, quote(w[i]))
		case i >= len(w):
			return fmt.Sprintf("line %d, %s, should not be there", i+1, quote(g[i]))
		case g[i] != w[i]:
			return fmt.Sprintf("line %d is %s, and should be %s", i+1, quote(g[i]), quote(w[i]))
		}
	}
	return "nothing"
}

func quote(line string) string { return fmt.Sprintf("%q", text.Line(line, 100)) }
