package log_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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
	testrun.Equal(t, briefs(), 1, "after a change")
	check(t, os.WriteFile(file, []byte(`{"version":1,"briefs":{"x":`), 0o600))
	testrun.Equal(t, briefs(), 40, "spoilt")
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
	testrun.Equal(t, briefs(), 40, "its lines under another heading")
	check(t, os.WriteFile(file, data[:len(data)-1], 0o600))
	testrun.Equal(t, briefs(), 1, "without the end of its last line")
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
		testrun.Equal(t, briefs(), 1, "%s", what)
	}
	check(t, os.Remove(file))
	testrun.Equal(t, briefs(), 40, "lost")
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
	testrun.Equal(t, later.State.Config(), config, "the settings were decoded twice")
	text := testrun.Must(s.Object(w.ctx, string(first.Commit)+":"+board.ConfigPath))(t)
	edited := strings.Replace(string(text.Data), ": "+config.IntegrationBranch, ": trunk", 1)
	w.byHand(map[string][]byte{board.ConfigPath: []byte(edited)})
	if now := w.tip().State; now.Config() == nil || now.Config().IntegrationBranch != "trunk" {
		t.Errorf("after a change: %v, %v", now.Config(), now.Err())
	}
	at := testrun.Must(w.log.At(w.ctx, first.Commit))(t)
	testrun.Equal(t, at.State.Config().IntegrationBranch, config.IntegrationBranch, "an older commit has later settings")
	newer := w.byHand(map[string][]byte{board.MetaPath: []byte("format: 2\n")})
	for range 2 {
		if _, err := w.log.At(w.ctx, newer); !errors.As(err, new(*log.NewerFormatError)) {
			t.Errorf("a later format: %v", err)
		}
	}
	check(t, s.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: newer, New: later.Commit}}, ""))
}

func encoded(t testing.TB, r any) []byte {
	t.Helper()
	return testrun.Must(codec.Encode(r))(t)
}

// over returns a merged task.
func over(id string, depends ...string) *board.Task {
	return &board.Task{
		ID: id, Description: "d", Status: board.Merged, StatusChangedAt: "2026-02-03T08:00:00Z", Priority: 3, Created: "2026-02-03T08:00:00Z",
		CreatedBy: "human", Kind: board.Code, DependsOn: depends, MergeCommit: "1111111111111111111111111111111111111111", Iteration: 2,
	}
}

// TestArchivedTasks checks that archived tasks are found in the archive of any sprint. Those that
// live tasks depend on are read once, together with the briefs; no others are read.
func TestArchivedTasks(t *testing.T) {
	store := &counting{Store: testrepo.NewMemory()}
	w := newWriter(t, store).init()
	waits := over("waits", "first", "second", "nowhere", "Not An Id", "folder")
	waits.Status, waits.MergeCommit = board.Unclaimed, ""
	files := map[string][]byte{
		"archive/sprint-1/first.yaml":    encoded(t, over("first")),
		"archive/sprint-2/second.yaml":   encoded(t, over("second")),
		"archive/sprint-2/third.yaml":    encoded(t, over("third")),
		"archive/sprint-2/folder.yaml/x": []byte("not a file\n"),
		"archive/sprint-3":               []byte("not a directory\n"),
		"archive/Odd Name/fourth.yaml":   encoded(t, over("fourth")),
		"tasks/waits.yaml":               encoded(t, waits),
		"tasks/done.yaml":                encoded(t, over("done", "third")),
	}
	w.byHand(files)
	file := filepath.Join(t.TempDir(), "briefs")
	reads := func(l *log.Reader, do func(s *board.State)) int64 {
		t.Helper()
		tip := testrun.Must(l.Tip(w.ctx))(t)
		was := store.read.Load()
		do(tip.State)
		check(t, tip.State.Err())
		return store.read.Load() - was
	}
	l := log.NewReader(store, file)
	archived := func(s *board.State) {
		t.Helper()
		for id, in := range map[string]string{"first": "sprint-1", "second": "sprint-2"} {
			path, b, err := s.Archived(id)
			if err != nil || path != board.ArchivePath(in, id) || !reflect.DeepEqual(b, over(id).Brief()) {
				t.Errorf("%s: %s %+v %v", id, path, b, err)
			}
		}
		for _, id := range []string{"nowhere", "fourth", "waits"} {
			if path, _, err := s.Archived(id); path != "" || err != nil {
				t.Errorf("%s: %q %v", id, path, err)
			}
		}
	}
	if n := reads(l, func(s *board.State) {
		s.Tasks()
		archived(s)
	}); n != 4 {
		t.Errorf("two tasks and the two that one of them waits for take %d reads", n)
	}
	if n := reads(l, func(s *board.State) {
		s.Tasks()
		archived(s)
	}); n != 0 {
		t.Errorf("the same again takes %d reads", n)
	}
	if n := reads(l, func(s *board.State) {
		s.Tasks()
		for range 2 {
			if path, b, err := s.Archived("third"); path == "" || err != nil || b.ID != "third" {
				t.Errorf("third: %q %+v %v", path, b, err)
			}
		}
	}); n != 1 {
		t.Errorf("one that nobody waits for takes %d reads", n)
	}
	if n := reads(log.NewReader(store, ""), archived); n != 2 {
		t.Errorf("without briefs two take %d reads", n)
	}
}

