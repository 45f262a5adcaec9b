package log_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// counting counts the objects that are read in bulk, and how often, and all that are read or written,
// with their bytes.
type counting struct {
	log.Store
	read, asked, objects, bytes atomic.Int64
}

func (c *counting) weigh(all ...plumbing.Object) {
	c.objects.Add(int64(len(all)))
	for _, o := range all {
		c.bytes.Add(int64(len(o.Data)))
	}
}

func (c *counting) Object(ctx context.Context, name string) (plumbing.Object, error) {
	o, err := c.Store.Object(ctx, name)
	c.weigh(o)
	return o, err
}

func (c *counting) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	c.read.Add(int64(len(names)))
	c.asked.Add(1)
	all, err := c.Store.Objects(ctx, names)
	c.weigh(all...)
	return all, err
}

func (c *counting) WriteObjects(ctx context.Context, all []plumbing.Object) error {
	c.weigh(all...)
	return c.Store.WriteObjects(ctx, all)
}

// many writes a board with n tasks into a store.
func many(t testing.TB, s log.Store, n int) {
	t.Helper()
	w := newWriter(t, s).init()
	w.do(task("task-0"))
	t0 := *w.tip().State.Task("task-0")
	files := map[string][]byte{}
	for i := range n {
		t0.ID, t0.Stage, t0.Plan = fmt.Sprintf("task-%d", i), board.CodeStage, board.PlanProposed
		data := testrun.Must(codec.Encode(&t0))(t)
		files["tasks/"+t0.ID+".yaml"] = data
	}
	w.byHand(files)
}

// TestBriefsCache checks that briefs are read once for all readers, and that losing or damaging the
// file costs only time.
func TestBriefsCache(t *testing.T) {
	store := &counting{Store: testrepo.NewMemory()}
	many(t, store, 40)
	file := filepath.Join(t.TempDir(), "below", "briefs.json")
	briefs := func() int64 {
		t.Helper()
		was := store.read.Load()
		s := testrun.Must(log.NewReader(store, file).Tip(context.Background()))(t)
		all := testrun.Must(s.State.Briefs())(t)
		if len(all) != 40 || all["task-7"].ID != "task-7" || all["task-7"].Status != board.Draft || all["task-7"].Stage != board.CodeStage || all["task-7"].Plan != board.PlanProposed {
			t.Errorf("%d briefs, %+v", len(all), all["task-7"])
		}
		return store.read.Load() - was
	}
	for i, want := range []int64{40, 0, 0} {
		if n := briefs(); n != want {
			t.Errorf("reading %d: %d tasks read, want %d", i, n, want)
		}
	}
	newWriter(t, store).do(&board.AmendTask{About: board.About{Task: "task-8"}, Set: []string{"priority"}, Definition: board.Definition{Priority: 1}})
	if n := briefs(); n != 1 {
		t.Errorf("after a change: %d", n)
	}
	check(t, os.WriteFile(file, []byte(`{"version":1,"briefs":{"x":`), 0o600))
	if n := briefs(); n != 40 {
		t.Errorf("spoilt: %d", n)
	}
	if temps, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); err != nil || len(temps) != 0 {
		t.Errorf("left: %q %v", temps, err)
	}
	check(t, os.WriteFile(file, []byte(`{"version":99}`), 0o600))
	if n := briefs(); n != 40 {
		t.Errorf("of another form: %d", n)
	}
	check(t, os.Remove(file))
	briefs()
	data := testrun.Must(os.ReadFile(file))(t)
	check(t, os.WriteFile(file, data[1:], 0o600))
	if n := briefs(); n != 40 {
		t.Errorf("its lines under another heading: %d", n)
	}
	check(t, os.WriteFile(file, data[:len(data)-1], 0o600))
	if n := briefs(); n != 1 {
		t.Errorf("without the end of its last line: %d", n)
	}
	// A line that is spoilt costs the reading of its task.
	for what, spoil := range map[string]func(line string) string{
		"a field too many": func(line string) string { return line + "\ttrue" },
		"a field too few":  func(line string) string { return line[:strings.LastIndexByte(line, '\t')] },
		"no truth":         func(line string) string { return line[:strings.LastIndexByte(line, '\t')] + "\tperhaps" },
		"no number":        func(line string) string { return strings.Replace(line, "\t0\t", "\tmany\t", 1) },
	} {
		lines := strings.Split(string(data), "\n")
		lines[1] = spoil(lines[1])
		check(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
		if n := briefs(); n != 1 {
			t.Errorf("%s: %d", what, n)
		}
	}
	check(t, os.Remove(file))
	if n := briefs(); n != 40 {
		t.Errorf("lost: %d", n)
	}
	// The file of a task under another name is not a second task.
	w := newWriter(t, store)
	tree := testrun.Must(log.ReadTree(w.ctx, store, w.tip().Head.Tree))(t)
	files := testrun.Must(tree.Files())(t)
	o := testrun.Must(store.Object(w.ctx, string(files["tasks/task-3.yaml"].OID)))(t)
	w.byHand(map[string][]byte{"tasks/task-copy.yaml": o.Data})
	s := testrun.Must(log.NewReader(store, file).Tip(w.ctx))(t)
	if _, err := s.State.Briefs(); err == nil {
		t.Error("a copied file passes for a task")
	}
}

