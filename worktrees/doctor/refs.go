package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// brokenRefs looks for refs of git liza's that lead to no object. A power cut can leave a ref empty
// that an agent's commit or a fetch moved: git does not flush those.
func (d *diagnosis) brokenRefs(ctx context.Context) error {
	tasks := d.v.State.TaskBranches()
	fetched := plumbing.OwnPrefix + "remotes/"
	places := []string{plumbing.OwnPrefix, plumbing.BoardPrefix, plumbing.BranchRef(tasks.Dir()), d.v.IntegrationRef()}
	people := "" // where people see the remote's integration
	if remote := d.b.Remote(); remote != "" {
		people = plumbing.RemoteRef(remote, d.v.IntegrationRef())
		places = append(places, people)
	}
	broken, err := d.repo.BrokenRefs(ctx, places...)
	if err != nil {
		return err
	}
	for _, b := range broken {
		if b.Ref == plumbing.BoardRef {
			continue // the whole board is restored first
		}
		p := Problem{Kind: BrokenRef, Ref: b.Ref, Text: b.Error()}
		id, _ := tasks.Task(plumbing.BranchName(b.Ref))
		if t := d.v.State.Task(id); t != nil {
			err = d.brokenBranch(ctx, t, b, &p)
		} else if b.Ref == people || strings.HasPrefix(b.Ref, fetched) {
			p.Text += "; the next sync fetches it"
			p.Fix = func(ctx context.Context) error { return d.dropCopy(ctx, b) }
		} else {
			p.Hint = d.byHand(b)
		}
		if err != nil {
			return err
		}
		d.reported[b.Ref] = true
		d.add(p)
	}
	return d.v.State.Err()
}

// byHand is the advice for a person about a broken ref.
func (d *diagnosis) byHand(b *git.BrokenRefError) string {
	file := text.Quote(filepath.Join(d.repo.CommonDir(), filepath.FromSlash(b.Ref)))
	reflog := text.Quote(filepath.Join(d.repo.CommonDir(), "logs", filepath.FromSlash(b.Ref)))
	switch remote := d.b.Remote(); {
	case strings.HasPrefix(b.Ref, plumbing.LeasePrefix) && remote == "":
		return "rm " + file + ": the lease counts as expired then"
	case remote != "" && !strings.HasPrefix(b.Ref, plumbing.AtticPrefix) && b.Ref != plumbing.LastRef: // no remote has those
		return fmt.Sprintf("rm %s, then git liza sync fetches it if %s has it", file, remote)
	}
	return fmt.Sprintf("tail -1 %s names its last commit, git fsck --no-reflogs lists those that no ref holds; then a human writes it: echo ID >%s", reflog, file)
}

// dropCopy deletes a broken ref that only repeats a ref of the remote.
func (d *diagnosis) dropCopy(ctx context.Context, b *git.BrokenRefError) error {
	if err := d.repo.ReplaceBroken(ctx, b, plumbing.ZeroOID); !errors.Is(err, git.ErrRefMoved) {
		return err
	}
	return nil // somebody has deleted or restored it
}

// brokenBranch finds the last commit of a task's branch that leads to no object.
func (d *diagnosis) brokenBranch(ctx context.Context, t *board.Task, b *git.BrokenRefError, p *Problem) error {
	p.Task = t.ID
	to, from, err := d.lastOf(ctx, t)
	if err != nil {
		return err
	}
	if to.IsZero() {
		p.Hint = "none of its commits is in this clone: bring " + d.v.TaskBranch(t.ID) + " back from where it is"
		return nil
	}
	p.Text += fmt.Sprintf("; %s it was at %s", from, to.Short())
	p.Fix = func(ctx context.Context) error { return d.repo.ReplaceBroken(ctx, b, to) }
	return nil
}

// lastOf finds the newest existing commit of a task's branch, and its source: the reflog of the
// branch, else the board. It is zero if there is none.
func (d *diagnosis) lastOf(ctx context.Context, t *board.Task) (at plumbing.OID, from string, err error) {
	moves, err := d.repo.Reflog(d.v.TaskRef(t.ID))
	if err != nil {
		return "", "", err
	}
	for _, m := range moves {
		if here, err := d.Has(ctx, string(m.To)); here || err != nil {
			return m.To, "by its reflog", err
		}
	}
	known, err := d.KnownWork(ctx, t)
	return known.OrZero(), "on the board", err
}

// missingHome checks whether plumbing.HomeRef is missing where the board was decided. Then others
// can't join it, and take it for a copy.
func (d *diagnosis) missingHome(ctx context.Context) error {
	lost, err := d.b.Sharing().HomeLost(ctx)
	if lost {
		d.add(Problem{
			Kind: MissingHome, Text: fmt.Sprintf("agents have leases of the board here, and %s is missing, without which the board counts as a copy that nobody joins", plumbing.HomeRef),
			Hint: fmt.Sprintf("git update-ref %s $(git rev-list --max-parents=0 %s)", plumbing.HomeRef, plumbing.BranchName(plumbing.BoardRef)),
		})
	}
	return err
}

