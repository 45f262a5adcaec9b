package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/kept"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// KeptDir is where written objects are kept for a while.
func (u Upkeep) KeptDir() string { return filepath.Join(u.repo.common, "liza", "kept") }

// keep is kept.Store, except in the quarantine of a push, where the push keeps the objects.
func (r *Repo) keep(objects []plumbing.Object) (path string, err error) {
	if len(objects) == 0 || r.environ.Quarantined() {
		return "", nil
	}
	return kept.Store(r.Upkeep().KeptDir(), r.MakeDir, objects)
}

// settle finishes this process's writes after refs have moved: it rewrites objects that git has
// deleted meanwhile, and marks the files of those that a ref has moved to.
func (r *Repo) settle(ctx context.Context, updates []plumbing.RefUpdate) error {
	all := r.unsettled.Take()
	for _, w := range all {
		w.Mark(updates)
	}
	return r.rewrite(context.WithoutCancel(ctx), all) // what was acknowledged must stay
}

// rewrite writes again the objects that git has deleted meanwhile.
func (r *Repo) rewrite(ctx context.Context, all []kept.Write) error {
	gone, err := r.goneOf(ctx, all)
	if err != nil {
		return err
	}
	return r.writeLoose(ctx, gone)
}

// goneOf returns the objects that git has deleted since they were written.
func (r *Repo) goneOf(ctx context.Context, all []kept.Write) ([]plumbing.Object, error) {
	var objects []plumbing.Object
	for _, w := range all {
		objects = append(objects, w.Objects...)
	}
	return r.missing(ctx, objects, loose.Has)
}

// unsettledGone reports whether git has deleted objects after which no refs moved yet.
func (r *Repo) unsettledGone(ctx context.Context) bool {
	gone, err := r.goneOf(ctx, r.unsettled.Here())
	return err == nil && len(gone) > 0
}

// unheld returns the kept objects of which no ref is known to hold any.
func (r *Repo) unheld() (objects []plumbing.Object) {
	for _, k := range kept.All(r.Upkeep().KeptDir()) {
		if !k.Moved {
			objects = append(objects, k.Objects...)
		}
	}
	return objects
}

// bringBack rewrites the kept objects that are missing or damaged. It also returns true if none was
// missing, since another process may have been faster; false means that nothing is kept, or an
// error.
func (r *Repo) bringBack(ctx context.Context) bool {
	var objects []plumbing.Object
	for _, k := range kept.All(r.Upkeep().KeptDir()) {
		objects = append(objects, k.Objects...)
	}
	missing, err := r.missing(ctx, objects, isIntact)
	return err == nil && len(objects) > 0 && r.writeLoose(ctx, missing) == nil
}

// fromKept replaces answers that say "missing" by kept objects, and writes those back for git, with
// all that was written with them. What else is missing, tidyKept finds: with thousands of files,
// beside a git that deletes for minutes, a search for it at each object would take all the time.
func (r *Repo) fromKept(ctx context.Context, names []string, answers []plumbing.Object) {
	lost := map[plumbing.OID][]int{}
	for i, answer := range answers {
		if oid := plumbing.OID(names[i]); answer.OID == "" && oid.Valid() && !oid.IsZero() {
			lost[oid] = append(lost[oid], i)
		}
	}
	if len(lost) == 0 {
		return
	}
	var found []plumbing.Object
	for _, k := range kept.List(r.Upkeep().KeptDir()) {
		if len(lost) == 0 {
			break
		}
		before, objects := len(lost), kept.Read(k.Path)
		for _, o := range objects {
			if len(lost[o.OID]) == 0 || plumbing.PlainHash(o.Type, o.Data) != o.OID {
				continue
			}
			for _, i := range lost[o.OID] {
				answers[i] = o
			}
			delete(lost, o.OID)
		}
		if len(lost) < before {
			found = append(found, objects...)
		}
	}
	missing, _ := r.missing(ctx, found, isIntact)
	_ = r.writeLoose(ctx, missing) // if one of them fails, the next reader finds them again
}

// isIntact reports whether an object has an uncorrupted loose file.
func isIntact(dir string, o plumbing.Object) bool { return loose.Intact(loose.Path(dir, o.OID), o) }

// missing returns the objects that are not in a pack and for which loose returns false.
func (r *Repo) missing(ctx context.Context, objects []plumbing.Object, loose func(dir string, o plumbing.Object) bool) (missing []plumbing.Object, err error) {
	dir := r.objectDir()
	seen := map[plumbing.OID]bool{}
	var names []string
	var asked []plumbing.Object
	for _, o := range objects {
		if !seen[o.OID] && !loose(dir, o) {
			seen[o.OID] = true
			names, asked = append(names, string(o.OID)), append(asked, o)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	answers, err := r.batch.Ask(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		if answer.OID == "" {
			missing = append(missing, asked[i])
		}
	}
	return missing, nil
}

// tidyKept rewrites the kept objects that are missing, and drops the files whose objects no running
// git can delete any more. Before that, and after about kept.Batch operations, plumbing.LastRef moves to
// the board: kept files and that ref have it all if its branch is deleted. Only one process does
// this per kept.Every.
func (r *Repo) tidyKept(ctx context.Context) {
	now := time.Now()
	last, due := kept.Due(r.Upkeep().KeptDir(), now)
	if !due {
		return
	}
	all := kept.List(r.Upkeep().KeptDir())
	old := kept.Old(all, now)
	full := len(old) >= kept.Batch
	held := (full || kept.Since(filepath.Join(r.common, filepath.FromSlash(plumbing.LastRef)), all) >= kept.Batch) && r.Upkeep().FollowBoard(ctx)
	if full && (held || len(all) >= kept.Max) {
		old = kept.PastDeleting(r.Locks(), now, old) // must come before the search for missing objects
	} else {
		old = nil
	}
	missing, err := r.missingOf(ctx, append(old, all[:kept.Lately(all, last, now)]...))
	if err == nil && len(missing) > 0 {
		missing, err = r.missingOf(ctx, all)
	}
	if err != nil || r.writeLoose(ctx, missing) != nil {
		return
	}
	for _, k := range old {
		os.Remove(k.Path)
	}
}

// FollowBoard moves plumbing.LastRef forward to the board's tip, and reports whether it holds the board
// then. It stays where the board was lost or has gone back, which is for doctor to report.
func (u Upkeep) FollowBoard(ctx context.Context) bool {
	tip, err := u.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return false
	}
	last, err := u.repo.Ref(ctx, plumbing.LastRef)
	if broken := (*BrokenRefError)(nil); errors.As(err, &broken) {
		return !tip.IsZero() && u.repo.ReplaceBroken(ctx, broken, tip) == nil
	}
	if err != nil || last == tip {
		return err == nil
	}
	if !last.IsZero() {
		if follows, _ := u.repo.History().IsAncestor(ctx, last, tip); !follows { // also if that can't be read
			return false
		}
	}
	return u.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.LastRef, Old: last, New: tip}}, "") == nil
}

// missingOf returns the objects of kept files that are missing.
func (r *Repo) missingOf(ctx context.Context, files []*kept.File) ([]plumbing.Object, error) {
	var objects []plumbing.Object
	for _, k := range files {
		objects = append(objects, kept.Read(k.Path)...)
	}
	return r.missing(ctx, objects, loose.Has)
}
