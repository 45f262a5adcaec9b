package git

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
)

// Version returns the version of the git in PATH; raw is everything that git prints after "git
// version". It returns an UnsupportedError if git is missing.
func Version(ctx context.Context) (major, minor int, raw string, err error) {
	out, err := command{Op: "version", Args: []string{"version"}}.Output(ctx)
	if err != nil {
		return 0, 0, "", err
	}
	return parseVersion(string(out))
}

// RequireVersion returns an UnsupportedError if git is missing or older than 2.38.
func RequireVersion(ctx context.Context) error {
	major, minor, raw, err := Version(ctx)
	if err != nil {
		return err
	}
	if major < child.MinimumMajor || major == child.MinimumMajor && minor < child.MinimumMinor {
		return &UnsupportedError{What: fmt.Sprintf("git %s is too old: git liza needs git %d.%d or newer; update git and try again", raw, child.MinimumMajor, child.MinimumMinor)}
	}
	return nil
}

func parseVersion(said string) (major, minor int, raw string, err error) {
	raw = strings.TrimPrefix(strings.TrimSpace(said), "git version ")
	parts := regexp.MustCompile(`(\d+)\.(\d+)`).FindStringSubmatch(raw)
	if parts == nil {
		return 0, 0, raw, &UnsupportedError{What: fmt.Sprintf("cannot tell the version of git from %q; install git %d.%d or newer", raw, child.MinimumMajor, child.MinimumMinor)}
	}
	// The parts are all digits, so an error means a number too large for an int, which is new
	// enough.
	major, _ = strconv.Atoi(parts[1])
	minor, _ = strconv.Atoi(parts[2])
	return major, minor, raw, nil
}
