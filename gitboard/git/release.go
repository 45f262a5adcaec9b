package git

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
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
		if newest == "" && release(tag) != nil || OlderRelease(newest, tag) {
			newest = tag
		}
	}
	return newest, nil
}

// OlderRelease reports whether a version is older than a release. What follows three numbers, as in
// 0.2.0-rc1, is older than 0.2.0; a version without numbers is of unknown age, and never older.
func OlderRelease(version, newest string) bool {
	numbers, _, candidate := strings.Cut(version, "-")
	a, b := release(numbers), release(newest)
	if a == nil || b == nil {
		return false
	}
	order := slices.Compare(a, b)
	return order < 0 || order == 0 && candidate
}

// release returns the three numbers of a release's version, nil for another text.
func release(version string) (numbers []int) {
	if !regexp.MustCompile(`^\d{1,9}\.\d{1,9}\.\d{1,9}$`).MatchString(version) {
		return nil
	}
	for _, part := range strings.Split(version, ".") {
		n, _ := strconv.Atoi(part) // all digits
		numbers = append(numbers, n)
	}
	return numbers
}
