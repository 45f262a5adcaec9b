package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newApproved is a shared board on which coder-1's work on parse is approved, and another clone of it that is at hand
// as ../forger: there git liza works as though nothing was shared, and what it has written can be bent.
func newApproved(t *testing.T, submit string) *site {
	t.Helper()
	s := newServer(t)
	s.must("", "config", "set", "merge_style", "no-ff")
	s.committed("parse.txt")
	if submit != "" {
		s.ok("coder-1", parse, submit)
	}
	s.must("coder-1", "submit", "parse")
	s.must("code-reviewer-1", "claim-review", "parse")
	s.must("code-reviewer-1", "verdict", "parse", "APPROVED", "--commit", strings.TrimSpace(s.must("", "read", "tasks.parse.review_commit")))
	return s
}

// forger makes a clone that shares with none, and shell functions: lookalike writes the board's newest commit with $2
// in the place of $1, in its message and in the record $3; deliver pushes it, and $1 as integration.
const forger = `
git clone -q "$PWD/../server.git" ../forger && cd ../forger && git-liza init >/dev/null && git config --unset liza.remote &&
session() { git cat-file blob "liza/state:agents/$1.yaml" | sed -n 's/^session: //p'; }
lookalike() {
	s="s/$1/$2/g;s/$(echo $1 | cut -c1-10)/$(echo $2 | cut -c1-10)/g"
	export GIT_INDEX_FILE="$PWD/.git/forged"
	git read-tree liza/state
	git update-index --cacheinfo "100644,$(git cat-file blob "liza/state:$3" | sed "$s" | git hash-object -w --stdin),$3"
	tree=$(git write-tree); rm "$GIT_INDEX_FILE"; unset GIT_INDEX_FILE
	git cat-file commit liza/state | sed "s/^tree .*/tree $tree/;$s" | git hash-object -w -t commit --stdin
}
deliver() { git push --atomic origin "$(lookalike $made $1 tasks/parse.yaml)":refs/heads/liza/state "$1":refs/heads/integration; }
`

// The record of a merge is right by the rules of the board, and what it names is not what was approved.
func TestForgedMerges(t *testing.T) {
	s := newApproved(t, "")
	const merge = forger + `LIZA_AGENT_ID=code-reviewer-1 LIZA_SESSION=$(session code-reviewer-1) git-liza merge parse >/dev/null || exit 9
made=$(git rev-parse integration) was=$(git rev-parse integration~1) work=$(git rev-parse integration^2)
`
	before := s.ok("", "", "git -C ../server.git for-each-ref")
	for _, c := range []struct{ name, script, rule string }{
		{"other work", "deliver $(git commit-tree -p $was -m other $made^{tree})", "does not hold the approved commit"},
		{"more behind it", "deliver $(git commit-tree -p $made -m more $made^{tree})", "is no merge of"},
		{"more beside it", "deliver $(git commit-tree -p $was -p $work -p $(git commit-tree -m apart $made^{tree}) -m more $made^{tree})", "is no merge of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer s.ok("", "", "rm -rf ../forger")
			if said, exit := s.sh("", "", merge+c.script); exit == 0 || exit == 9 || !strings.Contains(said, "remote: liza: ") || !strings.Contains(said, c.rule) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if after := s.ok("", "", "git -C ../server.git for-each-ref"); after != before {
				t.Fatalf("it changed\n%s\nto\n%s", before, after)
			}
		})
	}
	// What a merge's content should be is git's to say, and gits differ: it passes, and each clone is told.
	s.ok("", "", merge+`blob=$(echo evil | git hash-object -w --stdin)
deliver $(git commit-tree -p $was -p $work -m evil $({ git ls-tree $made; printf '100644 blob %s\tevil\n' $blob; } | git mktree))`)
	s.must("", "sync")
	if out := s.must("", "verify"); !strings.Contains(out, "NOTE ") || !strings.Contains(out, "computed again, the merge gives the tree") {
		t.Error(out)
	}
	s.proven()
}

