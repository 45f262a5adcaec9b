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
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// claimMark begins the name of a worktree that is no task's yet.
const claimMark = ".claim-"

// newMark ends the name of a record that is being written.
const newMark = ".new"

// record says which process makes a candidate; <common>/liza/claims/<token>. It lets Diagnose tell what
// a crash left from what is being made.
type record struct {
	PID int `json:"pid"`
	// Started tells the process from a later one with the same id, as processStat says; "" where that can't be told.
	Started string    `json:"started,omitempty"`
	Host    string    `json:"host"`
	Task    string    `json:"task"`
	Since   time.Time `json:"since"`
	// Unready: it is being checked out or set up. Whoever finds it so can't use it.
	Unready bool `json:"unready,omitempty"`
	// Left: the process lives, and needs it no more.
	Left bool `json:"left,omitempty"`
	// Replaces: what it is to take the place of, once the claim stands.
	Replaces *replaced `json:"replaces,omitempty"`
}

// replaced is the worktree of a task's former holder, and by what its successor's claim can be told.
type replaced struct {
	Worktree string `json:"worktree"` // its identity
	Agent    string `json:"agent"`    // who claims
	Events   int    `json:"events"`   // how long the task's history was before
}

// candidate is a worktree with HEAD detached that may become a task's.
type candidate struct {
	s       *site
	token   string
	path    string
	base    gitio.OID
	ready   bool // checked out and set up
	instead *replaced
	gone    bool // placed or discarded, or left
	left    bool // to Diagnose
}

// setup is what a new worktree goes through.
type setup struct {
	script  string
	timeout time.Duration
}

func setupOf(v *gitboard.View) setup {
	c := v.State.Config()
	return setup{c.WorktreeSetup, time.Duration(c.IntegrationTestTimeout) * time.Second}
}

// candidate makes a worktree at a commit, and sets it up. After an error nothing of it is left.
func (s *site) candidate(ctx context.Context, task string, commit gitio.OID, set setup) (*candidate, error) {
	token, err := s.b.Token()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.root, ".worktrees")
	if found, err := os.Stat(dir); present(dir) && (err != nil || !found.IsDir()) {
		return nil, board.Refuse("in-the-way", dir+" is no directory, and worktrees of tasks belong there", "move it elsewhere")
	}
	if err := s.repo.Exclude("/.worktrees/", "/.liza/"); err != nil {
		return nil, err
	}
	c := &candidate{s: s, token: token, path: filepath.Join(s.root, ".worktrees", claimMark+token), base: commit}
	if err := c.note(task); err != nil {
		return nil, err
	}
	err = s.repo.AddWorktree(ctx, c.path, commit)
	if err == nil {
		err = set.run(ctx, c.path)
	}
	if err == nil {
		c.ready = true
		err = c.note(task)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a worktree for %s: %w", task, err), c.discard(ctx))
	}
	return c, nil
}

// Setup runs config's worktree_setup in a new worktree.
func Setup(ctx context.Context, v *gitboard.View, path string) error {
	return setupOf(v).run(ctx, path)
}

func (set setup) run(ctx context.Context, path string) error {
	if set.script == "" {
		return nil
	}
	var out bytes.Buffer
	err := Run(ctx, Command{Name: "worktree_setup", Script: set.script, Dir: path, Timeout: set.timeout, Output: &out})
	if failed := (*FailedError)(nil); errors.As(err, &failed) {
		failed.Tail = Tail(out.String(), maxTail)
	}
	return err
}

// maxTail is how much of a command's output errors keep.
const maxTail = 4 << 10

func (s *site) claimsDir() string { return filepath.Join(s.b.Dir(), "claims") }

func (c *candidate) recordFile() string { return filepath.Join(c.s.claimsDir(), c.token) }

// note records for which task this process makes the candidate.
func (c *candidate) note(task string) error {
	host, _ := os.Hostname() // without a name, age decides
	_, started, _ := processStat("/proc/self")
	data, err := json.Marshal(record{PID: os.Getpid(), Started: started, Host: host, Task: task, Since: c.s.b.Now().UTC().Truncate(time.Second), Unready: !c.ready, Left: c.left, Replaces: c.instead})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.s.claimsDir(), 0o755); err != nil {
		return fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	// In one step: half a record says nothing of who made the worktree.
	written := c.recordFile() + newMark
	if err := os.WriteFile(written, append(data, '\n'), 0o644); err != nil {
		return errors.Join(err, forget(written))
	}
	if err := os.Rename(written, c.recordFile()); err != nil {
		return errors.Join(err, forget(written))
	}
	return nil
}

