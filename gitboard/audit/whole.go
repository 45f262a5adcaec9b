package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// unplaced is an outcome that a replay counts on: its tree should turn out to be the commit's.
type unplaced struct {
	commit, tree plumbing.OID
	want         *log.Result
}

// placedLater is how many outcomes may wait for their trees to be made.
const placedLater = 64

// proveWhole replays a whole history up to the first fault. Meanwhile another processor makes the
// trees and compares them with the commits', which takes as long as the operations. It returns nil
// if there is a fault: then the whole replay is void, because it counted on the trees.
func proveWhole(ctx context.Context, store log.Store, r Range, chain []plumbing.OID, made func(plumbing.OID, *log.Result), progress func(done, total int)) (*replay, error) {
	p := newReplay(store, r)
	trees, sound := make(chan unplaced, placedLater), make(chan bool, 1)
	p.trees = trees
	go func() { sound <- placeAll(trees, made) }()
	err := p.run(ctx, chain, progress)
	close(trees)
	if same := <-sound; err != nil || !same || !p.report.OK() {
		return nil, err
	}
	return p, nil
}

// placeAll makes the trees of outcomes that follow each other from an empty board on. It reports
// whether all of them are the commits'.
func placeAll(all <-chan unplaced, made func(plumbing.OID, *log.Result)) bool {
	tree, sound := log.NewTree(), true
	for o := range all {
		if !sound || o.want.Place(tree) != nil || o.want.Root() != o.tree {
			sound = false
			continue
		}
		if tree = o.want.Tree; made != nil {
			made(o.commit, o.want)
		}
	}
	return sound
}

// compareTree compares the tree that an outcome leads to with the commit's, or leaves that to placeAll.
func (p *replay) compareTree(ctx context.Context, l *entry, want *log.Result, found *faults) error {
	if p.trees != nil {
		p.trees <- unplaced{l.oid, l.commit.Tree, want}
		return nil
	}
	if l.commit.Tree == want.Root() {
		return nil
	}
	text, err := p.treeDifference(ctx, l.commit.Tree, want)
	if err == nil {
		found.add(CodeTree, "the tree is not what the operation leads to: %s", text)
	}
	return err
}
