package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/kept"
	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/git/loose"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// instead puts a shell script in place of git.
func instead(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", dir)
}

// TestOddAnswers checks that an answer that no git gives is an error, or counts as none.
func TestOddAnswers(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	fails := func(_ any, err error) bool { return err != nil }
	uncut := func() bool { _, _, err := r.Worktree(r.top).cutShort(ctx, head, head); return err == nil }
	real := must[string](t)(exec.LookPath("git"))
	for name, c := range map[string]struct {
		says string
		is   func() bool
	}{
		"no count":       {"", func() bool { return fails(r.History().CountCommits(ctx, "", head)) }},
		"no tree":        {"none", func() bool { _, _, err := r.History().MergeTree(ctx, head, head); return err != nil }},
		"nothing merged": {"", func() bool { _, _, err := r.History().MergeTree(ctx, head, head); return err != nil }},
		"fewer sizes":    {"one", func() bool { return fails(r.History().SizesOf(ctx, []string{"a", "b"})) }},
		"no number":      {"a b c", func() bool { return fails(r.History().SizesOf(ctx, []string{"a"})) }},
		"ambiguous": {"a b ambiguous", func() bool {
			sizes, err := r.History().SizesOf(ctx, []string{"a b"})
			return err == nil && sizes[0] == (Size{})
		}},
		"another pair": {"x", func() bool { return fails(r.History().DiffStats(ctx, [][2]plumbing.OID{{head, head}})) }},
		"another ref": {string(head) + " commit refs/heads/main/more", func() bool {
			at, err := r.exactRef(ctx, "refs/heads/main")
			return err == nil && at.IsZero()
		}},
		"no version":          {"git version of old", func() bool { return errors.As(RequireVersion(ctx), new(*UnsupportedError)) }},
		"1.99":                {"git version 1.99", func() bool { return errors.As(RequireVersion(ctx), new(*UnsupportedError)) }},
		"2.37":                {"git version 2.37.9", func() bool { return errors.As(RequireVersion(ctx), new(*UnsupportedError)) }},
		"3.1":                 {"git version 3.1", func() bool { return RequireVersion(ctx) == nil }},
		"no path of a change": {"a b c d", uncut},
		"half a change":       {`a b\0path\0`, uncut},
		"no files":            {string(head) + " " + string(head) + "\nx", func() bool { return fails(r.History().DiffStats(ctx, [][2]plumbing.OID{{head, head}})) }},
	} {
		t.Run(name, func(t *testing.T) {
			instead(t, `case "$*" in *--absolute-git-dir) echo '`+r.gitDir+`' ;; *) printf %b '`+c.says+`' ;; esac`)
			if !c.is() {
				t.Error("it is taken as it is")
			}
		})
	}
	instead(t, "printf ' \\tx:refs/x\\t[ok]\\n'; exit 1")
	hub := &Remote{Name: "hub", repo: r, patience: networkPatience}
	if said, err := hub.Deliver(ctx, Push{Ref: "refs/x", New: head}, ""); said != "" || !errors.As(err, new(*NetworkError)) {
		t.Errorf("what was delivered, by a git that failed: %q, %v", said, err)
	}
	instead(t, "echo \"error: unable to delete 'refs/x': remote ref does not exist\" >&2; exit 1")
	if _, err := hub.Deliver(ctx, Push{Ref: "refs/x"}, ""); !errors.Is(err, ErrNotOffered) {
		t.Errorf("a ref that the remote does not have: %v", err)
	}
	instead(t, "echo /nowhere")
	if _, err := r.Worktree(r.TopLevel()).copyIndex(ctx); !errors.As(err, new(*StorageError)) {
		t.Errorf("no directory for an index: %v", err)
	}
	instead(t, `case "$*" in version) echo git version 2.30 ;; *cat-file*) exec '`+real+`' "$@" ;; *) exit 129 ;; esac`)
	if _, _, err := r.History().MergeTree(ctx, head, head); !errors.As(err, new(*UnsupportedError)) {
		t.Errorf("a git without merge-tree --write-tree: %v", err)
	}
}

