package start

import (
	"reflect"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestPropose(t *testing.T) {
	for name, c := range map[string]struct {
		committed map[string]string
		beside    []string
		want      Proposal
	}{
		"nothing known":        {map[string]string{"README": ""}, nil, Proposal{}},
		"Go":                   {map[string]string{"go.mod": ""}, nil, Proposal{Test: "go test ./..."}},
		"Go and make":          {map[string]string{"go.mod": "", "Makefile": "all:\n\ntest: all\n\tgo test ./...\n"}, nil, Proposal{Test: "make test"}},
		"a test of git liza's": {map[string]string{"go.mod": "", "scripts/integration-test.sh": ""}, nil, Proposal{Test: "scripts/integration-test.sh"}},
		"a variable test":      {map[string]string{"go.mod": "", "Makefile": "test := yes\n"}, nil, Proposal{Test: "go test ./..."}},
		"npm": {map[string]string{"package.json": `{"scripts": {"test": "jest"}}`, "package-lock.json": ""}, []string{".env"},
			Proposal{Test: "npm test", Setup: "npm ci", Copy: []string{".env"}}},
		"npm without a test": {map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, nil, Proposal{Setup: "npm install"}},
		"pnpm":               {map[string]string{"package.json": `{"scripts": {"test": "vitest"}}`, "pnpm-lock.yaml": ""}, nil, Proposal{Test: "pnpm test", Setup: "pnpm install --frozen-lockfile"}},
		"uv":                 {map[string]string{"pyproject.toml": "dev = [\"pytest\"]", "uv.lock": ""}, nil, Proposal{Test: "uv run pytest", Setup: "uv sync"}},
		"pytest":             {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]"}, nil, Proposal{Test: "python3 -m pytest"}},
		"a broken manifest":  {map[string]string{"package.json": "{"}, nil, Proposal{Setup: "npm install"}},
	} {
		read := func(name string) (string, bool) { text, is := c.committed[name]; return text, is }
		beside := func(name string) bool {
			for _, b := range c.beside {
				if b == name {
					return true
				}
			}
			return false
		}
		if got := Propose(read, beside); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSpecification(t *testing.T) {
	for goal, want := range map[string]string{
		"Add a dark mode":                    "# Add a dark mode\n",
		"Add a dark mode\r\n\r\nIt follows.": "# Add a dark mode\n\nIt follows.\n",
	} {
		testrun.Equal(t, Specification(goal), want, "%q", goal)
	}
}