// TestArchivedDamage checks that a file in the archive that holds another task is reported as
// damage.
func TestArchivedDamage(t *testing.T) {
	store := testrepo.NewMemory()
	w := newWriter(t, store).init()
	waits := over("waits", "first")
	waits.Status, waits.MergeCommit = board.Unclaimed, ""
	w.byHand(map[string][]byte{"archive/sprint-1/first.yaml": encoded(t, over("other")), "tasks/waits.yaml": encoded(t, waits)})
	for _, look := range []func(s *board.State){
		func(s *board.State) { s.Tasks() },
		func(s *board.State) { s.BriefOf("first") },
	} {
		s := w.tip().State
		look(s)
		if s.Err() == nil {
			t.Error("it passes for the task")
		}
	}
}

// TestBriefsAreWhole checks that the cache returns complete briefs, and that a task that does not
// fit on a line of the file is read each time.
func TestBriefsAreWhole(t *testing.T) {
	store := &counting{Store: testrepo.NewMemory()}
	w := newWriter(t, store).init()
	files := map[string][]byte{}
	add := func(task *board.Task) { files["tasks/"+task.ID+".yaml"] = encoded(t, task) }
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		add(over(id))
	}
	full := over("full", "a", "b")
	full.Status, full.AssignedTo, full.ReviewingBy, full.ApprovedBy, full.ReservedFor = board.ReadyForReview, "coder-1", "code-reviewer-1", "code-reviewer-2", "coder-2"
	full.ReviewCyclesCurrent, full.ReviewCyclesTotal, full.DriftCommits, full.FailedBy = 1, 4, 7, []string{"coder-3", "coder-4"}
	full.Touches = []string{"cmd/a.go", "cmd/b.go"}
	full.HandoffPending, full.Freed, full.Paused = true, true, true
	full.History = []board.Event{{Time: "2026-02-03T09:00:00Z", Event: board.EventClaimed, Agent: "coder-1"}, {Time: "2026-02-03T10:00:00Z", Event: board.EventReady, Agent: "coder-1"}, {Time: "2026-02-03T11:00:00Z", Event: board.EventRejected}, {Time: "2026-02-03T12:00:00Z", Event: board.EventApproved}}
	add(full)
	for id, name := range map[string]string{"tab": "a\tb", "line": "a\nb"} {
		odd := over(id)
		odd.AssignedTo = name
		add(odd)
	}
	comma := over("comma", "x,y")
	comma.Status, comma.MergeCommit = board.Blocked, ""
	add(comma)
	comma.ID, comma.DependsOn, comma.Touches = "list", nil, []string{"x,y"}
	add(comma)
	w.byHand(files)
	file := filepath.Join(t.TempDir(), "briefs")
	read := func(l *log.Reader) (map[string]board.Brief, int64) {
		t.Helper()
		tip := testrun.Must(l.Tip(w.ctx))(t)
		was := store.read.Load()
		all := testrun.Must(tip.State.Briefs())(t)
		return all, store.read.Load() - was
	}
	first, n := read(log.NewReader(store, file))
	if int(n) != len(files) {
		t.Errorf("%d of %d are read", n, len(files))
	}
	again, n := read(log.NewReader(store, file))
	if n != 4 {
		t.Errorf("%d are read again, and four can't be written", n)
	}
	if !reflect.DeepEqual(first, again) || !reflect.DeepEqual(first["full"], full.Brief()) {
		t.Errorf("remembered as %+v", again["full"])
	}
}

