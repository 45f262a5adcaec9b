// Package start is the first minute with git liza: what a project's own files say about how it is
// tested and prepared, the goal as a specification, and the questions on a terminal.
//
// It may import cmd/internal/acts, cmd/internal/call, cmd/internal/definition,
// cmd/internal/dispatch, cmd/internal/editor, cmd/internal/screen, cmd/internal/setup,
// cmd/internal/team, cmd/internal/web, gitboard, gitboard/board, gitboard/git,
// gitboard/git/plumbing, gitboard/report, gitboard/roles, gitboard/text, roles/clis,
// roles/supervisor and worktrees/merge.
package start

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Proposal is how a project seems to be tested, and how a new worktree of it is made ready.
type Proposal struct {
	Test  string   // the setting integration_test; "" if the project shows no test
	Setup string   // the setting worktree_setup
	Copy  []string // the setting worktree_copy
}

// packages are the package managers of JavaScript, by their lock files.
var packages = []struct{ lock, install, test string }{
	{"pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm test"},
	{"yarn.lock", "yarn install --frozen-lockfile", "yarn test"},
	{"bun.lock", "bun install --frozen-lockfile", "bun run test"},
	{"bun.lockb", "bun install --frozen-lockfile", "bun run test"},
	{"package-lock.json", "npm ci", "npm test"},
	{"package.json", "npm install", "npm test"},
}

// tests are tests that a file at the project's top stands for.
var tests = []struct{ file, test string }{
	{"go.mod", "go test ./..."},
	{"Cargo.toml", "cargo test"},
	{"gradlew", "./gradlew test"},
	{"pom.xml", "mvn -q test"},
	{"mix.exs", "mix test"},
	{"pytest.ini", "python3 -m pytest"},
	{"conftest.py", "python3 -m pytest"},
}

// ownTest is the test that a board without a setting runs.
const ownTest = "scripts/integration-test.sh"

// secrets are files that projects need and keep out of git.
var secrets = []string{".env", ".env.local"}

// Propose reads the project's own files. read returns the text of a committed file at the project's
// top; beside reports whether a file that is not committed lies there.
func Propose(read func(name string) (text string, is bool), beside func(name string) bool) Proposal {
	var p Proposal
	manifest, _ := read("package.json")
	for _, manager := range packages {
		if _, is := read(manager.lock); is {
			p.Setup = manager.install
			if hasTest(manifest) {
				p.Test = manager.test
			}
			break
		}
	}
	python, _ := read("pyproject.toml")
	if _, locked := read("uv.lock"); locked {
		p.Setup = "uv sync"
	}
	_, own := read(ownTest)
	switch makefile, _ := read("Makefile"); {
	case own:
		p.Test = ownTest
	case hasTarget(makefile):
		p.Test = "make test"
	case p.Test != "":
	case strings.Contains(python, "pytest") && p.Setup == "uv sync":
		p.Test = "uv run pytest"
	case strings.Contains(python, "pytest"):
		p.Test = "python3 -m pytest"
	default:
		for _, t := range tests {
			if _, is := read(t.file); is {
				p.Test = t.test
				break
			}
		}
	}
	for _, name := range secrets {
		if beside(name) {
			p.Copy = append(p.Copy, name)
		}
	}
	return p
}

// hasTarget reports whether a makefile has a target test.
func hasTarget(makefile string) bool {
	is, _ := regexp.MatchString(`(?m)^test\s*:([^=]|$)`, makefile) // the expression is valid
	return is
}

// hasTest reports whether a package.json defines a test, other than the one that npm init writes.
func hasTest(manifest string) bool {
	var m struct{ Scripts struct{ Test string } }
	_ = json.Unmarshal([]byte(manifest), &m) // what can't be read defines none
	return m.Scripts.Test != "" && !strings.Contains(m.Scripts.Test, "no test specified")
}

// Specification is a goal's text as the file that describes it, for a goal without one.
func Specification(goal string) string {
	goal = strings.TrimSpace(strings.ReplaceAll(goal, "\r\n", "\n"))
	first, rest, _ := strings.Cut(goal, "\n")
	text := "# " + first + "\n"
	if rest = strings.TrimSpace(rest); rest != "" {
		text += "\n" + rest + "\n"
	}
	return text
}
