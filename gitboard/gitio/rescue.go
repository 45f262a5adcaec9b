package gitio

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Whole returns nil when all commits, trees and files that a commit's history needs are here, and those of the commit
// itself can be read. A partial clone, which lacks some on purpose, is not asked.
func (r *Repo) Whole(ctx context.Context, commit git.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if filters, err := r.ConfigAll(ctx, "extensions.partialClone"); err != nil || len(filters) > 0 {
		return err
	}
	return runAll(ctx,
		r.command("rev-list", "rev-list", "--quiet", "--verify-objects", "--no-walk", string(commit), "--"),
		r.command("rev-list", "rev-list", "--quiet", "--objects", string(commit), "--"),
	)
}

// Moved is one move of a ref as its reflog has it.
type Moved struct {
	To   git.OID
	Said string // the line that the mover gave
}

// Reflog returns the moves of a ref, the newest first; none where there is no reflog. It reads the file: git stops
// at a value whose object is missing.
func (r *Repo) Reflog(ref string) ([]Moved, error) {
	text, err := os.ReadFile(filepath.Join(r.common, "logs", filepath.FromSlash(ref)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var all []Moved
	for line := range strings.Lines(string(text)) {
		head, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 && git.OID(fields[1]).Valid() {
			all = append(all, Moved{git.OID(fields[1]), said})
		}
	}
	slices.Reverse(all)
	return all, err
}

// KeptTips returns the commits that refs were moved to lately, the newest first, as far as they are still kept.
func (r *Repo) KeptTips() []git.OID {
	var tips []git.OID
	for _, k := range r.allKept() {
		for _, o := range k.objects {
			if o.Type == git.CommitObject && k.isTip() {
				tips = append(tips, o.OID)
			}
		}
	}
	return tips
}
