package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/kept"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestSnapshot(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude("ignored"))
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	snap := func() plumbing.OID {
		t.Helper()
		return must[plumbing.OID](t)(r.Worktree(r.TopLevel()).Snapshot(ctx, "what was left", ada))
	}
	testrun.Equal(t, snap(), head, "clean:")
	write(t, r, "a.txt", "changed\n")
	write(t, r, "staged", "1")
	native(t, r.TopLevel(), "add", "staged")
	write(t, r, "staged", "2")
	write(t, r, "ünträckt/x", "new")
	write(t, r, "ignored", "x")
	before := native(t, r.TopLevel(), "status", "--porcelain=v2", "--branch")
	index := readIn(t, r.GitDir(), "index")
	id := snap()
	commit := must[plumbing.Commit](t)(plumbing.DecodeCommit(must[plumbing.Object](t)(r.Object(ctx, string(id)))))
	if len(commit.Parents) != 1 || commit.Parents[0] != head || commit.Author.Name != ada.Name || !commit.Committer.When.Equal(noon) || strings.TrimSpace(commit.Message) != "what was left" {
		t.Errorf("got %+v", commit)
	}
	for name, want := range map[string]string{"a.txt": "changed\n", "staged": "2", "ünträckt/x": "new"} {
		if got := must[plumbing.Object](t)(r.Object(ctx, string(id)+":"+name)); string(got.Data) != want {
			t.Errorf("%s holds %q", name, got.Data)
		}
	}
	if files := must[[]string](t)(r.History().ChangedFiles(ctx, head, id)); len(files) != 3 {
		t.Errorf("it holds %v", files)
	}
	if index != readIn(t, r.GitDir(), "index") || before != native(t, r.TopLevel(), "status", "--porcelain=v2", "--branch") {
		t.Error("the worktree was changed")
	}
	if left := must[[]string](t)(filepath.Glob(filepath.Join(r.GitDir(), "liza-*"))); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestStagedSnapshot checks that what is staged can be committed when the files are gone or others
// by now, and that the worktree stays as it is.
func TestStagedSnapshot(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	testrun.Equal(t, must[plumbing.OID](t)(r.Worktree(r.TopLevel()).StagedSnapshot(ctx, "staged", ada)), head, "nothing is staged:")
	for _, name := range []string{"a.txt", "gone", "edited", "as staged"} {
		write(t, r, name, "staged")
	}
	native(t, r.TopLevel(), "add", ".")
	check(t, os.Remove(filepath.Join(r.TopLevel(), "gone")))
	write(t, r, "a.txt", "later")
	write(t, r, "edited", "later")
	write(t, r, "new", "later")
	var alone []string
	for _, e := range must[[]StatusEntry](t)(r.Worktree(r.TopLevel()).Status(ctx)) {
		if e.StagedAlone() {
			alone = append(alone, e.Path)
		}
	}
	testrun.Equal(t, strings.Join(alone, " "), "a.txt edited gone", "staged alone: %q", alone)
	before, index := native(t, r.TopLevel(), "status", "--porcelain=v2", "--branch"), readIn(t, r.GitDir(), "index")
	id := must[plumbing.OID](t)(r.Worktree(r.TopLevel()).StagedSnapshot(ctx, "staged", ada))
	testrun.Equal(t, native(t, r.TopLevel(), "diff", "--name-status", "HEAD", string(id)), "M\ta.txt\nA\tas staged\nA\tedited\nA\tgone", "it holds")
	testrun.Equal(t, native(t, r.TopLevel(), "show", string(id)+":a.txt"), "staged", "a.txt holds")
	if index != readIn(t, r.GitDir(), "index") || before != native(t, r.TopLevel(), "status", "--porcelain=v2", "--branch") {
		t.Error("the worktree was changed")
	}
}

// TestSnapshotOutlivesPrune: a git that deletes everything that no ref holds, before the ref of a
// snapshot is made or after it, takes nothing of it; only the longest files of a very large one are
// not kept.
func TestSnapshotOutlivesPrune(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "a.txt", "changed\n")
	write(t, r, "below/new", "new")
	prune := func() { native(t, r.TopLevel(), "prune", "--expire=now") }
	id := must[plumbing.OID](t)(r.Worktree(r.TopLevel()).Snapshot(ctx, "what was left", ada))
	prune()
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/attic/one/1", New: id}}, ""))
	native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", string(id))
	for _, o := range must[[]Size](t)(r.History().Sizes(ctx, must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main")), id)) {
		check(t, os.Remove(loosePath(r, o.OID))) // by a git that began before the ref was made
	}
	later := must[*Repo](t)(Open(ctx, r.TopLevel()))
	defer later.Close()
	if o, err := later.Object(ctx, string(id)); err != nil || o.Type != plumbing.CommitObject {
		t.Errorf("%+v %v", o, err)
	}
	native(t, r.TopLevel(), "fsck", "--strict", "--connectivity-only", string(id))

	write(t, r, "large", strings.Repeat("x", maxKept))
	id = must[plumbing.OID](t)(r.Worktree(r.TopLevel()).Snapshot(ctx, "with a large file", ada))
	large := must[plumbing.OID](t)(r.History().FileOID(ctx, id, "large"))
	for _, k := range kept.All(r.Upkeep().KeptDir()) {
		for _, o := range k.Objects {
			if o.OID == large {
				t.Error("the large file is kept")
			}
		}
	}
	prune()
	if _, err := later.Object(ctx, string(id)); err != nil {
		t.Errorf("the snapshot with the large file: %v", err)
	}
}

