package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
