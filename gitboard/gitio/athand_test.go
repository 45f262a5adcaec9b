package gitio

import (
	"os"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestAtHand checks that what an operation reads needs no cat-file while it is loose, and after the
// next write also what was packed; and that a damaged file is no answer.
func TestAtHand(t *testing.T) {
	ctx, r := scratch(t)
	write(t, r, "dir/file", "content\n")
	commit := commitAll(t, ctx, r, "first")
	file := git.NewObject(git.BlobObject, []byte("content\n"))
	look := func(when string, child bool) {
		t.Helper()
		r := open(t, ctx, r.TopLevel())
		answers := must[[]git.Object](t)(r.Objects(ctx, []string{string(commit), string(file.OID)}))
		if answers[0].OID != commit || string(answers[1].Data) != "content\n" {
			t.Errorf("%s: %v", when, answers)
		}
		for ref, want := range map[string]git.OID{"refs/heads/main": commit, "refs/heads/none": git.ZeroOID} {
			if at := must[git.OID](t)(r.Ref(ctx, ref)); at != want {
				t.Errorf("%s: %s is at %s", when, ref, at)
			}
		}
		if started := r.batch.cmd != nil; started != child {
			t.Errorf("%s: cat-file started: %t", when, started)
		}
		if child {
			check(t, r.WriteAndUpdate(ctx, nil, []git.RefUpdate{{Ref: "refs/liza/x", Old: must[git.OID](t)(r.Ref(ctx, "refs/liza/x")), New: commit}}, ""))
		}
	}
	look("loose", false)
	below := must[[]git.Object](t)(r.Objects(ctx, []string{string(commit) + ":dir/file", string(commit) + ":dir/none", string(commit) + ":dir"}))
	if below[0].OID != file.OID || below[1].OID != "" || below[2].Type != git.TreeObject || r.batch.cmd != nil {
		t.Errorf("below the commit: %v", below)
	}
	path := looseFile(r.objectDir(), file.OID)
	sound := must[[]byte](t)(os.ReadFile(path))
	native(t, r.TopLevel(), "gc", "-q", "--prune=now")
	look("packed", true)
	look("unpacked", false)
	check(t, os.Chmod(path, 0o644))
	check(t, os.WriteFile(path, append(sound[:len(sound)-8:len(sound)-8], "damaged!"...), 0o644))
	look("damaged beside its packed copy", true)
}
