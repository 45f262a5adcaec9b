package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// `git prune`, `git gc` and `git repack` delete the objects that were unreachable when they began,
// however late they get to it. With --prune=now that includes an object written since then, even if
// a ref has pointed to it for minutes: an object that they have not seen is garbage to them. So
// every WriteObjects also keeps its objects for a while in a file that git does not know about, in
// <common git dir>/liza/kept. A reader that misses an object looks there (fromKept), and writers
// check from time to time whether anything is missing (tidyKept), until no running git can delete
// the objects any more.

const (
	// keptFresh is the most time that an operation takes between writing its objects and either
	// moving its refs or noticing by itself that an object is gone.
	keptFresh = 10 * time.Second
	// keptLong is how long the newest keptNewest files are kept even if no deleting git is visible.
	// One may run where this process can't see it: outside the container, or on another machine.
	keptLong   = 10 * time.Minute
	keptNewest = 64
	// keptBatch is how many files are dropped at once, for which all processes are looked at.
	keptBatch = 32
	// keptBlind and keptMost are the same limits for systems where processes are not visible. keptMost
	// also ends waiting for plumbing.LastRef to hold what is dropped.
	keptBlind = time.Hour
	keptMost  = 1000
	// keptEvery is how often writers check whether objects are missing. They look at keptBefore files
	// from before the last check.
	keptEvery  = 2 * time.Second
	keptBefore = 4
)

// keptFile is the prefix of the names of files with kept objects.
const keptFile = "objects-"

// keptMoved is the mode of such a file once refs have moved to its objects. The file is not
// renamed, because a process that lists the directory at that moment would miss it.
const keptMoved = 0o444

// KeptDir is where written objects are kept for a while.
func (u Upkeep) KeptDir() string { return filepath.Join(u.repo.common, "liza", "kept") }

// keep stores a copy of objects that are about to be written and returns its file. The file is not
// flushed to disk: it protects from a git that deletes, not from a power cut.
func (r *Repo) keep(objects []plumbing.Object) (path string, err error) {
	if len(objects) == 0 || r.environ.Quarantined() {
		return "", nil
	}
	var head, data bytes.Buffer
	for _, o := range objects {
		fmt.Fprintf(&head, "%s %s %d\n", o.OID, o.Type, len(o.Data))
		data.Write(o.Data)
	}
	head.WriteByte('\n')
	head.Write(data.Bytes())
	dir := r.Upkeep().KeptDir()
	file, err := os.CreateTemp(dir, keptFile)
	if os.IsNotExist(err) {
		if err = r.MakeDir(dir); err == nil {
			file, err = os.CreateTemp(dir, keptFile)
		}
	}
	if err != nil {
		return "", disk.NewStorageError(dir, err)
	}
	_, err = file.Write(head.Bytes())
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
	}
	return file.Name(), disk.NewStorageError(dir, err)
}

// unsettled are the writes of this process after which no refs have moved yet.
type unsettled struct {
	mu  sync.Mutex
	all []keptWrite
}

// keptWrite is one write's objects, and the file that keeps them.
type keptWrite struct {
	kept    string
	objects []plumbing.Object
}

func (w *unsettled) add(kept string, objects []plumbing.Object) {
	if kept == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, keptWrite{kept, objects})
}

// here returns the writes.
func (w *unsettled) here() []keptWrite {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

// take returns the writes and forgets them.
func (w *unsettled) take() (all []keptWrite) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.all = w.all, nil
	return all
}

// settle finishes this process's writes after refs have moved: it rewrites objects that git has
// deleted meanwhile, and marks the files of those that a ref has moved to.
func (r *Repo) settle(ctx context.Context, updates []plumbing.RefUpdate) error {
	all := r.unsettled.take()
	for _, w := range all {
		commits := slices.ContainsFunc(w.objects, isCommit)
		movedTo := func(o plumbing.Object) bool {
			// An attempt that failed may have written the same lease as this one, and another commit.
			return isCommit(o) == commits && slices.ContainsFunc(updates, func(u plumbing.RefUpdate) bool { return u.New == o.OID })
		}
		if slices.ContainsFunc(w.objects, movedTo) {
			_ = os.Chmod(w.kept, keptMoved) // best effort: the objects are kept either way
		}
	}
	return r.rewrite(context.WithoutCancel(ctx), all) // what was acknowledged must stay
}

// rewrite writes again the objects that git has deleted meanwhile.
func (r *Repo) rewrite(ctx context.Context, all []keptWrite) error {
	gone, err := r.goneOf(ctx, all)
	if err != nil {
		return err
	}
	return r.writeLoose(ctx, gone)
}

// goneOf returns the objects that git has deleted since they were written.
func (r *Repo) goneOf(ctx context.Context, all []keptWrite) ([]plumbing.Object, error) {
	var objects []plumbing.Object
	for _, w := range all {
		objects = append(objects, w.objects...)
	}
	return r.missing(ctx, objects, loose.Has)
}

// unsettledGone reports whether git has deleted objects after which no refs have moved yet.
func (r *Repo) unsettledGone(ctx context.Context) bool {
	gone, err := r.goneOf(ctx, r.unsettled.here())
	return err == nil && len(gone) > 0
}

// kept is a file with kept objects.
type kept struct {
	path    string
	written time.Time
	moved   bool // refs have moved to the objects
	objects []plumbing.Object
}

// readKept reads the objects in a file. It returns nil if the file is gone or incomplete, as after
// its writer died.
func readKept(path string) (objects []plumbing.Object) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	head, data, whole := bytes.Cut(text, []byte("\n\n"))
	if !whole {
		return nil
	}
	for line := range strings.Lines(string(head)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil
		}
		o := plumbing.Object{OID: plumbing.OID(fields[0]), Type: plumbing.ObjectType(fields[1])}
		size, err := strconv.Atoi(fields[2])
		if err != nil || !o.OID.Valid() || size < 0 || size > len(data) {
			return nil
		}
		o.Data, data = data[:size:size], data[size:]
		objects = append(objects, o)
	}
	return objects
}