// TestTasksAhead checks that a few tasks are read alone, and that who reads all of them does not
// ask for each.
func TestTasksAhead(t *testing.T) {
	const n = 300
	store := &counting{Store: testrepo.NewMemory()}
	many(t, store, n)
	s := testrun.Must(log.NewReader(store, "").Tip(context.Background()))(t)
	read, asked := store.read.Load(), store.asked.Load()
	for i := range n {
		if s.State.Task(fmt.Sprintf("task-%d", i)) == nil {
			t.Fatalf("task-%d can't be read: %v", i, s.State.Err())
		}
		if i == 9 && store.read.Load()-read != 10 {
			t.Errorf("for 10 tasks %d were read", store.read.Load()-read)
		}
	}
	if got := store.read.Load() - read; got != n {
		t.Errorf("%d tasks were read for %d", got, n)
	}
	if got := store.asked.Load() - asked; got > 40 {
		t.Errorf("the store was asked %d times for %d tasks", got, n)
	}
}

// TestSingles checks that a log decodes the settings once for commits that have the same, anew when
// they have changed, and that a later format is refused each time.
func TestSingles(t *testing.T) {
	s := testrepo.NewMemory()
	w := newWriter(t, s).init()
	first := w.tip()
	config := first.State.Config()
	w.do(note("later"))
	later := w.tip()
	if later.State.Config() != config {
		t.Error("the settings were decoded twice")
	}
	text := testrun.Must(s.Object(w.ctx, string(first.Commit)+":"+board.ConfigPath))(t)
	edited := strings.Replace(string(text.Data), ": "+config.IntegrationBranch, ": trunk", 1)
	w.byHand(map[string][]byte{board.ConfigPath: []byte(edited)})
	if now := w.tip().State; now.Config() == nil || now.Config().IntegrationBranch != "trunk" {
		t.Errorf("after a change: %v, %v", now.Config(), now.Err())
	}
	at := testrun.Must(w.log.At(w.ctx, first.Commit))(t)
	if at.State.Config().IntegrationBranch != config.IntegrationBranch {
		t.Error("an older commit has later settings")
	}
	newer := w.byHand(map[string][]byte{board.MetaPath: []byte("format: 2\n")})
	for range 2 {
		if _, err := w.log.At(w.ctx, newer); !errors.As(err, new(*log.NewerFormatError)) {
			t.Errorf("a later format: %v", err)
		}
	}
	check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: newer, New: later.Commit}}, ""))
}
