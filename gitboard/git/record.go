package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Records are git's records of linked worktrees: a directory for each, with its HEAD, index and
// reflog (gitrepository-layout, worktrees/<id>).
type Records struct{ repo *Repo }

// Records returns git's records of the repository's worktrees.
func (r *Repo) Records() Records { return Records{r} }

// Git keeps a record of each linked worktree, a directory with its HEAD, index, reflog and the
// repositories of its submodules (gitrepository-layout, worktrees/<id>). A crash may leave files of
// it empty. The content of the other files is then still somebody's work.

// Damaged lists the records of worktrees whose file commondir does not lead to this
// repository. Git can't use their worktrees, and can't even list the others if the file is empty.
// One that another process is writing is among them.
func (r Records) Damaged() (damaged []string) {
	records, _ := os.ReadDir(filepath.Join(r.repo.common, "worktrees"))
	own, _ := os.Stat(r.repo.common) // without it there are no records
	for _, e := range records {
		record := filepath.Join(r.repo.common, "worktrees", e.Name())
		text, _ := os.ReadFile(filepath.Join(record, "commondir")) // without a text it leads to the record
		common, _ := os.Stat(pathIn(record, string(text)))         // what is not there is the same file as no other
		if e.IsDir() && !os.SameFile(own, common) {
			damaged = append(damaged, record)
		}
	}
	return damaged
}

// Nameless lists the records of worktrees whose file gitdir names no worktree. Git works in
// their worktrees all the same, but forgets the records, with all that is in them, at its next gc.
func (r Records) Nameless() (nameless []string) {
	records, _ := os.ReadDir(filepath.Join(r.repo.common, "worktrees")) // there may be none
	for _, e := range records {
		if record := filepath.Join(r.repo.common, "worktrees", e.Name()); e.IsDir() && linkBack(record) == "" {
			nameless = append(nameless, record)
		}
	}
	return nameless
}

// Unfinished lists the records of worktrees whose HEAD has the zero id, which git writes
// first. While one is left by a git that was killed then, git neither fetches nor packs nor prunes.
func (r Records) Unfinished() (unfinished []string) {
	heads, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(r.repo.common), "worktrees", "*", "HEAD")) // the pattern is valid
	for _, head := range heads {
		if line, _ := plainFile(head); plumbing.OID(line).Valid() && plumbing.OID(line).IsZero() {
			unfinished = append(unfinished, filepath.Dir(head))
		}
	}
	return unfinished
}

// Finish gives an unfinished record the commit of the main worktree, unless a git may still
// be writing the record. It can be repeated. The files of the worktree stay as they are.
func (r Records) Finish(ctx context.Context, record string) error {
	head := filepath.Join(record, "HEAD")
	if !slices.Contains(r.Unfinished(), record) {
		return nil
	}
	if err := r.repo.Locks().Left(head, r.repo.patience.Watch); err != nil {
		return err
	}
	commit, err := r.repo.resolve(ctx, "main-worktree/HEAD") // whichever this one is
	if err != nil {
		return err
	}
	return disk.NewStorageError(record, disk.Replace(head, []byte(string(commit)+"\n")))
}

// finishRecords finishes the unfinished records that killed processes have left, and reports
// whether there was one.
func (r *Repo) finishRecords(ctx context.Context) (done bool) {
	for _, record := range r.Records().Unfinished() {
		done = r.Records().Finish(ctx, record) == nil || done
	}
	return done
}

// unwritten reports whether another process may be writing a record: one that is new lacks what git
// requires.
func (r *Repo) unwritten() bool {
	return slices.ContainsFunc(r.Records().Damaged(), func(record string) bool {
		info, err := os.Stat(record)
		return err == nil && time.Since(info.ModTime()) < LockAge
	})
}

// damagedRecord returns a DamagedRecordError in place of git's error if a record is the reason for
// it.
func (r *Repo) damagedRecord(err error) error {
	if damaged := r.Records().Damaged(); len(damaged) > 0 {
		return &DamagedRecordError{Path: damaged[0], Err: err}
	}
	return err
}

