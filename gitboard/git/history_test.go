package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// chain appends a commit with an empty tree for each message.
func chain(t *testing.T, ctx context.Context, r *Repo, parent plumbing.OID, messages ...string) []plumbing.OID {
	t.Helper()
	objects := []plumbing.Object{plumbing.NewObject(plumbing.TreeObject, nil)}
	var ids []plumbing.OID
	for _, message := range messages {
		c := plumbing.Commit{Tree: plumbing.EmptyTree, Author: ada, Committer: ada, Message: message}
		if !parent.IsZero() {
			c.Parents = []plumbing.OID{parent}
		}
		object := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
		objects, ids, parent = append(objects, object), append(ids, object.OID), object.OID
	}
	check(t, r.WriteObjects(ctx, objects))
	return ids
}

func TestHistory(t *testing.T) {
	ctx, r := scratch(t)
	ids := chain(t, ctx, r, "", "a\n", "b\n", "c\n", "d\n")
	other := chain(t, ctx, r, ids[1], "e\n")[0]
	alone := chain(t, ctx, r, "", "alone\n")[0]

	if got := must[[]plumbing.OID](t)(r.History().RevList(ctx, ids[0], ids[3])); fmt.Sprint(got) != fmt.Sprint(ids[1:]) {
		t.Errorf("RevList: %v", got)
	}
	if got := must[[]plumbing.OID](t)(r.History().RevList(ctx, "", ids[3])); fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("RevList of all: %v", got)
	}
	if got := must[[]plumbing.OID](t)(r.History().FirstParents(ctx, ids[3], 2)); fmt.Sprint(got) != fmt.Sprint([]plumbing.OID{ids[3], ids[2]}) {
		t.Errorf("FirstParents: %v", got)
	}
	testrun.Equal(t, must[int](t)(r.History().CountCommits(ctx, ids[0], other)), 2, "CountCommits")
	log := must[[]plumbing.Commit](t)(r.Log(ctx, ids[0], ids[3]))
	if len(log) != 3 || log[0].Message != "b\n" || log[2].OID != ids[3] || log[2].Parents[0] != ids[2] {
		t.Errorf("Log: %v", log)
	}
	testrun.Equal(t, must[plumbing.OID](t)(r.History().MergeBase(ctx, ids[3], other)), ids[1], "MergeBase")
	if _, err := r.History().MergeBase(ctx, ids[3], alone); !errors.Is(err, ErrNotFound) {
		t.Errorf("MergeBase of strangers: %v", err)
	}
	for _, test := range []struct {
		a, b plumbing.OID
		want bool
	}{{ids[0], ids[3], true}, {ids[3], ids[3], true}, {ids[3], ids[0], false}, {ids[0], alone, false}} {
		if got := must[bool](t)(r.History().IsAncestor(ctx, test.a, test.b)); got != test.want {
			t.Errorf("IsAncestor(%s, %s): %t", test.a.Short(), test.b.Short(), got)
		}
	}
	var failed *CommandError
	if _, err := r.History().IsAncestor(ctx, blob("none").OID, ids[0]); !errors.As(err, &failed) {
		t.Errorf("IsAncestor of nothing: %v", err)
	}
}

// TestMergeBaseAcrossAGap checks that histories are not called unrelated where one of them can't be
// read to its end, and that what is kept of it is brought back first.
func TestMergeBaseAcrossAGap(t *testing.T) {
	ctx, r := scratch(t)
	ids := chain(t, ctx, r, "", "a\n", "b\n", "c\n")
	alone, side := chain(t, ctx, r, "", "alone\n")[0], chain(t, ctx, r, ids[0], "side\n")[0]
	lose := func() {
		check(t, os.Remove(filepath.Join(r.CommonDir(), "objects", string(ids[1][:2]), string(ids[1][2:]))))
	}
	lose()
	testrun.Equal(t, must[plumbing.OID](t)(r.History().MergeBase(ctx, side, ids[2])), ids[0], "where the gap can be filled")
	lose()
	check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	for _, pair := range [][2]plumbing.OID{{ids[2], side}, {side, ids[2]}, {ids[2], alone}, {alone, ids[2]}} {
		gap := (*DamagedError)(nil)
		if base, err := r.History().MergeBase(ctx, pair[0], pair[1]); !errors.As(err, &gap) || gap.Commit != ids[2] {
			t.Errorf("%s and %s: %s, %v", pair[0].Short(), pair[1].Short(), base, err)
		}
	}
	if _, err := r.History().MergeBase(ctx, side, alone); !errors.Is(err, ErrNotFound) {
		t.Errorf("of what has no gap: %v", err)
	}
}

