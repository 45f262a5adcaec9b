package share

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestBehindSilence checks that an operation decided behind a push that the remote did not answer
// ends with that push, as unsent, and that behind any other failure it tries itself. Otherwise each
// of them would wait for the same silence, one after the other.
func TestBehindSilence(t *testing.T) {
	for said, c := range map[string]struct {
		why    error
		unsent bool
	}{
		"git push heard nothing for 1m0s": {git.ErrSilent, true},
		"the connection broke":            {errors.New("exit 128"), false},
	} {
		repo := testrepo.Bare(t)
		s := New(repo, filepath.Join(repo.CommonDir(), "liza"), time.Now)
		s.remote.Store(&git.Remote{Name: "origin"})
		append := func(agent string) *transaction {
			t.Helper()
			l := s.newTransaction([]plumbing.RefUpdate{{Ref: plumbing.LeaseRef(agent), New: plumbing.OID(strings.Repeat("1", 40))}}, "")
			check(t, s.put(t.Context(), l))
			return l
		}
		append("coder-1")
		pushed := testrun.Must(s.chain(t.Context()))(t)
		behind := append("coder-2")
		s.failed(t.Context(), pushed, s.now(), nil, &log.UnclearError{Err: &git.NetworkError{Remote: "origin", Said: said, Err: c.why}})
		known, o := s.outcome(t.Context(), behind)
		if !known || errors.Is(o.Err, git.ErrUnsent) != c.unsent || o.Exclusive == c.unsent || c.unsent && (o.Kind != log.Refused || !strings.HasSuffix(o.Err.Error(), said)) {
			t.Errorf("behind %q: %v, %+v", said, known, o)
		}
	}
}
