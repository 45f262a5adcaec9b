package git

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// still compares refs whose locks are held with their expected values. Git has done so too, but for
// refs in packed-refs it may have used a file that has been replaced since: it reads that file for
// the first ref of a transaction, before it locks the others, and considers it current as long as
// size, inode and second are the same. Next to a busy `git pack-refs` that lost acknowledged
// updates (TestRacers, git 2.39).
func (r *Repo) still(updates []plumbing.RefUpdate) error {
	if _, err := os.Stat(filepath.Join(r.common, "reftable")); err == nil {
		return nil // a reftable is read as a whole, under its lock
	}
	loose := map[string]string{}
	var others []string
	for _, u := range updates {
		data, err := os.ReadFile(filepath.Join(r.common, filepath.FromSlash(u.Ref)))
		if err != nil {
			others = append(others, u.Ref)
			continue
		}
		loose[u.Ref] = strings.TrimSpace(string(data))
	}
	var packed map[string]plumbing.OID
	if len(others) > 0 {
		var err error
		if packed, err = r.PackedRefs(others...); err != nil {
			return err
		}
	}
	for _, u := range updates {
		now, is := loose[u.Ref]
		if strings.HasPrefix(now, "ref:") {
			continue // git has compared what it leads to
		}
		if !is {
			now = string(packed[u.Ref].OrZero())
		}
		if plumbing.OID(now) != u.Old.OrZero() {
			return fmt.Errorf("%w: %s is at %s, not at %s", ErrRefMoved, u.Ref, now, u.Old.OrZero())
		}
	}
	return r.keepsOthers(updates)
}

// keepsOthers checks the file that is about to replace packed-refs, which git has locked to delete
// refs. It must equal packed-refs without the deleted refs. Based on a stale copy, it would revert
// refs that others have moved.
func (r *Repo) keepsOthers(updates []plumbing.RefUpdate) error {
	var deleted []string
	for _, u := range updates {
		if u.New.IsZero() {
			deleted = append(deleted, u.Ref)
		}
	}
	if len(deleted) == 0 {
		return nil
	}
	packed, err := r.packedRefs("packed-refs", nil)
	if err != nil {
		return err
	}
	without := maps.Clone(packed)
	for _, ref := range deleted {
		delete(without, ref)
	}
	if len(without) == len(packed) {
		return nil // git does not rewrite the file
	}
	next, err := r.packedRefs("packed-refs.new", nil)
	if err == nil && !maps.Equal(next, without) {
		err = fmt.Errorf("%w: git has read packed-refs before it was last written", ErrRefMoved)
	}
	return err
}
