package git

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestObjectSizes checks the sizes of loose and of packed objects.
func TestObjectSizes(t *testing.T) {
	ctx, r := scratch(t)
	texts := []string{"", "x", strings.Repeat("words ", 1000), strings.Repeat("\x00", 1<<20)}
	var names []string
	for _, oid := range store(t, ctx, r, texts...) {
		names = append(names, string(oid))
	}
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	names = append(names, string(head))
	loose := must[[]Size](t)(r.History().SizesOf(ctx, names))
	for i, text := range texts {
		if want := (Size{plumbing.OID(names[i]), plumbing.BlobObject, int64(len(text))}); loose[i] != want {
			t.Errorf("%v, not %v", loose[i], want)
		}
	}
	native(t, r.CommonDir(), "gc", "--quiet")
	native(t, r.TopLevel(), "update-ref", "refs/heads/kept", string(head))
	native(t, r.TopLevel(), "prune-packed")
	if packed := must[[]Size](t)(r.History().SizesOf(ctx, names)); !slices.Equal(packed, loose) {
		t.Errorf("packed %v, loose %v", packed, loose)
	}
	if none, err := r.History().SizesOf(ctx, append(names, string(blob("none").OID), "HEAD:my file")); err != nil || none[len(names)].OID+none[len(names)+1].OID != "" {
		t.Errorf("of nothing: %v", err)
	}
}

// TestWhere checks that looking up a few refs and looking up many give the same result.
func TestWhere(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	native(t, r.TopLevel(), "branch", "packed")
	native(t, r.TopLevel(), "pack-refs", "--all")
	native(t, r.TopLevel(), "branch", "loose")
	few := []string{"refs/heads/packed", "refs/heads/loose", "refs/heads/none", "refs/liza/none"}
	many := few
	for range 4 {
		many = append(many, few...)
	}
	for _, names := range [][]string{few, many} {
		at, err := r.Where(ctx, names)
		if err != nil || len(at) != 2 || at["refs/heads/packed"] != head || at["refs/heads/loose"] != head {
			t.Errorf("%d: %v, %v", len(names), at, err)
		}
	}
}

// TestSince checks that short and long ranges of history are read correctly.
func TestSince(t *testing.T) {
	ctx, r := scratch(t)
	ids := chain(t, ctx, r, "", make([]string, 3*nearby)...)
	for from := range ids {
		want := slices.Clone(ids[from:])
		slices.Reverse(want)
		if got := must[[]plumbing.OID](t)(r.History().Since(ctx, ids[from], ids[len(ids)-1])); !slices.Equal(got[:min(len(got), len(want))], want) {
			t.Errorf("since %d: %v", from, got)
		}
	}
	// Known commits do not count among the few that are read one by one.
	r.known = &known{}
	for round, want := range []int{0, 2*nearby - 1} {
		if chain, _, err := r.near(ctx, ids[0], ids[2*nearby-2]); len(chain) != want || err != nil {
			t.Errorf("round %d: %d commits, not %d, %v", round, len(chain), want, err)
		}
	}
	if got := must[[]plumbing.OID](t)(r.History().Since(ctx, ids[5], ids[2])); slices.Contains(got, ids[5]) {
		t.Errorf("what came before holds what came after: %v", got)
	}
}

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