// leave leaves the candidate of a claim that stands, but could not be moved in, to Diagnose.
func (c *candidate) leave(task string) error {
	if c.gone || !present(c.path) {
		return nil
	}
	c.gone, c.left = true, true
	return c.note(task)
}

// discard removes the candidate, also when it was made in part only. It can be repeated.
func (c *candidate) discard(ctx context.Context) error {
	if c == nil || c.gone {
		return nil
	}
	ctx, cancel := steady(ctx)
	defer cancel()
	c.gone = true
	return c.s.removeCandidate(ctx, c.token)
}

func (s *site) removeCandidate(ctx context.Context, token string) error {
	path := filepath.Join(s.root, ".worktrees", claimMark+token)
	if err := s.repo.DiscardWorktree(ctx, path); err != nil {
		return err
	}
	return forget(filepath.Join(s.claimsDir(), token))
}

// forget removes a file that may have gone already.
func forget(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// place makes the candidate a task's worktree: it gets its name, and HEAD the branch, which must be
// where the candidate is.
func (c *candidate) place(ctx context.Context, task string, set setup) error {
	if err := c.move(ctx, task, set); err != nil {
		return err
	}
	if err := c.s.repo.AttachHead(ctx, c.s.path(task), Branch(task)); err != nil {
		return err
	}
	return forget(c.recordFile())
}

// move gives the candidate a task's place, and leaves HEAD detached.
func (c *candidate) move(ctx context.Context, task string, set setup) error {
	to := c.s.path(task)
	_ = os.Remove(to) // an empty directory, or nothing
	moved := c.s.repo.MoveWorktree(ctx, c.path, to)
	if moved != nil {
		// Git moves no worktree in which submodules are checked out.
		if _, err := os.Lstat(to); err == nil {
			return moved
		}
		if err := c.s.removeCandidate(ctx, c.token); err != nil {
			return errors.Join(moved, err)
		}
		if err := c.s.repo.AddWorktree(ctx, to, c.base); err != nil {
			return errors.Join(moved, err)
		}
		if err := set.run(ctx, to); err != nil {
			return err
		}
	}
	c.gone = true
	return nil
}

// ensure returns the worktree of a task whose work is kept, and makes it again from the branch when it
// has gone.
func (s *site) ensure(ctx context.Context, v *gitboard.View, t *board.Task) (string, error) {
	if err := s.needFiles("a worktree"); err != nil {
		return "", err
	}
	for range ensureTries {
		l, err := s.look(ctx, t.ID)
		if err != nil {
			return "", err
		}
		if l.ours && t.Clone != s.clone && t.Clone != "" {
			// Left from before the work went to another clone.
			if err := s.clearAway(ctx, v, t.ID, s.self(ctx), nil); err != nil {
				return "", err
			}
			continue
		}
		if l.ours {
			return l.path, nil
		}
		if err := l.blocked(t.ID); err != nil {
			return "", err
		}
		tip, err := s.workTip(ctx, t)
		if err != nil {
			return "", err
		}
		made, err := s.remake(ctx, v, t.ID, tip)
		if made || err != nil {
			return l.path, err
		}
	}
	return "", &gitboard.LostError{Op: "making the worktree of " + t.ID, Attempts: ensureTries}
}

// ensureTries is how often a worktree is made when its branch moves meanwhile.
const ensureTries = 3

// remake makes a task's worktree at its branch's tip. It's not made when somebody else has made it, or
// the branch has moved.
func (s *site) remake(ctx context.Context, v *gitboard.View, task string, tip gitio.OID) (made bool, err error) {
	c, err := s.leftFor(ctx, task, tip)
	if c == nil && err == nil {
		c, err = s.candidate(ctx, task, tip, setupOf(v))
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.discard(ctx)) }()
	l, err := s.look(ctx, task)
	if err != nil {
		return false, err
	}
	now, err := s.repo.Ref(ctx, Branch(task))
	if err != nil || l.ours || now != tip {
		return false, err
	}
	return true, c.place(ctx, task, setupOf(v))
}

// leftFor finds a candidate that a process which is no more has made for a task, and which fits.
func (s *site) leftFor(ctx context.Context, task string, tip gitio.OID) (*candidate, error) {
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		token, is := strings.CutPrefix(filepath.Base(w.Path), claimMark)
		if !is || w.Prunable || w.Head != tip || !w.Detached {
			continue
		}
		r, err := s.readRecord(token)
		if err != nil || r == nil || r.Task != task || r.Unready || s.inUse(r) {
			continue
		}
		return &candidate{s: s, token: token, path: filepath.Join(s.root, ".worktrees", claimMark+token), base: tip, ready: true}, nil
	}
	return nil, nil
}

