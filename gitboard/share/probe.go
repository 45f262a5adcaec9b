package share

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Probe asks the remote of this clone's board for everything that an operation needs. It returns a
// refusal that names what the remote does not do. id must be unique to this probe: several clones
// may join at the same time.
func (s *Store) Probe(ctx context.Context, id string) error {
	by := s.remote.Load()
	return errors.Join(s.probe(ctx, by, id), s.dropTracked(ctx, by.Name))
}

// probeKept is how long another clone may take for its probe, however wrong its clock.
const probeKept = 24 * time.Hour

// choose probes a remote that is to share the board. If it declines the refs of a board under their
// own names, it is asked to keep them as branches that only grow.
func (s *Store) choose(ctx context.Context, by *git.Remote, id string) error {
	err := s.probe(ctx, by, id)
	if declined := (*declinedError)(nil); !errors.As(err, &declined) {
		return err
	}
	by.OnlyBranches = true
	asBranches := s.probe(ctx, by, id)
	if asBranches == nil {
		return nil
	}
	by.OnlyBranches = false
	if errors.As(asBranches, new(*nameError)) {
		return asBranches
	}
	return err
}

// nameError is the refusal of a remote that has a branch in the way of the board's.
type nameError struct{ error }

func (e *nameError) Unwrap() error { return e.error }

// names are the names at a remote below which a board needs refs, and which no branch there may
// have.
func names(by *git.Remote) []string {
	prefixes := []string{plumbing.BoardPrefix, plumbing.PublishedPrefix}
	if by.OnlyBranches {
		for _, own := range []string{plumbing.LeasePrefix, plumbing.ReviewPrefix, plumbing.AtticPrefix, plumbing.ProbePrefix} {
			prefixes = append(prefixes, plumbing.AsBranch(own))
		}
	}
	for i, prefix := range prefixes {
		prefixes[i] = strings.TrimSuffix(prefix, "/")
	}
	return prefixes
}

// clash refuses a remote that has a branch where a board needs refs below, or one below the board.
func clash(by *git.Remote, there map[string]plumbing.OID) error {
	for _, ref := range names(by) {
		if _, is := there[ref]; is {
			branch := plumbing.BranchName(ref)
			return inTheWay(by, branch, fmt.Sprintf("no branches below a branch: a board needs %s/…", branch))
		}
	}
	for ref := range there {
		if strings.HasPrefix(ref, plumbing.BoardRef+"/") {
			return inTheWay(by, plumbing.BranchName(ref), "no branch above a branch: a board needs "+plumbing.BranchName(plumbing.BoardRef))
		}
	}
	return nil
}

func inTheWay(by *git.Remote, branch, keeps string) error {
	return &nameError{board.Refuse(board.CodeUnfitRemote, fmt.Sprintf("%s has a branch %s, and git keeps %s", name(by), text.Line(branch, 60), keeps),
		"let a human rename it there, then try again")}
}

// probe asks a remote for the abilities that the first claim would need: that no branch there is in
// the way of their names, and that a ref of the board can be created, read back, replaced and
// deleted, each in an atomic push. It first deletes an old killed probe's leftovers on the remote.
func (s *Store) probe(ctx context.Context, by *git.Remote, id string) error {
	prefix := named(by, plumbing.ProbePrefix)
	ref := fmt.Sprintf("%s%d-%s", prefix, s.now().Unix(), id)
	var there map[string]plumbing.OID
	err := again(ctx, func() (err error) {
		there, err = by.List(ctx, append(names(by), plumbing.BoardRef+"/*", prefix+"*")...)
		return err
	})
	if err != nil {
		return err
	}
	if err := clash(by, there); err != nil {
		return err
	}
	if left := s.leftProbes(prefix, there); len(left) > 0 {
		_ = by.Push(ctx, left) // another clone may be doing the same
	}
	if by.OnlyBranches {
		return s.probeGrowing(ctx, by, prefix+plumbing.Probe)
	}
	// As with a lease, neither value is a commit and neither follows from the other.
	values := []plumbing.Object{
		plumbing.NewObject("blob", []byte("git liza asks whether this remote accepts refs of a board\n")),
		plumbing.NewObject("blob", []byte("git liza asks whether this remote lets them be replaced\n")),
	}
	if err := s.repo.WriteObjects(ctx, values); err != nil {
		return err
	}
	first, second := values[0].OID, values[1].OID
	if err := ask(ctx, by, "does not accept refs below %s", ref, plumbing.ZeroOID, first); err != nil {
		return err
	}
	if err := readBack(ctx, by, ref, first); err != nil {
		_ = by.Push(ctx, []git.Push{{Ref: ref, Exactly: true, Old: first}}) // later probes may not see it
		return err
	}
	if err := ask(ctx, by, "does not let a ref below %s be replaced, as each heartbeat does", ref, first, second); err != nil {
		_ = by.Push(ctx, []git.Push{{Ref: ref, Exactly: true, Old: first}})
		return err
	}
	return ask(ctx, by, "does not let a ref below %s be deleted", ref, second, plumbing.ZeroOID)
}

