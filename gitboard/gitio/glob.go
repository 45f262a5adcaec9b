package gitio

import "strings"

// EscapeGlob makes a path mean itself in a pattern of filepath.Glob.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
