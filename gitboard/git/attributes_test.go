package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestMergeAttributes checks that a merge follows the project's attributes, in a bare repository as
// in any other, and nothing that an agent can write: it runs no driver of this repository.
func TestMergeAttributes(t *testing.T) {
	ctx, r := scratch(t)
	dir := r.TopLevel()
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"merge.here.driver", "filter.here.clean", "filter.here.smudge", "merge.a=b.driver"} {
		native(t, dir, "config", name, "touch '"+ran+"'; true")
	}
	global := filepath.Join(t.TempDir(), "gitconfig")
	check(t, os.WriteFile(global, []byte("[merge \"mine\"]\n\tdriver = cp %B %A\n"), 0o644))
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	r = open(t, ctx, dir)
	const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	base := commitFiles(t, ctx, r, map[string]string{
		".gitattributes":   "[attr]whole -merge\n\"kept file\" whole\nunion merge=union\n*.b binary\nhere merge=here filter=here\nequal merge=a=b\nmine merge=mine\nnone merge=none\n",
		"d/.gitattributes": "deep -merge\n", "kept file": lines, "union": "", "x.b": lines, "here": lines, "equal": lines, "mine": lines, "none": lines,
		"d/deep": lines, "plain": lines,
	})
	check(t, os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte("plain -merge\n"), 0o644))
	side := func(old, new string) plumbing.OID {
		files := map[string]string{"union": new}
		for _, file := range []string{"kept file", "x.b", "here", "equal", "mine", "none", "d/deep", "plain"} {
			files[file] = strings.Replace(lines, old, new, 1)
		}
		return commitFiles(t, ctx, r, files, base)
	}
	ours, theirs := side("1\n", "one\n"), side("9\n", "nine\n")
	bare := filepath.Join(t.TempDir(), "bare.git")
	native(t, t.TempDir(), "clone", "-q", "--bare", "--no-local", dir, bare)
	native(t, bare, "fetch", "-q", dir, string(ours), string(theirs))
	for _, at := range []string{dir, bare} {
		repo := open(t, ctx, at)
		if texts := must[map[string]string](t)(repo.attributes(ctx, ours, theirs)); len(texts) != 2 {
			t.Errorf("%s: files of attributes: %q", at, texts)
		}
		tree, conflicts, err := repo.History().MergeTree(ctx, ours, theirs)
		check(t, err)
		testrun.Equal(t, strings.Join(conflicts, "|"), "d/deep|equal|here|kept file|none|x.b", "%s: conflicts in", at)
		for file, want := range map[string]string{
			"union": "one\nnine\n", "mine": strings.Replace(lines, "9", "nine", 1), "plain": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n",
		} {
			if o := must[plumbing.Object](t)(repo.Object(ctx, string(tree)+":"+file)); string(o.Data) != want {
				t.Errorf("%s: %s is %q", at, file, o.Data)
			}
		}
		drivers := must[map[string]Driver](t)(repo.Drivers(ctx, ours, theirs, append(conflicts, "mine", "union")))
		here := at == dir
		if len(drivers) != 4 || drivers["here"] != (Driver{"here", false, here}) || drivers["equal"] != (Driver{"a=b", false, here}) ||
			drivers["mine"] != (Driver{"mine", true, true}) || drivers["none"] != (Driver{Name: "none"}) {
			t.Errorf("%s: drivers %+v", at, drivers)
		}
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Error("a driver or a filter of the repository was run")
	}
}

// TestMergeEndings checks that a merge that conflicts in line endings alone is one, where attributes
// normalize them and no filter or driver could run, and that other merges keep the endings.
func TestMergeEndings(t *testing.T) {
	const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	one, nine, both := strings.Replace(lines, "1\n", "one\n", 1), strings.Replace(lines, "9\n", "nine\n", 1), strings.Replace(strings.Replace(lines, "1\n", "one\n", 1), "9\n", "nine\n", 1)
	windows := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for _, c := range []struct{ ours, theirs, root, below, want string }{
		{one, windows(nine), "*.txt text\n", "", both},
		{windows(one), nine, "*.txt text=auto\n", "", both},
		{one, windows(nine), "*.txt eol=crlf\n", "", both},
		{one, windows(nine), "[attr]windows text eol=crlf\n*.txt windows\n", "", both},
		{one, windows(nine), "", "*.txt text\n", both},
		{one, windows(nine), "* text\n*.txt -text\n", "", ""},
		{one, windows(nine), "*.txt text -merge\n", "", ""},
		{one, windows(nine), "*.txt text binary\n", "", ""},
		{one, windows(nine), "*.txt text merge=here\n", "", ""},
		{one, windows(nine), "*.txt text\n*.bin filter=lfs\n", "", ""},
		{one, windows(nine), "", "", ""},
		{windows(one), windows(nine), "*.txt text\n", "", windows(both)},
	} {
		ctx, r := scratch(t)
		base := commitFiles(t, ctx, r, map[string]string{".gitattributes": c.root, "d/.gitattributes": c.below, "d/f.txt": windows(lines)})
		ours := commitFiles(t, ctx, r, map[string]string{"d/f.txt": c.ours}, base)
		theirs := commitFiles(t, ctx, r, map[string]string{"d/f.txt": c.theirs}, base)
		made := map[string]plumbing.OID{}
		for what, merge := range map[string]func(context.Context, plumbing.OID, plumbing.OID) (plumbing.OID, []string, error){"merge": r.History().MergeTree, "try": r.History().TryMerge} {
			tree, conflicts, err := merge(ctx, ours, theirs)
			check(t, err)
			made[what] = tree
			if (len(conflicts) == 0) != (c.want != "") {
				t.Errorf("%s, %q %q: conflicts in %q", what, c.root, c.below, conflicts)
			} else if o, err := r.Object(ctx, string(tree)+":d/f.txt"); what == "merge" && c.want != "" && (err != nil || string(o.Data) != c.want) {
				t.Errorf("%q %q: %q %v", c.root, c.below, o.Data, err)
			}
		}
		testrun.Equal(t, made["merge"], made["try"], "%q %q: computed again, it is another merge", c.root, c.below)
	}
}

// TestMergeMalformed checks that a merge with a commit that makes git crash names that commit.
func TestMergeMalformed(t *testing.T) {
	ctx, r := scratch(t)
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	ours := commitFiles(t, ctx, r, map[string]string{"b.txt": "b\n"}, base)
	tree := plumbing.NewObject(plumbing.TreeObject, plumbing.EncodeTree([]plumbing.TreeEntry{{Name: "x/y", Mode: 0o100644, OID: store(t, ctx, r, "b\n")[0]}}))
	bad := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Parents: []plumbing.OID{base}, Author: ada, Committer: ada, Message: "m\n"}))
	check(t, r.WriteObjects(ctx, []plumbing.Object{tree, bad}))
	malformed := (*MalformedError)(nil)
	if _, _, err := r.History().MergeTree(ctx, bad.OID, ours); !errors.As(err, &malformed) || malformed.Commit != bad.OID {
		t.Errorf("%v", err)
	}
}
