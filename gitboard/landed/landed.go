// Package landed finds out from git alone whether a commit of integration has landed on another branch,
// as hosts land pull requests: by a merge, squashed, or rebased. It compares trees, so it never has
// to ask a host.
//
// It changes no ref, and depends on the commits alone.
//
// It may import gitboard/git and gitboard/git/plumbing.
package landed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Kind is how a commit has landed.
type Kind string

// The kinds of landings.
const (
	Open      Kind = ""          // it has not
	Merge     Kind = "merge"     // the branch contains the commit itself
	Squash    Kind = "squash"    // one commit brings all that it brings
	Rebase    Kind = "rebase"    // several commits bring it
	Contained Kind = "contained" // merging it would change nothing, but no commit brought just that
	Corrupt   Kind = "corrupt"   // a commit claims to land it, and has another tree
)

// HeadTrailer names, in the message of a pull request and of the commit that hosts make of it, the
// commit that lands.
const HeadTrailer = "Liza-Head"

// Landing is how a commit has landed on a branch.
type Landing struct {
	Kind Kind
	// From and To are the first and last commit of the branch that brought it; for Corrupt, the
	// commit that claims to. They are empty if Kind is Open, Merge or Contained.
	From, To plumbing.OID
}

// Done reports whether the branch has all of the commit.
func (l Landing) Done() bool { return l.Kind == Merge || l.Kind == Squash || l.Kind == Rebase }

// maxLine is how many commits of the branch are compared. On a branch that moved further since the
// fork, older landings are not recognized.
const maxLine = 2000

// Find returns how head has landed on the branch whose tip is base. It returns git.ErrNotFound if
// their histories are unrelated. A later revert does not undo a landing.
func Find(ctx context.Context, repo *git.Repo, base, head plumbing.OID) (Landing, error) {
	history := repo.History()
	if in, err := history.IsAncestor(ctx, head, base); in || err != nil {
		return Landing{Kind: kindIf(in, Merge)}, err
	}
	fork, err := history.MergeBase(ctx, base, head)
	if err != nil {
		return Landing{}, err
	}
	line, err := Line(ctx, repo, fork, base)
	if err != nil {
		return Landing{}, err
	}
	found, err := Along(ctx, repo, line, head)
	if err != nil || found.Kind != Open {
		return found, err
	}
	tip, err := commitOf(ctx, repo, base)
	if err != nil {
		return Landing{}, err
	}
	merged, clean, err := MergedTree(ctx, repo, base, head)
	return Landing{Kind: kindIf(clean && merged == tip.Tree, Contained)}, err
}

func kindIf(is bool, k Kind) Kind {
	if is {
		return k
	}
	return Open
}

// Line reads the first parents of a branch that its fork from another one lacks, oldest first.
func Line(ctx context.Context, repo *git.Repo, fork, base plumbing.OID) ([]plumbing.Commit, error) {
	oids, err := repo.History().RevList(ctx, fork, base)
	if err != nil {
		return nil, err
	}
	after := make(map[plumbing.OID]bool, len(oids))
	for _, oid := range oids {
		after[oid] = true
	}
	var line []plumbing.Commit
	for at := base; after[at] && len(line) < maxLine; {
		c, err := commitOf(ctx, repo, at)
		if err != nil {
			return nil, err
		}
		line, at = append(line, c), ""
		if len(c.Parents) > 0 {
			at = c.Parents[0]
		}
	}
	slices.Reverse(line)
	return line, nil
}

// Along looks for a squash or a rebase of head in a chain of first parents, oldest first.
func Along(ctx context.Context, repo *git.Repo, line []plumbing.Commit, head plumbing.OID) (Landing, error) {
	claims := plumbing.OID("")
	for i, first := range line {
		if n, err := Begins(ctx, repo, line[i:], head); err != nil {
			return Landing{}, err
		} else if n > 0 {
			kind := Squash
			if n > 1 {
				kind = Rebase
			}
			return Landing{kind, first.OID, line[i+n-1].OID}, nil
		}
		if Names(first.Message, head) {
			claims = first.OID
		}
	}
	if claims != "" {
		return Landing{Corrupt, claims, claims}, nil
	}
	return Landing{}, nil
}

// Begins returns how many commits at the beginning of a chain of first parents bring head, 0 if they
// don't: the last of them has the tree of a merge of head with the commit before the first, and that
// merge changes something.
func Begins(ctx context.Context, repo *git.Repo, line []plumbing.Commit, head plumbing.OID) (int, error) {
	if len(line[0].Parents) == 0 {
		return 0, nil
	}
	before, err := commitOf(ctx, repo, line[0].Parents[0])
	if err != nil {
		return 0, err
	}
	merged, clean, err := MergedTree(ctx, repo, before.OID, head)
	if err != nil || !clean || merged == before.Tree {
		return 0, err
	}
	return 1 + slices.IndexFunc(line, func(c plumbing.Commit) bool { return c.Tree == merged }), nil
}

// StandIn is a commit that stands for a branch where head landed on it in another form: it has the
// branch's tree, and head and the commit before the landing as parents. A merge of it into what was
// built on head brings only the branch's other changes. It is the same object for everybody.
func StandIn(tree, head, before plumbing.OID) plumbing.Object {
	who := plumbing.Signature{Name: "git liza", Email: "landed@liza", When: time.Unix(0, 0).UTC()}
	return plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree, Parents: []plumbing.OID{head, before}, Author: who, Committer: who, Message: "Stand-in\n"}))
}

// Newest returns the newest first parent of a branch that has landed in another form on a second
// one since, with its landing; Open if there is none. At most the given number of merges is tried, of
// the newest commits; 0 means all.
func Newest(ctx context.Context, repo *git.Repo, branch, on plumbing.OID, most int) (plumbing.OID, Landing, error) {
	fork, err := repo.History().MergeBase(ctx, branch, on)
	if err != nil {
		return "", Landing{}, err
	}
	line, err := Line(ctx, repo, fork, on)
	if err != nil || len(line) == 0 {
		return "", Landing{}, err
	}
	heads, err := Line(ctx, repo, on, branch)
	if err != nil {
		return "", Landing{}, err
	}
	if most > 0 {
		line = line[max(0, len(line)-most):]
		heads = heads[max(0, len(heads)-max(1, most/len(line))):]
	}
	for _, head := range slices.Backward(heads) {
		found, err := Along(ctx, repo, line, head.OID)
		if err != nil || found.Done() {
			return head.OID, found, err
		}
	}
	return "", Landing{}, nil
}

// Names reports whether a commit's message claims to land head.
func Names(message string, head plumbing.OID) bool {
	for line := range strings.Lines(message) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), HeadTrailer+":"); is && strings.TrimSpace(value) == string(head) {
			return true
		}
	}
	return false
}

// MergedTree is the tree of a merge; clean is false if there is a conflict.
func MergedTree(ctx context.Context, repo *git.Repo, ours, theirs plumbing.OID) (tree plumbing.OID, clean bool, err error) {
	tree, conflicts, err := repo.History().TryMerge(ctx, ours, theirs)
	return tree, err == nil && len(conflicts) == 0, err
}

func commitOf(ctx context.Context, repo *git.Repo, oid plumbing.OID) (plumbing.Commit, error) {
	o, err := repo.Object(ctx, string(oid))
	if errors.Is(err, git.ErrNotFound) {
		return plumbing.Commit{}, fmt.Errorf("the commit %s is missing: %w", oid.Short(), err)
	}
	if err != nil {
		return plumbing.Commit{}, err
	}
	return plumbing.DecodeCommit(o)
}