// TestOddRepositories checks what comes of answers to the question where a repository is that no
// sound git gives.
func TestOddRepositories(t *testing.T) {
	ctx, dir := sandbox(t), t.TempDir()
	all := `case "$*" in *--show-object-format*) `
	for script, want := range map[string]error{
		`echo --path-format=absolute; [ $1 != version ] || echo git version 2.40`:   nil,
		`echo --path-format=absolute; [ $1 != version ] || echo git version 2.30.9`: &UnsupportedError{},
		all + `printf 'sha1\nfalse\ntrue\n/a\n/a\n'; exit 128;; *) exit 128;; esac`: ErrNotRepository,
		all + `printf 'sha1\nfalse\ntrue\n/a\n/a\n';; esac`:                         &UnsupportedError{},
		all + `exit 128;; *) echo /x;; esac`:                                        ErrNotRepository,
	} {
		instead(t, script)
		r, err := Open(ctx, dir)
		ok := errors.Is(err, want)
		if _, is := want.(*UnsupportedError); is {
			ok = errors.As(err, new(*UnsupportedError))
		}
		if want == nil {
			ok = err != nil && strings.Contains(err.Error(), "does not know --path-format")
		}
		if !ok {
			t.Errorf("%s: %+v, %v", script, r, err)
		}
	}
}

// TestFullIDs checks that only full ids become arguments of git.
func TestFullIDs(t *testing.T) {
	ctx, r := scratch(t)
	for name, err := range map[string]error{
		"RangeDiff":      second(r.History().RangeDiff(ctx, "main", "main", "main", "main")),
		"DiffBlobs":      second(r.History().DiffBlobs(ctx, "main:a.txt", "main:a.txt")),
		"ChangedFiles":   second(r.History().ChangedFiles(ctx, "main", "main")),
		"DiffStats":      second(r.History().DiffStats(ctx, [][2]plumbing.OID{{plumbing.EmptyTree, "main"}})),
		"IsAncestor":     second(r.History().IsAncestor(ctx, "main", "main")),
		"Since":          second(r.History().Since(ctx, "main", "main")),
		"MergeBase":      second(r.History().MergeBase(ctx, "main", "main")),
		"CountCommits":   second(r.History().CountCommits(ctx, "main", "main")),
		"Touching":       second(r.History().Touching(ctx, "main", "a.txt")),
		"Log":            second(r.Log(ctx, "", "main")),
		"RevList":        second(r.History().RevList(ctx, "", "main")),
		"RevList from":   second(r.History().RevList(ctx, "--all", must[plumbing.OID](t)(r.ResolveCommit(ctx, "main")))),
		"RequestCommit":  second(r.RequestCommit(ctx, "main", "r", 9)),
		"Requested":      second(r.History().Requested(ctx, "main", []string{"r"}, 9)),
		"Advance":        r.Worktree(r.top).readTree(ctx, "main", "main"),
		"MergeTree":      func() error { _, _, err := r.History().MergeTree(ctx, "main", "main"); return err }(),
		"AddWorktree":    r.Worktree(filepath.Join(t.TempDir(), "x")).Add(ctx, "main"),
		"MergeInto":      second(r.Worktree(r.top).MergeInto(ctx, "main", "m", ada)),
		"CheckoutDetach": r.Worktree(r.top).CheckoutDetached(ctx, "main"),
	} {
		if err == nil || errors.As(err, new(*CommandError)) {
			t.Errorf("%s takes a name: %v", name, err)
		}
	}
}

func second(_ any, err error) error { return err }

