package git

import "strings"

// EscapeGlob escapes a path so that filepath.Glob takes it literally.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
