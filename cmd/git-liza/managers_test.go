package main

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A manager installs a project's hooks. If its program is not in PATH, layout is used in its place.
type manager struct {
	program string
	files   map[string]string // its files in the project
	install string            // as its documentation says, in any worktree
	layout  string            // does by hand what install does
	// lost: installing in an agent's worktree overwrites Liza's hooks. refuses: it does not install
	// there at all.
	lost, refuses bool
}

// check is the script of the project's hook. Like lint-staged, it stashes unstaged changes for a
// moment.
const check = `echo ran >>"$TALLY"
test ! -e forbidden || exit 1
kept=$(git stash create) && [ -z "$kept" ] || { git stash store -q "$kept" && git stash drop -q; }
`

var managers = map[string]manager{
	"husky": {
		program: "husky", files: map[string]string{".husky/pre-commit": "sh check.sh\n"}, install: "husky",
		layout: `mkdir -p .husky/_ && printf '*\n' >.husky/_/.gitignore && git config core.hooksPath .husky/_ &&
			for name in pre-commit commit-msg post-commit; do
				printf '%s\n' '#!/bin/sh' 'own="${0%/_/*}/${0##*/}"' '[ ! -f "$own" ] || exec sh -e "$own" "$@"' >.husky/_/$name && chmod +x .husky/_/$name || exit
			done`,
	},
	"lefthook": {
		program: "lefthook", files: map[string]string{"lefthook.yml": "pre-commit:\n  jobs:\n    - run: sh check.sh\n"}, install: "lefthook install -f",
		layout: `dir=$(git rev-parse --git-path hooks) && mkdir -p "$dir" && { [ ! -e "$dir/pre-commit" ] || grep -q check.sh "$dir/pre-commit" || mv "$dir/pre-commit" "$dir/pre-commit.old"; } &&
			printf '#!/bin/sh\nsh check.sh\n' >"$dir/pre-commit" && chmod +x "$dir/pre-commit"`,
		lost: true,
	},
	"pre-commit": {
		program: "pre-commit", install: "pre-commit install",
		files:  map[string]string{".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - {id: check, name: check, entry: sh check.sh, language: system, always_run: true, pass_filenames: false}\n"},
		layout: `[ -z "$(git config core.hooksPath)" ] && printf '#!/bin/sh\nsh check.sh\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`, refuses: true,
	},
	"simple-git-hooks": { // it deletes every hook that it does not know
		program: "simple-git-hooks", files: map[string]string{"simple-git-hooks.json": "{\"pre-commit\": \"sh check.sh\"}\n"}, install: "simple-git-hooks",
		layout: `dir=$(git config --local core.hooksPath) || dir=$(git rev-parse --git-common-dir)/hooks
			mkdir -p "$dir" && rm -f "$dir"/* && printf '#!/bin/sh\nsh check.sh' >"$dir/pre-commit" && chmod +x "$dir/pre-commit"`,
	},
}