// WorktreeOf returns the top directory of the worktree that a record belongs to: one of the given
// ones whose .git file names the record, or else the one that the record names, even if it is gone.
// It returns "" if the record names none, or one that is another record's by now.
func (r Records) WorktreeOf(record string, among []string) string {
	for _, path := range among {
		if LinkedDir(path) == record {
			return path
		}
	}
	link := linkBack(record)
	if link == "" {
		return ""
	}
	path := filepath.Dir(link)
	info, err := os.Lstat(link)
	other := LinkedDir(path)
	if err == nil && !info.Mode().IsRegular() || other != "" && other != record && linkBack(other) == link {
		return ""
	}
	return path
}

// Complete restores the paths in a record of the worktree at path: those of the repository and of
// the worktree. It can be repeated, also while git writes the record.
func (r Records) Complete(record, path string) error {
	err := disk.Replace(filepath.Join(record, "commondir"), []byte(upToCommon))
	if link := filepath.Join(path, ".git"); err == nil && linkBack(record) != link {
		err = disk.Replace(filepath.Join(record, "gitdir"), []byte(link+"\n"))
	}
	return disk.NewStorageError(record, err)
}

// completeRecords completes the records of which a git has left the file commondir empty, because
// it was killed. One that is still writing it writes the same, and may then move or remove all of
// it: nothing else is written, and no file made.
func (r *Repo) completeRecords() {
	for _, record := range r.Records().Damaged() {
		if r.Records().WorktreeOf(record, nil) == "" {
			continue
		}
		file, err := os.OpenFile(filepath.Join(record, "commondir"), os.O_WRONLY, 0)
		if err != nil {
			continue // what is still damaged is reported by who needs it
		}
		if info, err := file.Stat(); err == nil && info.Size() == 0 {
			_, _ = file.WriteString(upToCommon)
		}
		_ = file.Close()
	}
}

// upToCommon is the content of a record's file commondir: the relative path of the common
// directory.
const upToCommon = "../..\n"

// OnlyBegun reports whether a record holds only files that git writes first, so that no work is in
// it.
func OnlyBegun(record string) bool {
	entries, err := os.ReadDir(record)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !slices.Contains([]string{"HEAD", "commondir", "gitdir", lockedFile}, e.Name())
	})
}

// RecordedHead returns the commit that a worktree's record has checked out without a branch, or the
// last one of its reflog if HEAD's file names none; "" for none.
func RecordedHead(record string) (plumbing.OID, error) {
	line, _ := plainFile(filepath.Join(record, "HEAD"))
	if oid := plumbing.OID(line); oid.Valid() && !oid.IsZero() {
		return oid, nil
	}
	return loggedHead(record)
}

// loggedHead returns the last commit in the reflog of a worktree's HEAD; "" for none.
func loggedHead(dir string) (plumbing.OID, error) {
	data, err := os.ReadFile(filepath.Join(dir, "logs", "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, m := range moves(string(data)) {
		if !m.To.IsZero() { // the last one may be the deletion of the branch
			return m.To, nil
		}
	}
	return "", nil
}

// LostHead reports whether the file of a linked worktree's HEAD names neither a ref nor a commit.
func (w *Worktree) LostHead() bool {
	dir, ours := w.record()
	if !ours {
		return false
	}
	return !namesHead(dir)
}

// namesHead reports whether the file of HEAD in a worktree's record names a ref or a commit.
func namesHead(record string) bool {
	line, _ := plainFile(filepath.Join(record, "HEAD"))
	return strings.HasPrefix(line, symbolicMark) || plumbing.OID(line).Valid()
}

// Unheld reports whether no ref holds a commit. It is false for one that is missing: nothing is
// left of it.
func (h History) Unheld(ctx context.Context, commit plumbing.OID) (bool, error) {
	if o, err := h.repo.Object(ctx, string(commit)); errors.Is(err, ErrNotFound) || err == nil && o.Type != plumbing.CommitObject {
		return false, nil
	} else if err != nil {
		return false, err
	}
	out, err := h.repo.command("rev-list", "rev-list", "--max-count=1", string(commit), "--not", "--glob="+plumbing.RefsPrefix+"*", "--").Output(ctx)
	return len(bytes.TrimSpace(out)) > 0, err
}
