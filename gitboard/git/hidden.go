package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/git-liza/git-liza/gitboard/git/child"
)

// hiding are the ways in which an entry of an index keeps git from looking at its file
// (git-update-index): how `git ls-files -v` shows it, and the option that ends it.
var hiding = []struct {
	option string
	marks  func(tag rune) bool
}{
	{"--no-assume-unchanged", unicode.IsLower},
	{"--no-skip-worktree", func(tag rune) bool { return unicode.ToUpper(tag) == 'S' }},
}

// Hidden returns the files of a worktree that git is set not to look at, by the option that ends
// it. No status shows what was changed in them. Files that are not there are left out.
func (w *Worktree) Hidden(ctx context.Context) (map[string][]string, error) {
	out, err := w.in("ls-files", "ls-files", "-v", "-z").Output(ctx)
	if err != nil {
		return nil, err
	}
	hidden := map[string][]string{}
	for _, entry := range child.Fields(out) {
		tag, path, _ := strings.Cut(entry, " ")
		for _, h := range hiding {
			if !strings.ContainsFunc(tag, h.marks) {
				continue
			}
			if _, err := os.Lstat(filepath.Join(w.path, filepath.FromSlash(path))); err == nil {
				hidden[h.option] = append(hidden[h.option], path)
			}
		}
	}
	return hidden, nil
}

// reveal changes an index so that git looks at all files again. env names the index.
func (w *Worktree) reveal(ctx context.Context, env string) error {
	hidden, err := w.Hidden(ctx)
	for option, paths := range hidden {
		if err == nil {
			list := strings.Join(paths, "\x00") + "\x00"
			err = w.in("update-index", "update-index", option, "-z", "--stdin").With(env).Feed([]byte(list)).Run(ctx)
		}
	}
	return err
}
