package worktrees

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// brokenRefs looks for refs of git liza's that lead to no object, and reports those that hold back
// everything else: integration, leases, the attic, and this clone's records of a remote. The others
// are reported with their tasks.
func (d *diagnosis) brokenRefs(ctx context.Context) error {
	places := []string{plumbing.OwnPrefix, plumbing.BoardPrefix, plumbing.BranchRef(d.v.State.TaskBranches().Dir()), d.v.IntegrationRef()}
	people := "" // where people see the remote's integration
	if remote := d.b.Remote(); remote != "" {
		people = plumbing.RemoteRef(remote, d.v.IntegrationRef())
		places = append(places, people)
	}
	broken, err := d.repo.BrokenRefs().List(ctx, places...)
	if err != nil {
		return err
	}
	for _, b := range broken {
		if b.Ref == plumbing.BoardRef {
			continue // the whole board is restored first
		}
		d.unread[b.Ref] = b
	}
	for _, b := range broken {
		var err error
		switch {
		case b.Ref == d.v.IntegrationRef():
			err = d.brokenIntegration(ctx, b)
		case b.Ref == plumbing.HomeRef && d.b.Remote() == "":
			err = d.brokenHome(ctx, b)
		case b.Ref == plumbing.LastRef:
			d.brokenLast(b)
		case b.Ref == plumbing.LandedRef:
			d.brokenCopy(b, "; the next landing makes it again")
		case strings.HasPrefix(b.Ref, plumbing.LeasePrefix):
			d.brokenLease(b)
		case strings.HasPrefix(b.Ref, plumbing.AtticPrefix):
			err = d.brokenAttic(ctx, b)
		case b.Ref == plumbing.HomeRef, b.Ref == people, strings.HasPrefix(b.Ref, plumbing.OwnPrefix+"remotes/"), strings.HasPrefix(b.Ref, plumbing.ProbePrefix):
			d.brokenCopy(b, "; the next sync brings back what is needed of it")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restRefs reports the remaining broken refs.
func (d *diagnosis) restRefs(ctx context.Context) error {
	tasks := d.v.State.TaskBranches()
	for _, b := range sortedRefs(d.unread) {
		if id, is := tasks.Task(plumbing.BranchName(b.Ref)); is {
			if t := d.v.State.Task(id); t != nil {
				if err := d.broken(ctx, t, b.Ref, b); err != nil {
					return err
				}
				continue
			}
		}
		p := Problem{Kind: BrokenRef, Text: b.Error(), Hint: d.byHand(b)}
		if to, err := d.begunBy(ctx, b.Text); err != nil {
			return err
		} else if !to.IsZero() {
			p.Text, p.Hint = p.Text+"; one commit begins so, "+to.Short(), ""
			p.Fix = func(ctx context.Context) error { return d.repo.BrokenRefs().Replace(ctx, b, to) }
		}
		d.report(b, p)
	}
	return d.v.State.Err()
}

func sortedRefs(all map[string]*git.BrokenRefError) []*git.BrokenRefError {
	var list []*git.BrokenRefError
	for _, b := range all {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *git.BrokenRefError) int { return strings.Compare(a.Ref, b.Ref) })
	return list
}

// report adds a problem of a broken ref.
func (d *diagnosis) report(b *git.BrokenRefError, p Problem) {
	delete(d.unread, b.Ref)
	d.reported[b.Ref] = true
	p.Ref = b.Ref
	d.add(p)
}

// isReported reports whether an error is that of a broken ref that was reported.
func (d *diagnosis) isReported(err error) bool {
	b := (*git.BrokenRefError)(nil)
	return errors.As(err, &b) && d.reported[b.Ref]
}

// byHand is the advice for a person about a ref without proof.
func (d *diagnosis) byHand(b *git.BrokenRefError) string {
	return fmt.Sprintf("nothing here says where it was; a human who knows its commit writes the full id into %s; git fsck --no-reflogs lists commits that no ref holds",
		filepath.Join(d.repo.CommonDir(), filepath.FromSlash(b.Ref)))
}

// brokenIntegration finds the newest commit of integration: the one that contains what the board
// proves, what the remote has, and its last place in the reflog. What it doesn't contain goes to
// the attic.
func (d *diagnosis) brokenIntegration(ctx context.Context, b *git.BrokenRefError) error {
	proven, err := d.v.ProvenIntegration(ctx)
	if err != nil {
		return err
	}
	known := []plumbing.OID{proven.Commit}
	if d.b.Remote() != "" {
		at, err := d.repo.Ref(ctx, plumbing.TrackingRef(d.b.Remote(), "integration"))
		if err != nil && !errors.As(err, new(*git.BrokenRefError)) {
			return err
		}
		known = append(known, at)
	}
	cut, err := d.begunBy(ctx, b.Text)
	if err != nil {
		return err
	}
	moves, err := d.repo.Reflog(b.Ref)
	if err != nil {
		return err
	}
	known = append(known, cut)
	for _, m := range moves[:min(len(moves), maxMoves)] {
		known = append(known, m.To)
	}
	to, beside, err := d.newest(ctx, known)
	if err != nil {
		return err
	}
	if to.IsZero() {
		d.report(b, Problem{Kind: BrokenRef, Text: b.Error(), Hint: d.byHand(b)})
		return nil
	}
	text := fmt.Sprintf("%s; the newest commit that it is known to have been at is %s", b, to.Short())
	if len(beside) > 0 {
		text += fmt.Sprintf(", and what that does not contain goes to the attic: %s", listed(shorts(beside)))
	}
	d.report(b, Problem{Kind: BrokenRef, Text: text, Fix: func(ctx context.Context) error {
		if err := d.keepBeside(ctx, beside); err != nil {
			return err
		}
		return d.repo.BrokenRefs().Replace(ctx, b, to)
	}})
	return nil
}

// maxMoves is how many entries of integration's reflog are looked at. Git keeps the older entries.
const maxMoves = 200

// newest returns the first of the commits, or the one after it that contains it and so on, and
// those that the result doesn't contain. Missing commits are left out.
func (d *diagnosis) newest(ctx context.Context, commits []plumbing.OID) (to plumbing.OID, beside []plumbing.OID, err error) {
	var here []plumbing.OID
	for _, c := range commits {
		if slices.Contains(here, c) || c.IsZero() {
			continue
		}
		is, err := d.has(ctx, string(c))
		if err != nil {
			return "", nil, err
		}
		if is {
			here = append(here, c)
		}
	}
	if len(here) == 0 {
		return plumbing.ZeroOID, nil, nil
	}
	to = here[0]
	for _, c := range here[1:] {
		if after, err := d.contains(ctx, c, to); err != nil {
			return "", nil, err
		} else if after {
			to = c
		}
	}
	holders := []plumbing.OID{to}
	for _, c := range here {
		held := false
		for _, h := range holders {
			if held, err = d.contains(ctx, h, c); held || err != nil {
				break
			}
		}
		if err != nil {
			return "", nil, err
		}
		if !held {
			holders, beside = append(holders, c), append(beside, c)
		}
	}
	return to, beside, nil
}

// contains reports whether a commit contains another, false if its history can't be read.
func (d *diagnosis) contains(ctx context.Context, commit, other plumbing.OID) (bool, error) {
	is, err := d.repo.History().IsAncestor(ctx, other, commit) // false with an error
	if cutShort(err) {
		return false, err
	}
	return is, nil
}

// integrationAttic is the name under which the attic keeps commits that were taken off integration.
const integrationAttic = "integration"

func (d *diagnosis) keepBeside(ctx context.Context, commits []plumbing.OID) error {
	attic, err := d.attic(ctx, integrationAttic)
	if err != nil {
		return err
	}
	var refs []plumbing.RefUpdate
	for _, c := range commits {
		if !slices.Contains(attic.commits, c) {
			refs = append(refs, plumbing.RefUpdate{Ref: plumbing.AtticRef(integrationAttic, attic.next+len(refs)), New: c})
		}
	}
	return d.repo.UpdateRefs(ctx, refs, "git liza: doctor, what integration was at")
}

func shorts(commits []plumbing.OID) []string {
	list := make([]string, len(commits))
	for i, c := range commits {
		list[i] = c.Short()
	}
	return list
}

// begunBy returns the one commit here whose id begins with the text of a ref that was cut off, zero
// if there is none.
func (d *diagnosis) begunBy(ctx context.Context, text string) (plumbing.OID, error) {
	const shortest = 10
	if len(text) < shortest || strings.Trim(text, "0123456789abcdef") != "" {
		return plumbing.ZeroOID, nil
	}
	o, err := d.repo.Object(ctx, text)
	if errors.Is(err, git.ErrNotFound) || err == nil && o.Type != plumbing.CommitObject {
		return plumbing.ZeroOID, nil
	}
	return o.OID, err
}

// boardRoot returns the board's first commit.
func (d *diagnosis) boardRoot(ctx context.Context) (plumbing.OID, error) {
	commits, err := d.b.Log().Store().Log(ctx, plumbing.ZeroOID, d.v.Commit)
	if err != nil {
		return "", err
	}
	return commits[0].OID, nil
}

func (d *diagnosis) brokenHome(ctx context.Context, b *git.BrokenRefError) error {
	root, err := d.boardRoot(ctx)
	if errors.As(err, new(*git.DamagedError)) {
		d.report(b, Problem{Kind: BrokenRef, Text: b.Error(), Hint: historyFirst})
		return nil
	}
	if err != nil {
		return err
	}
	d.report(b, Problem{
		Kind: BrokenRef, Text: fmt.Sprintf("%s; the board began at %s", b, root.Short()),
		Fix: func(ctx context.Context) error { return d.repo.BrokenRefs().Replace(ctx, b, root) },
	})
	return nil
}

// historyFirst is the hint if only the board's history shows where it began, and is not whole.
const historyFirst = "bring back the board's history first: it shows where the board began"

// brokenLast reports the ref that only follows the board.
func (d *diagnosis) brokenLast(b *git.BrokenRefError) {
	d.report(b, Problem{
		Kind: BrokenRef, Text: fmt.Sprintf("%s; it follows the board, which is at %s", b, d.v.Commit.Short()),
		Fix: func(ctx context.Context) error { return d.repo.BrokenRefs().Replace(ctx, b, d.v.Commit) },
	})
}

// missingHome checks whether plumbing.HomeRef is missing where the board was decided. Then others can't
// join it, and take it for a copy.
func (d *diagnosis) missingHome(ctx context.Context) error {
	if lost, err := d.b.Sharing().HomeLost(ctx); !lost {
		return err
	}
	root, err := d.boardRoot(ctx)
	if errors.As(err, new(*git.DamagedError)) {
		d.add(Problem{Kind: MissingHome, Text: plumbing.HomeRef + " is missing, without which the board counts as a copy that nobody joins", Hint: historyFirst})
		return nil
	}
	if err != nil {
		return err
	}
	d.add(Problem{
		Kind: MissingHome, Text: fmt.Sprintf("agents have leases of the board here, and %s is missing, without which the board counts as a copy that nobody joins; it began at %s", plumbing.HomeRef, root.Short()),
		Human: true,
		Fix: func(ctx context.Context) error {
			return d.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, New: root}}, "git liza: doctor, the board's home")
		},
	})
	return nil
}

