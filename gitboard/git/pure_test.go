package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestDropLeft checks that maintenance removes only temporary files that are old, at any depth,
// and no file of kept work.
func TestDropLeft(t *testing.T) {
	ctx, r := scratch(t)
	dir := filepath.Join(r.common, "liza")
	long := time.Now().Add(-2 * leftAfter)
	for name, c := range map[string]struct {
		at   time.Time
		left bool
	}{
		".push-trace-1": {long, false}, "commands/.7-8": {long, false}, ".push-trace-2": {time.Now(), true}, "proven": {long, true}, ".held/x": {long, true},
		"modules/one/1/lib/.gitignore": {long, true}, "claims/modules/.x": {long, false},
		"large/.x": {long, true}, ".incoming-1/objects/x": {long, false}, ".incoming-2/x": {time.Now(), true}, ".incoming-3": {time.Now(), true},
	} {
		writeIn(t, dir, name, "x")
		first, _, _ := strings.Cut(name, "/")
		check(t, errors.Join(os.Chtimes(filepath.Join(dir, name), c.at, c.at), os.Chtimes(filepath.Join(dir, first), c.at, c.at)))
		defer func() {
			if exists(filepath.Join(dir, name)) != c.left {
				t.Errorf("%s: left %v, want %v", name, !c.left, c.left)
			}
		}()
	}
	check(t, r.Upkeep().Maintain(ctx))
}

// TestOfRemoteSettings checks what settings say of a remote: a path from the project's root is looked at
// by git alone, and git asks no program for a password unless one is set.
func TestOfRemoteSettings(t *testing.T) {
	_, r := scratch(t)
	dir := t.TempDir()
	t.Chdir(filepath.Dir(dir))
	writeIn(t, dir, plumbing.BoardRef, strings.Repeat("1", 40))
	for url, near := range map[string]bool{dir: true, filepath.Base(dir): false} {
		m := r.remote("hub", map[string][]string{"remote.hub.url": {url}})
		if at, _ := m.Near(plumbing.BoardRef); (at != "") != near {
			t.Errorf("%s is read at %q", url, at)
		}
	}
	for program, set := range map[string]map[string][]string{"": {}, "set": {"core.askpass": {"ask"}}} {
		if asks := !slices.Contains(r.remote("hub", set).env, "GIT_ASKPASS="); asks != (program != "") {
			t.Errorf("with the program %q git asks: %v", program, asks)
		}
	}
}

// TestMaintainAfterAKill checks that a lock left by a killed maintenance does not end all upkeep.
func TestMaintainAfterAKill(t *testing.T) {
	ctx, r := scratch(t)
	lock, long := filepath.Join(r.common, "objects", "maintenance.lock"), time.Now().Add(-time.Hour)
	writeIn(t, r.common, "objects/maintenance.lock", "")
	check(t, os.Chtimes(lock, long, long))
	check(t, r.Upkeep().Maintain(ctx))
	if exists(lock) {
		t.Error("the lock is still there, and git does nothing beside it")
	}
}

// TestIdentitiesOfSettings checks that names and addresses count only if somebody has configured
// them.
func TestIdentitiesOfSettings(t *testing.T) {
	ident := "Ada <ada@x> 1700000000 +0000"
	none := func(string) (string, bool) { return "", false }
	for name, c := range map[string]struct {
		lines map[string][]string
		env   func(string) (string, bool)
		want  bool
	}{
		"of the user":  {map[string][]string{"user.name": {"Ada"}, "user.email": {"ada@x"}}, none, true},
		"of the role":  {map[string][]string{"author.name": {"Ada"}, "author.email": {"ada@x"}}, none, true},
		"half of both": {map[string][]string{"author.name": {"Ada"}, "user.email": {"ada@x"}}, none, true},
		"invented":     {map[string][]string{"user.name": {"Ada"}}, none, false},
		"another":      {map[string][]string{"user.name": {"Ada"}, "user.email": {"eve@x"}}, none, false},
		"given": {nil, func(key string) (string, bool) {
			return map[string]string{"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@x"}[key], true
		}, true},
		"another given": {map[string][]string{"user.name": {"Ada"}, "user.email": {"ada@x"}},
			func(key string) (string, bool) { return "Eve", key == "GIT_AUTHOR_NAME" }, false},
	} {
		lines := map[string][]string{"GIT_AUTHOR_IDENT": {"Eve <eve@x> 1 +0000", ident}}
		for key, values := range c.lines {
			lines[key] = values
		}
		said := parseIdentities(lines, c.env)
		if s, is := said["GIT_AUTHOR_IDENT"]; is != c.want || is && (s.Name != "Ada" || s.Email != "ada@x") {
			t.Errorf("%s: %v %t", name, s, is)
		}
		if _, is := said["GIT_COMMITTER_IDENT"]; is {
			t.Errorf("%s: there is a committer", name)
		}
	}
}

// TestOverlapping checks which dirty paths are in the way: those that are touched.
func TestOverlapping(t *testing.T) {
	dirty := []StatusEntry{{Path: "a"}, {Path: "b/c"}, {Path: "d/"}}
	for changed, want := range map[string]string{
		"a": "a", "b": "b/c", "d/e a": "a d/", "a a": "a", "": "", "x": "", "ab": "", "a/b": "a", "d": "d/", "c": "",
	} {
		if got := strings.Join(overlapping(strings.Fields(changed), dirty), " "); got != want {
			t.Errorf("%q: %q, not %q", changed, got, want)
		}
	}
}
