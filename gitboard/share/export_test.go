package share

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Die appends a transaction to the pending chain, like a process that ends before its push.
func (s *Store) Die(ctx context.Context, objects []plumbing.Object, updates []plumbing.RefUpdate) error {
	if err := s.repo.WriteObjects(ctx, objects); err != nil {
		return err
	}
	return s.put(ctx, s.newTransaction(updates, ""))
}
