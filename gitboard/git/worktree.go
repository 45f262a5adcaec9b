package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Worktree is the place of a worktree of the repository, whether or not one is there.
type Worktree struct {
	repo *Repo
	path string // of its top directory
}

// Worktree returns the worktree.
func (r *Repo) Worktree(path string) *Worktree { return &Worktree{r, path} }

// WorktreeInfo is one of the repository's worktrees, as git-worktree lists it.
type WorktreeInfo struct {
	Path     string       // absolute
	Head     plumbing.OID // ZeroOID before the first commit, "" in a bare repository
	Branch   string       // full ref that HEAD is attached to, or ""
	Bare     bool         // the bare repository itself, which has no files
	Detached bool
	Locked   bool
	Reason   string // why it is locked
	Prunable bool   // its directory is missing, or links elsewhere
	Main     bool   // the one that the repository was created with
}

// Worktrees lists all worktrees, the main one (or the bare repository) first.
func (r Records) Worktrees(ctx context.Context) ([]WorktreeInfo, error) {
	return r.repo.listWorktrees(ctx, r.repo.amidst)
}

// RepairedWorktrees is Worktrees for callers that are about to change one. A record that a git left
// unfinished when it was killed is completed if it is in their way.
func (r Records) RepairedWorktrees(ctx context.Context) ([]WorktreeInfo, error) {
	return r.repo.listWorktrees(ctx, r.repo.repaired)
}

func (r *Repo) listWorktrees(ctx context.Context, run func(context.Context, command) ([]byte, error)) ([]WorktreeInfo, error) {
	out, err := run(ctx, r.command("worktree list", "worktree", "list", "--porcelain", "-z"))
	if err != nil {
		return nil, err
	}
	all := parseWorktrees(string(out))
	if len(all) > 0 && all[0].Path == r.common {
		var linked []string
		for _, w := range all[1:] {
			linked = append(linked, w.Path)
		}
		all[0].Path = cmp.Or(r.mainTop(linked), r.common)
	}
	return all, nil
}

// mainTop returns the top directory of the main worktree where the git directory does not know it
// (git-init, --separate-git-dir; submodules): the worktree in which Open was called, or one that it
// or a linked worktree is in. If none is, it returns "".
func (r *Repo) mainTop(linked []string) string {
	for _, dir := range append([]string{r.top}, linked...) {
		for below := ""; dir != "" && dir != below; below, dir = dir, filepath.Dir(dir) {
			if r.IsMadeFrom(dir) {
				return dir
			}
		}
	}
	return ""
}

// CheckedOut lists the worktrees whose HEAD is attached to a ref, given by its full name. It starts
// no child if the files of all HEADs clearly name other refs. Else it is like RepairedWorktrees.
func (r Records) CheckedOut(ctx context.Context, ref string) ([]WorktreeInfo, error) {
	if r.repo.plainlyFree(ref) {
		return nil, nil
	}
	all, err := r.RepairedWorktrees(ctx)
	return slices.DeleteFunc(all, func(w WorktreeInfo) bool { return w.Branch != ref }), err
}

// plainlyFree reports that no worktree's HEAD is attached to a ref, going by the HEAD files
// (gitrepository-layout, HEAD and worktrees/<id>/HEAD). With reftables these files name no ref, so
// it is false.
func (r *Repo) plainlyFree(ref string) bool {
	records, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	dirs := []string{r.common}
	for _, record := range records {
		dirs = append(dirs, filepath.Join(r.common, "worktrees", record.Name()))
	}
	return !slices.ContainsFunc(dirs, func(dir string) bool {
		to, _ := plainFile(filepath.Join(dir, "HEAD")) // names nothing if it can't be read
		branch, attached := strings.CutPrefix(to, symbolicMark)
		if branch == ref || branch == noBranch || !attached && !plumbing.OID(to).Valid() {
			return true
		}
		// A branch may itself be a symbolic ref to another one.
		at, _ := plainFile(filepath.Join(r.common, filepath.FromSlash(branch)))
		return attached && strings.HasPrefix(at, symbolicMark)
	})
}

// symbolicMark is the prefix of a symbolic ref's file.
const symbolicMark = "ref: "

// plainFile returns the content of a one-line file of git's. known is false if it is not a regular
// file.
func plainFile(path string) (line string, known bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := os.ReadFile(path)
	return strings.TrimRight(string(data), "\n"), err == nil
}

// noBranch is the ref that HEAD's file names in a repository with reftables.
const noBranch = plumbing.HeadsPrefix + ".invalid"

