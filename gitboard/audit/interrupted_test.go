package audit_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// failing is a store of which one read fails, or lacks an object.
type failing struct {
	oplog.Store
	left atomic.Int64
	gone bool
}

func (f *failing) fail() error {
	if f.left.Add(-1) == 0 {
		return &gitio.CommandError{Op: "cat-file", Exit: 1}
	}
	return nil
}

func (f *failing) Object(ctx context.Context, name string) (git.Object, error) {
	if f.gone {
		return f.Store.Object(ctx, name)
	}
	if err := f.fail(); err != nil {
		return git.Object{}, err
	}
	return f.Store.Object(ctx, name)
}

func (f *failing) Objects(ctx context.Context, names []string) ([]git.Object, error) {
	objects, err := f.Store.Objects(ctx, names)
	if failed := f.fail(); failed != nil {
		if !f.gone {
			return nil, failed
		}
		objects[len(objects)-1] = git.Object{}
	}
	return objects, err
}

func (f *failing) Ref(ctx context.Context, name string) (git.OID, error) {
	if err := f.fail(); err != nil {
		return "", err
	}
	return f.Store.Ref(ctx, name)
}

// TestFailedRead lets each read of a store fail in turn. A replay must report that: it may not take
// an unread object for missing or right. Nor may it pass over a commit that is gone.
func TestFailedRead(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	w.ready("alpha")
	from := w.tip()
	long := make([]byte, 9000)
	for i := range long {
		long[i] = 'a' + byte(i%7)
	}
	w.do(ada, &board.AddNote{Message: string(long)})
	task := *w.snapshot(w.tip()).State.Task("alpha")
	task.Priority = 1
	data, err := codec.Encode(&task)
	check(t, err)
	for n, files := range []map[string][]byte{
		{"tasks/alpha.yaml": data, "README.md": []byte("hello")},
		{"tasks/beta.yaml": []byte("id: [")},
		{"tasks/beta.yaml": nil, "tasks/alpha.yaml": []byte("id: [")},
	} {
		w.rewind(w.forge(forgery{parent: w.tip(), op: noteOf(fmt.Sprint("f", n)), files: files}))
		w.do(ada, &board.AddNote{Message: "and on"})
	}
	for name, replay := range map[string]func(oplog.Store) (*audit.Report, error){
		"all": func(s oplog.Store) (*audit.Report, error) {
			return audit.Verify(w.ctx, s, nil, audit.Range{}, nil)
		},
		"a range": func(s oplog.Store) (*audit.Report, error) {
			return audit.Verify(w.ctx, s, nil, audit.Range{From: from, To: w.tip()}, nil)
		},
		"a push": func(s oplog.Store) (*audit.Report, error) {
			return audit.Near(w.ctx, s, audit.Range{From: from, To: w.tip()})
		},
	} {
		whole, err := replay(w.store)
		check(t, err)
		for _, gone := range []bool{false, name != "all"} { // all of a history is read again after a fault
			for n := int64(1); ; n++ {
				store := &failing{Store: w.store, gone: gone}
				store.left.Store(n)
				report, err := replay(store)
				if store.left.Load() > 0 {
					break
				}
				if err == nil && (!gone || findings(report) == findings(whole)) {
					t.Errorf("%s: read %d failed, and it finds\n%s", name, n, findings(report))
				}
			}
		}
	}
}

