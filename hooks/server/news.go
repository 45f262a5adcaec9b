package server

import (
	"context"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/parcel"
)

// news returns the text of the operations that the parcel's clone lacks after the parcel was
// decided, so that it need not fetch. It returns "" if the clone has not asked, if that is too
// much, or if it can't be read: the parcel is taken all the same.
func (o *outcome) news(ctx context.Context) string {
	commits, is := o.since(o.parcel.Has)
	if !is || len(commits) > parcel.MaxNews {
		return ""
	}
	n := &parcel.News{Since: o.parcel.Has}
	for _, oid := range commits { // one by one they are at hand
		read, err := o.repo.Objects(ctx, []string{string(oid), string(oid) + ":" + codec.PayloadFile})
		if err != nil {
			return ""
		}
		n.Operations = append(n.Operations, parcel.Operation{Commit: string(read[0].Data), Payload: string(read[1].Data)})
	}
	var err error
	if n.Refs, err = o.repo.Below(ctx, plumbing.LeasePrefix, plumbing.PublishedPrefix, plumbing.SequencerPrefix); err != nil {
		return ""
	}
	var leases []string
	for name, at := range n.Refs {
		if strings.HasPrefix(name, plumbing.LeasePrefix) {
			leases = append(leases, string(at))
		}
	}
	read, err := o.repo.Objects(ctx, leases)
	if err != nil {
		return ""
	}
	for _, lease := range read {
		n.Leases = append(n.Leases, string(lease.Data))
	}
	integration, err := o.repo.Ref(ctx, o.branch)
	if err != nil {
		return ""
	}
	if !integration.IsZero() {
		n.Refs[o.branch] = integration
	}
	text, short := n.Text()
	if !short {
		return ""
	}
	return text
}

// since lists the commits of the board after one that it has had since the parcel's base. is is
// false if it has not.
func (o *outcome) since(has plumbing.OID) (commits []plumbing.OID, is bool) {
	is = has == o.parcel.Base()
	for _, c := range o.later {
		if is {
			commits = append(commits, c.OID)
		}
		is = is || c.OID == has
	}
	for _, made := range o.objects {
		if made.Type == plumbing.CommitObject {
			commits = append(commits, made.OID)
		}
	}
	return commits, is
}
