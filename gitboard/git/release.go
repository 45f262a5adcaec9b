package git

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// releaseTimeout is how long a remote may take to list its tags.
const releaseTimeout = 30 * time.Second

// NewestRelease returns the version of the newest release tag of the repository at an address, as
// in 0.2.0 for v0.2.0, or "" if it has none. Tags of candidates don't count. It returns a NetworkError
// if the repository can't be read.
func NewestRelease(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	out, err := command{Op: "ls-remote", Args: []string{"ls-remote", "--quiet", "--refs", "--tags", "--", address}}.Output(ctx)
	if err != nil {
		return "", &NetworkError{Remote: address, Said: "its tags can't be read: " + err.Error(), Err: err}
	}
	newest := ""
	for _, line := range child.Lines(out) {
		_, ref, _ := strings.Cut(line, "\t")
		tag, is := strings.CutPrefix(path.Base(ref), "v")
		if !is || strings.Count(ref, "/") != 2 {
			continue // the tag of something else, as in tools/v1.0.0
		}
		if newest == "" && plumbing.IsRelease(tag) || plumbing.OlderRelease(newest, tag) {
			newest = tag
		}
	}
	return newest, nil
}
