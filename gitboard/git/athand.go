package git

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// What an operation reads is nearly always small and loose: it was written by the operations before
// it. Such objects, and refs, are read here from their files, and a command that finds everything
// at hand starts no cat-file. Whatever is packed, large, damaged or somewhere else is asked of git.

// atHand returns an object named by a full id or by "id:path" if it was read before or is small and
// loose. is is false if git has to be asked. At a path where nothing is, the object has OID "".
func (r *Repo) atHand(name string) (o plumbing.Object, is bool) {
	id, path, below := strings.Cut(name, ":")
	if o, is = r.objectAtHand(plumbing.OID(id)); !below {
		return o, is
	}
	if o.Type == plumbing.CommitObject {
		c, _ := plumbing.DecodeCommit(o) // a damaged one has no tree
		o, is = r.objectAtHand(c.Tree)
	}
	for part := range strings.SplitSeq(path, "/") {
		if !is || o.Type != plumbing.TreeObject || part == "" {
			return o, false // git knows what that means
		}
		entries, err := plumbing.DecodeTree(o.Data)
		if err != nil {
			return o, false
		}
		at := slices.IndexFunc(entries, func(e plumbing.TreeEntry) bool { return e.Name == part })
		if at < 0 {
			return plumbing.Object{}, true
		}
		o, is = r.objectAtHand(entries[at].OID)
	}
	return o, is
}

func (r *Repo) objectAtHand(oid plumbing.OID) (o plumbing.Object, is bool) {
	if o, is = r.known.get(oid); is || !oid.Valid() || r.batch.Closed() {
		return o, is
	}
	o, is = loose.Read(loose.Path(filepath.Join(r.common, "objects"), oid), knownBytes)
	if !is || plumbing.PlainHash(o.Type, o.Data) != oid {
		return plumbing.Object{}, false
	}
	o.OID = oid
	r.known.add([]plumbing.Object{o})
	return o, true
}

// refAtHand returns the value of a ref whose object is at hand, ZeroOID if there is no such ref,
// and "" if git has to be asked.
func (r *Repo) refAtHand(name string) plumbing.OID {
	if !r.plain || r.batch.Closed() {
		return "" // refs may be stored in another way
	}
	text, err := r.refText(name)
	switch {
	case err != nil:
		return ""
	case text == nil:
		return plumbing.ZeroOID
	}
	o, _ := r.objectAtHand(plumbing.OID(*text))
	return o.OID
}