// A submission that hides a part of the work from its reviewer, and one under another's name.
func TestForgedSubmissions(t *testing.T) {
	s := newServer(t)
	s.committed("parse.txt")
	s.ok("coder-1", parse, "echo 2 >more.txt && git add . && git commit -q -m 'Write more'")
	before := s.ok("", "", "git -C ../server.git for-each-ref | grep -v leases")
	for _, c := range []struct{ name, script, rule string }{
		{"reviewed in part", `git update-ref refs/heads/integration task/parse~1 && git config --unset liza.remote && git-liza submit parse >/dev/null || exit 9
			git config liza.remote origin; git push --atomic origin liza/state task/parse refs/liza/review/parse/1; e=$?
			git update-ref refs/heads/integration main; git update-ref refs/heads/liza/state refs/liza/remotes/origin/state; git update-ref -d refs/liza/review/parse/1; exit $e`,
			"which the review began at, is not on the integration branch"},
		{"made by another", `git -c core.hooksPath=/dev/null commit -q --amend -m 'Write more

Liza-Task: parse
Liza-Agent: coder-2'; git-liza submit parse`, `it says that "coder-2" made it for parse, which "coder-2" never held`},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Past the hooks of the clone.
			script := "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null\n" + c.script
			if said, exit := s.sh("coder-1", parse, script); exit == 0 || exit == 9 || !strings.Contains(said, c.rule) {
				t.Errorf("exit %d\n%s", exit, said)
			}
			if after := s.ok("", "", "git -C ../server.git for-each-ref | grep -v leases"); after != before {
				t.Fatalf("it changed\n%s\nto\n%s", before, after)
			}
		})
	}
	s.ok("coder-1", parse, "git commit -q --amend -m 'Write more'")
	s.must("coder-1", "submit", "parse")
	s.proven()
}

// Where the integration branch is, nobody hides from the server: not by a replacement, which anybody may push, and not
// by a name that YAML quotes.
func TestHiddenIntegration(t *testing.T) {
	for _, branch := range []string{"integration", "'it's'"} {
		t.Run(branch, func(t *testing.T) {
			s := &site{newRepository(t)}
			word := `"` + branch + `"`
			s.must("", "init", "A goal", "--spec", "specs/vision.md", "--integration-branch", branch)
			s.ok("", "", "git init -q --bare -b main ../server.git && git-liza -C ../server.git hooks install --server && git remote add origin \"$PWD/../server.git\" && git push -q origin main && git-liza share origin")
			before := s.ok("", "", "git -C ../server.git for-each-ref refs/heads")
			for _, replaced := range []string{
				`b=$(git rev-parse liza/state:config.yaml); n=$(git cat-file blob $b | sed 's/^integration_branch:.*/integration_branch: other/' | git hash-object -w --stdin)`,
				`b=$(git rev-parse liza/state); n=$(git commit-tree -m other main^{tree})`,
			} {
				said, exit := s.sh("", "", replaced+`; git push -q origin $n:refs/replace/$b || exit 9
git push origin $(git commit-tree -p `+word+` -m sneak `+word+`^{tree}):refs/heads/`+word)
				if exit == 0 || exit == 9 || !strings.Contains(said, "nothing on the board records") {
					t.Errorf("exit %d\n%s", exit, said)
				}
			}
			if after := s.ok("", "", "git -C ../server.git for-each-ref refs/heads"); after != before {
				t.Errorf("it changed\n%s\nto\n%s", before, after)
			}
			s.ok("", "", "git push -q origin main:feature")
			s.proven()
		})
	}
}

// Who runs programs on the server gets past its lock, and every clone is told.
func TestUnhookedServer(t *testing.T) {
	s := newServer(t)
	s.ok("", "", `git push -q --receive-pack='git -c core.hooksPath=/dev/null receive-pack' origin $(git commit-tree -p integration -m sneak integration^{tree}):refs/heads/integration`)
	s.must("", "sync")
	if out := s.must("", "verify"); !strings.Contains(out, "NOTE ") || !strings.Contains(out, "sneak: integration got ") {
		t.Error(out)
	}
	s.proven()
}

// The server's limits are no hindrance to a board that begins large.
func TestLargeImportIsShared(t *testing.T) {
	s := &site{newRepository(t)}
	var old strings.Builder
	old.WriteString("version: 1\ngoal: {id: goal-1, description: A goal, spec_ref: specs/vision.md, status: IN_PROGRESS}\ntasks:\n")
	for i := range 300 {
		fmt.Fprintf(&old, "  - {id: t%d, description: %q, status: DRAFT, priority: 3, created: \"2026-01-01T00:00:00Z\"}\n", i, strings.Repeat("word ", 900))
	}
	if err := os.WriteFile(filepath.Join(s.dir, "..", "old.yaml"), []byte(old.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s.must("", "import", "../old.yaml")
	s.ok("", "", "git init -q --bare -b main ../server.git && git-liza -C ../server.git hooks install --server && git remote add origin \"$PWD/../server.git\" && git push -q origin main && git-liza share origin")
	s.proven()
}