// TestWhenBriefsAreWritten checks that the file is written once enough briefs are new, that at most its
// own directory is created, and that a file which can't be written leaves nothing behind.
func TestWhenBriefsAreWritten(t *testing.T) {
	for _, c := range []struct {
		tasks   int
		dir     string
		taken   bool // there is a directory in its place
		written bool
	}{{8, "a", false, false}, {9, "a", false, true}, {9, "a/b", false, true}, {9, "a/b/c", false, false}, {9, "a", true, false}} {
		store := testrepo.NewMemory()
		many(t, store, c.tasks)
		file := filepath.Join(t.TempDir(), filepath.FromSlash(c.dir), "briefs")
		if c.taken {
			check(t, os.MkdirAll(filepath.Join(file, "below"), 0o755))
		}
		tip := testrun.Must(log.NewReader(store, file).Tip(t.Context()))(t)
		if all, err := tip.State.Briefs(); err != nil || len(all) != c.tasks {
			t.Errorf("%d briefs, %v", len(all), err)
		}
		left := testrun.Must(filepath.Glob(filepath.Join(filepath.Dir(file), "*")))(t)
		if written := len(left) == 1 && left[0] == file; written != (c.written || c.taken) || !written && len(left) > 0 {
			t.Errorf("%d tasks, in %s: %v", c.tasks, c.dir, left)
		}
	}
}

// TestTaskTexts checks that only tasks whose file is encoded as the program would do it are
// returned as text.
func TestTaskTexts(t *testing.T) {
	store := testrepo.NewMemory()
	w := newWriter(t, store)
	if texts, err := w.tip().TaskTexts(); len(texts) > 0 || err != nil {
		t.Errorf("without a board: %v %v", texts, err)
	}
	w.init()
	plain := encoded(t, over("plain"))
	w.byHand(map[string][]byte{"tasks/plain.yaml": plain, "tasks/odd.yaml": append([]byte("# by hand\n"), encoded(t, over("odd"))...)})
	texts, err := w.tip().TaskTexts()
	if err != nil || len(texts) != 1 || string(texts["plain"]) != string(plain) {
		t.Errorf("%d texts: %v", len(texts), err)
	}
	w.byHand(map[string][]byte{"tasks/bad.yaml": []byte("[\n")})
	if _, err := w.tip().TaskTexts(); err == nil {
		t.Error("a board with a damaged task has texts")
	}
}

// TestWideDirectories checks that only wide directories are cached between reads of the board,
// besides its format.
func TestWideDirectories(t *testing.T) {
	for n, want := range map[int]int64{499: 1, 500: 2} {
		store := &counting{Store: testrepo.NewMemory()}
		many(t, store, n)
		l := log.NewReader(store, "")
		look := func() int64 {
			was := store.objects.Load()
			tip := testrun.Must(l.Tip(t.Context()))(t)
			if ids := tip.State.List(board.TaskDir); len(ids) != n {
				t.Errorf("%d tasks of %d", len(ids), n)
			}
			return store.objects.Load() - was
		}
		first := look()
		if saved := first - look(); saved != want {
			t.Errorf("with %d tasks a second look saves %d of %d objects", n, saved, first)
		}
	}
}
