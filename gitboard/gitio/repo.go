package gitio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Repo is one git repository, seen from the directory in which Open found it.
type Repo struct {
	common string // shared by all worktrees
	gitDir string // of the worktree that Open stood in
	top    string // top of that worktree, "" for none
	bare   bool
	batch  *batch
	people *identities // asked when the repository was opened to write; else nil
}

// Open finds the repository that dir ("" for the current directory) belongs
// to. It asks git once, in the environment that this process was given, so
// that GIT_DIR and `git -C` mean what they mean everywhere; later children
// are told the answer.
//
// Errors: ErrNotRepository, a ForeignError, an UnsupportedError for a git that
// is missing or too old, a repository of SHA-256 objects or a path with a line
// break; a CommandError for a repository that git can't use, as with a damaged
// config, and when ctx ends.
func Open(ctx context.Context, dir string) (*Repo, error) { return openRepo(ctx, dir, nil) }

// OpenToWrite is Open for those who will ask for Author or Identity soon: git
// is asked for both at the same time.
func OpenToWrite(ctx context.Context, dir string) (*Repo, error) {
	return openRepo(ctx, dir, askIdentities(ctx, dir))
}

func openRepo(ctx context.Context, dir string, who *identities) (*Repo, error) {
	if dir == "" {
		dir = "."
	}
	// Where it is asked for, cat-file will most likely find the same repository.
	early := newBatch(command{op: "cat-file", env: whereEnv(), args: []string{"-C", dir, "cat-file", "--batch"}})
	early.warm()
	r, err := find(ctx, dir)
	if err != nil {
		early.close()
		return nil, err
	}
	r.people = who
	r.batch = early.serve(r.command("cat-file", "cat-file", "--batch"), r.gitDir == r.common)
	r.batch.partial = func() bool { return r.ownSettings().mayLack() }
	return r, nil
}

// find asks git where the repository is.
func find(ctx context.Context, dir string) (*Repo, error) {
	// The top level comes last: outside a worktree git prints all the rest
	// and only then fails.
	out, err := command{op: "rev-parse", inherit: true, args: []string{
		"-C", dir, "rev-parse", "--path-format=absolute",
		"--show-object-format", "--is-bare-repository", "--is-inside-work-tree",
		"--git-common-dir", "--git-dir", "--show-toplevel",
	}}.output(ctx)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	const toGitDir, toTop = 5, 6 // answers without and with a top level
	inside := len(lines) > 2 && lines[2] == "true"
	switch {
	case strings.HasPrefix(lines[0], "--"):
		// A git that does not know an option of rev-parse repeats it.
		if err := RequireVersion(ctx); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("open %s: git rev-parse does not know %s", dir, lines[0])
	case lines[0] != "" && lines[0] != "sha1":
		return nil, &UnsupportedError{What: fmt.Sprintf("the repository at %s stores %s objects, and git liza works with SHA-1 only; use a repository made by `git init --object-format=sha1`", dir, lines[0])}
	case errors.As(err, new(*UnsupportedError)):
		return nil, err
	case err != nil && (exitCode(err) < 0 || exitCode(err) == 0):
		return nil, fmt.Errorf("open %s: %w", dir, err)
	case err != nil && (len(lines) < toGitDir || inside):
		if foreign := foreign(ctx, dir); foreign != nil {
			return nil, foreign
		}
		if meant(dir) {
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

// CommonDir returns the absolute path of the git directory that all worktrees
// share; refs, objects and settings live there.
func (r *Repo) CommonDir() string { return r.common }

// GitDir returns the absolute path of the git directory of the worktree that
// Open stood in; CommonDir in the main worktree and in a bare repository.
func (r *Repo) GitDir() string { return r.gitDir }

// Bare reports whether Open stood in a bare repository. In a linked worktree
// of a bare repository it is false.
func (r *Repo) Bare() bool { return r.bare }

// TopLevel returns the absolute top of the worktree that Open stood in, "" if
// it stood in none (a bare repository, or inside a git directory).
func (r *Repo) TopLevel() string { return r.top }

// Shallow reports whether history is cut off in this clone
// (gitrepository-layout: the file "shallow").
func (r *Repo) Shallow() bool {
	_, err := os.Stat(filepath.Join(r.common, "shallow"))
	return err == nil
}

// IsMadeFrom reports whether a directory is a main worktree of this
// repository: it has the common directory as its .git, or a file .git that
// leads there (gitrepository-layout).
func (r *Repo) IsMadeFrom(dir string) bool {
	if dir == "" {
		return false
	}
	at := LinkedDir(dir)
	if at == "" {
		at = filepath.Join(dir, ".git")
	}
	found, err := os.Stat(at)
	if err != nil {
		return false
	}
	common, err := os.Stat(r.common)
	return err == nil && os.SameFile(found, common)
}

// Close ends the long-lived children. The repository cannot be used to read
// objects afterwards.
func (r *Repo) Close() error { return r.batch.close() }

// meant reports whether there is a repository for dir, be it one that git
// can't use: something is named .git there or above, as far up as git looks, or GIT_DIR says where.
func meant(dir string) bool {
	if os.Getenv("GIT_DIR") != "" {
		return true
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	if found, err := os.Stat(path); err != nil || !found.IsDir() {
		return false
	}
	for {
		if _, err := os.Lstat(filepath.Join(path, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(path)
		if above == path || isCeiling(above) {
			return false
		}
		path = above
	}
}

// isCeiling reports whether git looks for no repository in a directory from below (GIT_CEILING_DIRECTORIES).
func isCeiling(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("GIT_CEILING_DIRECTORIES")), func(ceiling string) bool {
		at, err := filepath.EvalSymlinks(ceiling)
		return err == nil && at == real
	})
}

// foreign returns a ForeignError when dir is in a repository that git would
// use if it did not mind the owner (git-config, safe.directory).
func foreign(ctx context.Context, dir string) error {
	plain := command{op: "rev-parse", inherit: true, args: []string{"-C", dir, "rev-parse", "--git-dir"}}
	if plain.run(ctx) == nil {
		return nil // it fails no more: it was something else
	}
	for _, what := range []string{"--show-toplevel", "--absolute-git-dir"} {
		out, err := command{op: "rev-parse", inherit: true, args: []string{
			"-c", "safe.directory=*", "-C", dir, "rev-parse", what,
		}}.output(ctx)
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

// whatGitSaid returns the line of a failed child that a person should see.
func whatGitSaid(err error) string {
	if failed, ok := err.(*CommandError); ok {
		return lastLine(failed.Stderr)
	}
	return err.Error()
}
