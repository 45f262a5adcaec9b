package records

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Repo is a repository whose records are looked at.
type Repo struct {
	Common string // its common git directory
	Top    string // top of the worktree in which it was opened, "" if there is none
}

// All lists the records.
func (r Repo) All() (all []string) {
	entries, _ := os.ReadDir(filepath.Join(r.Common, "worktrees")) // without it there are none
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, filepath.Join(r.Common, "worktrees", e.Name()))
		}
	}
	return all
}

// Of returns the record that names a worktree, or "" if there is none. The worktree itself may no
// longer exist.
func (r Repo) Of(worktree string) string {
	for _, record := range r.All() {
		if Link(record) == filepath.Join(worktree, ".git") {
			return record
		}
	}
	return ""
}

// Named returns the record that the file .git of a linked worktree names. of is false if that is no
// record of this repository.
func (r Repo) Named(worktree string) (record string, of bool) {
	record = LinkedDir(worktree)
	return record, filepath.Dir(record) == filepath.Join(r.Common, "worktrees")
}

// Own returns the record of a linked worktree if the two name each other.
func (r Repo) Own(worktree string) (record string, own bool) {
	record, known := r.Named(worktree)
	if !known {
		return "", false
	}
	return record, Link(record) == filepath.Join(worktree, ".git")
}

// Owns reports whether path is the top of a linked worktree of this repository, by the files in which
// the two name each other. It is also false for a worktree that was moved or that is reached by
// another path, which Worktrees finds, and for a symbolic link.
func (r Repo) Owns(path string) bool {
	_, own := r.Own(path)
	return own && !disk.IsLink(path)
}

// Original returns the git directory of a repository of which this one is a copy (cp -r), "" if it
// is none: a worktree that git has recorded here, or one of those at the given paths, is a live one
// of another repository. A git command that follows the records of the copy changes the original.
func (r Repo) Original(paths ...string) string {
	for _, record := range r.All() {
		paths = append(paths, filepath.Dir(Link(record)))
	}
	own, err := os.Stat(r.Common)
	if err != nil {
		return ""
	}
	for _, path := range paths {
		record := LinkedDir(path)
		if record == "" {
			continue
		}
		if _, err := os.Stat(Link(record)); err != nil {
			continue // it has moved, or is gone
		}
		common := filepath.Dir(filepath.Dir(record))
		if info, _ := os.Stat(common); !os.SameFile(info, own) { // it is there, as the record in it
			return common
		}
	}
	return ""
}

// Damaged lists the records whose file commondir does not lead to this repository. Git can't use their
// worktrees, and can't even list the others if the file is empty. One that another process is writing
// is among them.
func (r Repo) Damaged() (damaged []string) {
	own, _ := os.Stat(r.Common) // without it there are no records
	for _, record := range r.All() {
		text, _ := os.ReadFile(filepath.Join(record, "commondir")) // without a text it leads to the record
		common, _ := os.Stat(PathIn(record, string(text)))         // a missing one is the same file as no other
		if !os.SameFile(own, common) {
			damaged = append(damaged, record)
		}
	}
	return damaged
}

// Nameless lists the records whose file gitdir names no worktree. Git works in their worktrees all the
// same, but removes the records, with everything in them, at its next gc.
func (r Repo) Nameless() []string {
	return slices.DeleteFunc(r.All(), func(record string) bool { return Link(record) != "" })
}

// Unfinished lists the records whose HEAD has the zero id, which git writes first. While one is left
// by a git that was killed then, git neither fetches nor packs nor prunes.
func (r Repo) Unfinished() []string {
	return slices.DeleteFunc(r.All(), func(record string) bool {
		line, _ := disk.Line(filepath.Join(record, "HEAD"))
		return !plumbing.OID(line).Valid() || !plumbing.OID(line).IsZero()
	})
}

// LostHead reports whether the file of a linked worktree's HEAD names neither a ref nor a commit.
func (r Repo) LostHead(worktree string) bool {
	record, own := r.Own(worktree)
	return own && !NamesHead(record)
}

// CommittedIn maps commits to the directory of the linked worktree in which they were made, as far
// as the reflogs of the worktrees' HEADs show. Commits made without git commit or git cherry-pick
// are not recorded there.
func (r Repo) CommittedIn() map[plumbing.OID]string {
	made := map[plumbing.OID]string{}
	for _, record := range r.All() {
		link := Link(record)
		if link == "" {
			continue // it is being removed
		}
		text, _ := os.ReadFile(filepath.Join(record, "logs", "HEAD")) // a missing log has no moves
		for _, m := range plumbing.ParseReflog(string(text)) {
			if strings.HasPrefix(m.Message, "commit") || strings.HasPrefix(m.Message, "cherry-pick") {
				made[m.To] = filepath.Dir(link)
			}
		}
	}
	return made
}

// Places returns the directories in which git works on the repository: its common directory and the
// tops of its worktrees.
func (r Repo) Places() []string {
	places := []string{r.Common, r.MainTop(), r.Top}
	for _, record := range r.All() {
		if link := Link(record); link != "" {
			places = append(places, filepath.Dir(link))
		}
	}
	return slices.DeleteFunc(places, func(place string) bool { return place == "" })
}

// MainTop returns the top directory of the main worktree. A git directory that is not named .git does
// not know it (git-init, --separate-git-dir; submodules): then it is the worktree in which the
// repository was opened, or one that it or a linked worktree is in, and "" if none is.
func (r Repo) MainTop() string {
	if filepath.Base(r.Common) == ".git" {
		return filepath.Dir(r.Common)
	}
	dirs := []string{r.Top}
	for _, record := range r.All() {
		dirs = append(dirs, filepath.Dir(Link(record)))
	}
	for _, dir := range dirs {
		for below := ""; dir != "" && dir != "." && dir != below; below, dir = dir, filepath.Dir(dir) {
			if LeadsTo(dir, r.Common) {
				return dir
			}
		}
	}
	return ""
}

