package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/retry"
)

func TestBrokenRefSentences(t *testing.T) {
	for text, want := range map[string]string{"": "its file is empty", "abc": `it leads to "abc"`} {
		if got := (&BrokenRefError{"refs/x", text}).Error(); !strings.Contains(got, want) || !strings.Contains(got, "refs/x") {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestUnsent checks what the record of a push shows: nothing was sent if git has asked for the
// remote's refs and did not get them.
func TestUnsent(t *testing.T) {
	asked := `{"event":"region_enter","category":"transport_push","label":"get_refs_list"}` + "\n"
	answered := `{"event":"region_leave","category":"transport_push","label":"get_refs_list"}` + "\n"
	other := `{"event":"region_enter","category":"transport_push","label":"push_refs"}` + "\n"
	for text, want := range map[string]bool{
		"": false, asked: true, other: false, asked + other: true, other + asked + answered: false, answered: false,
		strings.ReplaceAll(asked, "get_refs_list", "x") + answered: false,
	} {
		file := filepath.Join(t.TempDir(), "trace")
		check(t, os.WriteFile(file, []byte(text), 0o644))
		trace := &pushTrace{file: file}
		if got := trace.unsent(); got != want {
			t.Errorf("%q: %t", text, got)
		}
		trace.drop()
		if _, err := os.Stat(file); err == nil || trace.unsent() {
			t.Error("the record is there after all")
		}
	}
	none := &pushTrace{}
	if none.drop(); none.unsent() || none.env() != nil {
		t.Error("there is no record")
	}
}

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
		"../worktrees/one/.gitdir-7": {long, false}, "../worktrees/one/.HEAD-7": {long, false}, "../worktrees/one/.commondir-7": {time.Now(), true},
		"../worktrees/one/gitdir": {long, true}, "../worktrees/one/.of-another": {long, true},
	} {
		writeIn(t, dir, name, "x")
		check(t, os.Chtimes(filepath.Join(dir, name), c.at, c.at))
		defer func() {
			if exists(filepath.Join(dir, name)) != c.left {
				t.Errorf("%s: left %v, want %v", name, !c.left, c.left)
			}
		}()
	}
	check(t, r.Upkeep().Maintain(ctx))
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

// TestPackAfterAKill checks that the lock of a reflog, left by a killed gc, does not keep objects from
// being packed.
func TestPackAfterAKill(t *testing.T) {
	r, objects, _ := written(t)
	hurry(r)
	check(t, os.RemoveAll(filepath.Join(r.common, "logs"))) // as in a bare repository
	check(t, r.reflogsBusy())
	writeIn(t, r.common, "logs/refs/heads/liza/x.lock", "")
	writeIn(t, r.common, "logs/refs/heads/liza/x", "")
	once, _ := retry.With(t.Context(), 0)
	if err := r.Upkeep().Pack(once); child.ExitCode(err) <= 0 {
		t.Errorf("without a second attempt: %v", err)
	}
	writeIn(t, r.common, "logs/refs/heads/liza/x.lock", "")
	check(t, r.Upkeep().Pack(t.Context()))
	if exists(loosePath(r, objects[0].OID)) || exists(filepath.Join(r.common, "logs/refs/heads/liza/x.lock")) {
		t.Error("an object lies loose, or the lock is there")
	}
}

// TestRejected checks how a refused push is told from one whose outcome is unknown.
func TestRejected(t *testing.T) {
	refused := func(exit int, said string) error {
		return &NetworkError{Remote: "hub", Said: said, Err: &CommandError{Op: "push", Exit: exit}}
	}
	line := func(why string) string { return "!\tx:refs/x\t" + why + "\n" }
	all := []error{ErrRejected, ErrNotAtomic, ErrLockedThere, ErrDeclinedThere, ErrHiddenThere}
	for name, c := range map[string]struct {
		out  string
		err  error
		said string
		want []error
	}{
		"another error":      {line("[rejected] (x)"), errors.New("x"), "", nil},
		"killed":             {line("[rejected] (x)"), refused(-1, "s"), "s", nil},
		"nothing said":       {"=\tx\n", refused(1, "s"), "s", nil},
		"part of it":         {"*\tx:refs/y\t[new]\n" + line("[rejected] (x)"), refused(1, "s"), "[rejected] (x)", []error{ErrRejected}},
		"rejected":           {line("[rejected] (stale info)"), refused(1, "s"), "[rejected] (stale info)", []error{ErrRejected}},
		"said by the remote": {line("[rejected] (x)"), refused(1, "remote: s"), "remote: s", []error{ErrRejected}},
		"not atomic":         {"", refused(128, "no --atomic push"), "no --atomic push", []error{ErrNotAtomic}},
		"locked": {line("x"), refused(1, "remote: cannot lock ref 'a': 'b/a.lock'"), "remote: cannot lock ref 'a': 'b/a.lock'",
			[]error{ErrRejected, ErrLockedThere}},
		"in the way": {line("x"), refused(1, "remote: cannot lock ref 'a'"), "remote: cannot lock ref 'a'", []error{ErrRejected}},
		"declined":   {line("(pre-receive hook declined)"), refused(1, "remote: s"), "remote: s", []error{ErrRejected, ErrDeclinedThere}},
		"hidden": {line("(deny updating a hidden ref)"), refused(1, "s"), "(deny updating a hidden ref)",
			[]error{ErrRejected, ErrDeclinedThere, ErrHiddenThere}},
	} {
		err := rejected([]byte(c.out), c.err)
		for _, kind := range all {
			if errors.Is(err, kind) != slices.Contains(c.want, kind) {
				t.Errorf("%s: %v is %v: %t", name, err, kind, errors.Is(err, kind))
			}
		}
		if part := (*PartError)(nil); errors.As(err, &part) != (name == "part of it") || part != nil && !slices.Equal(part.Left, []string{"refs/x"}) {
			t.Errorf("%s: a part was done: %v", name, part)
		}
		if failed := (*NetworkError)(nil); errors.As(err, &failed) && failed.Said != c.said {
			t.Errorf("%s: it says %q", name, failed.Said)
		}
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

// TestSamePlace checks when a change of one path touches another.
func TestSamePlace(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"a", "a", true}, {"a", "ab", false}, {"a", "a/b", true}, {"a/b", "a", true}, {"a/", "a", true}, {"a/b", "a/", true}, {"b", "a/b", false}} {
		if got := samePlace(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}

// TestOverlapping checks which dirty paths are in the way: those that are touched.
func TestOverlapping(t *testing.T) {
	dirty := []StatusEntry{{Path: "a"}, {Path: "b/c"}, {Path: "d/"}}
	for changed, want := range map[string]string{"a": "a", "b": "b/c", "d/e a": "a d/", "a a": "a", "": "", "x": ""} {
		if got := strings.Join(overlapping(strings.Fields(changed), dirty), " "); got != want {
			t.Errorf("%q: %q, not %q", changed, got, want)
		}
	}
}
