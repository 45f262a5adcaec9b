package gitio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestWholeSince checks what is found missing or damaged of a history, and that what the other
// history has is not looked at: for a line of commits, and with a merge among them.
func TestWholeSince(t *testing.T) {
	ctx, made := scratch(t)
	dir := made.TopLevel()
	run := func(args ...string) string { return strings.TrimSpace(native(t, dir, args...)) }
	add := func(name, text string) {
		write(t, made, name, text)
		commitAll(t, made, name)
	}
	add("old.txt", "old")
	run("branch", "from")
	add("a/b/new.txt", "new")
	add("large.txt", strings.Repeat("large\n", largeFile/4))
	add("old.txt", "changed")
	run("branch", "line")
	run("checkout", "-q", "-b", "side", "from")
	add("side.txt", "side")
	run("checkout", "-q", "-b", "merged", "line")
	run("merge", "-q", "--no-ff", "-m", "merge", "side")
	from := git.OID(run("rev-parse", "from"))
	tips := map[string]git.OID{"line": git.OID(run("rev-parse", "line")), "merged": git.OID(run("rev-parse", "merged"))}
	for name, path := range map[string]string{
		"line:a/b/new.txt": "a/b/new.txt", "line:a/b": "a/b", "line:large.txt": "large.txt", "line:old.txt": "old.txt",
		"line~1:large.txt": "large.txt", "line^{tree}": "", "line~1": "", "line~1^{tree}": "", "from:old.txt": "whole", "from^{tree}": "whole",
	} {
		oid := run("rev-parse", name)
		at := filepath.Join(dir, ".git", "objects", oid[:2], oid[2:])
		for _, damage := range []string{"", "\x00garbage"} {
			data, err := os.ReadFile(at)
			check(t, errors.Join(err, os.Remove(at)))
			if damage != "" {
				check(t, os.WriteFile(at, []byte(damage), 0o644))
			}
			for tip, commit := range tips {
				repo := open(t, ctx, dir) // that has read nothing yet
				found := repo.WholeSince(ctx, from, commit)
				lost := (*DamagedError)(nil)
				switch is := errors.As(found, &lost); {
				case path == "whole" && damage != "" && tip == "merged": // git may stop there
				case path == "whole" && found != nil:
					t.Errorf("%s %q, %s: %v", name, damage, tip, found)
				case path != "whole" && !is:
					t.Errorf("%s %q, %s: found %v", name, damage, tip, found)
				case path != "whole" && tip == "line" && lost.Path != path:
					t.Errorf("%s %q, %s: found at %q, not at %q", name, damage, tip, lost.Path, path)
				}
			}
			check(t, errors.Join(os.RemoveAll(at), os.WriteFile(at, data, 0o444)))
		}
	}
}
