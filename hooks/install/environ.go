package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
)

// Environ returns the value of gitenv.ParametersVar with which git runs the hooks for an agent:
// everywhere in this repository, but not in others, since tests may create repositories of their
// own. current is the variable's present value. ok is false if the hooks are not installed.
func Environ(repo *git.Repo, current string) (value string, ok bool) {
	config := filepath.Join(Dir(repo), configFile)
	if _, err := os.Stat(config); err != nil {
		return current, false
	}
	return gitenv.AddSettings(current, gitenv.IncludeWithin(repo.CommonDir(), config)...), true
}

// Unhooked returns a value of gitenv.ParametersVar without what Environ has added to it.
func Unhooked(repo *git.Repo, current string) string {
	return gitenv.DropSettings(current, gitenv.IncludeWithin(repo.CommonDir(), filepath.Join(Dir(repo), configFile))...)
}

// Hooked returns the environment with Environ's setting, in which git runs the hooks on this
// repository.
func Hooked(repo *git.Repo, environ []string) []string {
	current := ""
	for _, entry := range environ {
		if v, is := strings.CutPrefix(entry, gitenv.ParametersVar+"="); is {
			current = v
		}
	}
	value, on := Environ(repo, current)
	if !on {
		return environ
	}
	out := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, gitenv.ParametersVar+"=")
	})
	return append(out, gitenv.ParametersVar+"="+value)
}
