package merge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/commands"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

const (
	// testScript is the integration test if the project configures none.
	testScript = "scripts/integration-test.sh"
	// testPlace is the worktree in which candidates are tested, in TestDir.
	testPlace = worktrees.TestMark
	// maxTail is how many bytes of a failing test's output the board keeps.
	maxTail = 4 << 10
)

// testOf returns the command that tests a candidate, "" for none.
func testOf(ctx context.Context, b *gitboard.Board, c *candidate) (string, error) {
	switch set := board.TestOf(c.view.State, c.task); {
	case set == board.NoTest || c.commit.IsZero():
		return "", nil
	case set != "":
		return set, nil
	}
	_, err := b.Repo().History().FileOID(ctx, c.commit, testScript)
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	return testScript, err
}

// script returns the shell command that runs a test.
func script(test string) string {
	if test != testScript {
		return test
	}
	return "if [ -x ./" + testScript + " ]; then exec ./" + testScript + "; else exec sh ./" + testScript + "; fi"
}

// testRun is one run of the integration test.
type testRun struct {
	c     *candidate
	held  *holding
	tasks []string  // the tasks whose work is tested together
	place string    // the name of the kept worktree in TestDir
	out   io.Writer // the test's output, as it comes; nil discards it
	own   bool      // in a worktree that is made for it
}