// submissions looks for submission refs that differ from the board, for submissions that can't land,
// and for kept work that no ref holds.
func (d *diagnosis) submissions(ctx context.Context) error {
	refs, err := d.repo.Refs(ctx, plumbing.AsBranch(plumbing.ReviewPrefix), plumbing.ReviewPrefix, plumbing.AtticPrefix)
	if err != nil {
		return err
	}
	at, held := map[string]plumbing.OID{}, map[plumbing.OID]bool{}
	for _, r := range refs {
		at[plumbing.FromBranch(r.Name)], held[r.OID] = r.OID, true // a remote may accept only branches
	}
	for _, b := range d.v.State.Tasks() {
		t := d.v.State.Task(b.ID)
		if t == nil {
			return d.v.State.Err()
		}
		for i, e := range t.Submitted() {
			ref := plumbing.ReviewRef(t.ID, i+1)
			if now := at[ref]; now != plumbing.OID(e.Commit) && !d.reported[ref] {
				d.lostSubmission(t, ref, plumbing.OID(e.Commit), now)
			}
		}
		if err := d.incomplete(ctx, t); err != nil {
			return err
		}
		for _, e := range t.History {
			if commit := plumbing.OID(e.Kept); commit != "" && !held[commit] && d.b.Remote() == "" { // another clone may keep it
				if err := d.lostFromAttic(ctx, t, commit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lostSubmission reports a submission's ref that is missing, or at another commit.
func (d *diagnosis) lostSubmission(t *board.Task, ref string, commit, now plumbing.OID) {
	p := Problem{Kind: LostSubmission, Task: t.ID, Text: fmt.Sprintf("%s was submitted at %s, and %s is missing", t.ID, commit.Short(), ref)}
	switch {
	case now != "":
		p.Text = fmt.Sprintf("%s was submitted at %s, and %s is at %s", t.ID, commit.Short(), ref, now.Short())
	case d.b.Remote() != "":
		return // it is on the remote, and a sync brings it here
	}
	p.Hint = fmt.Sprintf("git update-ref %s %s; without that commit, fetch it from a clone that has it", ref, commit)
	d.add(p)
}

// incomplete checks whether a submission that has not landed is complete in this clone.
func (d *diagnosis) incomplete(ctx context.Context, t *board.Task) error {
	if t.Status.Terminal() || t.ReviewCommit == "" {
		return nil
	}
	here, err := d.Has(ctx, t.ReviewCommit)
	if !here {
		return err // reported with its ref
	}
	tip, err := d.v.IntegrationTip(ctx)
	if tip.IsZero() {
		return err
	}
	damage, malformed := (*git.DamagedError)(nil), (*git.MalformedError)(nil)
	err = d.b.Complete(ctx, t, tip)
	switch short := plumbing.OID(t.ReviewCommit).Short(); {
	case errors.As(err, &malformed):
		d.add(Problem{Kind: MalformedWork, Task: t.ID, Text: fmt.Sprintf("%s was submitted at %s, and can't land: %v", t.ID, short, malformed), Hint: cmdline.Hint(Malformed(t))})
	case errors.As(err, &damage):
		d.add(Problem{
			Kind: LostSubmission, Task: t.ID, Text: fmt.Sprintf("%s was submitted at %s, and not all of it is here: %v", t.ID, short, damage),
			Hint: fmt.Sprintf("git fetch --refetch URL %s, from a clone or a backup that has it", plumbing.ReviewRef(t.ID, t.Submissions())),
		})
	default:
		return err
	}
	return nil
}

// Malformed is the hint for a task whose submission is malformed.
func Malformed(t *board.Task) board.Hint {
	switch t.Status {
	case board.ReadyForReview:
		return board.Advice("a reviewer rejects it: %s", board.ActOn("verdict", t.ID).With("verdict", board.VerdictRejected))
	case board.Approved:
		return board.Advice("a human sends it back: %s, then %s", board.ActOn("block", t.ID).With("reason", "malformed"), board.ActOn("unblock", t.ID))
	case board.Blocked:
		return board.Advice("its next coder makes its work again without that: %s", board.ActOn("unblock", t.ID))
	}
	return board.Advice("its coder makes one commit of it without that: git reset --soft %s, then git commit", plumbing.OID(t.ReviewBase).Short())
}

// lostFromAttic reports work that was kept according to the board, that exists, and that no ref holds.
func (d *diagnosis) lostFromAttic(ctx context.Context, t *board.Task, commit plumbing.OID) error {
	here, err := d.Has(ctx, string(commit))
	if here {
		d.add(Problem{
			Kind: LostWork, Task: t.ID, Text: fmt.Sprintf("work of %s was kept at %s, and no ref of the attic holds it any more", t.ID, commit.Short()),
			Hint: fmt.Sprintf("git update-ref %s/NUMBER %s, with a number that is free", plumbing.AtticPrefix+t.ID, commit),
		})
	}
	return err
}
