package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// made writes a commit without files.
func made(t *testing.T, b *gitboard.Board, message string, parents ...plumbing.OID) plumbing.OID {
	t.Helper()
	args := []string{"commit-tree", "-m", message, string(plumbing.EmptyTree)}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	return plumbing.OID(testrun.RunGit(t, b.Repo().TopLevel(), args...))
}

// TestOldestWith checks which commit of integration's first-parent line brought a commit there,
// however long the line is.
func TestOldestWith(t *testing.T) {
	ctx, b, _, base := boarded(t)
	for _, length := range []int{1, 2, 5} {
		for at := range length {
			topic := made(t, b, fmt.Sprint("topic ", length, at), base)
			line := []plumbing.OID{base}
			for i := range length {
				parents := []plumbing.OID{line[i]}
				if i == at {
					parents = append(parents, topic)
				}
				line = append(line, made(t, b, fmt.Sprint("step ", length, at, i), parents...))
			}
			tip := line[length]
			if got, err := oldestWith(ctx, b.Repo(), topic, tip); got.OID != line[at+1] || len(got.Parents) != 2 || err != nil {
				t.Errorf("%d of %d: %+v %v, not %s", at, length, got, err, line[at+1])
			}
			if got, err := oldestWith(ctx, b.Repo(), line[at], tip); got.OID != line[at] || err != nil {
				t.Errorf("on the line, %d of %d: %+v %v", at, length, got, err)
			}
		}
	}
}

// TestOverlay checks which files can be brought to a tree, and the fate of existing files.
func TestOverlay(t *testing.T) {
	ctx, b, _, base := boarded(t)
	top := b.Repo().TopLevel()
	for _, file := range []string{"dir/new.txt", "dir/deep/er.txt", "run.sh"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(top, file)), 0o755))
		must(t, os.WriteFile(filepath.Join(top, file), []byte(file+"\n"), 0o755))
	}
	run(t, top, "update-index", "--add", "--cacheinfo", "160000,"+string(base)+",module")
	must(t, os.MkdirAll(filepath.Join(top, "module"), 0o755))
	from := plumbing.OID(testrun.CommitAll(t, top, "files"))
	for _, c := range []struct{ source, path, want string }{
		{"run.sh", "run.sh", "a.txt run.sh"},
		{"dir/new.txt", "dir/new.txt", "a.txt dir/new.txt"},
		{"dir/deep/er.txt", "dir/deep/er.txt", "a.txt dir/deep/er.txt"},
		{"run.sh", "a.txt", "a.txt"},
		{"run.sh", "a.txt/below", "a.txt/below"},
	} {
		o := &overlay{repo: b.Repo()}
		file := testrun.Must(o.file(ctx, from, c.source))(t)
		tree := testrun.Must(o.treeOf(ctx, base))(t)
		tree = testrun.Must(o.put(ctx, tree, c.path, file))(t)
		must(t, b.Repo().WriteObjects(ctx, o.written))
		names := strings.Fields(testrun.RunGit(t, top, "ls-tree", "-r", "--name-only", string(tree)))
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s as %s: %q, not %q", c.source, c.path, got, c.want)
		}
		if line := testrun.RunGit(t, top, "ls-tree", "-r", string(tree), c.path); !strings.HasPrefix(line, "100755 blob "+string(file.OID)) {
			t.Errorf("%s as %s: %s", c.source, c.path, line)
		}
	}
	for _, path := range []string{"none", "dir", "dir/none", "run.sh/below", "module", "dir/deep"} {
		r := (*board.Refusal)(nil)
		if _, err := (&overlay{repo: b.Repo()}).file(ctx, from, path); !errors.As(err, &r) || r.Code != board.CodeInvalid {
			t.Errorf("%s: %v", path, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (&overlay{repo: b.Repo()}).file(cancelled, from, "run.sh"); !errors.Is(err, context.Canceled) {
		t.Errorf("cut short: %v", err)
	}
}