func TestResolveCommit(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	for _, rev := range []string{"HEAD", "main", "refs/heads/main", string(head), head.Short(), "HEAD^0"} {
		testrun.Equal(t, must[plumbing.OID](t)(r.ResolveCommit(ctx, rev)), head, "%s:", rev)
	}
	for _, rev := range []string{"", "--all", "-h", "nope", "^main", "main..main", "main^{tree}", "HEAD:a.txt", "a b", "x\x00y", string(blob("none").OID)} {
		if got, err := r.ResolveCommit(ctx, rev); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %s, %v", rev, got, err)
		}
	}
}

func TestRequestCommit(t *testing.T) {
	ctx, r := scratch(t)
	trailer := func(id string) string { return "subject\n\nbody\n\nLiza-Op: note\nLiza-Request: " + id + "\n" }
	ids := chain(t, ctx, r, "", trailer("one"), trailer("two"), trailer("one-more"), "Liza-Request: nowhere\n\nin the body\n", trailer("last"))
	check(t, r.Settings().Set(ctx, "trailer.separators", "#"))
	check(t, r.Settings().Set(ctx, "i18n.logOutputEncoding", "ISO-8859-1"))
	all := []string{"one", "two", "one-more", "last", "", "on", "one-", "nowhere", "One", "one.more"}
	found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, ids[4], all, 5))
	if want := map[string]plumbing.OID{"one": ids[0], "two": ids[1], "one-more": ids[2], "last": ids[4]}; !maps.Equal(found, want) {
		t.Errorf("found %v", found)
	}
	if found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, ids[4], []string{"one"}, 4)); len(found) > 0 {
		t.Errorf("out of reach: %v", found)
	}
	testrun.Equal(t, must[plumbing.OID](t)(r.RequestCommit(ctx, ids[4], "one", 5)), ids[0], "found")
	if _, err := r.RequestCommit(ctx, ids[4], "one", 4); !errors.Is(err, ErrNotFound) {
		t.Errorf("out of reach: %v", err)
	}
}

func TestDiff(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Set(ctx, "diff.noprefix", "true"))
	first := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	write(t, r, "a.txt", "one\n2\nthree\n")
	write(t, r, "dir/né [1].txt", "new\n")
	second := commitAll(t, r, "second")
	if got := must[[]string](t)(r.History().ChangedFiles(ctx, first, second)); strings.Join(got, "|") != "a.txt|dir/né [1].txt" {
		t.Errorf("ChangedFiles: %v", got)
	}
	if got := must[[]string](t)(r.History().ChangedFiles(ctx, "", first)); strings.Join(got, "|") != "a.txt" {
		t.Errorf("ChangedFiles from nothing: %v", got)
	}
	if got := must[string](t)(r.History().Diff(ctx, first, second)); !strings.Contains(got, "--- a/a.txt\n+++ b/a.txt\n") || !strings.Contains(got, "-two\n+2\n") {
		t.Errorf("Diff: %s", got)
	}
	if got := must[string](t)(r.History().Diff(ctx, first, second, "dir/né [1].txt")); !strings.Contains(got, "+new") || strings.Contains(got, "a.txt") {
		t.Errorf("Diff of one: %s", got)
	}
	was, now := must[plumbing.OID](t)(r.History().FileOID(ctx, first, "a.txt")), must[plumbing.OID](t)(r.History().FileOID(ctx, second, "a.txt"))
	check(t, r.Settings().Set(ctx, "color.ui", "always"))
	check(t, r.Settings().Set(ctx, "diff.external", "false"))
	testrun.Equal(t, must[string](t)(r.History().DiffBlobs(ctx, was, now)), "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", "DiffBlobs")
	testrun.Equal(t, must[string](t)(r.History().DiffBlobs(ctx, was, was)), "", "DiffBlobs of one")
}

