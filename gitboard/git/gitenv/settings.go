package gitenv

import (
	"path/filepath"
	"strings"
)

// ParametersVar is the variable in which `git -c` passes settings to the programs that git starts.
// Git reads it last, so it applies even if a program clears the other places (GIT_CONFIG_GLOBAL) or
// appends to GIT_CONFIG_COUNT.
const ParametersVar = "GIT_CONFIG_PARAMETERS"

// Setting is a key and a value of git's configuration.
type Setting struct{ Key, Value string }

// AddSettings returns the value of ParametersVar with the settings added to its current value,
// except those already there.
func AddSettings(current string, settings ...Setting) string {
	for _, s := range settings {
		entry := quote(s.Key) + "=" + quote(s.Value)
		if !strings.Contains(" "+current+" ", " "+entry+" ") {
			current = strings.TrimSpace(current + " " + entry)
		}
	}
	return current
}

// DropSettings returns the value of ParametersVar without the settings.
func DropSettings(current string, settings ...Setting) string {
	for _, s := range settings {
		current = strings.ReplaceAll(" "+current+" ", " "+quote(s.Key)+"="+quote(s.Value)+" ", " ")
	}
	return strings.TrimSpace(current)
}

// quote quotes a word as git's sq_quote does.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(text) + "'"
}

// IncludeWithin returns the settings that include a file wherever git works on the repository
// common or one of its worktrees, and only there: the repositories of a worktree's submodules are
// below its record, <common>/worktrees/<id>/modules, and are others.
func IncludeWithin(common, file string) []Setting {
	common = escapePattern(common)
	var all []Setting
	for _, where := range []string{common, common + "/worktrees/*"} {
		all = append(all, Setting{Key: "includeIf.gitdir:" + where + ".path", Value: file})
	}
	return all
}

// escapePattern escapes a path so that git's patterns match it literally.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(path))
}
