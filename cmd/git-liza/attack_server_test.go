package main

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// newServer makes a site that shares its board by a bare repository with the lock on.
func newServer(t *testing.T) *site {
	t.Helper()
	return &site{prepared(t, "server", t.TempDir(), func(p *project) {
		p.occupied()
		(&site{p}).ok("", "", "git init -q --bare -b main ../server.git && git-liza -C ../server.git hooks install --server && git remote add origin \"$PWD/../server.git\" && git push -q origin main && git-liza share origin")
	})}
}

// bypass writes a commit on the board with plain git: $1 is the file, $2 the sed script for its
// text.
const bypass = `forge() {
	export GIT_INDEX_FILE="$(git rev-parse --absolute-git-dir)/forged"
	git read-tree liza/state
	blob=$(git cat-file blob "liza/state:$1" | sed "$2" | git hash-object -w --stdin)
	git update-index --add --cacheinfo "100644,$blob,$1"
	tree=$(git write-tree); rm "$GIT_INDEX_FILE"; unset GIT_INDEX_FILE
}
`

// TestAttacksOnAServer: the server's hooks refuse what has bypassed those of a clone, and where a
// server has none, verify reports it. Each script begins with an up-to-date clone, and its changes
// to that clone are undone.
func TestAttacksOnAServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must("", "note", "hello")
	s.must("coder-2", "heartbeat")
	server := func() string { return s.ok("", "", "git -C ../server.git for-each-ref") }
	const off = "git -c core.hooksPath=/dev/null "
	for _, c := range []struct {
		name, script, rule string
		verify             string // what verify reports for the clone, "" for nothing
	}{
		{"the hooks of a clone bypassed", "git update-ref refs/heads/integration $(git commit-tree -p integration -m sneak integration^{tree}) && " + off + "push origin integration",
			"nothing on the board records that integration moves", ""}, // for verify, see unrecorded.txtar
		{"YAML edited by hand", bypass + `forge goals/goal-1.yaml 's/A goal/Another/'; c=$(git commit-tree -p liza/state -m 'by hand' $tree); git update-ref refs/heads/liza/state $c; git push origin liza/state`,
			"by hand: it carries no operation", "carries no operation"},
		{"YAML edited under an operation's words", bypass + `forge goals/goal-1.yaml 's/A goal/Another/'; c=$(git cat-file commit liza/state | sed '1,/^$/d' | sed 's/^Liza-Request: .*/Liza-Request: other/' | git commit-tree -p liza/state $tree); git update-ref refs/heads/liza/state $c; git push origin liza/state`,
			"is not the operation's", "the tree is not what the operation leads to"},
		{"good and bad together", "git push origin main:good :liza/state", "is not deleted", ""},
		{"a mirror", "git push --mirror origin", "one clone's own", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, local := server(), s.ok("", "", "git for-each-ref --format='update %(refname) %(objectname)'")
			s.ok("", "", "git update-ref refs/heads/origin-note liza/state")
			said, exit := s.sh("", "", c.script)
			if exit == 0 || !strings.Contains(said, "liza: ") || !strings.Contains(said, c.rule) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if after := server(); after != before {
				t.Errorf("it changed\n%s\nto\n%s", before, after)
			}
			if c.verify != "" {
				if out, _, _ := s.inside("verify"); !strings.Contains(out, c.verify) {
					t.Errorf("verify says\n%s", out)
				}
			}
			s.ok("", "", "rm -f .git/forged; git for-each-ref --format='delete %(refname)' | grep -v refs/remotes/ | "+off+"update-ref --no-deref --stdin")
			s.ok("", "", off+"update-ref --no-deref --stdin <<'REFS'\n"+local+"REFS\n")
			s.ok("", print, off+"checkout -q -f task/print -- && "+off+"reset -q --hard task/print && git clean -fdq")
		})
	}
	// Nothing of the refused pushes is kept, and refs that Liza does not own can be pushed.
	if said := s.ok("", "", "git -C ../server.git count-objects -vH; ls ../server.git/objects | grep -c tmp || true"); strings.Contains(said, "MiB") {
		t.Errorf("the server has kept\n%s", said)
	}
	s.ok("", "", "git push -q origin main:feature && git push -q -f origin integration:feature && git push -q origin :feature && git tag v1 && git push -q origin v1 && git -C ../server.git gc -q && git -C ../server.git pack-refs --all")
	s.must("", "note", "good bye")
	s.proven()
	s.ok("", "", "git-liza -C ../server.git verify")
}

// TestLostServer: where a locked server has lost the board's ref, no push begins another board
// there or moves integration, every clone says how the board comes back, and it comes back.
func TestLostServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.must("", "note", "hello")
	s.ok("", "", "git -C ../server.git -c core.hooksPath=/dev/null update-ref -d refs/heads/liza/state")
	for name, c := range testrun.Some(2, map[string]struct{ script, says string }{
		"another board":          {`evil=$(git -C ../fresh commit-tree -p origin/integration -m evil origin/integration^{tree}); git -C ../fresh push --atomic origin liza/state $evil:refs/heads/integration`, "the pushed branch is another board"},
		"another, without lands": {`git -C ../fresh push origin liza/state`, "the pushed branch is another board"},
		"integration":            {`git push origin $evil:refs/heads/integration`, "nothing on the board records"},
		"the board's remains":    {`git push --atomic origin liza/state $evil:refs/heads/integration`, "nothing on the board records"},
		"init":                   {`rm -rf ../late && git clone -q ../server.git ../late && cd ../late && git liza init "Second goal"`, "origin has lost its board"},
		"share":                  {`cd ../fresh && git liza share origin`, "origin has lost its board"},
		"a note":                 {"git liza note on", "git push origin liza/state"},
		"doctor":                 {"git liza doctor", "git push origin liza/state"},
	}) {
		said, exit := s.sh("", "", `[ -d ../fresh ] || { git clone -q ../server.git ../fresh && git -C ../fresh config user.name Eve && git -C ../fresh config user.email eve@example.com && git-liza -C ../fresh init --alone "Second goal"; } >/dev/null
			evil=$(git commit-tree -p integration -m evil integration^{tree}); `+c.script)
		if exit == 0 || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit %d\n%s", name, exit, said)
		}
		if refs := s.ok("", "", "git -C ../server.git for-each-ref"); strings.Contains(refs, "liza/state") || !strings.Contains(refs, s.ok("", "", "git rev-parse integration")[:40]+" commit\trefs/heads/integration") {
			t.Errorf("%s: the server has\n%s", name, refs)
		}
	}
	s.ok("", "", "git push -q origin liza/state")
	s.must("", "note", "good bye")
	s.must("", "doctor")
	s.proven()
}
