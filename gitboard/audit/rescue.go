package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Loss is a board that can't be read completely, and its repair. At most one of Past and Newest is set.
type Loss struct {
	At     plumbing.OID // the value of the board's ref; zero if it is missing, or names no object
	Past   string       // the missing object if the board itself can be read, and its history can't
	Newest plumbing.OID // the newest commit of the board that can be read
	From   string       // where Newest was found
	Lost   []string     // the known subjects of the operations after it, newest first
	Left   plumbing.OID // the newest remaining commit after it, zero for none

	broken *git.BrokenRefError // why the ref can't be read; nil if it can
}

// FindLoss checks whether the board's history is complete. It returns nil if it is, or if there
// never was a board.
func FindLoss(ctx context.Context, repo *git.Repo) (*Loss, error) {
	l := &Loss{}
	tip, err := repo.Ref(ctx, plumbing.BoardRef)
	if err != nil && !errors.As(err, &l.broken) {
		return nil, err
	}
	l.At = tip
	if l.broken != nil && plumbing.OID(l.broken.Text).Valid() {
		l.At = plumbing.OID(l.broken.Text)
	}
	if !tip.IsZero() {
		broken := wholeBoard(ctx, repo, tip)
		if broken == nil || !lacking(broken) {
			return nil, broken
		}
		switch err := readable(ctx, repo, tip); {
		case err == nil:
			l.Past, err = past(ctx, repo, tip, broken)
			return l, err
		case !lacking(err):
			return nil, err
		}
	}
	if err := l.search(ctx, repo); err != nil || l.broken == nil && l.At.IsZero() && l.Newest.IsZero() {
		return nil, err
	}
	return l, nil
}

// position is a commit that the board was at, or may have been at.
type position struct {
	commit plumbing.OID
	from   string
	said   string
}

// maxPositions limits the commits that are tried.
const maxPositions = 1000

// search looks for the newest commit that can be read: where the ref was, what was written
// recently, where plumbing.LastRef follows it, and where a remote has it.
func (l *Loss) search(ctx context.Context, repo *git.Repo) error {
	positions, err := positionsHere(ctx, repo)
	if err != nil {
		return err
	}
	refs, err := repo.Refs(ctx, plumbing.OwnPrefix+"remotes")
	if err != nil {
		return err
	}
	for _, r := range refs {
		if strings.HasSuffix(r.Name, "/state") {
			positions = append(positions, position{r.OID, r.Name, ""})
		}
	}
	if err := l.leaves(ctx, repo, l.At); err != nil {
		return err
	}
	tried := map[plumbing.OID]bool{}
	for _, p := range positions[:min(len(positions), maxPositions)] {
		if tried[p.commit] {
			continue
		}
		tried[p.commit] = true
		switch err := readable(ctx, repo, p.commit); {
		case err == nil:
			return l.latest(ctx, repo, p, positions)
		case !lacking(err):
			return err // it may be whole: an older one must not take its place
		}
		if err := l.leaves(ctx, repo, p.commit); err != nil {
			return err
		}
		if p.said != "" {
			l.Lost = append(l.Lost, p.said)
		}
	}
	return nil
}

// leaves sets Left to the newest commit of this repository that can't be read as a board.
func (l *Loss) leaves(ctx context.Context, repo *git.Repo, commit plumbing.OID) error {
	if commit.IsZero() || !l.Left.IsZero() {
		return nil
	}
	o, err := repo.Object(ctx, string(commit))
	if o.Type == plumbing.CommitObject {
		l.Left = commit
	}
	return unlessLacking(err)
}

// latest sets the newest commit that can be read: the one that was found, or one that follows it.
// Files that were copied may no longer show which of them was written last.
func (l *Loss) latest(ctx context.Context, repo *git.Repo, found position, positions []position) error {
	for _, p := range positions[:min(len(positions), maxPositions)] {
		if p.commit == found.commit {
			continue
		}
		follows, err := repo.History().IsAncestor(ctx, found.commit, p.commit)
		if follows {
			if err = readable(ctx, repo, p.commit); err == nil {
				found = p
			}
		}
		if unlessLacking(err) != nil {
			return err
		}
	}
	l.Newest, l.From = found.commit, found.from
	return nil
}

// positionsHere lists the commits that the board was at in this repository, newest first by each
// source.
func positionsHere(ctx context.Context, repo *git.Repo) ([]position, error) {
	moves, err := repo.Reflog(plumbing.BoardRef)
	if err != nil {
		return nil, err
	}
	var positions []position
	for _, m := range moves {
		positions = append(positions, position{m.To, "the reflog", m.Message})
	}
	for _, tip := range repo.Upkeep().KeptTips() {
		positions = append(positions, position{tip, "recently written objects", ""})
	}
	last, err := repo.Ref(ctx, plumbing.LastRef)
	if err != nil && !errors.As(err, new(*git.BrokenRefError)) {
		return nil, err
	}
	if !last.IsZero() {
		positions = append(positions, position{last, plumbing.LastRef, ""})
	}
	return positions, nil
}

