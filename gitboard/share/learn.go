package share

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/trace"
)

// learn brings this clone's view up to date by the news in the answer to a delivery. The view is
// then what a fetch at that moment would have shown. An error means that only a fetch can: the news
// don't follow from the board that is here by replay, or a ref has moved to what only a fetch
// brings.
func (s *Store) learn(ctx context.Context, d *delivery, text string) error {
	defer trace.Step("take what the answer brings")()
	news, err := parcel.ParseNews(text)
	if err != nil {
		return err
	}
	defer s.lock(ctx)()
	l := &newsUpdate{Store: s, chain: d.chain, news: news}
	if err := l.refs(ctx); err != nil {
		return err
	}
	if err := l.board(ctx); err != nil { // the board moves after the leases, as by a fetch
		return err
	}
	if err := s.repo.WriteAndUpdate(ctx, l.objects, l.updates, fmt.Sprintf("git liza: %d operations", len(news.Operations))); err != nil {
		return err
	}
	s.pushed(d.number)
	if s.Learned != nil {
		s.Learned(news.Since, l.tip)
	}
	return nil
}

// newsUpdate brings news to this clone.
type newsUpdate struct {
	*Store
	chain   *chain // that was delivered
	news    *parcel.News
	tip     plumbing.OID // of the board
	objects []plumbing.Object
	updates []plumbing.RefUpdate
}

// errNews means that news are of no use here.
var errNews = errors.New("only a fetch shows it")

// board replays the operations on the board that is here.
func (l *newsUpdate) board(ctx context.Context) error {
	here, err := l.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return err
	}
	if here != l.news.Since {
		return errNews // a fetch was faster
	}
	at, err := l.log.At(ctx, here)
	if err != nil {
		return err
	}
	for _, op := range l.news.Operations {
		built, err := log.Rebuild(at, plumbing.NewObject(plumbing.CommitObject, []byte(op.Commit)), op.Payload)
		if err != nil {
			return err
		}
		at, l.objects = built.Next(), append(l.objects, built.Objects()...)
	}
	l.tip = at.Commit
	if here != l.tip {
		l.updates = append(l.updates, plumbing.RefUpdate{Ref: plumbing.BoardRef, Old: here, New: l.tip})
	}
	return l.move(ctx, l.tracking("state"), l.tip)
}

// move adds the update of a ref that need not be at an expected value.
func (l *newsUpdate) move(ctx context.Context, ref string, to plumbing.OID) error {
	now, err := l.repo.Ref(ctx, ref)
	if err != nil || now == to {
		return err
	}
	l.updates = append(l.updates, plumbing.RefUpdate{Ref: ref, Old: now, New: to})
	return nil
}

// refs compares the refs that a fetch would show with those that are here. Leases come with the
// news. Of the others one may have moved as this clone has asked, which has the commits then.
func (l *newsUpdate) refs(ctx context.Context) error {
	branch, err := l.integration(ctx)
	if err != nil {
		return err
	}
	moved := func(ref string, to plumbing.OID) bool {
		asked, _ := l.chain.value(ref)
		return asked == to
	}
	there := l.news.Refs[branch].OrZero()
	for _, here := range l.seen(branch) {
		now, err := l.repo.Ref(ctx, here)
		if err != nil {
			return err
		}
		if now == there {
			continue
		}
		if !moved(branch, there) {
			return errNews
		}
		l.updates = append(l.updates, plumbing.RefUpdate{Ref: here, Old: now, New: there})
	}
	leases := map[plumbing.OID]plumbing.Object{}
	for _, text := range l.news.Leases {
		o := plumbing.NewObject(plumbing.BlobObject, []byte(text))
		leases[o.OID] = o
	}
	var prefixes []string
	for _, v := range l.views() {
		prefixes = append(prefixes, v.here)
	}
	all, err := l.repo.Below(ctx, prefixes...)
	if err != nil {
		return err
	}
	for _, v := range l.views() {
		here := maps.Clone(all)
		maps.DeleteFunc(here, func(ref string, _ plumbing.OID) bool { return !strings.HasPrefix(ref, v.here) })
		for ref, to := range l.news.Refs {
			name, is := strings.CutPrefix(ref, v.there)
			if !is {
				continue
			}
			name = v.here + name
			now := here[name].OrZero()
			delete(here, name)
			lease, brought := leases[to]
			switch {
			case now == to:
				continue
			case v.there == plumbing.LeasePrefix && brought:
				l.objects = append(l.objects, lease)
			case !moved(name, to):
				return errNews
			}
			l.updates = append(l.updates, plumbing.RefUpdate{Ref: name, Old: now, New: to})
		}
		for name, now := range here {
			l.updates = append(l.updates, plumbing.RefUpdate{Ref: name, Old: now, New: plumbing.ZeroOID})
		}
	}
	return nil
}
