package git

import (
	"errors"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestNewestRelease: the newest release is that of the highest numbers among tags of releases.
func TestNewestRelease(t *testing.T) {
	ctx, r := scratch(t)
	if got, err := NewestRelease(ctx, r.TopLevel()); got != "" || err != nil {
		t.Errorf("without tags: %q, %v", got, err)
	}
	write(t, r, "file", "text\n")
	commit := commitAll(t, r, "first")
	for _, tag := range []string{"v0.9.0", "v0.10.0", "v0.10.1-rc1", "1.0.0", "v2", "w3.0.0", "v0.2.11", "tools/v4.0.0"} {
		check(t, r.command("tag", "tag", tag, string(commit)).Run(ctx))
	}
	if got, err := NewestRelease(ctx, r.TopLevel()); got != "0.10.0" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := NewestRelease(ctx, t.TempDir()); !errors.As(err, new(*NetworkError)) {
		t.Errorf("no repository: %v", err)
	}
	for version, older := range map[string]bool{"0.9.9": true, "0.10.0-snapshot.1": true, "0.10.0": false, "0.10.1": false, "devel": false, "": false} {
		if plumbing.OlderRelease(version, "0.10.0") != older {
			t.Errorf("%q is older than 0.10.0: %v", version, !older)
		}
	}
	if plumbing.OlderRelease("0.1.0", "") {
		t.Error("0.1.0 is older than no release")
	}
}
