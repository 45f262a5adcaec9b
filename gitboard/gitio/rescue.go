package gitio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Whole returns nil when all commits, trees and files that a commit's history needs are here and
// hold what their ids say. A partial clone, which lacks some on purpose, is not asked.
func (r *Repo) Whole(ctx context.Context, commit git.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if filters, err := r.ConfigAll(ctx, "extensions.partialClone"); err != nil || len(filters) > 0 {
		return err
	}
	out, err := r.command("rev-list", "rev-list", "--objects", "--no-object-names", string(commit), "--").output(ctx)
	if err != nil {
		return err
	}
	// Git looks no further than whether there is a file for each of them. They are read beside whatever
	// else is read from the repository.
	reader := newBatch(r.command("cat-file", "cat-file", "--batch"))
	defer reader.close()
	for names := range slices.Chunk(splitLines(out), atOnce) {
		answers, err := reader.ask(ctx, names)
		if err != nil {
			return err
		}
		r.fromKept(ctx, names, answers)
		for i, answer := range answers {
			if answer.OID == "" {
				return &DamagedError{Commit: commit, Err: fmt.Errorf("%s can't be read", names[i])}
			}
		}
	}
	return nil
}

// atOnce is how many objects are held in memory at once.
const atOnce = 500

// damaged makes a DamagedError of the failure of a git that has died over a commit's history, if
// that is why it has.
func (r *Repo) damaged(ctx context.Context, commit git.OID, err error) error {
	if exitCode(err) != died {
		return err
	}
	whole := r.Whole(ctx, commit)
	if errors.As(whole, new(*DamagedError)) || exitCode(whole) > 0 {
		return &DamagedError{commit, err}
	}
	return err
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
	return moves(string(text)), err
}

// moves are the lines of a reflog, the newest first.
func moves(text string) []Moved {
	var all []Moved
	for line := range strings.Lines(text) {
		head, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 && git.OID(fields[1]).Valid() {
			all = append(all, Moved{git.OID(fields[1]), said})
		}
	}
	slices.Reverse(all)
	return all
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