func TestFileOID(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "specs/the goal.md", "goal\n")
	head := commitAll(t, r, "second")
	for _, path := range []string{"specs/the goal.md", "./specs//the goal.md"} {
		testrun.Equal(t, must[plumbing.OID](t)(r.History().FileOID(ctx, head, path)), blob("goal\n").OID, "%s:", path)
	}
	for _, path := range []string{"", "specs", "no", "/etc", "../a.txt", "a.txt/b"} {
		if _, err := r.History().FileOID(ctx, head, path); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %v", path, err)
		}
	}
}

func TestMergeTree(t *testing.T) {
	ctx, r := scratch(t)
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	top := commitFiles(t, ctx, r, map[string]string{"a.txt": "ONE\ntwo\nthree\n", "né w.txt": "new\n"}, base)
	bottom := commitFiles(t, ctx, r, map[string]string{"a.txt": "one\ntwo\nTHREE\n"}, base)
	clash := commitFiles(t, ctx, r, map[string]string{"a.txt": "1\ntwo\nthree\n"}, base)

	before := native(t, r.TopLevel(), "count-objects", "-v")
	tried, conflicts, err := r.History().TryMerge(ctx, top, bottom)
	if err != nil || conflicts != nil {
		t.Fatalf("tried: %v %v", conflicts, err)
	}
	testrun.Equal(t, native(t, r.TopLevel(), "count-objects", "-v"), before, "objects were written")
	tree, conflicts, err := r.History().MergeTree(ctx, top, bottom)
	if err != nil || conflicts != nil || tree != tried {
		t.Fatalf("clean: %v %v, at first %s and then %s", conflicts, err, tried, tree)
	}
	if got := must[plumbing.Object](t)(r.Object(ctx, string(tree)+":a.txt")); string(got.Data) != "ONE\ntwo\nTHREE\n" {
		t.Errorf("merged into %q", got.Data)
	}
	tree, conflicts, err = r.History().MergeTree(ctx, top, clash)
	if err != nil || strings.Join(conflicts, "|") != "a.txt" {
		t.Fatalf("conflict: %v %v", conflicts, err)
	}
	if got := must[plumbing.Object](t)(r.Object(ctx, string(tree)+":a.txt")); !strings.Contains(string(got.Data), "<<<<<<<") {
		t.Errorf("no markers in %q", got.Data)
	}
	var failed *CommandError
	for _, theirs := range []plumbing.OID{blob("none").OID, chain(t, ctx, r, "", "alone\n")[0]} {
		if _, _, err = r.History().MergeTree(ctx, top, theirs); !errors.As(err, &failed) {
			t.Errorf("bad: %v", err)
		}
		if _, _, err = r.History().TryMerge(ctx, top, theirs); !errors.As(err, &failed) {
			t.Errorf("bad, and tried: %v", err)
		}
	}
}

// TestTryMergeAnywhere checks that a merge is tried in a repository whose name would end a path in a
// list of them, with objects that are borrowed from another one.
func TestTryMergeAnywhere(t *testing.T) {
	ctx, r := scratch(t)
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	ours := commitFiles(t, ctx, r, map[string]string{"b.txt": "b\n"}, base)
	theirs := commitFiles(t, ctx, r, map[string]string{"c.txt": "c\n"}, base)
	odd := filepath.Join(t.TempDir(), "a "+string(filepath.ListSeparator)+` "quoted" name`)
	native(t, t.TempDir(), "clone", "-q", "--shared", "--no-checkout", r.TopLevel(), odd)
	there := must[*Repo](t)(Open(ctx, odd))
	t.Cleanup(func() { check(t, there.Close()) })
	full := t.TempDir()
	if runtime.GOOS == "linux" { // there is room for another directory, but paths in that would be too long
		for len(full) < 4068 {
			full = filepath.Join(full, strings.Repeat("x", min(200, max(1, 4067-len(full)))))
		}
		check(t, os.MkdirAll(full, 0o755))
	}
	for _, temp := range []string{os.TempDir(), full, filepath.Join(odd, "none")} {
		t.Setenv("TMPDIR", temp)
		if _, conflicts, err := there.History().TryMerge(ctx, ours, theirs); err != nil || conflicts != nil {
			t.Errorf("with temporary files in %s: %v %v", temp, conflicts, err)
		}
	}
}