// TestKeptFiles checks that a file of kept objects that is incomplete, or that was changed, counts
// as none.
func TestKeptFiles(t *testing.T) {
	ctx, r := scratch(t)
	id := string(blob("a").OID)
	check(t, os.MkdirAll(filepath.Join(r.Upkeep().KeptDir(), kept.Prefix+"directory"), 0o755))
	for i, text := range []string{"", id + " blob 1\n", "garbage\n\n", id + " blob x\n\n", id[1:] + " blob 0\n\n", id + " blob -1\n\n", id + " blob 9\n\na"} {
		writeIn(t, r.Upkeep().KeptDir(), fmt.Sprint(kept.Prefix, i), text)
	}
	writeIn(t, r.Upkeep().KeptDir(), "another", id+" blob 1\n\na")
	if all := kept.All(r.Upkeep().KeptDir()); len(all) != 0 {
		t.Errorf("kept: %+v", all[0])
	}
	writeIn(t, r.Upkeep().KeptDir(), kept.Prefix+"changed", id+" blob 1\n\nb")
	if all := kept.All(r.Upkeep().KeptDir()); len(all) != 1 || len(all[0].Objects) != 1 {
		t.Errorf("kept: %+v", all)
	}
	if o, err := r.Object(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("%+v, %v", o, err)
	}
	a := blob("a")
	missing, err := r.missing(ctx, []plumbing.Object{a, a}, func(string, plumbing.Object) bool { return false })
	if err != nil || len(missing) != 1 {
		t.Errorf("missing: %v, %v", missing, err)
	}
	packed := must[[]plumbing.Object](t)(r.Objects(ctx, []string{"HEAD"}))
	native(t, r.CommonDir(), "gc", "--quiet")
	if missing, err := r.missing(ctx, packed, func(string, plumbing.Object) bool { return false }); err != nil || len(missing) != 0 {
		t.Errorf("what is packed is missing: %v, %v", missing, err)
	}
	writeIn(t, r.objectDir(), id[:2]+"/"+id[2:], "")
	if loose.Has(r.objectDir(), a) {
		t.Error("an empty file counts as an object")
	}
}

// TestKeptOfLate checks that of many files of kept objects the newest stay, and that all stay for
// as long as a git may delete what it has not seen.
func TestKeptOfLate(t *testing.T) {
	ctx, r := scratch(t)
	const more = kept.Batch
	var paths []string
	for i := range kept.Newest + more {
		paths = append(paths, must[string](t)(r.keep([]plumbing.Object{blob(fmt.Sprint(i))})))
	}
	r.tidyKept(ctx)
	if all := kept.All(r.Upkeep().KeptDir()); len(all) != len(paths) {
		t.Errorf("of those just written %d are left", len(all))
	}
	for i, path := range append(paths, filepath.Join(r.Upkeep().KeptDir(), "looked-after")) {
		then := time.Now().Add(-kept.Long/2 - time.Duration(i)*time.Second)
		check(t, os.Chtimes(path, then, then))
	}
	r.tidyKept(ctx)
	all := kept.All(r.Upkeep().KeptDir())
	if len(all) != kept.Newest || string(all[0].Objects[0].Data) != "0" {
		t.Errorf("%d are left", len(all))
	}
	now := time.Now()
	fresh, old := &kept.File{Written: now}, &kept.File{Written: now.Add(-2 * kept.Blind)}
	past := func() []*kept.File { return kept.PastDeleting(r.Locks(), now, []*kept.File{fresh, old}) }
	if got := past(); len(got) != 2 {
		t.Errorf("nothing deletes, and %d may go", len(got))
	}
	asGit(t, r.TopLevel(), "log")
	if got := past(); len(got) != 2 {
		t.Errorf("nothing deletes, and %d may go", len(got))
	}
	asGit(t, r.TopLevel(), "prune")
	if got := past(); !slices.Equal(got, []*kept.File{old}) {
		t.Errorf("beside git prune %d may go", len(got))
	}
	r.environ = gitenv.List{ProcessSpaceVar + "=elsewhere"}
	if got := past(); !slices.Equal(got, []*kept.File{old}) {
		t.Errorf("where processes are not visible %d may go", len(got))
	}
	if got := kept.PastDeleting(r.Locks(), now, slices.Repeat([]*kept.File{fresh}, kept.Max)); len(got) != kept.Max {
		t.Errorf("of too many %d may go", len(got))
	}
}

