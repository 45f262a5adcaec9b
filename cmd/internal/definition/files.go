package definition

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Files returns the distinct files in references to specs (path, optionally #anchor).
func Files(refs []string) []string {
	var files []string
	for _, ref := range refs {
		file, _, _ := strings.Cut(ref, "#")
		if file = path.Clean(filepath.ToSlash(file)); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}
