package remote

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Die appends a transaction to what is pending, as a process does that ends before it can push.
func (s *Store) Die(ctx context.Context, objects []git.Object, updates []git.RefUpdate) error {
	if err := s.repo.WriteObjects(ctx, objects); err != nil {
		return err
	}
	return s.put(ctx, s.newLink(updates, ""))
}
