package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
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
		text, err := p.fileDifference(ctx, path, wanted[path], there[path], made)
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

func (p *replay) fileDifference(ctx context.Context, path string, want, got plumbing.TreeEntry, made map[plumbing.OID][]byte) (string, error) {
	switch {
	case got.OID == "":
		return "is missing", nil
	case want.OID == "":
		text := "should not be there"
		if broken, err := p.unreadable(ctx, path, got); broken != "" || err != nil {
			return text + ", and " + broken, err
		}
		return text, nil
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
	text := "differs: " + difference(string(o.Data), string(old))
	broken, err := p.unreadable(ctx, path, got)
	if broken != "" {
		text += "; it " + broken
	}
	return text, err
}

// unreadable is the reason why a file of the tree is not a valid record; "" if it is valid, or if
// no record belongs at its path.
func (p *replay) unreadable(ctx context.Context, path string, e plumbing.TreeEntry) (string, error) {
	if board.NewRecord(path) == nil {
		return "", nil
	}
	_, broken, err := p.record(ctx, path, e)
	return broken, err
}

func (p *replay) record(ctx context.Context, path string, e plumbing.TreeEntry) (r any, broken string, err error) {
	if e.Mode != filemode.Regular {
		return nil, "is not a plain file", nil
	}
	o, err := p.store.Object(ctx, string(e.OID))
	if damaged(err) {
		return nil, "lacks its content", nil
	}
	if err != nil {
		return nil, "", err
	}
	r, err = codec.Decode(path, o.Data)
	var bad *codec.Error
	if errors.As(err, &bad) {
		return nil, "can't be read: " + bad.Err.Error(), nil
	}
	if t, ok := r.(*board.Task); ok && !board.Holds(path, t) {
		return nil, "holds the task " + t.ID, nil
	}
	return r, "", err
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

// adopt makes a commit's own tree the board for the rest of the replay. A record that can't be read
// keeps its previous content; it is returned as text and reported once.
func (p *replay) adopt(ctx context.Context, c plumbing.Commit) (broken []string, err error) {
	p.state = board.NewState(p.memory, board.At(c.Author.When))
	tree, err := log.ReadTree(ctx, p.store, c.Tree)
	if damaged(err) {
		return []string{"its tree can't be read: " + err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	was, _ := p.tree.Files() // its objects were read or made before
	is, err := tree.Files()
	if damaged(err) {
		return []string{"its tree can't be read: " + err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	changed := board.NewState(nil, "")
	for _, path := range differing(was, is) {
		if board.NewRecord(path) == nil {
			continue
		}
		if is[path].OID == "" {
			changed.Changes()[path] = nil
			delete(p.written, path)
			continue
		}
		r, why, err := p.record(ctx, path, is[path])
		if err != nil {
			return nil, err
		}
		if why != "" {
			broken = append(broken, path+" "+why)
			continue
		}
		changed.Changes()[path] = r
		delete(p.written, path)
	}
	p.memory.Absorb(changed)
	p.tree = tree
	return broken, nil
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