// TestAmbiguous checks that a name that several refs have, or a ref and an abbreviated commit, names
// no commit: git would choose a tag, and anybody who may push can make one.
func TestAmbiguous(t *testing.T) {
	ctx, r := scratch(t)
	run := func(args ...string) string { return strings.TrimSpace(native(t, r.TopLevel(), args...)) }
	first := run("rev-parse", "HEAD")
	run("branch", "-M", "main")
	run("branch", "same")
	run("tag", "-a", "-m", "same", "same") // an object of its own that leads to the same commit
	run("tag", "only")
	run("commit", "-q", "--allow-empty", "-m", "second")
	second := run("rev-parse", "HEAD")
	short := second[:10]
	for _, name := range []string{"main", "origin/main", short, "HEAD", "FETCH_HEAD", "heads/main"} {
		run("update-ref", "refs/tags/"+name, first)
	}
	run("update-ref", "refs/remotes/origin/main", second)
	run("update-ref", "FETCH_HEAD", second)
	for rev, want := range map[string]string{
		"main": "refs/tags/main refs/heads/main", "main~0": "refs/tags/main refs/heads/main", "main^{commit}": "refs/tags/main refs/heads/main",
		"main@{0}": "refs/tags/main refs/heads/main", "origin/main": "refs/tags/origin/main refs/remotes/origin/main",
		short:  "refs/tags/" + short + " " + second,
		"same": "", "only": "", "only~0": "", first: "", first[:10]: "", second[:12]: "",
		"HEAD": "", "HEAD~1": "", "FETCH_HEAD": "", "heads/main": "", "refs/heads/main": "", "@": "", "@~1": "", "tags/main": "",
	} {
		oid, err := r.ResolveCommit(ctx, rev)
		if several := (*AmbiguousError)(nil); want == "" {
			if err != nil || oid == "" {
				t.Errorf("%s: %q, %v", rev, oid, err)
			}
		} else if !errors.As(err, &several) || oid != "" || strings.Join(several.Names, " ") != want {
			t.Errorf("%s: %q, %v; not among %s", rev, oid, err, want)
		}
	}
	for rev, want := range map[string]string{"HEAD": second, "heads/main": second, "FETCH_HEAD": second, "tags/main": first} {
		testrun.Equal(t, testrun.Must(r.ResolveCommit(ctx, rev))(t), plumbing.OID(want), "%s", rev)
	}
}

