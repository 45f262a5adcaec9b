package gitio

import (
	"path/filepath"
	"strings"
)

// ParametersVar is the variable in which `git -c` hands settings to the programs that git starts. Git reads it after
// everything else, so what it says holds even where a program empties the other places (GIT_CONFIG_GLOBAL) or appends
// to GIT_CONFIG_COUNT.
const ParametersVar = "GIT_CONFIG_PARAMETERS"

// Setting is a key of git's configuration with its value.
type Setting struct{ Key, Value string }

// WithSettings returns the value of ParametersVar that adds settings to its current value. One that it has already
// is not added again.
func WithSettings(current string, settings ...Setting) string {
	for _, s := range settings {
		entry := quote(s.Key) + "=" + quote(s.Value)
		if !strings.Contains(" "+current+" ", " "+entry+" ") {
			current = strings.TrimSpace(current + " " + entry)
		}
	}
	return current
}

// quote writes a word as git's sq_quote does.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(text) + "'"
}

// IncludeWithin are the settings that include a file wherever git works on the repository common, and only there.
func IncludeWithin(common, file string) []Setting {
	common = escapePattern(common)
	var all []Setting
	for _, where := range []string{common, common + "/worktrees/**"} {
		all = append(all, Setting{Key: "includeIf.gitdir:" + where + ".path", Value: file})
	}
	return all
}

// escapePattern makes a path one that git's patterns match literally.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(path))
}