// isTip reports whether refs have moved to a commit in the file.
func (k *kept) isTip() bool {
	return k.moved && slices.ContainsFunc(readKept(k.path), isCommit)
}

func isCommit(o plumbing.Object) bool { return o.Type == plumbing.CommitObject }

// listKept lists the files of kept objects, newest first, without their objects.
func (r *Repo) listKept() []*kept {
	dir := r.Upkeep().KeptDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []*kept
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), keptFile) {
			continue
		}
		if info, err := e.Info(); err == nil { // or it has been deleted meanwhile
			all = append(all, &kept{path: filepath.Join(dir, e.Name()), written: info.ModTime(), moved: info.Mode().Perm() == keptMoved})
		}
	}
	slices.SortFunc(all, func(a, b *kept) int { return b.written.Compare(a.written) })
	return all
}

// allKept reads all files of kept objects, newest first.
func (r *Repo) allKept() []*kept {
	var all []*kept
	for _, k := range r.listKept() {
		if k.objects = readKept(k.path); k.objects != nil {
			all = append(all, k)
		}
	}
	return all
}

// bringBack rewrites the kept objects that are missing or damaged. It also returns true if none was
// missing, since another process may have been faster; false means that nothing is kept, or an
// error.
func (r *Repo) bringBack(ctx context.Context) bool {
	var objects []plumbing.Object
	for _, k := range r.allKept() {
		objects = append(objects, k.objects...)
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
	for _, k := range r.listKept() {
		if len(lost) == 0 {
			break
		}
		before, objects := len(lost), readKept(k.path)
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
// git can delete any more. Before that, and after about keptBatch operations, plumbing.LastRef moves to
// the board: kept files and that ref have it all if its branch is deleted. Only one process does
// this per keptEvery.
func (r *Repo) tidyKept(ctx context.Context) {
	last, due := r.dueKept()
	if !due {
		return
	}
	now := time.Now()
	all := r.listKept()
	old := make([]*kept, 0, len(all))
	tip := slices.IndexFunc(all, (*kept).isTip) // finds the board again if its ref is lost
	for i, k := range all {
		if age := now.Sub(k.written).Abs(); i != tip && age > keptFresh && (i >= keptNewest || age > keptLong) {
			old = append(old, k)
		}
	}
	full := len(old) >= keptBatch
	held := (full || r.writtenSince(plumbing.LastRef, all) >= keptBatch) && r.Upkeep().FollowBoard(ctx)
	if full && (held || len(all) >= keptMost) {
		old = r.pastDeleting(now, old) // must come before the search for missing objects
	} else {
		old = nil
	}
	missing, err := r.missingOf(ctx, append(old, all[:lately(all, last, now)]...))
	if err == nil && len(missing) > 0 {
		missing, err = r.missingOf(ctx, all)
	}
	if err != nil || r.writeLoose(ctx, missing) != nil {
		return
	}
	for _, k := range old {
		os.Remove(k.path)
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

// writtenSince returns how many of the files, newest first, were written since a loose ref was.
func (r *Repo) writtenSince(ref string, files []*kept) int {
	info, err := os.Stat(filepath.Join(r.common, filepath.FromSlash(ref)))
	if err != nil {
		return len(files)
	}
	n := slices.IndexFunc(files, func(k *kept) bool { return k.written.Before(info.ModTime()) })
	if n < 0 {
		return len(files)
	}
	return n
}

// lately returns how many of the files, newest first, show whether a git has deleted objects since
// the last check. The deleted objects were unreachable when it began, so that includes the objects
// of the last files before that check, or only later ones.
func lately(files []*kept, last, now time.Time) int {
	if last.After(now) {
		return len(files) // by a clock that was ahead
	}
	since := last.Add(-keptFresh) // objects come after their file
	n := slices.IndexFunc(files, func(k *kept) bool { return k.written.Before(since) })
	if n < 0 {
		return len(files)
	}
	return min(n+keptBefore, len(files))
}

// missingOf returns the objects of kept files that are missing.
func (r *Repo) missingOf(ctx context.Context, files []*kept) ([]plumbing.Object, error) {
	var objects []plumbing.Object
	for _, k := range files {
		objects = append(objects, readKept(k.path)...)
	}
	return r.missing(ctx, objects, loose.Has)
}

// dueKept reports whether tidyKept is due, and claims the turn for this process. last is when it
// was done last.
func (r *Repo) dueKept() (last time.Time, due bool) {
	mark := filepath.Join(r.Upkeep().KeptDir(), "looked-after")
	now := time.Now()
	info, err := os.Stat(mark)
	if err == nil {
		last = info.ModTime()
		if now.Sub(last).Abs() < keptEvery {
			return last, false
		}
	}
	if os.Chtimes(mark, now, now) == nil {
		return last, true
	}
	file, err := os.OpenFile(mark, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return last, false
	}
	return last, file.Close() == nil
}

// pastDeleting returns the files that were complete, with all that belongs to them, before any
// running git that may delete objects was started.
func (r *Repo) pastDeleting(now time.Time, files []*kept) []*kept {
	processes, known := r.Locks().Processes()
	runs := proc.Uptime()
	return slices.DeleteFunc(files, func(k *kept) bool {
		age := now.Sub(k.written).Abs()
		if !known {
			return age < keptBlind && len(files) < keptMost
		}
		return slices.ContainsFunc(processes, func(p locks.Process) bool {
			return !p.Reads() && runs-p.Started > age-keptFresh
		})
	})
}