// brokenCopy reports a ref that only repeats what the remote has.
func (d *diagnosis) brokenCopy(b *git.BrokenRefError, then string) {
	d.report(b, Problem{Kind: BrokenRef, Text: b.Error() + then, Fix: func(ctx context.Context) error {
		root, err := d.boardRoot(ctx)
		if err != nil {
			return err
		}
		if err := d.repo.BrokenRefs().Delete(ctx, b, root); !errors.Is(err, git.ErrRefMoved) {
			return err
		}
		return nil // somebody has deleted or restored it
	}})
}

// brokenLease reports a lease that nobody could read, renew or take.
func (d *diagnosis) brokenLease(b *git.BrokenRefError) {
	if d.b.Remote() != "" {
		d.brokenCopy(b, "; the remote has that lease, and the next sync brings it here")
		return
	}
	d.report(b, Problem{
		Kind: BrokenRef, Text: b.Error() + "; who has that lease can't be known, so it counts as expired",
		Fix: func(ctx context.Context) error {
			none := plumbing.NewObject(plumbing.BlobObject, []byte("not a lease\n"))
			if err := d.repo.WriteObjects(ctx, []plumbing.Object{none}); err != nil {
				return err
			}
			return d.repo.BrokenRefs().Replace(ctx, b, none.OID)
		},
	})
}

