package gitboard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/share"
)

// Options are the choices of the program that uses the board. The zero value gives the defaults.
type Options struct {
	Now     func() time.Time // default: time.Now
	Random  io.Reader        // default: crypto/rand
	Retries int              // number of retries after a lost race; default: DefaultRetries
	Writes  bool             // an operation will follow, so look up the committer at once
	Key     KeyOf            // finds an actor's signing key; nil if operations are unsigned
	// Patience is for locks of other processes.
	Patience git.Patience
}

// DefaultRetries is how often a lost race is retried before an operation is given up.
const DefaultRetries = 50

// Board is the board of one repository.
type Board struct {
	store   log.Store
	reader  *log.Reader
	log     log.Log
	now     func() time.Time
	random  io.Reader
	retries int
	writes  bool // an operation will follow

	who  func() (plumbing.Signature, error)
	keys keyring

	remotes   followers // of the remote's board
	followers followers

	noting sync.Mutex
	notes  []string
}

// Mention adds a line for the person or agent that runs the command, about a step that touched more
// than the board.
func (b *Board) Mention(line string) {
	b.noting.Lock()
	defer b.noting.Unlock()
	if !slices.Contains(b.notes, line) {
		b.notes = append(b.notes, line)
	}
}

// TakeMentions returns the lines of Mention since the last call.
func (b *Board) TakeMentions() []string {
	b.noting.Lock()
	defer b.noting.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// Open opens the board of the repository that contains dir. The board need not exist yet.
func Open(ctx context.Context, dir string, o Options) (*Board, error) {
	repo, err := git.OpenWith(ctx, dir, git.Options{ToWrite: o.Writes, Patience: o.Patience})
	if err != nil {
		return nil, err
	}
	own := filepath.Join(repo.CommonDir(), "liza")
	if o.Now == nil {
		o.Now = time.Now
	}
	shared := share.New(repo, own, o.Now)
	if _, err := shared.Sharing(ctx); err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	b := OpenStore(shared, filepath.Join(own, "cache", "briefs"), o)
	b.log = shared
	shared.Learned = b.Proven
	repo.Moved = func(updates []plumbing.RefUpdate) {
		for _, u := range updates {
			if strings.HasPrefix(u.Ref, plumbing.AtticPrefix) && !u.New.OrZero().IsZero() {
				b.Mention("kept: " + u.Ref)
			}
		}
	}
	who := context.WithoutCancel(ctx) // the answer is cached, so it must outlive this context
	b.who = sync.OnceValues(func() (plumbing.Signature, error) { return repo.Settings().Identity(who) })
	return b, nil
}

// OpenStore opens the board in a store: memory, or a repository whose steps a test makes fail.
func OpenStore(s log.Store, cacheFile string, o Options) *Board {
	b := &Board{store: s, reader: log.NewReader(s, cacheFile), log: log.Local{Store: s}, now: o.Now, random: o.Random, retries: o.Retries, writes: o.Writes, keys: keyring{of: o.Key}}
	if b.now == nil {
		b.now = time.Now
	}
	if b.random == nil {
		b.random = rand.Reader
	}
	if b.retries == 0 {
		b.retries = DefaultRetries
	}
	b.who = func() (plumbing.Signature, error) {
		return plumbing.Signature{Name: "memory", Email: "memory@liza"}, nil
	}
	return b
}

// Close ends the children that the board has started.
func (b *Board) Close() error {
	if b.Repo() == nil {
		return nil
	}
	return b.Repo().Close()
}

// Repo returns the repository, or nil for a board in memory.
func (b *Board) Repo() *git.Repo {
	if s := b.shared(); s != nil {
		return s.Local()
	}
	return nil
}

// shared returns the store if it is a repository's, or nil for a board in memory.
func (b *Board) shared() *share.Store {
	s, _ := b.store.(*share.Store)
	return s
}

// Log returns the reader of the log of operations.
func (b *Board) Log() *log.Reader { return b.reader }

// Now returns the time of the board's clock.
func (b *Board) Now() time.Time { return b.now() }

// Dir returns the directory for this clone's own files: <common git dir>/liza.
func (b *Board) Dir() string { return filepath.Join(b.Repo().CommonDir(), "liza") }

// tokenSize is the number of random bytes in a token.
const tokenSize = 8

// Token returns a random name for a session, a request or a clone.
func (b *Board) Token() (string, error) {
	var raw [tokenSize]byte
	if _, err := io.ReadFull(b.random, raw[:]); err != nil {
		return "", fmt.Errorf("no randomness: %w", err)
	}
	return hex.EncodeToString(raw[:]), nil
}

// Root returns the project's root, which is the main worktree, or "" in a bare repository.
func (b *Board) Root(ctx context.Context) (string, error) {
	// A git directory outside the checkout (of a submodule, or after init --separate-git-dir) does
	// not know its main worktree. But the main worktree knows the git directory, and so does a
	// worktree of ours below the main one.
	common, top := b.Repo().CommonDir(), b.Repo().TopLevel()
	if b.Repo().GitDir() == common && b.Repo().IsMadeFrom(top) {
		return top, nil
	}
	if root := rootAbove(top); root != "" && b.Repo().IsMadeFrom(root) {
		return root, nil
	}
	// The second case is a bare repository with a .git file next to it.
	if filepath.Base(common) == ".git" || b.Repo().IsMadeFrom(filepath.Dir(common)) {
		return filepath.Dir(common), nil
	}
	all, err := b.Repo().Worktrees(ctx)
	if err != nil {
		return "", err
	}
	for _, w := range all {
		if root := rootAbove(w.Path); root != "" && b.Repo().IsMadeFrom(root) {
			return root, nil
		}
		if w.Main && w.Bare {
			return "", nil
		}
	}
	root, found, err := b.Repo().Settings().Get(ctx, "core.worktree")
	if err != nil {
		return "", err
	}
	if !found {
		return "", board.Refuse(board.CodeNoRoot, fmt.Sprintf("the main worktree of %s can't be found from here", common), "do it in the main worktree")
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(common, root)
	}
	return filepath.Clean(root), nil
}

// rootAbove returns the root of the project to which a task's worktree belongs, or "" if the path is
// not a task's worktree.
func rootAbove(worktree string) string {
	dir := filepath.Dir(worktree)
	if above, is := strings.CutSuffix(dir, board.WorktreesDir); is {
		return filepath.Clean(above)
	}
	return ""
}

// OutsideKey is the setting of a clone that has the worktrees of tasks next to the project, where
// tools that look upwards find no files of the main worktree.
const OutsideKey = "liza.worktreesoutside"

// WorktreesFolder is the absolute path of the directory of all tasks' worktrees of this clone, whose
// project has that root.
func (b *Board) WorktreesFolder(root string) string {
	if b.Repo().Settings().Own(OutsideKey) == "true" {
		return root + board.WorktreesDir
	}
	return filepath.Join(root, board.WorktreesDir)
}

// Lost returns the error of a request that has no retry left.
func Lost(op string, r *retry.Budget, err error) error { return &LostError{op, r.Spent(), err} }

// LostError means that an operation lost the race every time. Exit code 2: retry after a pause.
type LostError struct {
	Op       string
	Attempts int
	Err      error
}

func (e *LostError) Error() string {
	if errors.Is(e.Err, git.ErrBusy) {
		return fmt.Sprintf("%s tried %d times and found the board locked: %v", e.Op, e.Attempts, e.Err)
	}
	return fmt.Sprintf("%s lost the race %d times: others write to the board at the moment", e.Op, e.Attempts)
}

func (e *LostError) Unwrap() error { return e.Err }
