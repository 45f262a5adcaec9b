package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestBrokenRefs checks that refs which lead to no object are found, loose and packed, and that one
// can be deleted although git refuses to.
func TestBrokenRefs(t *testing.T) {
	ctx, r := scratch(t)
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	ghost := strings.Repeat("ab", 20)
	writeIn(t, r.common, "packed-refs", ghost+" refs/liza/packed\n"+ghost+" refs/other/packed\n")
	for name, text := range map[string]string{
		"refs/liza/empty": "", "refs/liza/garbage": "garbage\n", "refs/liza/ghost": ghost + "\n", "refs/liza/whole": string(head) + "\n",
		"refs/liza/symbolic": "ref: refs/liza/whole\n", "refs/liza/x.lock": "", "refs/other/empty": "",
		"refs/liza/zero": string(plumbing.ZeroOID) + "\n", "refs/liza/.DS_Store": "x", "refs/liza/a..b": "", "refs/liza/alone": "",
		"refs/liza/noted": string(head) + " a note\n", // git reads no further than the id
	} {
		check(t, os.MkdirAll(filepath.Join(r.common, filepath.Dir(name)), 0o755))
		writeIn(t, r.common, name, text)
	}
	check(t, os.Symlink("nowhere", filepath.Join(r.common, "refs/liza/link")))
	for _, name := range []string{"refs/liza/alone", "refs/liza/packed"} {
		broken, err := r.BrokenRefs(ctx, name)
		if err != nil || len(broken) != 1 || broken[0].Ref != name {
			t.Errorf("found of %s alone: %v, %v", name, broken, err)
		}
	}
	check(t, os.Remove(filepath.Join(r.common, "refs/liza/alone")))
	broken := testrun.Must(r.BrokenRefs(ctx, "refs/liza/", "refs/none/"))(t)
	var names []string
	for _, b := range broken {
		names = append(names, strings.TrimPrefix(b.Ref, "refs/liza/"))
	}
	if got := strings.Join(names, " "); got != "empty garbage ghost packed zero" {
		t.Fatalf("found %q", got)
	}
	for _, b := range broken {
		check(t, r.ReplaceBroken(ctx, b, plumbing.ZeroOID))
		if oid, err := r.Ref(ctx, b.Ref); err != nil || !oid.IsZero() {
			t.Errorf("%s is at %q, %v", b.Ref, oid, err)
		}
		check(t, r.ReplaceBroken(ctx, b, plumbing.ZeroOID))
		if err := r.ReplaceBroken(ctx, b, head); !errors.Is(err, ErrRefMoved) {
			t.Errorf("%s, replaced after it was deleted: %v", b.Ref, err)
		}
	}
	if left, err := r.BrokenRefs(ctx, "refs/liza/"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	// What can't be read may be broken.
	if left, err := r.BrokenRefs(ctx, "packed-refs/below/"); err == nil {
		t.Errorf("below a file: %v", left)
	}
	writeIn(t, r.common, "packed-refs", "garbage\n")
	if left, err := r.BrokenRefs(ctx, "refs/liza/"); err == nil {
		t.Errorf("beside packed refs that can't be read: %v", left)
	}
}
