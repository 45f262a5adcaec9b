package definition

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the files that references to specs (path, optionally #anchor) name, each once.
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