// TestInterruptedAudit interrupts each place that uses git in turn. None
// does without what it asks git for.
func TestInterruptedAudit(t *testing.T) {
	w, repo := gitWorld(t)
	w.beginAt(w.integration)
	w.ready("alpha")
	w.ready("beta")
	from := w.tip()
	w.claim(coder1, "alpha")
	w.preExec(coder1, "alpha")
	work := w.submit(coder1, "alpha")
	w.judge(judge1, "alpha", board.VerdictApproved)
	// By hand, a test that both sides changed stays as it is on one: the merge is looked at file by file.
	w.move(w.project([]git.OID{w.integration}, ada, map[string]string{"alpha_test.go": "// ours"}))
	m, _ := w.mergeCommit("alpha", work)
	hand := w.project([]git.OID{w.integration, work}, coder1, map[string]string{"alpha_test.go": "// ours"})
	m.MergeCommit = string(hand)
	w.do(judge1, m, w.lands(hand))
	w.claim(coder2, "beta")
	w.preExec(coder2, "beta")
	// The review begins after the claim, and so the commits since the claim are counted apart.
	landed := w.project([]git.OID{w.integration}, ada, map[string]string{"specs/new.md": "# New\n"})
	w.do(ada, &board.Land{Before: string(w.integration), Commit: string(landed), Files: []string{"specs/new.md"}}, w.lands(landed))
	own := w.project([]git.OID{landed}, coder2, map[string]string{"beta.go": "//", "beta_test.go": ""})
	w.do(coder2, &board.Submit{
		About: about("beta"), Commit: string(own), Tree: w.tree(own), ReviewBase: string(landed), Commits: 2, Files: 2, DeletedTests: []string{"beta_test.go"}, NoTestsBecause: "none",
	}, git.RefUpdate{Ref: git.ReviewRef("beta", 1), New: own})
	w.comment(ada, "beta")
	w.judge(judge2, "beta", board.VerdictApproved)
	quick := w.project([]git.OID{w.integration}, coder2, map[string]string{"quick.go": "//"})
	w.move(w.project([]git.OID{quick}, ada, map[string]string{"slow.go": "//"}))
	to, now := w.tip(), w.now.Std()
	damaged := filepath.Join(t.TempDir(), "damaged")
	testrepo.Copy(t, repo.CommonDir(), damaged)
	lossyCopy, err := gitio.Open(w.ctx, damaged)
	check(t, err)
	l := &lossy{w, lossyCopy, nil}
	l.forget("liza", "kept")
	l.lose(git.OID(w.tree(own)))
	check(t, lossyCopy.Close())
	// Packed objects are read by git, and loose objects without it.
	repack := exec.Command("git", "repack", "-adq")
	repack.Dir = repo.CommonDir()
	check(t, repack.Run())
	strays := w.compare(repo, audit.Strays{}, quick)
	for name, look := range map[string]func(context.Context, *gitio.Repo) (any, error){
		"verify": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			return audit.Verify(ctx, repo, repo, audit.Range{From: from, To: to}, nil)
		},
		"verify what is damaged": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			report, err := audit.Verify(ctx, repo, repo, audit.Range{From: from, To: to}, nil)
			if err != nil {
				return nil, err
			}
			if text := texts(report.Findings); len(report.Findings) != 2 || !strings.Contains(text, "the submission of beta, "+own.Short()+", can't be read completely") {
				t.Error(text) // the other one is the stray
			}
			return report, nil
		},
		"verify all": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			return audit.Verify(ctx, repo, repo, audit.Range{}, nil)
		},
		"examine": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			push, err := audit.Examine(ctx, repo, oplog.New(repo, ""), audit.Range{From: from, To: to}, w.integration)
			if err != nil {
				return nil, err
			}
			return push.Report, nil
		},
		"recorded": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			return audit.Recorded(ctx, repo, audit.Range{From: from, To: to})
		},
		"compare": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			at, err := oplog.New(repo, "").At(ctx, to)
			check(t, err)
			return audit.Compare(ctx, repo, repo, at, audit.Strays{}, w.operation)
		},
		"compare again": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			at, err := oplog.New(repo, "").At(w.ctx, to)
			check(t, err)
			return audit.Compare(ctx, repo, repo, at, audit.Strays{Board: from, Integration: landed, Found: strays.Found}, w.operation)
		},
		"validate": func(ctx context.Context, repo *gitio.Repo) (any, error) {
			at, err := oplog.New(repo, "").At(ctx, to)
			check(t, err)
			return audit.Validate(ctx, at.State, repo, repo, audit.Here{Clone: "clone-1", Now: now})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repo.CommonDir()
			if strings.HasSuffix(name, "damaged") {
				dir = damaged
			}
			attempt := func(place string) (any, []string, error) {
				check(t, os.RemoveAll(filepath.Join(dir, "liza", "requests")))
				repo, err := gitio.Open(w.ctx, dir) // one that has read nothing yet
				check(t, err)
				defer repo.Close()
				ctx := testrepo.InterruptedIn(w.ctx, "github.com/git-liza/git-liza/gitboard/audit", place)
				found, err := look(ctx, repo)
				return found, ctx.Places(), err
			}
			_, places, err := attempt("")
			check(t, err)
			for i, place := range places {
				if !testrun.OneIn(8, i) {
					continue
				}
				if found, _, err := attempt(place); err == nil {
					t.Errorf("interrupted at %s, it finds\n%+v", place, found)
				}
			}
			t.Logf("%d places", len(places))
		})
	}
}
