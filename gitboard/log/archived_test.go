package log_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