// readRecord reads who makes a candidate, nil when nobody says.
func (s *site) readRecord(token string) (*record, error) {
	data, err := os.ReadFile(filepath.Join(s.claimsDir(), token))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, nil // written in part, by a process that died
	}
	return &r, nil
}

// abandonedAfter is when a candidate counts as left though nobody can tell whether its process lives.
const abandonedAfter = 24 * time.Hour

// inUse reports whether the process that made a candidate may still need it. Its id may be another's by now.
func (s *site) inUse(r *record) bool {
	if r.Left || s.b.Now().Sub(r.Since) >= abandonedAfter {
		return false
	}
	host, err := os.Hostname()
	if err != nil || host != r.Host {
		return true
	}
	_, started, _ := processStat(filepath.Join("/proc", strconv.Itoa(r.PID)))
	return alive(r.PID) && (r.Started == "" || started == "" || started == r.Started)
}

// workTip is the commit of a task's branch. A branch that is missing here is made again from what the
// board and this clone know of the work.
func (s *site) workTip(ctx context.Context, t *board.Task) (gitio.OID, error) {
	tip, err := s.repo.Ref(ctx, Branch(t.ID))
	if err != nil {
		return "", err
	}
	from, err := s.knownWork(ctx, t)
	if err != nil {
		return "", err
	}
	if t.Clone != s.clone && t.Clone != "" {
		seen, err := s.b.Published(ctx, t.ID)
		if err != nil {
			return "", err
		}
		if !seen.IsZero() {
			return seen, s.takeOver(ctx, t.ID, tip, seen)
		}
	}
	switch {
	case tip.IsZero() && from == "":
		r := board.Refuse("missing", fmt.Sprintf("the work of %s is not in this clone", t.ID), "git liza sync, or take another task")
		r.Task = t.ID
		return "", r
	case !tip.IsZero() && (from == "" || t.Clone == s.clone):
		return tip, nil
	case !tip.IsZero():
		// Made in another clone: the branch here may be behind what was submitted there.
		if behind, err := s.repo.IsAncestor(ctx, tip, from); !behind || err != nil || tip == from {
			return tip, err
		}
	}
	err = s.repo.UpdateRefs(ctx, []gitio.RefUpdate{{Ref: Branch(t.ID), Old: tip, New: from}}, "git liza: bring the branch back")
	return from, err
}

// takeOver brings a task's branch here to where another clone has published it. What the branch here has beyond
// that goes to the attic.
func (s *site) takeOver(ctx context.Context, task string, tip, seen gitio.OID) error {
	if tip == seen {
		return nil
	}
	updates := []gitio.RefUpdate{{Ref: Branch(task), Old: tip, New: seen}}
	if held, err := s.heldBy(ctx, tip, []gitio.OID{seen}); !held {
		if err != nil {
			return err
		}
		attic, err := s.attic(ctx, task)
		if err != nil {
			return err
		}
		updates = append(updates, gitio.RefUpdate{Ref: atticRef(task, attic.next), New: tip})
	}
	return s.repo.UpdateRefs(ctx, updates, "git liza: take the branch over")
}

// knownWork finds the newest commit of a task that is surely its work: what was submitted since it was
// begun afresh, else where it began; "" when this clone lacks it.
func (s *site) knownWork(ctx context.Context, t *board.Task) (gitio.OID, error) {
	if commit := submitted(t); commit != "" {
		has, err := s.has(ctx, commit)
		if has || err != nil {
			return gitio.OID(commit), err
		}
		return "", nil
	}
	if t.Clone != s.clone && t.Clone != "" {
		return "", nil
	}
	has, err := s.has(ctx, t.BaseCommit)
	if !has || err != nil {
		return "", err
	}
	return gitio.OID(t.BaseCommit), nil
}

// submitted is the last commit that was submitted since a task was begun afresh, "" for none.
func submitted(t *board.Task) string {
	if t.ReviewCommit != "" {
		return t.ReviewCommit
	}
	for _, e := range slices.Backward(t.History) {
		switch e.Event {
		case board.EventReady:
			return e.Commit
		case board.EventClaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry:
			return ""
		}
	}
	return ""
}
