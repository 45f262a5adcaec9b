package git

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestHolds checks that a missing or damaged object of a history is found, be it packed or loose,
// and that what is in an intact pack is only looked up.
func TestHolds(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "a.txt", "some text of a file\n")
	head := commitAll(t, r, "one")
	packed := must[[]string](t)(r.revList(ctx, "", head, "--objects", "--no-object-names"))
	native(t, r.CommonDir(), "gc", "--quiet")
	loose := string(store(t, ctx, r, "loose")[0])
	check(t, os.RemoveAll(r.Upkeep().KeptDir()))
	missing := string(blob("missing").OID)
	all := append(slices.Clone(packed), loose)
	holds := func(names ...string) error { return r.History().Holds(ctx, head, slices.Values([][]string{names})) }

	check(t, holds(all...))
	if doubtful, err := r.doubtful(ctx, append(slices.Clone(all), missing)); err != nil || !slices.Equal(doubtful, []string{loose, missing}) {
		t.Errorf("%v, %v are looked at, want %s and %s", doubtful, err, loose, missing)
	}
	damaged := func(what string, names ...string) {
		t.Helper()
		if err := holds(names...); !errors.As(err, new(*DamagedError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	damaged("a missing object", append(slices.Clone(all), missing)...)
	damaged("the first of more than are read at once", slices.Repeat([]string{missing}, atOnce+1)...)
	file := loosePath(r, blob("loose").OID)
	check(t, os.Chmod(file, 0o644))
	check(t, os.Truncate(file, 9))
	damaged("a truncated loose file", all...)

	pack := must[[]string](t)(filepath.Glob(filepath.Join(r.common, "objects", "pack", "*.pack")))[0]
	data := must[[]byte](t)(os.ReadFile(pack))
	check(t, os.Chmod(pack, 0o644))
	if !r.packsIntact() {
		t.Error("an intact pack is not")
	}
	for name, harmed := range map[string][]byte{
		"a byte differs":  bytes.Replace(data, data[len(data)/2:len(data)/2+1], []byte{^data[len(data)/2]}, 1),
		"its end differs": append(slices.Clone(data[:len(data)-1]), ^data[len(data)-1]), "cut off": data[:len(data)-30], "nearly empty": data[:10],
	} {
		check(t, os.WriteFile(pack, harmed, 0o644))
		if r.packsIntact() {
			t.Errorf("%s: it counts as intact", name)
		}
	}
	harmed := slices.Clone(data)
	for i := 20; i < len(harmed)-20; i++ {
		harmed[i] = ^harmed[i]
	}
	check(t, os.WriteFile(pack, harmed, 0o644))
	again := open(t, ctx, r.TopLevel()) // no child still has the pack open
	if err := again.History().Holds(ctx, head, slices.Values([][]string{packed})); !errors.As(err, new(*DamagedError)) {
		t.Errorf("a damaged pack: %v", err)
	}
	check(t, os.WriteFile(pack, data, 0o644))
	check(t, holds(packed...))
	check(t, os.WriteFile(filepath.Join(r.common, "objects", "info", "alternates"), nil, 0o644))
	if r.packsIntact() {
		t.Error("with alternates, the packs here are not all")
	}
	check(t, holds(packed...))
}
