package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Environ returns what an agent's environment needs in gitio.ParametersVar, for git to run the hooks wherever it works
// on this repository, and only there: its tests may make repositories of their own. current is what the environment
// has there. ok is false when the hooks are not installed.
func Environ(repo *gitio.Repo, current string) (value string, ok bool) {
	config := filepath.Join(Dir(repo), configFile)
	if _, err := os.Stat(config); err != nil {
		return current, false
	}
	return gitio.WithSettings(current, gitio.IncludeWithin(repo.CommonDir(), config)...), true
}

// Hooked returns an environment in which git runs the hooks on this repository, as Environ says.
func Hooked(repo *gitio.Repo, environ []string) []string {
	current := ""
	for _, entry := range environ {
		if v, is := strings.CutPrefix(entry, gitio.ParametersVar+"="); is {
			current = v
		}
	}
	value, on := Environ(repo, current)
	if !on {
		return environ
	}
	out := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, gitio.ParametersVar+"=")
	})
	return append(out, gitio.ParametersVar+"="+value)
}