// TestRequested: a server finds a repeated request among what it remembers, and asks git again
// when it remembers too little, or not what follows from each other.
func TestRequested(t *testing.T) {
	ctx, r := scratch(t)
	r.bare = true
	check(t, os.MkdirAll(filepath.Join(r.common, "liza"), 0o755))
	commit := func(request string) plumbing.OID {
		t.Helper()
		native(t, r.top, "commit", "-q", "--allow-empty", "-m", "a note\x1eand more", "-m", "Liza-Request: "+request)
		return must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	}
	var tip plumbing.OID
	finds := func(what, request string, depth int, want bool) {
		t.Helper()
		found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, tip, []string{request, "none"}, depth))
		if (found[request] != "") != want || found["none"] != "" {
			t.Errorf("%s: %v", what, found)
		}
	}
	edit := func(change func(lines []string) []string) {
		t.Helper()
		text := must[[]byte](t)(os.ReadFile(r.askingFile()))
		check(t, os.WriteFile(r.askingFile(), []byte(strings.Join(change(strings.SplitAfter(string(text), "\n")), "")), 0o644))
	}
	tip = plumbing.ZeroOID
	finds("before the first commit", "r 1%", 20, false)
	commit("r 1%")
	tip = commit("r2")
	finds("at first", "r 1%", 20, true)
	tip = commit("r3")
	finds("a commit that has come since", "r3", 20, true)
	finds("deeper than asked", "r2", 1, false)
	edit(func(lines []string) []string {
		if len(lines) != 5 || lines[4] != "" {
			t.Errorf("remembered: %q", lines)
		}
		return append(lines[:2:2], strings.Replace(lines[2], "r2", "changed", 1), lines[3], lines[3], lines[2])
	})
	finds("what is remembered, some of it twice", "r2", 20, false)
	for what, change := range map[string]func(lines []string) []string{
		"without the first commit":    func(lines []string) []string { return lines[1:] },
		"without one in between":      func(lines []string) []string { return append(lines[:1:1], lines[2:]...) },
		"without the end of the last": func(lines []string) []string { return append(lines[:3:3], lines[3][:50]) },
		"of another history": func([]string) []string {
			return []string{lines([]asking{{commit: plumbing.OID(strings.Repeat("1", 40)), parent: plumbing.ZeroOID}})}
		},
	} {
		edit(change)
		finds(what, "r2", 20, true)
		finds(what, "r3", 20, true)
	}
	newest := commit("r3")
	native(t, r.top, "commit", "-q", "--allow-empty", "-m", "a note", "-m", "Liza-Request: r4", "-m", "This is no trailer.")
	tip = must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	finds("what only looks like a request", "r4", 20, false)
	if found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, tip, []string{"r3"}, 20)); found["r3"] != newest {
		t.Errorf("of two commits with a request the older one is found: %v", found)
	}
	commit("r5")
	tip = commit("r5")
	if found := must[map[string]plumbing.OID](t)(r.History().Requested(ctx, tip, []string{"r5"}, 20)); found["r5"] != tip {
		t.Errorf("of two commits that have come since the older one is found: %v", found)
	}
	if kept := r.keptAsking(); len(kept) == 0 || kept[len(kept)-1].commit != tip {
		t.Errorf("what has come since is not remembered: %v", kept)
	}
	all := make([]asking, askingMost+1)
	for i := range all {
		all[i] = asking{commit: plumbing.OID(fmt.Sprintf("%040d", i+2)), parent: plumbing.OID(fmt.Sprintf("%040d", i+1))}
	}
	all[askingMost].commit = tip
	edit(func([]string) []string { return []string{lines(all)} })
	finds("after more than are remembered", "r3", 20, true)
	edit(func(lines []string) []string {
		if len(lines) > 20 {
			t.Errorf("%d lines are remembered", len(lines))
		}
		return lines
	})
}

// TestWholeSince checks what is found missing or damaged of a history, and that what the other
// history has is not looked at: for a line of commits, and with a merge among them.
func TestWholeSince(t *testing.T) {
	ctx, made := scratch(t)
	dir := made.TopLevel()
	run := func(args ...string) string { return strings.TrimSpace(native(t, dir, args...)) }
	add := func(name, text string, parents ...plumbing.OID) plumbing.OID {
		return commitFiles(t, ctx, made, map[string]string{name: text}, parents...)
	}
	from := add("old.txt", "old")
	line := add("old.txt", "changed", add("large.txt", strings.Repeat("large\n", largeFile/4), add("a/b/new.txt", "new", from)))
	tips := map[string]plumbing.OID{"line": line, "merged": add("side.txt", "side", line, add("side.txt", "side", from))}
	run("update-ref", "refs/heads/from", string(from))
	run("update-ref", "refs/heads/line", string(line))
	check(t, os.RemoveAll(made.Upkeep().KeptDir()))
	for name, path := range testrun.Some(2, map[string]string{
		"line:a/b/new.txt": "a/b/new.txt", "line:a/b": "a/b", "line:large.txt": "large.txt", "line:old.txt": "old.txt",
		"line~1:large.txt": "large.txt", "line^{tree}": "", "line~1": "", "line~1^{tree}": "", "from:old.txt": "whole", "from^{tree}": "whole",
	}) {
		oid := run("rev-parse", name)
		at := filepath.Join(dir, ".git", "objects", oid[:2], oid[2:])
		for _, damage := range []string{"", "\x00garbage", "cut off"} {
			data, err := os.ReadFile(at)
			check(t, errors.Join(err, os.Remove(at)))
			if damage == "cut off" {
				if name != "line:a/b/new.txt" {
					check(t, os.WriteFile(at, data, 0o444))
					continue
				}
				damage = "\x78\x01\x01\x0a\x00\xf5\xffblob 3\x00n" // its size can be read
			}
			if damage != "" {
				check(t, os.WriteFile(at, []byte(damage), 0o644))
			}
			for tip, commit := range tips {
				repo := open(t, ctx, dir) // that has read nothing yet
				found := repo.History().WholeSince(ctx, from, commit)
				lost := (*DamagedError)(nil)
				switch is := errors.As(found, &lost); {
				case path == "whole" && damage != "" && tip == "merged": // git may stop there
				case path == "whole" && found != nil:
					t.Errorf("%s %q, %s: %v", name, damage, tip, found)
				case path != "whole" && !is:
					t.Errorf("%s %q, %s: found %v", name, damage, tip, found)
				case path != "whole" && tip == "line" && lost.Path != path:
					t.Errorf("%s %q, %s: found at %q, not at %q", name, damage, tip, lost.Path, path)
				}
			}
			check(t, errors.Join(os.RemoveAll(at), os.WriteFile(at, data, 0o444)))
		}
	}
}

