package gitio

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// `git prune`, `git gc` and `git repack` delete what they could not reach when they began, however late they come to it.
// With --prune=now that includes an object that was written since and that a ref has held for minutes. Nothing keeps
// them from it: an object that they have not seen is garbage to them. So what is written here is also kept, for a while,
// in files that git does not know: <common git dir>/liza/kept, one for each WriteObjects. Who finds an object missing
// looks there (fromKept), and writers look from time to time whether anything is missing (tidyKept), until no git runs
// that could still delete it.

const (
	// keptFresh is how long an operation takes at most from writing its objects to having moved its refs, or to finding
	// out by itself that an object has gone.
	keptFresh = 10 * time.Second
	// keptLong is how long the newest keptNewest files are kept although no git can be seen that deletes objects. One
	// may run where it can't be seen: outside a container, on another machine.
	keptLong   = 10 * time.Minute
	keptNewest = 64
	// keptBlind and keptMost are the same where no processes can be seen.
	keptBlind = time.Hour
	keptMost  = 1000
	// keptEvery is how often writers look whether something is missing.
	keptEvery = 2 * time.Second
)

// keptFile is what the name of a file of kept objects begins with.
const keptFile = "objects-"

// keptMoved is the mode of such a file once refs have moved to its objects. It keeps its name: who lists the directory
// at that moment would miss a file that gets another one.
const keptMoved = 0o444

func (r *Repo) keptDir() string { return filepath.Join(r.common, "liza", "kept") }

// keep keeps objects that are about to be written, and returns the file. It is not flushed to disk: it is for a git that deletes, not for a
// power cut.
func (r *Repo) keep(objects []git.Object) (path string, err error) {
	if len(objects) == 0 || inQuarantine() {
		return "", nil
	}
	var head, data bytes.Buffer
	for _, o := range objects {
		fmt.Fprintf(&head, "%s %s %d\n", o.OID, o.Type, len(o.Data))
		data.Write(o.Data)
	}
	head.WriteByte('\n')
	head.Write(data.Bytes())
	dir := r.keptDir()
	file, err := os.CreateTemp(dir, keptFile)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(dir, 0o755); err == nil {
			file, err = os.CreateTemp(dir, keptFile)
		}
	}
	if err != nil {
		return "", storageError(dir, err)
	}
	_, err = file.Write(head.Bytes())
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return file.Name(), storageError(dir, err)
}

// settle is what is left to do when refs have moved to objects: those that a git has deleted meanwhile are written
// again, and the file that keeps them says that they are held.
func (r *Repo) settle(objects []git.Object, path string) error {
	if path != "" {
		_ = os.Chmod(path, keptMoved) // it serves either way
	}
	return r.rewrite(objects)
}

// kept is a file of kept objects.
type kept struct {
	path    string
	written time.Time
	moved   bool // refs have moved to the objects
	objects []git.Object
}

// readKept reads a file of kept objects; nil when it has gone, or when its writer has died over it.
func readKept(path string) *kept {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	info, err := os.Stat(path)
	head, data, whole := bytes.Cut(text, []byte("\n\n"))
	if err != nil || !whole {
		return nil
	}
	k := &kept{path: path, written: info.ModTime(), moved: info.Mode().Perm() == keptMoved}
	for line := range strings.Lines(string(head)) {
		var o git.Object
		var size int
		if _, err := fmt.Sscanf(line, "%s %s %d", &o.OID, &o.Type, &size); err != nil || !o.OID.Valid() || size < 0 || size > len(data) {
			return nil
		}
		o.Data, data = data[:size:size], data[size:]
		k.objects = append(k.objects, o)
	}
	return k
}

// isTip reports whether refs were moved to a commit in it.
func (k *kept) isTip() bool {
	return k.moved && slices.ContainsFunc(k.objects, func(o git.Object) bool { return o.Type == git.CommitObject })
}

// allKept reads the files of kept objects, the newest first.
func (r *Repo) allKept() []*kept {
	dir := r.keptDir()
	entries, _ := os.ReadDir(dir)
	var all []*kept
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), keptFile) {
			continue
		}
		if k := readKept(filepath.Join(dir, e.Name())); k != nil {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *kept) int { return b.written.Compare(a.written) })
	return all
}

// looseFile is where an object is as long as it is not in a pack.
func looseFile(dir string, oid git.OID) string {
	return filepath.Join(dir, string(oid[:2]), string(oid[2:]))
}

// isLoose reports whether an object has a file of its own with something in it.
func isLoose(dir string, oid git.OID) bool {
	info, err := os.Lstat(looseFile(dir, oid))
	return err == nil && info.Size() > 0
}

