package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
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
	Prunable bool // its directory is missing, or links elsewhere
	Main     bool // the one that the repository was created with
}

// Records returns git's records of the repository's linked worktrees.
func (r *Repo) Records() records.Repo { return records.Repo{Common: r.common, Top: r.top} }

// Worktrees lists all worktrees, the main one (or the bare repository) first.
func (r *Repo) Worktrees(ctx context.Context) ([]WorktreeInfo, error) {
	out, err := r.amidst(ctx, r.command("worktree list", "worktree", "list", "--porcelain", "-z"))
	if err != nil {
		return nil, err
	}
	all := parseWorktrees(string(out))
	if len(all) > 0 && all[0].Path == r.common {
		all[0].Path = cmp.Or(r.Records().MainTop(), r.common)
	}
	return all, nil
}

// CheckedOut lists the worktrees whose HEAD is attached to a ref, given by its full name. It starts
// no child if the files of all HEADs clearly name other refs.
func (r *Repo) CheckedOut(ctx context.Context, ref string) ([]WorktreeInfo, error) {
	if r.Records().PlainlyFree(ref) {
		return nil, nil
	}
	all, err := r.Worktrees(ctx)
	return slices.DeleteFunc(all, func(w WorktreeInfo) bool { return w.Branch != ref }), err
}

// record returns git's record of the worktree if the two name each other.
func (w *Worktree) record() (dir string, own bool) { return w.repo.Records().Own(w.path) }

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

// unwritten reports whether another process may be writing a record: one that is new lacks files that
// git requires.
func (r *Repo) unwritten() bool {
	return slices.ContainsFunc(r.Records().Damaged(), func(record string) bool {
		info, err := os.Stat(record)
		return err == nil && time.Since(info.ModTime()) < LockAge
	})
}

// damagedRecord returns a DamagedRecordError in place of git's error if a record is the reason for
// it.
func (r *Repo) damagedRecord(err error) error {
	for _, record := range append(r.Records().Damaged(), r.Records().Unfinished()...) {
		return &DamagedRecordError{Path: record, Err: err}
	}
	return err
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
	return disk.Line(filepath.Join(dir, "HEAD"))
}

// plainHead is Head for a linked worktree whose HEAD is a plain file that names a branch or a
// commit. known is false for everything else, such as reftables, where the file names neither.
func (w *Worktree) plainHead(ctx context.Context) (commit plumbing.OID, branch string, known bool) {
	line, plain := w.headFile()
	if !plain {
		return "", "", false
	}
	if ref, symbolic := strings.CutPrefix(line, plumbing.SymbolicMark); symbolic {
		if !strings.HasPrefix(ref, plumbing.HeadsPrefix) || ref == records.NoBranch {
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
