package merge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees"
)

// Reproduction is the result of a test that was repeated away from the clone.
type Reproduction struct {
	Passed           bool
	Log, Environment string // SHA-256
}

// Reproduce repeats an integration test on a commit, in a repository of its own that is removed
// again, without a cache and without this process's environment: the test runs code that agents
// wrote.
func Reproduce(ctx context.Context, repo *git.Repo, commit plumbing.OID, test string, timeout time.Duration, out io.Writer) (Reproduction, error) {
	var r Reproduction
	place, err := os.MkdirTemp("", "liza-reproduce-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(place)
	dir, home := filepath.Join(place, "project"), filepath.Join(place, "home")
	for _, made := range []string{dir, home} {
		if err := os.Mkdir(made, 0o700); err != nil {
			return r, err
		}
	}
	if err := repo.CopyTo(ctx, dir, commit); err != nil {
		return r, err
	}
	if r.Environment, err = environment(ctx); err != nil {
		return r, err
	}
	log := sha256.New()
	output := io.Writer(log)
	if out != nil {
		output = io.MultiWriter(log, out)
	}
	err = worktrees.Run(ctx, worktrees.Command{
		Name: "the repeated test", Script: script(test), Dir: dir, Output: output, Timeout: timeout, Alone: true,
		Env: []string{"HOME=" + home, "TMPDIR=" + home, "LIZA_MERGE_COMMIT=" + string(commit)},
	})
	var failed *worktrees.FailedError
	if err != nil && !errors.As(err, &failed) {
		return r, err
	}
	r.Passed, r.Log = err == nil, hex.EncodeToString(log.Sum(nil))
	return r, nil
}

// environment is the digest of a description of this machine, as far as it may matter to a test.
func environment(ctx context.Context) (string, error) {
	_, _, version, err := git.Version(ctx)
	if err != nil {
		return "", err
	}
	release, _ := os.ReadFile("/etc/os-release") // other systems have none
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s\n%s\n%s", runtime.GOOS, runtime.GOARCH, version, strings.TrimSpace(string(release))))
	return hex.EncodeToString(sum[:]), nil
}
