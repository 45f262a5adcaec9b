package demo

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The project's files, as each stage of the work writes them. The suffix .txt keeps them out of
// this module's build.
//
//go:embed all:files
var files embed.FS

// write writes the files of a stage into a directory, and lists them.
func write(stage, dir string) ([]string, error) {
	root := "files/" + stage
	var written []string
	err := fs.WalkDir(files, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, root+"/"), ".txt")
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		written = append(written, name)
		return os.WriteFile(to, data, mode)
	})
	slices.Sort(written)
	return written, err
}
