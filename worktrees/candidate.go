package worktrees

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
)

// claimMark begins the name of a worktree that does not belong to a task yet.
const claimMark = ".claim-"

// record names the process that makes a candidate. It is stored in <common>/liza/claims/<token>,
// and lets Diagnose distinguish a crash's leftovers from a candidate in progress.
type record struct {
	PID int `json:"pid"`
	// Process distinguishes the process from a later one with the same number; "" if unknown.
	Process proc.ID   `json:"process,omitempty"`
	Host    string    `json:"host"`
	Task    string    `json:"task"`
	Since   time.Time `json:"since"`
	// Unready: it is being checked out or set up. Another process can't use it in this state.
	Unready bool `json:"unready,omitempty"`
	// Left: the process is alive but no longer needs it.
	Left bool `json:"left,omitempty"`
	// Replaces is the worktree whose place it takes once the claim is committed.
	Replaces *replaced `json:"replaces,omitempty"`
}

// replaced is the worktree of a task's former holder, and what identifies its successor's claim.
type replaced struct {
	Worktree string `json:"worktree"` // its identity
	Agent    string `json:"agent"`    // the agent that claims
	Events   int    `json:"events"`   // the length of the task's history before the claim
}

// candidate is a worktree with a detached HEAD that may become a task's.
type candidate struct {
	s       *Project
	token   string
	path    string
	base    plumbing.OID
	ready   bool // checked out and set up
	instead *replaced
	gone    bool // placed, discarded or left
	left    bool // left for Diagnose
}

// candidate makes a worktree at a commit and sets it up. After an error it is removed.
func (s *Project) candidate(ctx context.Context, v *gitboard.View, task string, commit plumbing.OID) (*candidate, error) {
	token, err := s.b.Token()
	if err != nil {
		return nil, err
	}
	if err := s.CheckFolder(); err != nil {
		return nil, err
	}
	if err := s.repo.Settings().Exclude("/"+board.WorktreesDir+"/", "/.liza/"); err != nil {
		return nil, err
	}
	if err := s.linkFolder(); err != nil {
		return nil, err
	}
	c := &candidate{s: s, token: token, path: filepath.Join(s.Folder(), claimMark+token), base: commit}
	if err := c.note(task); err != nil {
		return nil, err
	}
	err = s.repo.Worktree(c.path).Add(ctx, commit)
	if err == nil {
		err = s.copyWorkspace(ctx, c.path)
	}
	if err == nil {
		err = Setup(ctx, s.b, v, c.path)
	}
	if err == nil {
		if name := Upwards(s.Root, c.path); name != "" {
			s.b.Mention("warning: tools in the worktree may find " + name + " of the project's root, which is ignored by git or not committed; the integration test does not: make it in worktree_setup, name it in worktree_copy, or have worktrees next to the project: git config liza.worktreesOutside true")
		}
		c.ready = true
		err = c.note(task)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a worktree for %s: %w", task, err), c.discard(ctx))
	}
	return c, nil
}

// Setup prepares a new worktree: it copies the files of config's worktree_copy, and those in folders
// that it names, from the main worktree, and then runs worktree_setup.
func Setup(ctx context.Context, b *gitboard.Board, v *gitboard.View, path string) error {
	c, repo := v.State.Config(), b.Repo()
	if len(c.WorktreeCopy) > 0 {
		root, err := b.Root(ctx)
		if err != nil || root == "" {
			return err
		}
		copied, err := repo.Worktree(root).CopyIgnored(ctx, path, func(file string) bool {
			return board.Selects(c.WorktreeCopy, file) || slices.ContainsFunc(c.WorktreeCopy, func(folder string) bool {
				return strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/")
			})
		})
		if err != nil {
			return fmt.Errorf("copy files of worktree_copy: %w", err)
		}
		if len(copied) > 0 {
			b.Mention("copied: " + Listed(copied))
		}
	}
	if c.WorktreeSetup == "" {
		return nil
	}
	var out bytes.Buffer
	timeout := time.Duration(c.IntegrationTestTimeout) * time.Second
	err := Run(ctx, Command{Name: "worktree_setup", Script: c.WorktreeSetup, Dir: path, Repo: repo, Timeout: timeout, Output: &out})
	if failed := (*FailedError)(nil); errors.As(err, &failed) {
		failed.Tail = Tail(out.String(), maxTail)
	}
	return err
}

// copyWorkspace copies the main worktree's go.work where git ignores it. Go would otherwise find it
// by looking upwards, and refuse to work because it names the main worktree's modules.
func (s *Project) copyWorkspace(ctx context.Context, path string) error {
	if _, err := os.Lstat(filepath.Join(s.Root, "go.work")); err != nil {
		return nil
	}
	_, err := s.repo.Worktree(s.Root).CopyIgnored(ctx, path, func(file string) bool { return file == "go.work" || file == "go.work.sum" })
	return err
}

// upwards are the files and folders that tools find by looking upwards from a worktree.
var upwards = []string{"node_modules", "go.work", ".eslintrc*", "eslint.config.*", "tsconfig*.json", "pyproject.toml", ".cargo"}

