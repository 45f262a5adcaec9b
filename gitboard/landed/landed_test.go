package landed_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestMain(m *testing.M) {
	testrun.Prepare()
	m.Run()
}

// scenes are what people and hosts do with a branch work of two commits, which is checked out on
// main's second commit. Each is a shell script; the variable H is the head of work.
var scenes = map[string]struct {
	do   string
	kind landed.Kind
	from string // the first commit that brought it
}{
	"merge":                            {"git merge -q --no-ff -m merged work", landed.Merge, ""},
	"fast-forward":                     {"git merge -q --ff-only work", landed.Merge, ""},
	"squash":                           {"git merge -q --squash work && git commit -qm squashed; tag; more later", landed.Squash, "tag"},
	"squash after main moved":          {"more before && git merge -q --squash work && git commit -qm squashed && tag && more after", landed.Squash, "tag"},
	"rebase":                           {"more before; git switch -q -c again work && git rebase -q main && git switch -q main && git merge -q --ff-only again; tag main~1; more after", landed.Rebase, "tag"},
	"squash, then reverted":            {"git merge -q --squash work && git commit -qm squashed && tag && git revert --no-edit HEAD", landed.Squash, "tag"},
	"conflict resolved in the request": {"echo other > a && git commit -qam other; git switch -q work; git merge -q main || true; echo both > a; git commit -qam resolved; H=$(git rev-parse HEAD); git switch -q main; git merge -q --squash work && git commit -qm squashed && tag", landed.Squash, "tag"},
	"partial pick":                     {"git cherry-pick work~1", landed.Open, ""},
	"open":                             {"more other", landed.Open, ""},
	"contained":                        {"echo 1 > a; echo 2 > b; echo 3 > c; git add .; git commit -qm everything", landed.Contained, ""},
	"corrupt squash": {`git merge -q --squash work && echo evil > b && git add . && git commit -qm "squashed

Liza-Head: $H" && tag`, landed.Corrupt, "tag"},
}

const setup = `set -e
more() { echo "$1" > "m-$1"; git add . && git commit -qm "$1"; }
tag() { git tag -f tag $1; }
git init -q -b main . && echo 0 > a && git add . && git commit -qm zero && more one
git switch -q -c work && echo 1 > a && git commit -qam 'a' && echo 2 > b && git add . && git commit -qm 'b'
H=$(git rev-parse HEAD); git switch -q main
`

func TestFind(t *testing.T) {
	for name, c := range scenes {
		t.Run(name, func(t *testing.T) {
			testrepo.Environment(t)
			dir := t.TempDir()
			shell := exec.Command("sh", "-c", setup+c.do+"\necho head $H")
			shell.Dir = dir
			out, err := shell.CombinedOutput()
			if err != nil && !strings.Contains(string(out), "\nhead ") {
				t.Fatalf("%v: %s", err, out)
			}
			head := plumbing.OID(strings.TrimSpace(string(out[strings.LastIndex(string(out), "head ")+5:])))
			repo := testrun.Must(git.Open(t.Context(), dir))(t)
			defer repo.Close()
			base := testrun.Must(repo.ResolveCommit(t.Context(), "main"))(t)
			got, err := landed.Find(t.Context(), repo, base, head)
			if err != nil || got.Kind != c.kind {
				t.Fatalf("%+v, %v, not %q", got, err, c.kind)
			}
			from := plumbing.OID("")
			if c.from != "" {
				from = testrun.Must(repo.ResolveCommit(t.Context(), c.from))(t)
			}
			if got.From != from {
				t.Errorf("brought by %s, not by %s", got.From, from)
			}
		})
	}
}