// Owns reports whether path is the top of a linked worktree of this repository, going by the files
// in which the two name each other. It is also false for a worktree that was moved or that is
// reached by another path, which Worktrees finds, and for a symbolic link.
func (w *Worktree) Owns() bool {
	_, ours := w.record()
	return ours && !disk.IsLink(w.path)
}

// record returns the directory in which git keeps its data on the linked worktree
// (gitrepository-layout, worktrees/<id>), provided that it names the worktree's path.
func (w *Worktree) record() (dir string, ours bool) {
	dir, known := w.named()
	if !known {
		return "", false
	}
	return dir, linkBack(dir) == filepath.Join(w.path, ".git")
}

// linkBack returns the file .git of the linked worktree that a record belongs to, "" if the record
// names none.
func linkBack(record string) string {
	back, err := os.ReadFile(filepath.Join(record, "gitdir"))
	if link := pathIn(record, string(back)); err == nil && filepath.Base(link) == ".git" {
		return link
	}
	return ""
}

// named returns the record that a linked worktree's .git file names.
func (w *Worktree) named() (dir string, known bool) {
	dir = LinkedDir(w.path)
	return dir, filepath.Dir(dir) == filepath.Join(w.repo.common, "worktrees")
}

// Crossed returns the top of another worktree of this repository, if it is that one's record which
// the worktree's .git file names, and "" otherwise.
func (w *Worktree) Crossed() string {
	record, known := w.named()
	link := linkBack(record)
	if !known || link == "" || LinkedDir(filepath.Dir(link)) != record {
		return ""
	}
	own, err := os.Stat(filepath.Join(w.path, ".git"))
	other, failed := os.Stat(link)
	if err != nil || failed != nil || os.SameFile(own, other) {
		return ""
	}
	return filepath.Dir(link)
}

// Original returns the git directory of a repository of which this one is a copy (cp -r), "" if it
// is none: a worktree that git has recorded here, or one of those at the given paths, is a live one
// of another repository. What git does there by the records here, it does to the original.
func (r Records) Original(paths ...string) string {
	records, _ := filepath.Glob(filepath.Join(r.repo.common, "worktrees", "*")) // the pattern is valid
	for _, record := range records {
		paths = append(paths, filepath.Dir(linkBack(record)))
	}
	own, err := os.Stat(r.repo.common)
	if err != nil {
		return ""
	}
	for _, path := range paths {
		record := LinkedDir(path)
		if record == "" {
			continue
		}
		if _, err := os.Stat(linkBack(record)); err != nil {
			continue // it has moved, or is gone
		}
		common := filepath.Dir(filepath.Dir(record))
		if info, _ := os.Stat(common); !os.SameFile(info, own) { // it is there, as the record in it
			return common
		}
	}
	return ""
}

// LinkedDir returns the directory that a worktree's .git file names (gitrepository-layout), or ""
// if .git is a directory or missing.
func LinkedDir(worktree string) string {
	link := linkOf(worktree)
	if link == "" {
		return ""
	}
	return pathIn(worktree, link)
}

// linkOf is LinkedDir as written in the file, absolute or relative to the worktree.
func linkOf(worktree string) string {
	text, err := os.ReadFile(filepath.Join(worktree, ".git"))
	line, is := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !is {
		return ""
	}
	return strings.TrimRight(line, "\r\n")
}

// pathIn resolves a path that was read from a file in dir.
func pathIn(dir, line string) string {
	line = strings.TrimRight(line, "\r\n")
	if filepath.IsAbs(line) {
		return filepath.Clean(line)
	}
	return filepath.Join(dir, line)
}

// amidstAttempts is how often git is asked about worktrees while others are being created.
// amidstDoubts is how often if none seems to be: one may just have been finished.
const (
	amidstAttempts = 100
	amidstDoubts   = 3
)

// amidst runs a child that reads git's records of all worktrees, such as any git-worktree. If
// another process is writing a record at that moment, git dies before it does anything, and amidst
// runs it again. Any other failure costs a few extra runs.
func (r *Repo) amidst(ctx context.Context, c command) ([]byte, error) {
	doubts := 0
	for attempt := 1; ; attempt++ {
		out, err := c.Output(ctx)
		if child.ExitCode(err) != child.Died {
			return out, err
		}
		if attempt == amidstAttempts {
			return out, r.damagedRecord(err)
		}
		if r.unwritten() {
			continue
		}
		if doubts++; doubts == amidstDoubts {
			return out, r.damagedRecord(err)
		}
	}
}

// repaired is amidst for callers that are about to change a worktree: an unfinished record of
// another one does not stop them.
func (r *Repo) repaired(ctx context.Context, c command) ([]byte, error) {
	if out, err := c.Output(ctx); child.ExitCode(err) != child.Died {
		return out, err
	}
	r.completeRecords()
	return r.amidst(ctx, c)
}