// TestWholeSinceInterrupted checks that a look that is interrupted anywhere finds no damage in a
// history that has none, and does not find one whole that lacks a file.
func TestWholeSinceInterrupted(t *testing.T) {
	ctx, made := scratch(t)
	from := must[plumbing.OID](t)(made.ResolveCommit(ctx, "HEAD"))
	write(t, made, "a/b/new.txt", "new")
	to := commitAll(t, made, "second")
	for _, missing := range []bool{false, true} {
		if missing {
			check(t, os.Remove(loosePath(made, blob("new").OID)))
		}
		for n := int64(0); ; n++ {
			repo := open(t, ctx, made.TopLevel()) // that has read nothing yet
			var left atomic.Int64
			left.Store(n)
			err := repo.History().WholeSince(onLook{ctx, func() bool { return left.Add(-1) < 0 }}, from, to)
			if damaged := errors.As(err, new(*DamagedError)); err == nil && missing || damaged && !missing || err != nil && !damaged && !errors.Is(err, context.Canceled) {
				t.Errorf("after %d looks, missing %v: %v", n, missing, err)
			}
			if left.Load() >= 0 {
				break
			}
		}
	}
}

// TestWholeSinceOdd checks that a commit of another repository is not looked for, that a tree that is
// none is damage, and that nothing is looked for in a partial clone.
func TestWholeSinceOdd(t *testing.T) {
	ctx, r := scratch(t)
	from := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	commit := func(tree plumbing.Object, more ...plumbing.Object) plumbing.OID {
		t.Helper()
		who := plumbing.Signature{Name: "a", Email: "a@x"}
		c := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Parents: []plumbing.OID{from}, Author: who, Committer: who, Message: "m\n"}))
		check(t, r.WriteObjects(ctx, append(more, tree, c)))
		check(t, os.RemoveAll(r.Upkeep().KeptDir()))
		return c.OID
	}
	module := plumbing.TreeEntry{Name: "module", Mode: filemode.Submodule, OID: plumbing.OID(strings.Repeat("1", 40))}
	with := commit(plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{module})))
	odd := commit(plumbing.NewObject(plumbing.TreeObject, []byte("no tree")))
	missing := commit(plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "x", Mode: filemode.Regular, OID: blob("none").OID}})))
	is := func(name string, commit plumbing.OID, damaged bool) {
		t.Helper()
		repo := open(t, ctx, r.TopLevel()) // that has read nothing yet
		if err := repo.History().WholeSince(ctx, from, commit); errors.As(err, new(*DamagedError)) != damaged || err != nil && !damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
	is("a submodule", with, false)
	is("no tree", odd, true)
	is("a missing file", missing, true)
	is("what does not follow", must[plumbing.OID](t)(r.ResolveCommit(ctx, fmt.Sprint(from))), false)
	native(t, r.TopLevel(), "config", "remote.hub.promisor", "true")
	is("a missing file of a partial clone", missing, false)
}