// brokenAttic restores kept work to its ref: the commit whose id begins with the rest of the ref's
// content, else work that was kept by the board's account and that no other ref of the attic holds.
func (d *diagnosis) brokenAttic(ctx context.Context, b *git.BrokenRefError) error {
	id, _, _ := strings.Cut(strings.TrimPrefix(b.Ref, plumbing.AtticPrefix), "/")
	to, err := d.begunBy(ctx, b.Text)
	if err != nil {
		return err
	}
	if t := d.v.State.Task(id); to.IsZero() && t != nil {
		if to, err = d.lostKept(ctx, t); err != nil {
			return err
		}
	}
	if to.IsZero() {
		return d.v.State.Err() // reported with the refs without proof
	}
	d.kept[to] = true
	d.report(b, Problem{
		Kind: BrokenRef, Task: id, Text: fmt.Sprintf("%s; the work that it kept is %s", b, to.Short()),
		Fix: func(ctx context.Context) error { return d.repo.BrokenRefs().Replace(ctx, b, to) },
	})
	return nil
}

// lostKept returns the newest work of a task that was kept according to the board, exists in this
// clone, and that no ref of the attic holds; zero if there is none.
func (d *diagnosis) lostKept(ctx context.Context, t *board.Task) (plumbing.OID, error) {
	attic, err := d.attic(ctx, t.ID)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(t.History) {
		commit := plumbing.OID(e.Kept)
		if d.kept[commit] || slices.Contains(attic.commits, commit) {
			continue
		}
		here, err := d.has(ctx, e.Kept)
		if err != nil {
			return "", err
		}
		if here {
			return commit, nil
		}
	}
	return plumbing.ZeroOID, nil
}