// TestHookManagers: programs that manage a project's hooks keep working for humans and agents.
func TestHookManagers(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(managers)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := managers[name]
			if _, err := exec.LookPath(m.program); err != nil {
				t.Logf("%s is not in PATH, so its layout stands for it", m.program)
				m.install = m.layout
			}
			s := managed(t, m)
			before := s.traces()
			s.must("", "init", "--unattended", "A goal")
			s.must("", "add-task", "--id", "parse", "--desc", "Write parse", "--done", "parse.txt is there", "--scope", "IN: parse.txt", "--spec", "specs/vision.md", "--ready", "--kind", "doc")
			s.must("coder-1", "claim", "parse")
			s.ok("coder-1", parse, checkpoint+"true")
			s.commits("", "", "of a human")
			s.commits("coder-1", parse, "of an agent")

			// A failing hook of the project refuses the commit, and an agent's unstaged changes are
			// preserved.
			if said, exit := s.sh("coder-1", parse, "touch forbidden && echo no >no && git add no && git commit -m no; e=$?; rm forbidden; exit $e"); exit == 0 || s.tally() != 1 {
				t.Errorf("refused by the project: exit %d\n%s", exit, said)
			}
			s.ok("coder-1", parse, "echo unstaged >>no")
			s.commits("coder-1", parse, "staged in part")
			if said := s.ok("", parse, "git diff; git stash list"); !strings.Contains(said, "+unstaged") || strings.Contains(said, "stash@") {
				t.Errorf("unstaged changes:\n%s", said)
			}

			// Installed again, by an agent (as npm install does) and by the human.
			_, exit := s.sh("coder-1", parse, m.install)
			if (exit != 0) != m.refuses {
				t.Errorf("%s in an agent's worktree: exit %d", m.install, exit)
			}
			told := s.must("", "hooks", "status")
			said, exit := s.sh("", "", "git-liza doctor")
			if strings.Contains(told, "overwritten: pre-commit") != m.lost || strings.Contains(said, "overwritten pre-commit") != m.lost || (exit != 0) != m.lost {
				t.Errorf("after %s in an agent's worktree: doctor: exit %d\n%s%s", m.install, exit, told, said)
			}
			if m.lost {
				// The first ref that moves reports the overwritten hook, and Liza's hooks are
				// restored.
				said, _ := s.sh("coder-1", parse, "git commit --allow-empty -m overwritten")
				if !strings.Contains(said, "another program had overwritten pre-commit") {
					t.Error(said)
				}
				s.tally()
			}
			s.commits("coder-1", parse, "installed by an agent")
			s.ok("", "", m.install)
			if told := s.must("", "hooks", "status"); !strings.HasPrefix(told, "hooks: on, for agents\n") {
				t.Errorf("after %s by a human: %s", m.install, told)
			}
			s.commits("", "", "of a human, installed again")
			s.commits("coder-1", parse, "installed by a human")

			s.must("", "hooks", "uninstall")
			if after := s.traces(); after != before {
				t.Errorf("before init and after uninstall:\n%s", difference(before, after))
			}
			s.commits("", "", "of a human, without us")
			s.proven()
		})
	}
}

// managed makes a project whose hooks are installed by a manager.
func managed(t *testing.T, m manager) *site {
	t.Helper()
	s := &site{newRepository(t)}
	s.env = append(s.env, "TALLY="+filepath.Join(t.TempDir(), "tally"))
	for name, text := range m.files {
		s.write(name, text)
	}
	s.write("check.sh", check)
	s.ok("", "", m.install+" && git add . && git commit -q -m hooks")
	s.tally()
	return s
}

// tally returns how often the project's hook has run since the last call.
func (s *site) tally() int {
	s.t.Helper()
	return strings.Count(s.ok("", "", `cat "$TALLY" 2>/dev/null; rm -f "$TALLY"`), "ran")
}

// commits checks that a commit runs the project's hook once, and Liza's hooks if an agent makes it.
func (s *site) commits(agent, dir, subject string) {
	s.t.Helper()
	said := s.ok(agent, dir, "echo '"+subject+"' >>log.txt && git add log.txt && git commit -q -m '"+subject+"' 2>&1")
	if n := s.tally(); n != 1 {
		s.t.Errorf("%s: the project's hook ran %d times\n%s", subject, n, said)
	}
	message := s.ok("", dir, "git log -1 --format=%B")
	if strings.Contains(message, "Liza-Agent: ") != (agent != "") || !strings.HasPrefix(message, subject+"\n") {
		s.t.Errorf("%s: %s\n%s", subject, message, said)
	}
}

// traces returns the settings of the repository and everything about its hooks.
func (s *site) traces() string {
	s.t.Helper()
	return s.ok("", "", "git config --list --show-origin; cat .git/config; ls -AR .git/hooks .husky 2>/dev/null; cat .git/hooks/* .husky/* 2>/dev/null; ls -A .git | grep -v '^liza$\\|^worktrees$\\|_HEAD$\\|^logs$\\|^COMMIT_EDITMSG$'")
}

// difference returns the lines that only one of two texts contains.
func difference(a, b string) string {
	var out []string
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		there := strings.Split(pair[1], "\n")
		for line := range strings.SplitSeq(pair[0], "\n") {
			if !slices.Contains(there, line) {
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "\n")
}