// linkFolder lets people find worktrees that are outside of the project where hints name them.
func (s *Project) linkFolder() error {
	link := filepath.Join(s.Root, board.WorktreesDir)
	if s.Folder() == link {
		return nil
	}
	if !disk.IsLink(link) {
		_ = os.Remove(link) // if it is an empty directory
		_ = os.Symlink(filepath.Join("..", filepath.Base(s.Folder())), link)
	}
	return s.repo.Settings().Exclude("/" + board.WorktreesDir)
}

// Upwards returns the first file or folder of the main worktree that tools find by looking upwards,
// or that has one of the other names, and that a worktree lacks; "" if there is none.
func Upwards(root, worktree string, others ...string) string {
	if len(others) == 0 && !strings.HasPrefix(worktree, root+string(filepath.Separator)) {
		return "" // it is outside
	}
	for _, pattern := range slices.Concat(upwards, others) {
		found, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(root), pattern)) // the patterns are valid
		for _, path := range found {
			if !present(filepath.Join(worktree, filepath.Base(path))) {
				return filepath.Base(path)
			}
		}
	}
	return ""
}

// maxTail is how many bytes of a command's output an error keeps.
const maxTail = 4 << 10

func (s *Project) claimsDir() string { return filepath.Join(s.b.Dir(), "claims") }

func (c *candidate) recordFile() string { return filepath.Join(c.s.claimsDir(), c.token) }

// note records the task for which this process is making the candidate.
func (c *candidate) note(task string) error {
	host, _ := os.Hostname()
	data, err := json.Marshal(record{PID: os.Getpid(), Process: proc.This(), Host: host, Task: task, Since: c.s.b.Now().UTC().Truncate(time.Second), Unready: !c.ready, Left: c.left, Replaces: c.instead})
	// Half a record would not name the maker of the worktree.
	err = errors.Join(err, c.s.repo.MakeDir(c.s.claimsDir()), disk.Replace(c.recordFile(), append(data, '\n')))
	if err != nil {
		return fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	return nil
}

// leave leaves to Diagnose the candidate of a claim that is committed but could not be moved in, or
// what could not be removed of a worktree.
func (c *candidate) leave(task string) error {
	if c.gone {
		return nil
	}
	c.gone, c.left = true, true
	return c.note(task)
}

// discard removes the candidate, even if it is incomplete. It can be repeated.
func (c *candidate) discard(ctx context.Context) error {
	if c == nil || c.gone {
		return nil
	}
	ctx, cancel := Steady(ctx)
	defer cancel()
	c.gone = true
	return c.s.removeCandidate(ctx, c.token)
}

func (s *Project) removeCandidate(ctx context.Context, token string) error {
	path := filepath.Join(s.Folder(), claimMark+token)
	if err := s.repo.Worktree(path).Discard(ctx); err != nil {
		return err
	}
	return forget(filepath.Join(s.claimsDir(), token))
}

// forget removes a file, which may be gone already.
func forget(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// place makes the candidate a task's worktree: it moves it to the task's path, and attaches HEAD to
// the task's branch, which must point to the candidate's commit.
func (c *candidate) place(ctx context.Context, v *gitboard.View, task string) error {
	if err := c.move(ctx, v, task); err != nil {
		return err
	}
	return errors.Join(c.s.repo.Worktree(c.s.Path(task)).AttachHead(ctx, v.TaskRef(task)), forget(c.recordFile()))
}

// move moves the candidate to the task's path and leaves HEAD detached.
func (c *candidate) move(ctx context.Context, v *gitboard.View, task string) error {
	to := c.s.Path(task)
	removeEmpty(to)
	if err := c.s.forgetMissing(ctx, task); err != nil {
		return err
	}
	moved := c.s.repo.Worktree(c.path).Move(ctx, to)
	if moved == nil {
		c.gone = true
		return nil
	}
	// Git refuses to move a worktree in which submodules are checked out.
	if present(to) {
		return moved
	}
	if err := c.s.removeCandidate(ctx, c.token); err != nil {
		return errors.Join(moved, err)
	}
	c.gone = true
	if err := c.s.repo.Worktree(to).Add(ctx, c.base); err != nil {
		return errors.Join(moved, err)
	}
	return Setup(ctx, c.s.b, v, to)
}

// readRecord reads the record of who makes a candidate; nil if there is none, or half of one.
func (s *Project) readRecord(token string) (*record, error) {
	data, err := os.ReadFile(filepath.Join(s.claimsDir(), token))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, nil // incomplete: its process died
	}
	return &r, nil
}

// abandonedAfter is the age at which a candidate counts as left behind if its process can't be
// seen.
const abandonedAfter = 24 * time.Hour

// inUse reports whether the process that made a candidate may still need it. Another process may
// have its id by now: only one of this machine that was born at the same time is surely the same,
// whatever the clock shows in the meantime.
func (s *Project) inUse(r *record) bool {
	if r.Left {
		return false
	}
	host, _ := os.Hostname()
	if host == r.Host && r.Process != "" && proc.Of(r.PID) != "" {
		return r.Process.Runs()
	}
	if s.b.Now().Sub(r.Since) >= abandonedAfter {
		return false
	}
	return host != r.Host || alive(r.PID)
}
