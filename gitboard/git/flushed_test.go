//go:build linux

package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// flushes lists what must be on disk before it is relied on: an action, and the files that this
// process or git must flush for it.
var flushes = map[string]struct {
	do     func(context.Context, *testing.T, *Repo)
	synced string
	files  int
}{
	"an object": {func(ctx context.Context, t *testing.T, r *Repo) {
		check(t, r.WriteObjects(ctx, []plumbing.Object{plumbing.NewObject(plumbing.BlobObject, []byte("flushed"))}))
	}, `/objects/.*/tmp_obj`, 1},
	// Their pack and its index, which gets its name while it is written.
	"many objects": {func(ctx context.Context, t *testing.T, r *Repo) {
		check(t, r.WriteObjects(ctx, many(packFrom)))
	}, `/objects/pack/tmp_(pack|idx)`, 2},
	"a ref": {func(ctx context.Context, t *testing.T, r *Repo) {
		head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
		check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/other", New: head}}, "test"))
	}, `/refs/heads/other\.lock`, 1},
	"a snapshot": {func(ctx context.Context, t *testing.T, r *Repo) { // its blob, tree and commit
		writeIn(t, r.TopLevel(), "left", "work that is nowhere else\n")
		must[plumbing.OID](t)(r.Worktree(r.TopLevel()).Snapshot(ctx, "snap", ada))
	}, `/objects/.*/tmp_obj`, 3},
	"a merge's tree": {func(ctx context.Context, t *testing.T, r *Repo) {
		var sides []plumbing.OID
		for _, name := range []string{"ours", "theirs"} {
			native(t, r.TopLevel(), "checkout", "-q", "-b", name, "main")
			writeIn(t, r.TopLevel(), name, name)
			native(t, r.TopLevel(), "add", name)
			native(t, r.TopLevel(), "commit", "-q", "-m", name)
			sides = append(sides, must[plumbing.OID](t)(r.ResolveCommit(ctx, name)))
		}
		_, _, err := r.History().MergeTree(ctx, sides[0], sides[1])
		check(t, err)
	}, `/objects/.*/tmp_obj`, 1},
	// Its tree and commit, and the branch.
	"a merge in a worktree": {func(ctx context.Context, t *testing.T, r *Repo) {
		native(t, r.TopLevel(), "checkout", "-q", "-b", "theirs")
		writeIn(t, r.TopLevel(), "theirs", "theirs")
		native(t, r.TopLevel(), "add", "theirs")
		native(t, r.TopLevel(), "commit", "-q", "-m", "theirs")
		native(t, r.TopLevel(), "checkout", "-q", "main")
		native(t, r.TopLevel(), "commit", "-q", "--allow-empty", "-m", "ours")
		must[[]string](t)(r.Worktree(r.TopLevel()).MergeInto(ctx, must[plumbing.OID](t)(r.ResolveCommit(ctx, "theirs")), "merge", ada))
	}, `(/objects/.*/tmp_obj|/refs/heads/main\.lock)`, 2},
	"the settings": {func(_ context.Context, t *testing.T, r *Repo) {
		check(t, r.Settings().Edit(func(text []byte) ([]byte, error) { return append(text, "# more\n"...), nil }))
	}, `/config\.lock`, 1},
}

func TestFlushed(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace, which sees it")
	}
	_, r := scratch(t)
	for name, want := range flushes {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			cmd := exec.Command(strace, "-f", "--seccomp-bpf", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", trace, os.Args[0], "-test.run", "^TestFlushes$")
			cmd.Env = append(os.Environ(), "FLUSHES="+name, "FLUSHES_IN="+r.TopLevel())
			if out, err := cmd.CombinedOutput(); err != nil {
				if strings.Contains(string(out), "ptrace") {
					t.Skipf("strace may not trace here: %s", out)
				}
				t.Fatalf("%v\n%s", err, out)
			}
			text := testrun.Must(os.ReadFile(trace))(t)
			// A call that another process interrupts has its result on a line of its own.
			if n := len(regexp.MustCompile(`(?m)f(data)?sync\(\d+<.*`+want.synced+`[^>]*>(\) += 0| <unfinished \.\.\.>)$`).FindAll(text, -1)); n < want.files {
				t.Errorf("%d of %d files are flushed:\n%s", n, want.files, text)
			}
		})
	}
}

// TestFlushes is the process that TestFlushed observes: it does one of the actions.
func TestFlushes(t *testing.T) {
	f, asked := flushes[os.Getenv("FLUSHES")]
	if !asked {
		t.Skip("TestFlushed asks for it")
	}
	ctx := sandbox(t)
	dir := filepath.Join(t.TempDir(), "dépôt à moi")
	check(t, os.CopyFS(dir, os.DirFS(os.Getenv("FLUSHES_IN"))))
	f.do(ctx, t, open(t, ctx, dir))
}
