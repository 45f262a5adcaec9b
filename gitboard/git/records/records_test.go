package records_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLostHead checks which contents of HEAD count as lost, and which as not written to the end.
func TestLostHead(t *testing.T) {
	_, r := scratch(t)
	path := claim(t, r, "one")
	record, commit := records.LinkedDir(path), testrun.RunGit(t, r.Top, "rev-parse", "main")
	for text, want := range map[string]struct{ lost, unfinished bool }{
		"": {lost: true}, "\n": {lost: true}, "refs/heads/x\n": {lost: true}, commit[:20]: {lost: true}, "ref: refs/heads/x\n": {}, commit + "\n": {},
		string(plumbing.ZeroOID) + "\n": {unfinished: true},
	} {
		writeIn(t, record, "HEAD", text)
		if lost, unfinished := r.LostHead(path), len(r.Unfinished()) == 1; lost != want.lost || unfinished != want.unfinished {
			t.Errorf("%q: lost is %v, unfinished %v", text, lost, unfinished)
		}
	}
	check(t, os.Remove(filepath.Join(record, "HEAD")))
	if got := r.Unfinished(); len(got) > 0 {
		t.Errorf("a lost HEAD is not finished: %q", got)
	}
	writeIn(t, r.Common, "HEAD", "")
	if r.LostHead(r.Top) {
		t.Error("the main worktree is taken for a linked one")
	}
}

// TestRecordsOfWorktrees checks which records count as damaged or nameless, which worktree a record
// belongs to, and that it can be completed.
func TestRecordsOfWorktrees(t *testing.T) {
	_, r := scratch(t)
	one, two := claim(t, r, "one"), claim(t, r, "two")
	first, second := records.LinkedDir(one), records.LinkedDir(two)
	writeIn(t, r.Common, "worktrees/file", "x") // no record
	is := func(when string, damaged, nameless []string) {
		t.Helper()
		if got := r.Damaged(); !slices.Equal(got, damaged) {
			t.Errorf("%s: %q are damaged, not %q", when, got, damaged)
		}
		if got := r.Nameless(); !slices.Equal(got, nameless) {
			t.Errorf("%s: %q are nameless, not %q", when, got, nameless)
		}
	}
	of := func(when, record, want string, among ...string) {
		t.Helper()
		if got := records.WorktreeOf(record, among); got != want {
			t.Errorf("%s: it belongs to %q, not to %q", when, got, want)
		}
	}
	is("at first", nil, nil)
	of("at first", first, one)
	link := readIn(t, first, "gitdir")
	for _, text := range []string{"", "../nowhere\n", t.TempDir() + "\n"} {
		writeIn(t, first, "commondir", text)
		is(fmt.Sprintf("with %q", text), []string{first}, nil)
	}
	check(t, os.Remove(filepath.Join(first, "commondir")))
	is("without a commondir", []string{first}, nil)
	for _, text := range []string{"", filepath.Dir(link) + "\n"} {
		writeIn(t, first, "gitdir", text)
		is(fmt.Sprintf("with %q", text), []string{first}, []string{first})
		of("which is not said", first, "")
		of("which only the worktree says", first, one, two, one)
	}
	check(t, records.Complete(first, one))
	is("completed", nil, nil)
	if native(t, one, "status", "--porcelain") != "" || readIn(t, first, "gitdir") != link {
		t.Error("git can't use the worktree")
	}
	relative := testrun.Must(filepath.Rel(first, filepath.Join(one, ".git")))(t)
	relative += "\n"
	writeIn(t, first, "gitdir", relative)
	check(t, records.Complete(first, one))
	if got := readIn(t, first, "gitdir"); got != relative {
		t.Errorf("%q was as good as %q", relative, got)
	}
	stored := (*disk.StorageError)(nil)
	if err := records.Complete(filepath.Join(r.Common, "worktrees", "gone"), one); !errors.As(err, &stored) {
		t.Errorf("a record that is gone: %v", err)
	}
	// The record names a place that is another worktree's by now, a repository, or nothing any more.
	writeIn(t, first, "gitdir", filepath.Join(two, ".git")+"\n")
	of("in the place of another", first, "")
	of("in the place of another", second, two)
	writeIn(t, first, "gitdir", link)
	writeIn(t, one, ".git", "gitdir: "+second+"\n")
	of("whose worktree names another's", first, one)
	check(t, os.Remove(filepath.Join(one, ".git")))
	of("without a link", first, one)
	check(t, os.Mkdir(filepath.Join(one, ".git"), 0o755))
	of("in the place of a repository", first, "")
	check(t, os.RemoveAll(one))
	of("gone", first, one)
}

