package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/find"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/kept"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/git/settings"
	"github.com/git-liza/git-liza/gitboard/queue"
)

// Repo is a git repository, seen from the directory that was passed to Open.
type Repo struct {
	common    string // shared by all worktrees
	gitDir    string // of the worktree in which Open was called
	top       string // top of that worktree; "" if there is none
	bare      bool
	plain     bool // its refs are files
	batch     *child.Batch
	known     *known
	unsettled *kept.Writes
	// environ is the environment in which Open was called.
	environ  gitenv.List
	people   *identities // started only with Options.ToWrite; otherwise nil
	patience Patience

	// Moved, unless nil, is called with the updates of each transaction that has succeeded.
	Moved func(updates []plumbing.RefUpdate)
}

// Options are the choices of the program that opens a repository. The zero value gives the
// defaults.
type Options struct {
	// ToWrite announces that the caller will soon need Author or Identity: git computes both while
	// the repository is opened.
	ToWrite  bool
	Patience Patience
}

// Open finds the repository that dir ("" for the current directory) belongs to. It asks git once, in
// the environment of this process, so that GIT_DIR and `git -C` have their usual meaning. Later
// children get the answer in their arguments.
//
// Errors: ErrNotRepository; a ForeignError; an UnsupportedError for a git that is missing or too
// old, a repository of SHA-256 objects, or a path with a line break; a CommandError for a
// repository that git can't use for another reason, as with a damaged config or HEAD, and when ctx
// ends.
func Open(ctx context.Context, dir string) (*Repo, error) { return OpenWith(ctx, dir, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, dir string, o Options) (*Repo, error) {
	if dir == "" {
		dir = "."
	}
	var who *identities
	if o.ToWrite {
		who = askIdentities(ctx, dir)
	}
	given := gitenv.Of(ctx)
	r, err := ask(ctx, dir)
	if err != nil {
		return nil, err
	}
	_, reftable := os.Stat(filepath.Join(r.common, "reftable"))
	r.plain, r.known, r.unsettled = reftable != nil, &known{}, &kept.Writes{}
	r.people, r.environ, r.patience = who, given, o.Patience.OrDefault()
	r.batch = child.NewBatch(given, r.command("cat-file", "cat-file", "--batch"))
	r.batch.Partial = func() bool { return settings.ReadOwn(r.common).MayLack() }
	return r, nil
}

// ask asks git where the repository is.
func ask(ctx context.Context, dir string) (*Repo, error) {
	// --show-toplevel must come last: outside a worktree git prints everything before it and then
	// fails.
	out, err := command{Op: "rev-parse", Inherit: true, Args: []string{
		"-C", dir, "rev-parse", "--path-format=absolute",
		"--show-object-format", "--is-bare-repository", "--is-inside-work-tree",
		"--git-common-dir", "--git-dir", "--show-toplevel",
	}}.Output(ctx)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	const toGitDir, toTop = 5, 6 // number of lines without and with a top level
	inside := len(lines) > 2 && lines[2] == "true"
	switch {
	case strings.HasPrefix(lines[0], "--"):
		// A git that does not know an option of rev-parse echoes it.
		if err := RequireVersion(ctx); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("open %s: git rev-parse does not know %s", dir, lines[0])
	case lines[0] != "" && lines[0] != "sha1":
		return nil, &UnsupportedError{What: fmt.Sprintf("the repository at %s stores %s objects, and git liza works with SHA-1 only; use a repository made by `git init --object-format=sha1`", dir, lines[0])}
	case errors.As(err, new(*UnsupportedError)):
		return nil, err
	case child.ExitCode(err) < 0:
		return nil, fmt.Errorf("open %s: %w", dir, err)
	case err != nil && (len(lines) < toGitDir || inside):
		if foreign := foreign(ctx, dir); foreign != nil {
			return nil, foreign
		}
		if broken := find.BrokenHead(dir, gitenv.Of(ctx), err); broken != nil {
			return nil, broken
		}
		if find.Meant(gitenv.Of(ctx), dir) {
			return nil, fmt.Errorf("open %s: %w", dir, err)
		}
		return nil, notRepository(dir, whatGitSaid(err))
	case len(lines) > toTop, inside && len(lines) != toTop:
		return nil, &UnsupportedError{What: fmt.Sprintf("the repository of %s has a line break in its path, and git liza can't work there; rename that directory", dir)}
	}
	r := &Repo{bare: lines[1] == "true", common: filepath.Clean(lines[3]), gitDir: filepath.Clean(lines[4])}
	if inside {
		r.top = filepath.Clean(lines[5])
	}
	return r, nil
}

// CommonDir returns the absolute path of the git directory shared by all worktrees, which holds
// refs, objects and settings.
func (r *Repo) CommonDir() string { return r.common }

// MakeDir creates a directory and its parents below the repository's own, but never that one: a
// repository that is moved away must not find its old place taken when it comes back.
func (r *Repo) MakeDir(dir string) error {
	root, err := os.OpenRoot(r.common)
	if err != nil {
		return err
	}
	defer root.Close()
	below, err := filepath.Rel(r.common, dir)
	if err != nil {
		return err
	}
	return root.MkdirAll(below, 0o755)
}

// OpenQueue opens a file below the repository's own directory at which processes of this clone queue
// up. Errors are those of queue.Open.
func (r *Repo) OpenQueue(path string) (*queue.File, error) { return queue.Open(path, r.MakeDir) }

// GitDir returns the absolute path of the git directory of the worktree in which Open was called.
// It equals CommonDir in the main worktree and in a bare repository.
func (r *Repo) GitDir() string { return r.gitDir }

// Bare reports whether Open was called in a bare repository in which nobody works. It is false in a
// linked worktree of a bare repository, and where a .git file next to it makes it a clone.
func (r *Repo) Bare() bool { return r.bare && !r.IsMadeFrom(filepath.Dir(r.common)) }

// TopLevel returns the absolute top directory of the worktree in which Open was called, or ""
// outside a worktree (in a bare repository, or inside a git directory).
func (r *Repo) TopLevel() string { return r.top }

// Shallow reports whether the history of this clone is truncated (gitrepository-layout: the file
// "shallow").
func (r *Repo) Shallow() bool {
	_, err := os.Stat(filepath.Join(r.common, "shallow"))
	return err == nil
}

// IsMadeFrom reports whether dir is a main worktree of this repository: its .git is the common
// directory, or a file that points there (gitrepository-layout).
func (r *Repo) IsMadeFrom(dir string) bool { return dir != "" && records.LeadsTo(dir, r.common) }

// Close ends the long-lived child. Objects can't be read afterwards.
func (r *Repo) Close() error { return r.batch.Close() }

// foreign returns a ForeignError if dir is in a repository that git refuses only because of its
// owner (git-config, safe.directory).
func foreign(ctx context.Context, dir string) error {
	plain := command{Op: "rev-parse", Inherit: true, Args: []string{"-C", dir, "rev-parse", "--git-dir"}}
	if plain.Run(ctx) == nil {
		return nil // it works now, so the owner was not the reason
	}
	for _, what := range []string{"--show-toplevel", "--absolute-git-dir"} {
		out, err := command{Op: "rev-parse", Inherit: true, Args: []string{
			"-c", "safe.directory=*", "-C", dir, "rev-parse", what,
		}}.Output(ctx)
		if err == nil {
			return &ForeignError{Dir: string(trimNewline(out))}
		}
	}
	return nil
}

// notRepository wraps ErrNotRepository with the directory and the reason.
func notRepository(dir, why string) error {
	if why == "" {
		return fmt.Errorf("%w: %s", ErrNotRepository, dir)
	}
	return fmt.Errorf("%w: %s (%s)", ErrNotRepository, dir, why)
}

// whatGitSaid returns the line of a failed child's stderr to show to a person.
func whatGitSaid(err error) string {
	if failed, ok := err.(*CommandError); ok {
		return child.LastLine(failed.Stderr)
	}
	return err.Error()
}