// ask pushes one step of a probe. what names the ability that the remote lacks if it declines.
func ask(ctx context.Context, by *git.Remote, what, ref string, old, value plumbing.OID) error {
	below := strings.TrimSuffix(strings.TrimPrefix(named(by, plumbing.OwnPrefix), plumbing.HeadsPrefix), "/")
	err := again(ctx, func() error {
		return by.Push(ctx, []git.Push{{Ref: ref, New: value, Exactly: true, Old: old}})
	})
	return unfit(by, fmt.Sprintf(what, below), err)
}

// maxRaces is how many other probes may come before one at a host that accepts only branches.
const maxRaces = 16

// probeGrowing is the probe of a host that accepts only branches, which stay there. So all probes
// move the same branch, and one that another has overtaken begins again.
func (s *Store) probeGrowing(ctx context.Context, by *git.Remote, ref string) error {
	for try := 1; ; try++ {
		at, err := s.growProbe(ctx, by, ref)
		if err == nil || try == maxRaces {
			return err
		}
		if now, listErr := by.List(ctx, ref); listErr != nil || now[ref].OrZero() == at.OrZero() {
			return err // it has not moved
		}
	}
}

// growProbe moves the branch of all probes twice, and returns where the branch should be now.
func (s *Store) growProbe(ctx context.Context, by *git.Remote, ref string) (at plumbing.OID, err error) {
	there, err := by.List(ctx, ref)
	if err != nil {
		return "", err
	}
	if at = there[ref]; !at.IsZero() {
		if err := fetchFrom(ctx, by, false, ref); err != nil {
			return at, err
		}
	}
	for range 2 {
		next, err := s.grow(ctx, at.OrZero(), plumbing.ZeroOID)
		if err == nil {
			err = ask(ctx, by, "does not accept refs below %s", ref, at.OrZero(), next)
		}
		if err != nil {
			if there[ref].IsZero() && !at.IsZero() {
				_ = by.Push(ctx, []git.Push{{Ref: ref, Exactly: true, Old: at}})
			}
			return at, err
		}
		at = next
	}
	return at, readBack(ctx, by, ref, at)
}

// readBack refuses a remote that does not show at once what was pushed to it.
func readBack(ctx context.Context, by *git.Remote, ref string, pushed plumbing.OID) error {
	now, err := by.List(ctx, ref)
	if err != nil || now[ref] == pushed {
		return err
	}
	return board.Refuse(board.CodeUnfitRemote, fmt.Sprintf("a ref pushed to %s can't be read back immediately: pushes go to another address (pushurl), or reads are served by a copy that lags behind", name(by)),
		"share by a remote with one address: git remote get-url --push "+name(by))
}

// leftProbes returns the deletions of refs that are no probe of the last day.
func (s *Store) leftProbes(prefix string, there map[string]plumbing.OID) (left []git.Push) {
	for ref, at := range there {
		name, below := strings.CutPrefix(ref, prefix)
		began, is := plumbing.ProbeBegan(name)
		if below && name != plumbing.Probe && (!is || s.now().Sub(began).Abs() > probeKept) {
			left = append(left, git.Push{Ref: ref, Exactly: true, Old: at})
		}
	}
	return left
}

func name(by *git.Remote) string { return text.Line(by.Name, 60) }

// declinedError is the refusal of a remote that has declined a part of a probe.
type declinedError struct{ error }

func (e *declinedError) Unwrap() error { return e.error }

// unfit turns the failure of a probe into a refusal if the remote has declined, and otherwise
// returns the error itself.
func unfit(by *git.Remote, what string, err error) error {
	failed := (*git.NetworkError)(nil)
	switch {
	case errors.Is(err, git.ErrUnstoredThere):
		return err // it may accept that once it has room
	case errors.As(err, &failed) && errors.Is(err, git.ErrRejected):
	case errors.As(err, &failed) && errors.Is(err, git.ErrNotAtomic):
		what = "does not move several refs at once"
	default:
		return err
	}
	r := board.Refuse(board.CodeUnfitRemote, fmt.Sprintf("%s %s: %s", name(by), what, failed.Said), "share by another remote: a bare repository on any machine that all can reach will do")
	if errors.Is(err, git.ErrRejected) {
		return &declinedError{r}
	}
	return r
}