// TestRememberedRequests checks that what can't be read is not remembered.
func TestRememberedRequests(t *testing.T) {
	_, r := scratch(t)
	check(t, os.MkdirAll(filepath.Join(r.common, "liza"), 0o755))
	id := strings.Repeat("1", 40)
	for text, want := range map[string]int{
		id + " " + string(plumbing.ZeroOID) + " r\n": 1, id + "\n": 0, "x " + id + "\n": 0, id + " x\n": 0, id + " " + string(plumbing.ZeroOID): 0,
	} {
		check(t, os.WriteFile(r.askingFile(), []byte(text), 0o644))
		if got := r.keptAsking(); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestBase checks to which directory the relative address of a remote refers.
func TestBase(t *testing.T) {
	for want, r := range map[string]*Repo{
		"/a": {common: "/a/.git", gitDir: "/a/.git", top: "/b"}, "/b": {common: "/a", gitDir: "/a", top: "/b"},
		"/c": {common: "/c", gitDir: "/c/worktrees/x", top: "/b"}, "/d": {common: "/d", gitDir: "/d"},
	} {
		testrun.Equal(t, r.base(), want, "the value")
	}
}

// TestSmallParts checks parts that are too small for tests of their own.
func TestSmallParts(t *testing.T) {
	tree := "worktree /a\x00HEAD x\x00bare\x00\x00worktree /b\x00locked why\x00\x00"
	for what, holds := range map[string]bool{
		"no reason is given":                 notRepository("d", "").Error() == ErrNotRepository.Error()+": d",
		"another error is no failure of git": whatGitSaid(errors.New("x")) == "x",
		"no time is git's":                   len(authorEnv(plumbing.Signature{})) == 4,
		"a line without its end is whole":    string(trimNewline([]byte("x"))) == "x" && string(trimNewline([]byte("x\n"))) == "x",
		"only what moves a ref has its lock": !slices.Contains(fetchLocks([]string{"refs/x", "refs/y:refs/z"}), "refs/x.lock") && slices.Contains(fetchLocks([]string{"refs/y:refs/z"}), "refs/z.lock"),
		"a fetch of many refs may meet a lock of each": slices.Contains(fetchLocks([]string{"refs/a/*:refs/b/*"}), "refs/b/*/*.lock") &&
			len(fetchLocks([]string{"refs/y:refs/z"})) == len(locks.Whole)+1,
		"the bare repository is one": parseWorktrees(tree)[0].Bare && !parseWorktrees(tree)[1].Bare,
		"half a line is no file":     len(plumbing.ParseStatus([]string{"1 .M N...", "1 .M N... 1 1 1 a a x"}).Dirty) == 1,
		"a directory that is missing is not watched": func() bool {
			replaced, stop := disk.Watch(filepath.Join(t.TempDir(), "a", "b"))
			stop()
			return replaced == nil
		}(),
		"an error of git is shown by its last line": whatGitSaid(&CommandError{Op: "x", Stderr: "fatal: y\n"}) == "y",
		"a quarantine without a place has none":     (&Repo{common: "/c", environ: gitenv.List{"GIT_QUARANTINE_PATH=q"}}).objectDir() == "/c/objects",
		"a quarantine has its own objects":          (&Repo{common: "/c", environ: gitenv.List{"GIT_QUARANTINE_PATH=q", "GIT_OBJECT_DIRECTORY=/q"}}).objectDir() == "/q",
	} {
		if !holds {
			t.Errorf("it does not hold that %s", what)
		}
	}
}

// TestDropLeft checks that maintenance removes only temporary files that are old, at any depth, and no
// file of kept work, and that a lock left by a killed maintenance does not end all upkeep.
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
			testrun.Equal(t, exists(filepath.Join(dir, name)), c.left, "%s: left %v, want", name, !c.left)
		}()
	}
	lock := filepath.Join(r.common, "objects", "maintenance.lock")
	writeIn(t, r.common, "objects/maintenance.lock", "")
	check(t, os.Chtimes(lock, long, long))
	check(t, r.Upkeep().Maintain(ctx))
	if exists(lock) {
		t.Error("the lock is still there, and git does nothing beside it")
	}
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
		testrun.Equal(t, !slices.Contains(r.remote("hub", set).env, "GIT_ASKPASS="), (program != ""), "with the program %q git asks", program)
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
		testrun.Equal(t, strings.Join(overlapping(strings.Fields(changed), dirty), " "), want, "%q", changed)
	}
}