// intact reports whether an object has a file of its own that holds it.
func intact(path string, o git.Object) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	z, err := zlib.NewReader(file)
	if err != nil {
		return false
	}
	header := fmt.Sprintf("%s %d\x00", o.Type, len(o.Data))
	data, err := io.ReadAll(io.LimitReader(z, int64(len(header)+len(o.Data)+1)))
	return err == nil && string(data) == header+string(o.Data)
}

// rewrite writes those objects again that have no file of their own any more.
func (r *Repo) rewrite(objects []git.Object) error {
	dir := r.objectDir()
	gone := slices.DeleteFunc(slices.Clone(objects), func(o git.Object) bool { return isLoose(dir, o.OID) })
	return r.writeLoose(context.Background(), gone)
}

// bringBack writes whatever is missing or damaged of the kept objects again. It reports whether there is anything that
// may have been missing: another process may have been faster.
func (r *Repo) bringBack(ctx context.Context) bool {
	var objects []git.Object
	for _, k := range r.allKept() {
		objects = append(objects, k.objects...)
	}
	missing, err := r.missing(ctx, objects, func(dir string, o git.Object) bool { return intact(looseFile(dir, o.OID), o) })
	return err == nil && len(objects) > 0 && r.writeLoose(ctx, missing) == nil
}

// fromKept puts kept objects in the place of answers that say "missing", and has git find them again, too.
func (r *Repo) fromKept(ctx context.Context, names []string, answers []git.Object) {
	lost := map[git.OID][]int{}
	for i, answer := range answers {
		if oid := git.OID(names[i]); answer.OID == "" && oid.Valid() && !oid.IsZero() {
			lost[oid] = append(lost[oid], i)
		}
	}
	if len(lost) == 0 {
		return
	}
	found := false
	for _, k := range r.allKept() {
		for _, o := range k.objects {
			if len(lost[o.OID]) == 0 || git.PlainHash(o.Type, o.Data) != o.OID {
				continue
			}
			found = true
			for _, i := range lost[o.OID] {
				answers[i] = o
			}
		}
	}
	if found {
		r.bringBack(ctx)
	}
}

// missing returns those of the objects that are neither loose, as is asked of each, nor in a pack.
func (r *Repo) missing(ctx context.Context, objects []git.Object, loose func(dir string, o git.Object) bool) (missing []git.Object, err error) {
	dir := r.objectDir()
	seen := map[git.OID]bool{}
	var names []string
	var asked []git.Object
	for _, o := range objects {
		if !seen[o.OID] && !loose(dir, o) {
			seen[o.OID] = true
			names, asked = append(names, string(o.OID)), append(asked, o)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	answers, err := r.batch.ask(ctx, names)
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

// tidyKept brings back what is missing of the kept objects, and drops those that nobody can delete any more. Once in a
// while one process does that for all.
func (r *Repo) tidyKept(ctx context.Context) {
	if !r.dueKept() {
		return
	}
	now := time.Now()
	all := r.allKept()
	old := make([]*kept, 0, len(all))
	last := slices.IndexFunc(all, (*kept).isTip) // by which a board is found whose ref has gone
	for i, k := range all {
		if age := now.Sub(k.written).Abs(); i != last && age > keptFresh && (i >= keptNewest || age > keptLong) {
			old = append(old, k)
		}
	}
	if len(old) > 0 {
		old = r.pastDeleting(now, old) // looks before it is seen what is missing
	}
	var objects []git.Object
	for _, k := range all {
		objects = append(objects, k.objects...)
	}
	missing, err := r.missing(ctx, objects, func(dir string, o git.Object) bool { return isLoose(dir, o.OID) })
	if err == nil {
		err = r.writeLoose(ctx, missing)
	}
	if err != nil {
		return
	}
	for _, k := range old {
		os.Remove(k.path)
	}
}

// dueKept reports whether it is this process's turn to look after the kept objects.
func (r *Repo) dueKept() bool {
	mark := filepath.Join(r.keptDir(), "looked-after")
	now := time.Now()
	info, err := os.Stat(mark)
	if err == nil && now.Sub(info.ModTime()).Abs() < keptEvery {
		return false
	}
	if os.Chtimes(mark, now, now) == nil {
		return true
	}
	file, err := os.OpenFile(mark, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// pastDeleting returns those of the files that were written, with all that belongs to them, before any git began that
// runs now and may delete objects.
func (r *Repo) pastDeleting(now time.Time, files []*kept) []*kept {
	processes, known := r.processes()
	runs := uptime()
	return slices.DeleteFunc(files, func(k *kept) bool {
		age := now.Sub(k.written).Abs()
		if !known {
			return age < keptBlind && len(files) < keptMost
		}
		return slices.ContainsFunc(processes, func(p gitProcess) bool {
			return p.mayDelete() && runs-p.Started > age-keptFresh
		})
	})
}