// wholeBoard returns nil for a commit of a board whose history is complete.
func wholeBoard(ctx context.Context, repo *git.Repo, commit plumbing.OID) error {
	if err := repo.History().Whole(ctx, commit); err != nil {
		return err
	}
	return isBoard(ctx, repo, commit)
}

// readable returns nil for a commit of a board that can be read. Its history may be incomplete.
func readable(ctx context.Context, repo *git.Repo, commit plumbing.OID) error {
	if err := repo.History().WholeAlone(ctx, commit); err != nil {
		return err
	}
	return isBoard(ctx, repo, commit)
}

func isBoard(ctx context.Context, repo *git.Repo, commit plumbing.OID) error {
	_, err := repo.Object(ctx, string(commit)+":board.yaml")
	return err
}

// past describes the gap in the history of a board that can be read. why is git's message
// about it.
func past(ctx context.Context, repo *git.Repo, tip plumbing.OID, why error) (string, error) {
	n := 0
	for at := tip; !at.IsZero(); n++ {
		c, err := commitOf(ctx, repo, at)
		if lacking(err) {
			return fmt.Sprintf("it is cut off behind the newest %s, since %s is missing or damaged: what was before that can't be proven", text.Plural(n, "operation"), at.Short()), nil
		}
		if err != nil {
			return "", err
		}
		at = first(c)
	}
	return fmt.Sprintf("objects of it are missing or damaged, so it can't be proven: %v", why), nil
}

// Repair restores the board.
func (l *Loss) Repair(ctx context.Context, repo *git.Repo) error {
	switch {
	case l.Past != "":
		return errors.New("the missing part of the board's history isn't in this clone")
	case !l.Newest.IsZero():
		return l.setBack(ctx, repo)
	}
	return errors.New("nothing of the board is left here")
}

// setBack moves the board to the newest commit that can be read. What is left of a later one is
// kept under plumbing.LostRef.
func (l *Loss) setBack(ctx context.Context, repo *git.Repo) error {
	var updates []plumbing.RefUpdate
	if !l.Left.IsZero() {
		kept, err := repo.Ref(ctx, plumbing.LostRef(l.Left))
		if err != nil {
			return err
		}
		if kept.IsZero() {
			updates = append(updates, plumbing.RefUpdate{Ref: plumbing.LostRef(l.Left), New: l.Left})
		}
	}
	const why = "git liza: doctor, the newest that can be read"
	if l.broken == nil {
		return repo.UpdateRefs(ctx, append(updates, plumbing.RefUpdate{Ref: plumbing.BoardRef, Old: l.At, New: l.Newest}), why)
	}
	if err := repo.UpdateRefs(ctx, updates, why); err != nil {
		return err
	}
	return repo.ReplaceBroken(ctx, l.broken, l.Newest) // git updates no ref that it can't read
}

// LacksObjects reports whether objects are missing that another repository may have.
func (l *Loss) LacksObjects() bool {
	return !l.At.IsZero() || len(l.Lost) > 0
}

// Repairable reports whether Repair can move the board's ref to another commit. Operations may be
// lost by that, so it is a human's decision.
func (l *Loss) Repairable() bool { return !l.Newest.IsZero() }

// String describes the loss in one sentence.
func (l *Loss) String() string {
	what := l.Damage()
	switch {
	case l.Past != "":
		return what
	case l.Newest.IsZero():
		return what + ", and no whole board is left here"
	}
	what += fmt.Sprintf("; the newest that can be read is %s, from %s", l.Newest.Short(), l.From)
	if len(l.Lost) > 0 {
		what += fmt.Sprintf("; it lacks %s: %s", text.Plural(len(l.Lost), "operation"), strings.Join(l.Lost, "; "))
	}
	if !l.Left.IsZero() {
		what += fmt.Sprintf("; the rest of the later ones stays under %s", plumbing.LostRef(l.Left))
	}
	return what
}

// Damage describes what is wrong, without what can be done about it.
func (l *Loss) Damage() string {
	switch {
	case l.Past != "":
		return fmt.Sprintf("the board at %s can be read, and not all of its history: %s", l.At.Short(), l.Past)
	case l.At.IsZero() && l.broken != nil:
		return l.broken.Error()
	case l.At.IsZero():
		return "the branch " + plumbing.BranchName(plumbing.BoardRef) + " has gone"
	}
	return fmt.Sprintf("the board at %s can't be read: objects of it are missing or damaged", l.At.Short())
}
