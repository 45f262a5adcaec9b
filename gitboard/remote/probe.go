package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
)

// probeValues are the two values of a probe. As with a lease, neither is a commit and neither
// follows from the other.
var probeValues = [2]git.Object{
	git.NewObject("blob", []byte("git liza asks whether this remote accepts refs of a board\n")),
	git.NewObject("blob", []byte("git liza asks whether this remote lets them be replaced\n")),
}

// Probe asks the remote of this clone's board for everything that an operation needs. It returns a
// refusal that names what the remote does not do. id must be unique to this probe: several clones
// may join at the same time.
func (s *Store) Probe(ctx context.Context, id string) error { return s.probe(ctx, s.remote.Load(), id) }

// probeKept is how long another clone may take for its probe, however wrong its clock.
const probeKept = 24 * time.Hour

// probe asks a remote for what the first claim would need: that no branch there takes up the names,
// and that a ref below refs/liza can be created, read back, replaced and deleted, each in an atomic
// push. It first deletes what a killed probe left there long ago.
func (s *Store) probe(ctx context.Context, by *gitio.Remote, id string) error {
	ref, asBranch := fmt.Sprintf("%s%d-%s", git.ProbePrefix, s.now().Unix(), id), strings.TrimSuffix(git.BoardPrefix, "/")
	var there map[string]git.OID
	err := again(ctx, func() (err error) {
		there, err = by.List(ctx, asBranch, git.ProbePrefix+"*")
		return err
	})
	if err != nil {
		return err
	}
	if _, is := there[asBranch]; is {
		branch := git.BranchName(asBranch)
		return board.Refuse(board.CodeUnfitRemote, fmt.Sprintf("%s has a branch %s, and git keeps no branches below a branch: a board needs %s/…", name(by), branch, branch),
			"let a human rename it there, then try again")
	}
	if err := s.repo.WriteObjects(ctx, probeValues[:]); err != nil {
		return err
	}
	if left := s.leftProbes(there); len(left) > 0 {
		_ = by.Push(ctx, left) // another clone may be doing the same
	}
	own := strings.TrimSuffix(git.OwnPrefix, "/")
	first, second := probeValues[0].OID, probeValues[1].OID
	steps := []struct {
		what     string
		old, new git.OID
	}{
		{"does not accept refs below " + own, git.ZeroOID, first},
		{"does not let a ref below " + own + " be replaced, as each heartbeat does", first, second},
		{"does not let a ref below " + own + " be deleted", second, git.ZeroOID},
	}
	for _, step := range steps {
		err := again(ctx, func() error {
			return by.Push(ctx, []gitio.Push{{Ref: ref, New: step.new, Exactly: true, Old: step.old}})
		})
		if err != nil {
			return unfit(by, step.what, err)
		}
		if step.new != first {
			continue
		}
		now, err := by.List(ctx, ref)
		if err != nil {
			return err
		}
		if now[ref] != first {
			return board.Refuse(board.CodeUnfitRemote, fmt.Sprintf("what is pushed to %s can't be read from it at once: it is pushed to another address (pushurl), or served by a copy that lags behind", name(by)),
				"share by a remote with one address: git remote get-url --push "+name(by))
		}
	}
	return nil
}

// leftProbes returns the deletions of what probes have left at a remote long ago.
func (s *Store) leftProbes(there map[string]git.OID) (left []gitio.Push) {
	for ref, at := range there {
		text, is := strings.CutPrefix(ref, git.ProbePrefix)
		text, _, _ = strings.Cut(text, "-")
		began, err := strconv.ParseInt(text, 10, 64)
		if is && err == nil && s.now().Sub(time.Unix(began, 0)) > probeKept {
			left = append(left, gitio.Push{Ref: ref, Exactly: true, Old: at})
		}
	}
	return left
}

func name(by *gitio.Remote) string { return plain.Line(by.Name, 60) }

// unfit turns the failure of a probe into a refusal if the remote has declined, and otherwise
// returns the error itself.
func unfit(by *gitio.Remote, what string, err error) error {
	failed := (*gitio.NetworkError)(nil)
	switch {
	case errors.As(err, &failed) && errors.Is(err, gitio.ErrRejected):
	case errors.As(err, &failed) && errors.Is(err, gitio.ErrNotAtomic):
		what = "does not move several refs at once"
	default:
		return err
	}
	return board.Refuse(board.CodeUnfitRemote, fmt.Sprintf("%s %s: %s", name(by), what, failed.Said), "share by another remote: a bare repository on any machine that all can reach will do")
}