// parseWorktrees parses git-worktree's "PORCELAIN FORMAT": each attribute ends with a NUL, and each
// worktree with an empty attribute.
func parseWorktrees(out string) []WorktreeInfo {
	var list []WorktreeInfo
	for record := range strings.SplitSeq(out, "\x00\x00") {
		var w WorktreeInfo
		for attribute := range strings.SplitSeq(record, "\x00") {
			key, value, _ := strings.Cut(attribute, " ")
			switch key {
			case "worktree":
				w.Path = filepath.FromSlash(value)
			case "HEAD":
				w.Head = plumbing.OID(value)
			case "branch":
				w.Branch = value
			case "bare":
				w.Bare = true
			case "detached":
				w.Detached = true
			case "locked":
				w.Locked, w.Reason = true, value
			case "prunable":
				w.Prunable = true
			}
		}
		if w.Path == "" {
			continue
		}
		w.Main = len(list) == 0
		list = append(list, w)
	}
	return list
}

// Head returns the commit checked out in the worktree, and the full
// ref that its HEAD is attached to, or "" if it is detached. Before the first commit, commit is
// ZeroOID.
func (w *Worktree) Head(ctx context.Context) (commit plumbing.OID, branch string, err error) {
	if commit, branch, known := w.plainHead(ctx); known {
		return commit, branch, nil
	}
	var symbolic []byte
	var failed error
	var beside sync.WaitGroup
	beside.Go(func() {
		symbolic, failed = w.in("symbolic-ref", "symbolic-ref", "--quiet", "HEAD").Output(ctx)
	})
	out, err := w.in("rev-parse", "rev-parse", "--verify", "--quiet", "HEAD^{commit}").Output(ctx)
	beside.Wait()
	switch {
	case err == nil:
		commit = plumbing.OID(strings.TrimSpace(string(out)))
	case child.ExitCode(err) == 1:
		commit = plumbing.ZeroOID
	default:
		return "", "", fmt.Errorf("HEAD of %s: %w", w.path, err)
	}
	if failed != nil && child.ExitCode(failed) != 1 {
		return "", "", fmt.Errorf("HEAD of %s: %w", w.path, failed)
	}
	return commit, strings.TrimSpace(string(symbolic)), nil
}

// headFile returns the content of a linked worktree's HEAD file. plain is false if it is none of
// ours, or not a regular file.
func (w *Worktree) headFile() (line string, plain bool) {
	dir, ours := w.record()
	if !ours {
		return "", false
	}
	return plainFile(filepath.Join(dir, "HEAD"))
}

// plainHead is Head for a linked worktree whose HEAD is a plain file that names a branch or a
// commit. known is false for everything else, such as reftables, where the file names neither.
func (w *Worktree) plainHead(ctx context.Context) (commit plumbing.OID, branch string, known bool) {
	line, plain := w.headFile()
	if !plain {
		return "", "", false
	}
	if ref, symbolic := strings.CutPrefix(line, symbolicMark); symbolic {
		if !strings.HasPrefix(ref, plumbing.HeadsPrefix) || ref == noBranch {
			return "", "", false
		}
		commit, err := w.repo.Ref(ctx, ref)
		return commit, ref, err == nil
	}
	if !plumbing.OID(line).Valid() {
		return "", "", false
	}
	object, err := w.repo.Object(ctx, line)
	return plumbing.OID(line), "", err == nil && object.Type == plumbing.CommitObject
}

// AttachHead points the worktree's HEAD at branch, given by its full or short name. Index and files
// stay as they are. The branch need not exist. It returns ErrBusy if another process keeps the
// worktree locked.
func (w *Worktree) AttachHead(ctx context.Context, branch string) error {
	ref := plumbing.BranchRef(branch)
	if err := plumbing.CheckRefName(ref); err != nil {
		return err
	}
	if err := w.free(ctx); err != nil {
		return err
	}
	args := slices.Concat(durable, []string{"symbolic-ref", "-m", "git liza: attach", "HEAD", ref})
	return w.in("symbolic-ref", args...).Run(ctx)
}

// gitDir returns the absolute git directory of a worktree, which holds its index and HEAD.
func (w *Worktree) gitDir(ctx context.Context) (string, error) {
	if dir, ours := w.record(); ours {
		return dir, nil
	}
	out, err := w.in("rev-parse", "rev-parse", "--absolute-git-dir").Output(ctx)
	if err != nil {
		return "", fmt.Errorf("git directory of %s: %w", w.path, err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
