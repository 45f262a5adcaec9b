package install

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/gitio"
)

// A Setting is an entry of an environment.
type Setting struct{ Key, Value string }

// Environ returns what an agent's environment needs beside what it has (getenv), for git to run the hooks
// wherever it works on this repository, and only there: its tests may make repositories of their own. Nothing,
// when the hooks are not installed or the environment has it already.
func Environ(repo *gitio.Repo, getenv func(string) string) []Setting {
	config := filepath.Join(Dir(repo), configFile)
	if _, err := os.Stat(config); err != nil {
		return nil
	}
	count, err := strconv.Atoi(getenv("GIT_CONFIG_COUNT"))
	if err != nil || count < 0 {
		count = 0
	}
	common := escape(repo.CommonDir())
	var added []Setting
	for _, where := range []string{common, common + "/worktrees/**"} {
		key := "includeIf.gitdir:" + where + ".path"
		if has(getenv, count, key) {
			continue
		}
		n := strconv.Itoa(count + len(added)/2)
		added = append(added, Setting{"GIT_CONFIG_KEY_" + n, key}, Setting{"GIT_CONFIG_VALUE_" + n, config})
	}
	if len(added) == 0 {
		return nil
	}
	return append(added, Setting{"GIT_CONFIG_COUNT", strconv.Itoa(count + len(added)/2)})
}

func has(getenv func(string) string, count int, key string) bool {
	for n := range count {
		if getenv("GIT_CONFIG_KEY_"+strconv.Itoa(n)) == key {
			return true
		}
	}
	return false
}

// escape makes a path one that git's patterns match literally.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(path))
}
