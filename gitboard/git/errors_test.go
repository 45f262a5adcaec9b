package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenOldGit covers git before 2.31, whose rev-parse prints options it does not know, where git
// is asked for the repository.
func TestOpenOldGit(t *testing.T) {
	ctx, r := scratch(t)
	old := t.TempDir()
	script := "#!/bin/sh\ncase \"$1\" in version) echo git version 2.30.9;; *) echo --path-format=absolute;; esac\n"
	check(t, os.WriteFile(filepath.Join(old, "git"), []byte(script), 0o777))
	t.Setenv("PATH", old)
	t.Setenv("GIT_CEILING_DIRECTORIES", "/")
	var unsupported *UnsupportedError
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &unsupported) {
		t.Errorf("got %v", err)
	}
}

func TestOpenDamaged(t *testing.T) {
	ctx, r := scratch(t)
	var failed *CommandError
	t.Setenv("GIT_CONFIG_PARAMETERS", "rubbish")
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &failed) || errors.Is(err, ErrNotRepository) {
		t.Errorf("settings: got %v", err)
	}
	os.Unsetenv("GIT_CONFIG_PARAMETERS")
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &failed) || errors.Is(err, ErrNotRepository) {
		t.Errorf("GIT_DIR: got %v", err)
	}
	os.Unsetenv("GIT_DIR")
	broken := filepath.Join(t.TempDir(), "a\nb")
	native(t, t.TempDir(), "init", "-q", broken)
	bare := filepath.Join(t.TempDir(), "a\nb.git")
	native(t, t.TempDir(), "init", "-q", "--bare", bare)
	for _, dir := range []string{broken, bare} {
		var unsupported *UnsupportedError
		if _, err := Open(ctx, dir); !errors.As(err, &unsupported) {
			t.Errorf("%q: got %v", dir, err)
		}
	}
}

func TestOpenForeign(t *testing.T) {
	ctx, r := scratch(t)
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
	var foreign *ForeignError
	if _, err := Open(ctx, r.TopLevel()); !errors.As(err, &foreign) || foreign.Dir != resolved(t, r.TopLevel()) {
		t.Errorf("got %v", err)
	}
}