// TestSnapshotRacy checks that a snapshot includes an edit that keeps the size of the file and
// falls into the same clock tick as the index.
func TestSnapshotRacy(t *testing.T) {
	ctx, r := scratch(t)
	for i := range 5 {
		text := strings.Repeat(string(rune('a'+i)), 10)
		write(t, r, "racy", strings.Repeat("-", 10))
		native(t, r.TopLevel(), "add", "racy")
		write(t, r, "racy", text)
		id := must[plumbing.OID](t)(r.Worktree(r.TopLevel()).Snapshot(ctx, "racy", ada))
		if got := must[plumbing.Object](t)(r.Object(ctx, string(id)+":racy")); string(got.Data) != text {
			t.Fatalf("round %d: holds %q", i, got.Data)
		}
	}
}

// TestSnapshotOutsideTheCone checks that a snapshot of a sparse checkout has what was changed or
// made outside of what is checked out, and that files which are not checked out are not deleted.
func TestSnapshotOutsideTheCone(t *testing.T) {
	ctx, r := scratch(t)
	for _, name := range []string{"app/a", "docs/changed", "docs/left"} {
		write(t, r, name, "one\n")
	}
	commitAll(t, r, "second")
	path := claim(t, ctx, r, "one")
	native(t, path, "sparse-checkout", "set", "app")
	if exists(filepath.Join(path, "docs")) {
		t.Fatal("docs is checked out")
	}
	writeIn(t, path, "docs/changed", "two\n")
	writeIn(t, path, "docs/new", "two\n")
	id := must[plumbing.OID](t)(r.Worktree(path).Snapshot(ctx, "what was left", ada))
	testrun.Equal(t, native(t, path, "diff", "--name-status", "HEAD", string(id)), "M\tdocs/changed\nA\tdocs/new", "it holds")
}

func TestSnapshotInConflict(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	writeIn(t, path, "a.txt", "ours\n")
	ours := plumbing.OID(testrun.CommitAll(t, path, "ours"))
	check(t, os.Remove(filepath.Join(r.TopLevel(), "a.txt")))
	write(t, r, "b.txt", "theirs\n")
	writeIn(t, path, "b.txt", "untracked\n")
	check(t, os.Remove(filepath.Join(path, "b.txt")))
	theirs := commitAll(t, r, "theirs")
	if conflicts := must[[]string](t)(r.Worktree(path).MergeInto(ctx, theirs, "m", ada)); len(conflicts) == 0 {
		t.Fatal("no conflict")
	}
	before := native(t, path, "status", "--porcelain=v2")
	id := must[plumbing.OID](t)(r.Worktree(path).Snapshot(ctx, "in conflict", ada))
	if got := must[plumbing.Object](t)(r.Object(ctx, string(id)+":a.txt")); string(got.Data) != "ours\n" {
		t.Errorf("it holds %q", got.Data)
	}
	commit := must[plumbing.Commit](t)(plumbing.DecodeCommit(must[plumbing.Object](t)(r.Object(ctx, string(id)))))
	if len(commit.Parents) != 1 || commit.Parents[0] != ours {
		t.Errorf("parents: %v", commit.Parents)
	}
	testrun.Equal(t, before, native(t, path, "status", "--porcelain=v2"), "the conflict was changed")
}

func TestStatus(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "b", "b")
	commitAll(t, r, "second")
	for key, value := range map[string]string{"status.branch": "true", "status.showUntrackedFiles": "no", "status.renames": "copies", "status.short": "true"} {
		check(t, r.Settings().Set(ctx, key, value))
	}
	native(t, r.TopLevel(), "mv", "a.txt", "né w.txt")
	write(t, r, "b", "changed")
	write(t, r, "dir/x", "x")
	var got []string
	for _, entry := range must[[]StatusEntry](t)(r.Worktree(r.TopLevel()).Status(ctx)) {
		got = append(got, entry.Code+" "+entry.Path)
	}
	testrun.Equal(t, strings.Join(got, "|"), "D  a.txt| M b|A  né w.txt|?? dir/x", "got %q", got)
}