// TestBegunRecord checks which records nobody has worked with, and what the HEAD of one was.
func TestBegunRecord(t *testing.T) {
	_, r := scratch(t)
	path := claim(t, r, "one")
	record := records.LinkedDir(path)
	head := plumbing.OID(testrun.RunGit(t, r.Top, "rev-parse", "HEAD"))
	headIs := func(want plumbing.OID) {
		t.Helper()
		testrun.Equal(t, testrun.Must(records.Head(record))(t), want, "its HEAD is")
	}
	logged := plumbing.OID(strings.Repeat("1", 40))
	writeIn(t, record, "logs/HEAD", fmt.Sprintf("%s %s Ada <ada@example.org> 1 +0000\tcommit: x\n", head, logged))
	headIs(head)
	for _, text := range []string{"ref: refs/heads/one\n", "", string(plumbing.ZeroOID) + "\n"} {
		writeIn(t, record, "HEAD", text)
		headIs(logged)
	}
	if records.OnlyBegun(record) || records.OnlyBegun(record+"-none") {
		t.Error("somebody has worked with it")
	}
	begun := filepath.Join(r.Common, "worktrees", "begun")
	for _, name := range []string{"HEAD", "commondir", "gitdir", "locked"} {
		writeIn(t, begun, name, "x")
	}
	if !records.OnlyBegun(begun) {
		t.Error("nobody has worked with it")
	}
}

// TestOriginal checks that a copy of a repository knows the original, whose worktrees are live, and
// that a repository of its own does not.
func TestOriginal(t *testing.T) {
	_, r := scratch(t)
	one := claim(t, r, "one")
	is := func(when string, r records.Repo, want string, paths ...string) {
		t.Helper()
		testrun.Equal(t, r.Original(paths...), want, "%s", when)
	}
	is("the original", r, "", one, r.Top, filepath.Join(one, "none"))
	dir := filepath.Join(t.TempDir(), "copy")
	check(t, os.CopyFS(dir, os.DirFS(r.Top)))
	copied := records.Repo{Common: filepath.Join(dir, ".git"), Top: dir}
	is("a copy", copied, r.Common)
	check(t, os.RemoveAll(filepath.Join(copied.Common, "worktrees")))
	is("a copy without records", copied, "")
	is("a copy without records, asked for a worktree", copied, r.Common, copied.Top, one)
	check(t, os.RemoveAll(filepath.Join(records.LinkedDir(one), "gitdir")))
	is("a worktree that is not recorded", copied, "", one)
	writeIn(t, records.LinkedDir(one), "gitdir", filepath.Join(one, "gone", ".git")+"\n")
	is("a worktree that is recorded elsewhere", copied, "", one)
	writeIn(t, records.LinkedDir(one), "gitdir", filepath.Join(one, ".git")+"\n")
	check(t, os.Rename(copied.Common, copied.Common+"-moved"))
	is("a copy that is gone", copied, "", one)
}

// TestInUse checks which branches an unfinished rebase or bisection holds, in the main worktree and
// in a linked one.
func TestInUse(t *testing.T) {
	for name, c := range map[string]struct {
		begin []string
		ref   string
		want  string
	}{
		"nothing":             {[]string{"status"}, "refs/heads/side", ""},
		"rebase":              {[]string{"-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD"}, "refs/heads/side", "rebase"},
		"a branch on the way": {[]string{"-c", "sequence.editor=sed -i 1s/^/break\\\\n/", "rebase", "-q", "-i", "--update-refs", "HEAD~2"}, "refs/heads/middle", "rebase"},
		"bisect":              {[]string{"bisect", "start", "HEAD", "HEAD~1"}, "refs/heads/side", "bisect"},
		"another":             {[]string{"bisect", "start", "HEAD", "HEAD~1"}, "refs/heads/main", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := scratch(t)
			linked := filepath.Join(t.TempDir(), "linked")
			native(t, r.Top, "worktree", "add", "-q", "-b", "side", linked)
			for _, message := range []string{"one", "two"} {
				native(t, linked, "commit", "-q", "--allow-empty", "-m", message)
			}
			native(t, linked, "branch", "middle", "HEAD")
			native(t, linked, "commit", "-q", "--allow-empty", "-m", "three")
			native(t, linked, c.begin...)
			top, command := r.InUse(c.ref)
			if command != c.want || command != "" && filepath.Base(top) != "linked" {
				t.Errorf("%q by %q, not %q", top, command, c.want)
			}
			native(t, r.Top, "-c", "sequence.editor=echo break >", "rebase", "-q", "-i", "HEAD")
			if top, command := r.InUse("refs/heads/main"); command != "rebase" || top != r.Top {
				t.Errorf("main is held by %q in %q", command, top)
			}
		})
	}
}