// PlainlyFree reports that no worktree's HEAD is attached to a ref, by the HEAD files
// (gitrepository-layout, HEAD and worktrees/<id>/HEAD). With reftables these files name no ref, so
// it is false.
func (r Repo) PlainlyFree(ref string) bool {
	return !slices.ContainsFunc(append(r.All(), r.Common), func(dir string) bool {
		to, _ := disk.Line(filepath.Join(dir, "HEAD")) // names nothing if it can't be read
		branch, attached := strings.CutPrefix(to, plumbing.SymbolicMark)
		if branch == ref || branch == NoBranch || !attached && !plumbing.OID(to).Valid() {
			return true
		}
		// A branch may itself be a symbolic ref to another one.
		at, _ := disk.Line(filepath.Join(r.Common, filepath.FromSlash(branch)))
		return attached && strings.HasPrefix(at, plumbing.SymbolicMark)
	})
}

// NoBranch is the ref that HEAD's file names in a repository with reftables.
const NoBranch = plumbing.HeadsPrefix + ".invalid"

// Link returns the file .git of the worktree that a record names, "" if it names none.
func Link(record string) string {
	back, err := os.ReadFile(filepath.Join(record, "gitdir"))
	if link := PathIn(record, string(back)); err == nil && filepath.Base(link) == ".git" {
		return link
	}
	return ""
}

// LinkedDir returns the directory that a worktree's .git file names (gitrepository-layout), or ""
// if .git is a directory or missing.
func LinkedDir(worktree string) string {
	link := LinkText(worktree)
	if link == "" {
		return ""
	}
	return PathIn(worktree, link)
}

// LinkText is LinkedDir as written in the file, absolute or relative to the worktree.
func LinkText(worktree string) string {
	text, err := os.ReadFile(filepath.Join(worktree, ".git"))
	line, is := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !is {
		return ""
	}
	return strings.TrimRight(line, "\r\n")
}

// LeadsTo reports whether a worktree's .git is a certain directory, or a file that points there.
func LeadsTo(worktree, gitDir string) bool {
	at := LinkedDir(worktree)
	if at == "" {
		at = filepath.Join(worktree, ".git")
	}
	found, err := os.Stat(at)
	if err != nil {
		return false
	}
	wanted, err := os.Stat(gitDir)
	return err == nil && os.SameFile(found, wanted)
}

// PathIn resolves a path that was read from a file in dir.
func PathIn(dir, line string) string {
	line = strings.TrimRight(line, "\r\n")
	if filepath.IsAbs(line) {
		return filepath.Clean(line)
	}
	return filepath.Join(dir, line)
}

// WorktreeOf returns the top directory of the worktree that a record belongs to: one of the given
// ones whose .git file names the record, or else the one that the record names, even if that no longer
// exists. It returns "" if the record names none, or one that is another record's by now.
func WorktreeOf(record string, among []string) string {
	for _, path := range among {
		if LinkedDir(path) == record {
			return path
		}
	}
	link := Link(record)
	if link == "" {
		return ""
	}
	path := filepath.Dir(link)
	info, err := os.Lstat(link)
	other := LinkedDir(path)
	if err == nil && !info.Mode().IsRegular() || other != "" && other != record && Link(other) == link {
		return ""
	}
	return path
}

// Complete restores the paths in the record of a worktree: those of the repository and of the worktree.
// It can be repeated, also while git writes the record.
func Complete(record, worktree string) error {
	err := disk.Replace(filepath.Join(record, "commondir"), []byte("../..\n"))
	if link := filepath.Join(worktree, ".git"); err == nil && Link(record) != link {
		err = SetLink(record, link)
	}
	return disk.NewStorageError(record, err)
}

// SetLink writes into a record the file .git of its worktree.
func SetLink(record, link string) error {
	return disk.Replace(filepath.Join(record, "gitdir"), []byte(link+"\n"))
}

// Drop deletes a record.
func Drop(record string) error {
	if err := os.RemoveAll(record); err != nil {
		return disk.NewStorageError(record, err)
	}
	_ = os.Remove(filepath.Dir(record)) // git also removes it once it is empty
	return nil
}

// OnlyBegun reports whether a record holds only files that git writes first, so that no work is in
// it.
func OnlyBegun(record string) bool {
	entries, err := os.ReadDir(record)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !slices.Contains([]string{"HEAD", "commondir", "gitdir", lockFile}, e.Name())
	})
}

// Head returns the commit that a record has checked out without a branch, or the last one of its
// reflog if HEAD's file names none; "" for none.
func Head(record string) (plumbing.OID, error) {
	line, _ := disk.Line(filepath.Join(record, "HEAD"))
	if oid := plumbing.OID(line); oid.Valid() && !oid.IsZero() {
		return oid, nil
	}
	return LoggedHead(record)
}

// LoggedHead returns the last commit in the reflog of a worktree's HEAD; "" for none.
func LoggedHead(record string) (plumbing.OID, error) {
	data, err := os.ReadFile(filepath.Join(record, "logs", "HEAD"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, m := range plumbing.ParseReflog(string(data)) {
		if !m.To.IsZero() { // the last one may be the deletion of the branch
			return m.To, nil
		}
	}
	return "", nil
}

// NamesHead reports whether the file of HEAD in a record names a ref or a commit.
func NamesHead(record string) bool {
	line, _ := disk.Line(filepath.Join(record, "HEAD"))
	return strings.HasPrefix(line, plumbing.SymbolicMark) || plumbing.OID(line).Valid()
}
