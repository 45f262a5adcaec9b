package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// history lists the last commit of a range and its first parents, oldest first: back to the start
// of the range if that is among them, else to the root.
func history(ctx context.Context, store log.Store, repo *git.Repo, r Range) ([]plumbing.OID, error) {
	to := r.To
	if repo != nil {
		chain, err := firstParents(ctx, repo, r)
		if err != nil {
			return nil, fmt.Errorf("list the history of %s: %w", to.Short(), err)
		}
		slices.Reverse(chain)
		return chain, nil
	}
	var chain []plumbing.OID
	for oid := to; !oid.IsZero(); {
		o, err := store.Object(ctx, string(oid))
		if errors.Is(err, git.ErrNotFound) && oid != to {
			break // the history is cut off, as the commit before shows
		}
		if err != nil {
			return nil, fmt.Errorf("list the history of %s: %w", to.Short(), err)
		}
		chain = append(chain, oid)
		c, _ := plumbing.DecodeCommit(o) // the replay reports what is not a commit
		oid = first(c)
	}
	slices.Reverse(chain)
	return chain, nil
}

// first returns the first parent of a commit, zero for none.
func first(c plumbing.Commit) plumbing.OID {
	if len(c.Parents) == 0 {
		return plumbing.ZeroOID
	}
	return c.Parents[0]
}

// commitOf reads a commit.
func commitOf(ctx context.Context, store log.Store, oid plumbing.OID) (plumbing.Commit, error) {
	o, err := store.Object(ctx, string(oid))
	if err != nil {
		return plumbing.Commit{}, err
	}
	return plumbing.DecodeCommit(o)
}

// commitsOf reads many commits.
func commitsOf(ctx context.Context, store log.Store, oids []plumbing.OID) ([]plumbing.Commit, error) {
	commits := make([]plumbing.Commit, 0, len(oids))
	for part := range slices.Chunk(oids, batchSize) {
		names := make([]string, len(part))
		for i, oid := range part {
			names[i] = string(oid)
		}
		objects, err := store.Objects(ctx, names)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			c, err := plumbing.DecodeCommit(o)
			if err != nil {
				return nil, err
			}
			commits = append(commits, c)
		}
	}
	return commits, nil
}

// firstParents lists the range, newest first. If the range does not begin in this history, it also
// lists everything before it.
func firstParents(ctx context.Context, repo *git.Repo, r Range) ([]plumbing.OID, error) {
	if r.From.IsZero() {
		return repo.History().FirstParents(ctx, r.To, 0)
	}
	return repo.History().Since(ctx, r.From, r.To)
}

// entry is a commit of the chain with everything that can be read from it alone.
type entry struct {
	oid    plumbing.OID
	data   []byte
	commit plumbing.Commit
	err    error // the object is not a commit
	head   codec.Head
	op     board.Operation
	opErr  error // the commit contains no operation

	signer  string // the public key that signed it, "" for none
	signErr error  // its signature does not match its content
}

const batchSize = 256

type batch struct {
	entries []entry
	err     error
}

// read reads the commits of a chain in batches, ahead of the caller. The batches come in order;
// after the last one the channel is closed. wait returns after all reading.
func read(ctx context.Context, store log.Store, chain []plumbing.OID) (batches <-chan chan batch, wait func()) {
	out := make(chan chan batch, 2)
	var busy sync.WaitGroup
	busy.Go(func() {
		defer close(out)
		for oids := range slices.Chunk(chain, batchSize) {
			promise := make(chan batch, 1)
			select {
			case out <- promise:
			case <-ctx.Done():
				return
			}
			names := make([]string, len(oids))
			for i, oid := range oids {
				names[i] = string(oid)
			}
			objects, err := store.Objects(ctx, names)
			if err != nil {
				promise <- batch{err: err}
				return
			}
			busy.Go(func() {
				entries, err := decode(ctx, store, oids, objects)
				promise <- batch{entries, err}
			})
		}
	})
	return out, busy.Wait
}

// decode decodes operations from commits.
func decode(ctx context.Context, store log.Store, oids []plumbing.OID, objects []plumbing.Object) ([]entry, error) {
	entries := make([]entry, len(oids))
	var long []int
	var names []string
	for i := range entries {
		l := &entries[i]
		l.oid, l.data = oids[i], objects[i].Data
		if objects[i].OID == "" {
			return nil, &git.DamagedError{Commit: oids[i]}
		}
		if l.commit, l.err = plumbing.DecodeCommit(objects[i]); l.err != nil {
			continue
		}
		l.signer, l.signErr = log.SignedBy(l.commit)
		if l.head, l.opErr = codec.ParseHead(l.commit.Message); l.opErr != nil {
			continue
		}
		if l.head.Payload == codec.PayloadReference() {
			long, names = append(long, i), append(names, string(l.commit.Tree)+":"+codec.PayloadFile)
			continue
		}
		l.operation("")
	}
	if len(long) == 0 {
		return entries, nil
	}
	files, err := store.Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, at := range long {
		if l := &entries[at]; files[i].Type != plumbing.BlobObject {
			l.opErr = fmt.Errorf("the message names %s, which is not in the tree", codec.PayloadFile)
		} else {
			l.operation(string(files[i].Data))
		}
	}
	return entries, nil
}

func (l *entry) operation(file string) {
	l.op, l.opErr = l.head.Operation(file, l.commit.Author)
}