// run tests a candidate. The failure is that of a test that ran and did not pass. It returns
// lease.ErrTaken if the merge lease was lost: the merge that has it now may use the same place, so
// the test's result may be about another candidate.
func (r *testRun) run(ctx context.Context, b *gitboard.Board) (*failure, error) {
	place, err := r.prepare(ctx, b)
	if err != nil {
		return nil, err
	}
	file, err := logFile(b, r.c.task.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var output io.Writer = file
	if r.out != nil {
		output = io.MultiWriter(file, r.out)
	}
	err = worktrees.Run(ctx, worktrees.Command{
		Name: "the integration test", Script: script(r.c.command), Dir: place, Repo: b.Repo(), Output: output,
		Env:     []string{"LIZA_TASK=" + r.c.task.ID, "LIZA_TASKS=" + strings.Join(r.tasks, " "), "LIZA_MERGE_COMMIT=" + string(r.c.commit)},
		Timeout: time.Duration(r.c.view.State.Config().IntegrationTestTimeout) * time.Second,
	})
	var failed *worktrees.FailedError
	if err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	if err := r.held.check(ctx); err != nil || failed == nil {
		return nil, err
	}
	said, err := endOf(file)
	// The log ends with the test's result.
	ending := "[" + failed.Error()
	if name := worktrees.Upwards(b.Repo().TopLevel(), place, ".venv", "venv", "vendor", ".env"); name != "" {
		ending += "; " + name + " of the project's root is ignored by git and was not there: make it in worktree_setup, or name it in worktree_copy"
	}
	ending += "]"
	return &failure{log: worktrees.Tail(said, maxTail-len(ending)-1) + "\n" + ending, how: failed}, err
}

// prepare makes the kept worktree hold the candidate, and returns where that is.
func (r *testRun) prepare(ctx context.Context, b *gitboard.Board) (place string, err error) {
	root, err := b.Root(ctx)
	if err != nil {
		return "", err
	}
	if root == "" {
		return "", board.Refuse(board.CodeBare, "the integration test needs a working tree; this repository is bare", "merge in a clone that has one")
	}
	dir, err := TestDir(b)
	if err != nil {
		return "", err
	}
	place = filepath.Join(dir, r.place)
	if err := dropForgotten(b.Repo(), place); err != nil {
		return "", err
	}
	if err := r.checkOut(ctx, b, place); err != nil {
		return "", fmt.Errorf("check the candidate out in %s: %w", place, err)
	}
	return place, nil
}

// checkOut makes the kept worktree hold the candidate. Files that git ignores, such as caches, stay
// in it.
func (r *testRun) checkOut(ctx context.Context, b *gitboard.Board, place string) error {
	repo, c := b.Repo(), r.c
	if err := cmp.Or(r.held.check(ctx), worktrees.CheckPlace(repo, place)); err != nil {
		return err
	}
	// The test of a merge that was killed, or stopped until its lease expired, works in this place.
	if err := commands.End(ctx, repo, place); err != nil {
		return err
	}
	if err := repo.Settings().Exclude("/"+board.WorktreesDir+"/", "/.liza/"); err != nil {
		return err
	}
	ready := readyFile(place)
	if made, err := os.ReadFile(ready); err == nil && isWorktree(place) && !r.own {
		setUp, err := r.renew(ctx, repo, place)
		if err == nil && setUp == string(made) || ctx.Err() != nil || errors.As(err, new(*git.NetworkError)) {
			return err
		}
	}
	// Missing, damaged, set up otherwise, not wanted, or left by a process that died while making it;
	// it has no user.
	if err := os.Remove(ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := clearPlaces(ctx, b, place); err != nil {
		return err
	}
	if err := repo.Worktree(place).Add(ctx, c.commit); err != nil {
		return err
	}
	sparse, err := repo.Worktree(place).Sparse(ctx)
	if sparse { // as the main worktree is; the test must see all that lands
		err = repo.Worktree(place).CheckoutDetached(ctx, c.commit)
	}
	if err != nil {
		return err
	}
	err = worktrees.Setup(ctx, b, c.view, place)
	after := context.WithoutCancel(ctx)
	if lost := r.held.check(after); lost != nil { // the place is another merge's by now
		return errors.Join(err, lost)
	}
	if err != nil {
		// A worktree that wasn't set up is useless: the next test makes a new one.
		return errors.Join(err, repo.Worktree(place).Remove(after))
	}
	strays, err := repo.Worktree(place).StrayModules(ctx)
	if len(strays) > 0 { // worktree_setup has brought them elsewhere
		err = r.modules(ctx, repo, place)
	}
	if err != nil {
		return err
	}
	setUp, err := r.setUp(ctx, repo, place)
	if err != nil {
		return err
	}
	return os.WriteFile(ready, []byte(setUp), 0o644)
}

// renew makes a kept worktree hold the candidate, and returns how it must be set up.
func (r *testRun) renew(ctx context.Context, repo *git.Repo, place string) (setUp string, err error) {
	if err := repo.Worktree(place).CheckoutDetached(ctx, r.c.commit); err != nil {
		return "", err
	}
	if err := r.modules(ctx, repo, place); err != nil {
		return "", err
	}
	return r.setUp(ctx, repo, place)
}

// modules brings the submodules that are checked out to the commits that the candidate names. If
// one can't be, a test would judge something else than what lands, so that is a refusal; but a
// silent remote ends the merge, or each task of a train would wait for it as long.
func (r *testRun) modules(ctx context.Context, repo *git.Repo, place string) error {
	err := repo.Worktree(place).CheckOutModules(ctx)
	if ended := ctx.Err(); ended != nil {
		return cmp.Or(err, ended)
	}
	strays, unread := repo.Worktree(place).StrayModules(ctx)
	switch {
	case unread != nil:
		return unread
	case err == nil && len(strays) == 0:
		return nil
	case err == nil:
		err = errors.New("git submodule update leaves it where it is")
	}
	which := "a submodule"
	if len(strays) > 0 {
		which = "the submodule " + text.Line(strays[0], 120)
	}
	if errors.Is(err, git.ErrSilent) {
		return fmt.Errorf("%s can't be brought to the commit that %s names: %w", which, r.c.task.ID, err)
	}
	return board.Refuse(board.CodeMissing, fmt.Sprintf("%s can't be brought to the commit that %s names: %v", which, r.c.task.ID, err),
		"see that this clone can fetch that commit (git submodule update), then merge again")
}

// setUp identifies how the worktree is set up for the candidate: by which worktree_setup, and with
// which submodules, since that is what checks them out; "" for none.
func (r *testRun) setUp(ctx context.Context, repo *git.Repo, place string) (string, error) {
	setup := r.c.view.State.Config().WorktreeSetup
	if setup == "" {
		return "", nil
	}
	links, err := repo.Worktree(place).Gitlinks(ctx)
	all := append([]string{setup}, slices.Sorted(maps.Keys(links))...)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(all, "\x00")))), err
}

func isWorktree(path string) bool {
	_, err := os.Lstat(filepath.Join(path, ".git"))
	return err == nil
}

func logFile(b *gitboard.Board, task string) (*os.File, error) {
	dir := filepath.Join(b.Dir(), "logs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	return os.Create(filepath.Join(dir, "merge-"+task+".log"))
}

// endOf reads the end of a log.
func endOf(file *os.File) (string, error) {
	const enough = 4 * maxTail // more than maxTail, since unprintable characters are dropped
	size, lost := file.Seek(0, io.SeekEnd)
	data, unread := io.ReadAll(io.NewSectionReader(file, max(0, size-enough), enough))
	return string(data), errors.Join(lost, unread)
}
