package share

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestReplace: of two that append to the same chain the second is told that it has moved, and what
// waits for one remote does not go to another.
func TestReplace(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(exec.Command("git", "init", "-q", dir).Run())
	repo, err := git.Open(ctx, dir)
	check(err)
	defer repo.Close()
	s := New(repo, dir, time.Now)
	s.remote.Store(&git.Remote{Name: "hub"})
	read := func() *chain {
		t.Helper()
		c, err := s.chain(ctx)
		check(err)
		return c
	}
	first, second := read(), read()
	first.Links = []*link{{ID: "first", Base: plumbing.ZeroOID}}
	check(s.replace(ctx, first))
	second.Links = []*link{{ID: "second", Base: plumbing.ZeroOID}}
	if err := s.replace(ctx, second); !errors.Is(err, git.ErrRefMoved) {
		t.Errorf("the second has replaced the first: %v", err)
	}
	if c := read(); !c.has("first") || c.has("second") {
		t.Errorf("pending: %+v", c.Links)
	}
	s.remote.Store(&git.Remote{Name: "other"})
	if c := read(); len(c.Links) > 0 {
		t.Errorf("pending for another remote: %+v", c.Links)
	}
}
