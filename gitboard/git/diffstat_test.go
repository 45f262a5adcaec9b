package git

import (
	"reflect"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestDiffStats(t *testing.T) {
	ctx, r := scratch(t)
	tree := func() plumbing.OID {
		head, _, err := r.Worktree(r.TopLevel()).Head(ctx)
		check(t, err)
		objects := testrun.Must(r.Objects(ctx, []string{string(head)}))(t)
		c := testrun.Must(plumbing.DecodeCommit(objects[0]))(t)
		return c.Tree
	}
	first := tree()
	write(t, r, "a.txt", "one\n2\n")
	write(t, r, "dir/né [1].txt", "x\n")
	write(t, r, "data", "\x00\x01")
	commitAll(t, r, "second")
	second := tree()
	got, err := r.History().DiffStats(ctx, [][2]plumbing.OID{{first, second}, {first, first}, {second, first}})
	check(t, err)
	want := [][]FileStat{
		{{Path: "a.txt", Added: 1, Deleted: 2}, {Path: "data", Binary: true}, {Path: "dir/né [1].txt", Added: 1}},
		nil,
		{{Path: "a.txt", Added: 2, Deleted: 1}, {Path: "data", Binary: true}, {Path: "dir/né [1].txt", Deleted: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	write(t, r, ".git/index", "") // a crash has emptied it; what is compared is not in it
	got, err = r.History().DiffStats(ctx, [][2]plumbing.OID{{first, second}})
	if check(t, err); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("with a damaged index: %+v", got)
	}
	if got, err := r.History().DiffStats(ctx, nil); got != nil || err != nil {
		t.Errorf("of no pairs: %v, %v", got, err)
	}
}