// TestPlaces checks where git works on a repository, and which files of records are left out.
func TestPlaces(t *testing.T) {
	_, r := scratch(t)
	linked := claim(t, r, "one")
	check(t, os.Mkdir(filepath.Join(r.Common, "worktrees", "half"), 0o755)) // is being removed
	apart := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct {
		r    records.Repo
		want []string
	}{
		{r, []string{r.Common, r.Top, r.Top, linked}},
		{records.Repo{Common: r.Common}, []string{r.Common, r.Top, linked}},
		{records.Repo{Common: apart, Top: apart}, []string{apart, apart}},
	} {
		testrun.EqualSlices(t, c.r.Places(), c.want, "the value")
	}
}

// TestStashed checks that a missing or damaged file of git's names no commit, and that one that can't
// be read is an error.
func TestStashed(t *testing.T) {
	_, r := scratch(t)
	record, oid := records.LinkedDir(claim(t, r, "one")), strings.Repeat("1", 40)
	for text, want := range map[string]int{oid + "\n": 1, "": 0, "no commit\n": 0} {
		writeIn(t, record, "MERGE_AUTOSTASH", text)
		if got, err := records.Stashed(record); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	writeIn(t, filepath.Join(record, "rebase-merge"), "autostash/unreadable", "")
	if _, err := records.Stashed(record); err == nil {
		t.Error("what can't be read is nothing")
	}
	if got, err := records.Stashed(""); err != nil || len(got) > 0 {
		t.Errorf("without a record: %v, %v", got, err)
	}
}

// TestHalfMoved checks when a worktree counts as moved without git's knowledge, and what its record
// says of it.
func TestHalfMoved(t *testing.T) {
	_, r := scratch(t)
	one := claim(t, r, "one")
	record, to := records.LinkedDir(one), one+"-moved"
	if got := r.HalfMoved(one); got != "" || records.Locked(record) || records.Locked("") {
		t.Errorf("moved from %q", got)
	}
	check(t, os.Rename(one, to))
	if got := r.HalfMoved(to); got != one || r.Owns(to) {
		t.Errorf("moved from %q", got)
	}
	for reason, initializing := range map[string]bool{"mine": false, "initializing": true} {
		writeIn(t, record, "locked", reason+"\n")
		if !records.Locked(record) || records.Initializing(record) != initializing {
			t.Errorf("locked for %q", reason)
		}
	}
	if records.Made(record) || records.Made("") || records.MarkMade("") == nil {
		t.Error("a person made it")
	}
	check(t, records.MarkMade(record))
	if !records.Made(record) {
		t.Error("git liza made it")
	}
}

func TestMain(m *testing.M) {
	testrun.Prepare()
	os.Exit(m.Run())
}

// scratch makes a repository with one commit on main.
func scratch(t *testing.T) (dir string, r records.Repo) {
	t.Helper()
	dir = testrun.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	native(t, dir, "init", "-q", "-b", "main")
	native(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir, records.Repo{Common: filepath.Join(dir, ".git"), Top: dir}
}

// claim adds a worktree.
func claim(t *testing.T, r records.Repo, name string) string {
	t.Helper()
	path := filepath.Join(r.Top, ".worktrees", name)
	native(t, r.Top, "worktree", "add", "-q", "--detach", path)
	return path
}

func native(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return strings.TrimSpace(testrun.RunGit(t, dir, args...))
}

var check, writeIn, readIn = testrun.Check, testrun.WriteIn, testrun.ReadIn
