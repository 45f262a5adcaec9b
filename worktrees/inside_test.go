package worktrees

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestNumbered checks that kept work is listed by number, not by name, and that refs of others
// below its prefix are not taken for it.
func TestNumbered(t *testing.T) {
	ctx, s, commits := began(t)
	blob := plumbing.NewObject(plumbing.BlobObject, []byte("no commit"))
	must(t, s.repo.WriteObjects(ctx, []plumbing.Object{blob}))
	prefix := plumbing.AtticPrefix + "one"
	list := func(next int, want ...plumbing.OID) {
		t.Helper()
		a, err := s.attic(ctx, "one")
		if err != nil || !slices.Equal(a.commits, want) || a.next != next {
			t.Errorf("%+v %v, not %v", a, err, want)
		}
	}
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{
		{Ref: prefix + "/10", New: commits[1]}, {Ref: prefix + "/2", New: commits[0]}, {Ref: prefix + "/3", New: blob.OID}, {Ref: prefix + "/own", New: commits[2]},
	}, ""))
	list(11, commits[0], commits[1])
	// A ref to an object that is gone keeps git from saying what the others point to.
	gone := strings.Repeat("1", 40)
	must(t, os.WriteFile(filepath.Join(s.repo.CommonDir(), "refs", "liza", "attic", "one", "12"), []byte(gone+"\n"), 0o644))
	list(13, commits[0], blob.OID, commits[1], plumbing.OID(gone))
}

// TestCutShort checks that steps which could not be taken report that, and leave behind what shows that
// they are still to be taken.
func TestCutShort(t *testing.T) {
	ctx, s, commits := began(t)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	c := &candidate{s: s, token: "aaaa", path: filepath.Join(s.Folder(), claimMark+"aaaa"), base: commits[0]}
	must(t, c.note("one"))
	must(t, s.repo.Worktree(c.path).Add(ctx, c.base))
	must(t, os.MkdirAll(filepath.Join(s.repo.CommonDir(), "worktrees", "stray"), 0o755)) // so that git moves worktrees
	ada := board.HumanActor("Ada", "ada@example.org")
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	must(t, os.WriteFile(filepath.Join(s.Path("one"), "work"), []byte("w\n"), 0o644))
	v := noBoard()
	for name, step := range map[string]func() error{
		"a worktree's removal": func() error { return s.clearAway(cancelled, v, "one", ada, nil) },
		"one in its place": func() error {
			return s.clearInPlace(cancelled, v, "one", ada, nil, identity(s.Path("one")), context.Canceled)
		},
		"one that was moved away": func() error { return s.moveBack(cancelled, c, c.path, s.Path("three")) },
	} {
		testrun.ErrorIs(t, step(), context.Canceled, "%s", name)
		if !present(c.recordFile()) || !present(c.path) || !present(filepath.Join(s.Path("one"), "work")) {
			t.Fatalf("%s: something is gone", name)
		}
	}
	// A candidate that can be neither moved nor made at its place is removed: nothing is in it yet.
	testrun.ErrorIs(t, c.place(cancelled, v, "two"), context.Canceled, "a candidate's move")
	if err := c.leave("two"); err != nil || present(c.path) || present(c.recordFile()) {
		t.Errorf("something of the candidate is left: %v", err)
	}
}

// TestWhy checks which reason a task is counted under when nothing can be claimed.
func TestWhy(t *testing.T) {
	merged := func(id string) bool { return id == "merged" }
	for _, c := range []struct {
		b    board.Brief
		want string
	}{
		{board.Brief{Status: board.Draft}, "are drafts"},
		{board.Brief{Status: board.Blocked}, "are blocked"},
		{board.Brief{Status: board.Approved}, "are in review or approved"},
		{board.Brief{Status: board.Merged}, ""},
		{board.Brief{Status: board.Unclaimed, Paused: true, ReservedFor: "coder-2"}, "are paused"},
		{board.Brief{Status: board.Unclaimed, ReservedFor: "coder-2"}, "are reserved for others"},
		{board.Brief{Status: board.Unclaimed, ReservedFor: "coder-1", DependsOn: []string{"merged", "open"}}, "wait for dependencies"},
		{board.Brief{Status: board.Rejected, DependsOn: []string{"merged"}}, "are rejected and wait for their author"},
	} {
		testrun.Equal(t, why(c.b, "coder-1", merged), c.want, "%+v", c.b)
	}
}

// TestInUse checks when the process that made a candidate counts as gone.
func TestInUse(t *testing.T) {
	_, s, _ := began(t)
	host := testrun.Must(os.Hostname())(t)
	now, pid := s.b.Now(), os.Getpid()
	for _, c := range []struct {
		name string
		r    record
		want bool
	}{
		{"this process", record{PID: pid, Process: proc.This(), Host: host, Since: now}, true},
		{"this process, since yesterday by a clock that has jumped", record{PID: pid, Process: proc.This(), Host: host, Since: now.Add(-abandonedAfter)}, proc.This() != ""},
		{"a process whose start is not known", record{PID: pid, Host: host, Since: now}, true},
		{"another one with its id", record{PID: pid, Process: proc.ID(fmt.Sprint(pid) + " boot 1 space"), Host: host, Since: now}, proc.This() == ""},
		{"none", record{PID: 1 << 30, Host: host, Since: now}, false},
		{"one of another machine", record{PID: 1 << 30, Host: host + "-2", Since: now}, true},
		{"one of yesterday", record{PID: pid, Host: host, Since: now.Add(-abandonedAfter)}, false},
		{"the first process, which is another user's", record{PID: 1, Host: host, Since: now}, true},
		{"one that has left it", record{PID: pid, Host: host, Since: now, Left: true}, false},
	} {
		testrun.Equal(t, s.inUse(&c.r), c.want, "%s", c.name)
	}
}

// TestSucceeded checks whose worktree may take the place of a former holder's: that of the claim
// which meant to, as long as no other fresh claim came.
func TestSucceeded(t *testing.T) {
	event := func(of, agent string) board.Event { return board.Event{Event: of, Agent: agent} }
	before := event(board.EventClaimed, "coder-1")
	for _, c := range []struct {
		name  string
		after []board.Event
		want  bool
	}{
		{"no claim yet", nil, false},
		{"the claim", []board.Event{event(board.EventReclaimedAfterExpiry, "coder-2"), event(board.EventReady, "coder-2")}, true},
		{"another one's", []board.Event{event(board.EventReclaimedAfterExpiry, "coder-3")}, false},
		{"one that keeps the work", []board.Event{event(board.EventResumed, "coder-2")}, false},
		{"one after it", []board.Event{event(board.EventReclaimedAfterExpiry, "coder-2"), event(board.EventReassignedAfterReject, "coder-3")}, false},
	} {
		r := &replaced{Agent: "coder-2", Events: 1}
		testrun.Equal(t, r.succeeded(&board.Task{History: append([]board.Event{before}, c.after...)}), c.want, "%s", c.name)
	}
}

// TestUnmoved checks which worktree takes the place of a former holder's: one that is there and set
// up, whose process has ended, and that was made to replace the one in its place.
func TestUnmoved(t *testing.T) {
	ctx, s, commits := began(t)
	task := &board.Task{ID: "one", Status: board.Claimed, History: []board.Event{{Event: board.EventClaimed, Agent: "coder-2"}}}
	if s.unmoved(task) != nil {
		t.Error("found where nothing was made")
	}
	host := testrun.Must(os.Hostname())(t)
	must(t, os.MkdirAll(s.claimsDir(), 0o755))
	must(t, os.MkdirAll(filepath.Join(s.claimsDir(), "a folder"), 0o755))
	must(t, os.WriteFile(filepath.Join(s.claimsDir(), "half"), []byte("{"), 0o644))
	must(t, os.MkdirAll(filepath.Join(s.Folder(), claimMark+"aaaa"), 0o755))
	write := func(change func(*record)) {
		t.Helper()
		r := record{PID: 1 << 30, Host: host, Task: "one", Since: s.b.Now(), Replaces: &replaced{Worktree: identity(s.Path("one")), Agent: "coder-2"}}
		change(&r)
		data := testrun.Must(json.Marshal(r))(t)
		must(t, os.WriteFile(filepath.Join(s.claimsDir(), "aaaa"), data, 0o644))
	}
	write(func(*record) {})
	if s.unmoved(task) != nil {
		t.Error("found where no worktree is to be replaced")
	}
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	for name, change := range map[string]func(*record){
		"another task's":  func(r *record) { r.Task = "two" },
		"for no other":    func(r *record) { r.Replaces = nil },
		"for another":     func(r *record) { r.Replaces.Worktree = "gitdir: another" },
		"not set up":      func(r *record) { r.Unready = true },
		"still in use":    func(r *record) { r.PID = os.Getpid() },
		"somebody else's": func(r *record) { r.Replaces.Agent = "coder-1" },
	} {
		if write(change); s.unmoved(task) != nil {
			t.Errorf("found: %s", name)
		}
	}
	write(func(*record) {})
	if c := s.unmoved(task); c == nil || c.token != "aaaa" {
		t.Errorf("found %+v", c)
	}
	if s.unmoved(&board.Task{ID: "one", Status: board.Rejected, History: task.History}) != nil {
		t.Error("found for a task that nobody has claimed")
	}
	must(t, os.Remove(filepath.Join(s.Folder(), claimMark+"aaaa")))
	if s.unmoved(task) != nil {
		t.Error("found where it is gone")
	}
}

// TestEndsWork checks which operations end the work on a task, and record what was kept.
func TestEndsWork(t *testing.T) {
	claimed, review := &board.Task{Status: board.Claimed}, &board.Task{Status: board.ReadyForReview}
	for _, c := range []struct {
		p    board.Payload
		t    *board.Task
		want bool
	}{
		{&board.Abandon{}, claimed, true},
		{&board.Supersede{}, claimed, true},
		{&board.Unblock{Mode: board.UnblockFresh}, claimed, true},
		{&board.Unblock{Mode: board.UnblockKeepWork}, claimed, false},
		{&board.Answer{Afresh: true}, claimed, true},
		{&board.Answer{}, claimed, false},
		{&board.Release{}, claimed, true},
		{&board.Release{KeepWork: true}, claimed, false},
		{&board.Release{}, review, false},
		{&board.Block{}, claimed, false},
	} {
		if got := endsWork(c.p, c.t); (got != nil) != c.want {
			t.Errorf("%+v of a task that is %s: %v", c.p, c.t.Status, got)
		}
	}
	again := &board.Release{Kept: "of another claim"}
	if endsWork(again, review); again.Kept != "" {
		t.Errorf("kept %q", again.Kept)
	}
}

// TestAdvice checks what a coder is told about work that integration has left behind.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		st    Status
		files int
		want  string
	}{
		{Status{}, 9, "has all of integration"},
		{Status{Behind: 1, WouldConflict: []string{"a"}}, 1, "git liza block one"},
		{Status{Behind: 1, BothTouched: []string{"a"}}, 9, "git liza block one"},
		{Status{Behind: 1}, bringInAtMost + 1, "changed 3 files and none of this work's"},
		{Status{Behind: 1}, bringInAtMost, "bring it in"},
	} {
		testrun.Contains(t, advice("one", &c.st, c.files), c.want, "%+v", c.st)
	}
}

// TestFirstOf checks that a warning names a few commits and counts the others.
func TestFirstOf(t *testing.T) {
	names := strings.Fields("a b c d e f g")
	for n, want := range map[int]string{1: "a", maxNamed: "a, b, c, d, e", 7: "a, b, c, d, e and 2 more"} {
		testrun.Equal(t, firstOf(names[:n]), want, "the value")
	}
}

// TestRecordable checks which paths a record can hold.
func TestRecordable(t *testing.T) {
	got := Recordable([]string{"a", "bad\xff", "tab\tbed", "\uFEFFmark", "é", "over", "too many"}, 3)
	if !slices.Equal(got, []string{"a", "é", "over"}) {
		t.Errorf("%q", got)
	}
}

// TestPassing checks which errors concern one claim alone, so that a sweep continues.
func TestPassing(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{board.Refuse(board.CodeWrongState, "m", ""), true},
		{board.Refuse(board.CodeSession, "m", ""), false},
		{board.Refuse(board.CodePermission, "m", ""), false},
		{errors.New("git failed"), false},
	} {
		testrun.Equal(t, passing(c.err), c.want, "%v", c.err)
	}
	s := Swept{Task: "one", Holder: "coder-1", Review: true, Skipped: "it was renewed"}
	testrun.Equal(t, s.String(), "one: coder-1's review claim was left: it was renewed", "the value")
}

// TestDead checks that a record is out of use a day after it was written, whatever it says.
func TestDead(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, os.MkdirAll(s.claimsDir(), 0o755))
	path := filepath.Join(s.Folder(), claimMark+"aaaa")
	must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
	then := time.Now().Add(-abandonedAfter - time.Minute)
	must(t, os.Chtimes(path, then, then))
	must(t, os.Mkdir(filepath.Join(s.claimsDir(), "aaaa"), 0o755))
	if r := s.leftBy("aaaa", path); r != nil {
		t.Errorf("a record that can't be read: %+v", r)
	}
	must(t, os.Remove(filepath.Join(s.claimsDir(), "aaaa")))
	if r := s.leftBy("aaaa", path); r == nil {
		t.Error("a worktree of yesterday without a record is in use")
	}
	if r := s.leftBy("bbbb", path+"-gone"); r != nil {
		t.Errorf("a removed worktree: %+v", r)
	}
}

// side writes a commit that none of the others has as an ancestor, with a file of its own.
func (s *Project) side(t *testing.T, ctx context.Context, text string, parents ...plumbing.OID) plumbing.OID {
	t.Helper()
	blob := plumbing.NewObject(plumbing.BlobObject, []byte(text))
	tree := plumbing.NewObject(plumbing.TreeObject, append([]byte("100644 file\x00"), raw(t, blob.OID)...))
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree.OID, Parents: parents, Message: "side\n"}))
	must(t, s.repo.WriteObjects(ctx, []plumbing.Object{blob, tree, commit}))
	return commit.OID
}

// boarded gives the project a board whose integration branch is at its first commit.
func (s *Project) boarded(t *testing.T, ctx context.Context, commits []plumbing.OID) *gitboard.View {
	t.Helper()
	done, err := s.b.Do(ctx, gitboard.Request{Actor: board.HumanActor("Ada", "ada@example.org")}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return &board.Init{Goal: "A goal", IntegrationBranch: "integration"}, []plumbing.RefUpdate{{Ref: "refs/heads/integration", New: commits[0]}}, nil
	})
	must(t, err)
	return done.View
}

// TestTakeOver checks what becomes of a branch whose work went on in another clone: it is moved,
// and what only it has is kept.
func TestTakeOver(t *testing.T) {
	ctx, s, commits := began(t)
	own := s.side(t, ctx, "own\n", commits[0])
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		name      string
		tip, seen plumbing.OID
		kept      plumbing.OID
	}{
		{"it is there", commits[1], commits[1], plumbing.ZeroOID},
		{"it was missing", plumbing.ZeroOID, commits[1], plumbing.ZeroOID},
		{"it was behind", commits[0], commits[1], plumbing.ZeroOID},
		{"it had commits of its own", own, commits[1], own},
	} {
		ref, attic := "refs/heads/task/one", plumbing.AtticRef("one", 1)
		if !c.tip.IsZero() {
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, New: c.tip}}, ""))
		}
		if err := s.takeOver(cancelled, noBoard(), "one", c.tip, c.seen); (err != nil) != (c.tip != c.seen) {
			t.Errorf("%s: cut short: %v", c.name, err)
		}
		s.points(t, ref, c.tip)
		must(t, s.takeOver(ctx, noBoard(), "one", c.tip, c.seen))
		s.points(t, ref, c.seen)
		s.points(t, attic, c.kept)
		must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, Old: c.seen}}, ""))
		if !c.kept.IsZero() {
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: attic, Old: c.kept}}, ""))
		}
	}
}

// TestKnownWork checks which commit of a task counts as its work when its branch is missing.
func TestKnownWork(t *testing.T) {
	ctx, s, commits := began(t)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	lost, base, sent := strings.Repeat("1", 40), string(commits[0]), string(commits[1])
	for _, c := range []struct {
		name string
		t    board.Task
		want string
	}{
		{"begun here", board.Task{Clone: s.Clone, BaseCommit: base}, base},
		{"begun before clones had names", board.Task{BaseCommit: base}, base},
		{"begun elsewhere", board.Task{Clone: "another", BaseCommit: base}, ""},
		{"begun at a commit that is not here", board.Task{Clone: s.Clone, BaseCommit: lost}, ""},
		{"submitted", board.Task{Clone: "another", BaseCommit: base, ReviewCommit: sent}, sent},
		{"submitted elsewhere", board.Task{Clone: "another", BaseCommit: base, ReviewCommit: lost}, ""},
		{"submitted, and claimed again", board.Task{Clone: s.Clone, BaseCommit: base, History: []board.Event{
			{Event: board.EventReady, Commit: lost}, {Event: board.EventReady, Commit: sent}, {Event: board.EventReclaimed},
		}}, sent},
		{"begun afresh since", board.Task{Clone: s.Clone, BaseCommit: base, History: []board.Event{
			{Event: board.EventReady, Commit: sent}, {Event: board.EventReclaimedAfterExpiry},
		}}, base},
		{"reassigned since", board.Task{Clone: s.Clone, BaseCommit: base, History: []board.Event{
			{Event: board.EventReady, Commit: sent}, {Event: board.EventReassignedAfterReject},
		}}, base},
	} {
		if got, err := s.KnownWork(ctx, &c.t); string(got) != c.want || err != nil {
			t.Errorf("%s: %q %v", c.name, got, err)
		}
	}
	for _, unread := range []board.Task{{Clone: s.Clone, BaseCommit: strings.Repeat("2", 40)}, {ReviewCommit: strings.Repeat("3", 40)}} {
		if got, err := s.KnownWork(cancelled, &unread); err == nil {
			t.Errorf("%+v: what could not be read is %q", unread, got)
		}
	}
}

// TestWorkTip checks when a task's branch is brought to what another clone submitted.
func TestWorkTip(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	own := s.side(t, ctx, "own\n", commits[0])
	sent := string(commits[1])
	for _, c := range []struct {
		name string
		tip  plumbing.OID
		t    board.Task
		want plumbing.OID
	}{
		{"here", own, board.Task{Clone: s.Clone, ReviewCommit: sent}, own},
		{"here, and nothing is known", own, board.Task{Clone: "another"}, own},
		{"behind what another clone submitted", commits[0], board.Task{Clone: "another", ReviewCommit: sent}, commits[1]},
		{"at it", commits[1], board.Task{Clone: "another", ReviewCommit: sent}, commits[1]},
		{"beside it", own, board.Task{Clone: "another", ReviewCommit: sent}, own},
		{"after it", commits[2], board.Task{Clone: "another", ReviewCommit: sent}, commits[2]},
		{"missing", plumbing.ZeroOID, board.Task{Clone: s.Clone, BaseCommit: string(commits[0])}, commits[0]},
		{"missing, and submitted elsewhere", plumbing.ZeroOID, board.Task{Clone: "another", ReviewCommit: sent}, commits[1]},
	} {
		c.t.ID = "one"
		if !c.tip.IsZero() {
			must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", New: c.tip}}, ""))
		}
		got, err := s.WorkTip(ctx, v, &c.t)
		if got != c.want || err != nil {
			t.Errorf("%s: %s %v", c.name, got, err)
		}
		s.points(t, "refs/heads/task/one", c.want)
		must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", Old: c.want}}, ""))
	}
}

// TestLeftFor checks which worktree that a dead process left serves a task: one of that task, set
// up, and still as it was made.
func TestLeftFor(t *testing.T) {
	ctx, s, commits := began(t)
	path := filepath.Join(s.Folder(), claimMark+"aaaa")
	must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
	none := func(why string) {
		t.Helper()
		if c := testrun.Must(s.leftFor(ctx, "one", commits[0]))(t); c != nil {
			t.Errorf("%s: %+v", why, c)
		}
	}
	none("a worktree without a record")
	c := &candidate{s: s, token: "aaaa"}
	note := func(task string, ready, gone bool) {
		t.Helper()
		c.ready, c.left = ready, gone
		must(t, c.note(task))
	}
	note("one", true, false)
	none("one that is in use")
	note("one", false, true)
	none("one that is not set up")
	note("two", true, true)
	none("another task's")
	note("one", true, true)
	if got := testrun.Must(s.leftFor(ctx, "one", commits[0]))(t); got == nil || got.path != path || got.base != commits[0] || !got.ready {
		t.Errorf("%+v", got)
	}
	if got, err := s.leftFor(ctx, "one", commits[1]); got != nil || err != nil {
		t.Errorf("at another commit: %+v %v", got, err)
	}
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/own", New: commits[0]}}, ""))
	must(t, s.repo.Worktree(path).AttachHead(ctx, "refs/heads/own"))
	none("one with a branch checked out")
	must(t, os.Rename(path, path+"-away"))
	none("one that is gone")
	must(t, os.Rename(path+"-away", path))
	must(t, os.Mkdir(filepath.Join(s.claimsDir(), "bbbb"), 0o755))
	must(t, s.repo.Worktree(filepath.Join(s.Folder(), claimMark+"bbbb")).Add(ctx, commits[0]))
	none("one whose record can't be read")
	must(t, s.repo.Worktree(filepath.Join(t.TempDir(), "cccc")).Add(ctx, commits[0]))
	c.token = "cccc"
	note("one", true, true)
	none("one that bears another name")
}

// TestHalfMoved checks that a worktree whose move git has not recorded counts as left halfway only if
// it is known that nobody is moving it.
func TestHalfMoved(t *testing.T) {
	ctx, s, commits := began(t)
	c := &candidate{s: s, token: "aaaa", path: filepath.Join(s.Folder(), claimMark+"aaaa"), base: commits[0]}
	must(t, s.repo.Worktree(c.path).Add(ctx, c.base))
	must(t, os.Rename(c.path, s.Path("one")))
	is := func(why string, want bool) {
		t.Helper()
		testrun.Equal(t, s.HalfMoved(s.Path("one")), want, "%s", why)
	}
	is("there is no record of it", true)
	must(t, c.note("one"))
	is("its process lives", false)
	c.left = true
	must(t, c.note("one"))
	is("its process has left it", true)
	must(t, os.Remove(c.recordFile()))
	must(t, os.Mkdir(c.recordFile(), 0o755))
	is("its record can't be read", false)
}

// TestAttach checks that a detached worktree is put on its branch only where that changes nothing.
func TestAttach(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	is := func(why, want string) {
		t.Helper()
		must(t, s.attach(ctx, noBoard(), "one", s.Path("one")))
		if _, branch, err := s.repo.Worktree(s.Path("one")).Head(ctx); branch != want || err != nil {
			t.Errorf("%s: on %q %v", why, branch, err)
		}
	}
	const ref = "refs/heads/task/one"
	is("there is no branch", "")
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, New: commits[1]}}, ""))
	is("the branch is elsewhere", "")
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, Old: commits[1], New: commits[0]}}, ""))
	record := strings.TrimPrefix(identity(s.Path("one")), "gitdir: ")
	must(t, os.WriteFile(filepath.Join(record, "CHERRY_PICK_HEAD"), []byte(commits[1]+"\n"), 0o644))
	is("in the middle of something", "")
	must(t, os.Remove(filepath.Join(record, "CHERRY_PICK_HEAD")))
	is("it is the same commit", ref)
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/own", New: commits[0]}}, ""))
	must(t, s.repo.Worktree(s.Path("one")).AttachHead(ctx, "refs/heads/own"))
	is("a person put it on another branch", "refs/heads/own")
}

// TestRemake checks that a worktree is not made where there is one, nor at a commit that the branch
// has left, and that nothing of the attempt remains.
func TestRemake(t *testing.T) {
	ctx, s, commits := began(t)
	const ref = "refs/heads/task/one"
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, New: commits[1]}}, ""))
	left := func(token string) {
		t.Helper()
		c := &candidate{s: s, token: token, path: filepath.Join(s.Folder(), claimMark+token), base: commits[0], ready: true}
		must(t, c.note("one"))
		must(t, s.repo.Worktree(c.path).Add(ctx, commits[0]))
		must(t, c.leave("one"))
	}
	remade := func(tip plumbing.OID) bool {
		t.Helper()
		made := testrun.Must(s.remake(ctx, noBoard(), "one", tip))(t)
		entries, _ := os.ReadDir(s.claimsDir())
		if len(entries) > 0 {
			t.Errorf("records are left: %v", entries)
		}
		return made
	}
	left("aaaa")
	if remade(commits[0]) || present(s.Path("one")) {
		t.Error("made where the branch is no longer")
	}
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, Old: commits[1], New: commits[0]}}, ""))
	left("bbbb")
	if !remade(commits[0]) || !present(s.Path("one")) {
		t.Error("not made")
	}
	left("cccc")
	if remade(commits[0]) {
		t.Error("made again")
	}
}

// TestMidst checks what is seen as unfinished in a worktree.
func TestMidst(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	record := strings.TrimPrefix(identity(s.Path("one")), "gitdir: ")
	for file, want := range map[string]string{
		"MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "ORIG_HEAD": "",
	} {
		must(t, os.WriteFile(filepath.Join(record, file), nil, 0o644))
		testrun.Equal(t, Midst(s.Path("one")), want, "%s", file)
		must(t, os.Remove(filepath.Join(record, file)))
	}
	for file, want := range map[string]string{"rebase-apply/applying": "am", "rebase-apply/onto": "rebase", "sequencer/todo": "cherry-pick"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(record, file)), 0o755))
		must(t, os.WriteFile(filepath.Join(record, file), []byte("pick 1111111 second\n"), 0o644))
		testrun.Equal(t, Midst(s.Path("one")), want, "%s", file)
		must(t, os.RemoveAll(filepath.Dir(filepath.Join(record, file))))
	}
	// A directory that is no worktree is in the middle of no operation, however it is asked.
	t.Chdir(record)
	must(t, os.WriteFile("MERGE_HEAD", nil, 0o644))
	testrun.Equal(t, Midst(s.Root), "", "the value")
}

// TestLayout checks what is seen at the place of a task's worktree.
func TestLayout(t *testing.T) {
	ctx, s, commits := began(t)
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/task/one", New: commits[0]}}, ""))
	at := func(name string) Slot {
		t.Helper()
		l := testrun.Must(s.look(ctx, noBoard(), "one"))(t)
		p, err := s.place(ctx, "one", "")
		if err != nil || p.Ours != l.Ours || p.InTheWay != l.InTheWay {
			t.Errorf("%s: %+v at first sight, then %+v %v", name, p, l, err)
		}
		return l
	}
	if l := at("nothing"); l.Ours || l.InTheWay || l.Elsewhere != "" {
		t.Errorf("nothing: %+v", l)
	}
	must(t, os.MkdirAll(s.Path("one"), 0o755))
	if l := at("an empty folder"); l.Ours || l.InTheWay {
		t.Errorf("an empty folder: %+v", l)
	}
	must(t, os.WriteFile(filepath.Join(s.Path("one"), "notes"), nil, 0o644))
	if l := at("notes"); l.Ours || !l.InTheWay {
		t.Errorf("notes: %+v", l)
	} else if r := (*board.Refusal)(nil); !errors.As(l.Blocked("one"), &r) || r.Task != "one" {
		t.Errorf("notes are in the way of %+v", r)
	}
	if CheckPlace(s.repo, s.Path("one")) == nil || CheckPlace(s.repo, s.Path("two")) != nil {
		t.Error("notes are no obstacle, or nothing is one")
	}
	if s.passing(filepath.Join(s.Root, ".here")) || !s.passing(filepath.Join(s.Folder(), ".here")) {
		t.Error("only what is in the folder is being made or removed")
	}
	must(t, os.RemoveAll(s.Path("one")))
	must(t, os.WriteFile(s.Path("one"), nil, 0o644))
	if l := at("a file"); l.Ours || !l.InTheWay {
		t.Errorf("a file: %+v", l)
	}
	must(t, os.Remove(s.Path("one")))
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	if l := at("the worktree"); !l.Ours || l.InTheWay || l.Elsewhere != "" {
		t.Errorf("the worktree: %+v", l)
	}
	lock := filepath.Join(records.LinkedDir(s.Path("one")), "locked")
	must(t, os.WriteFile(lock, []byte("initializing"), 0o644))
	testrun.ErrorIs(t, CheckPlace(s.repo, s.Path("one")), nil, "one that a killed git was adding")
	must(t, os.Remove(lock))
	// One of ours that is being made or removed is not somebody else's, and one that is gone isn't
	// either.
	for name, elsewhere := range map[string]bool{".gone-aaaa": false, "away": true, "removed": false} {
		path := s.Path(name)
		must(t, s.repo.Worktree(path).Add(ctx, commits[0]))
		must(t, s.repo.Worktree(path).AttachHead(ctx, "refs/heads/task/one"))
		if name == "removed" {
			must(t, os.RemoveAll(path))
		}
		if l := at(name); (l.Elsewhere == path) != elsewhere {
			t.Errorf("%s: %+v", name, l)
		}
		must(t, s.repo.Worktree(path).Discard(ctx))
	}
	// A link is not a worktree of ours, wherever it leads: what is there is a person's.
	away, own, empty := filepath.Join(t.TempDir(), "away"), filepath.Join(t.TempDir(), "own"), t.TempDir()
	must(t, os.Rename(s.Path("one"), away))
	must(t, s.repo.Worktree(own).Add(ctx, commits[0]))
	must(t, s.repo.Worktree(own).AttachHead(ctx, "refs/heads/task/one"))
	for _, to := range []string{away, own, empty, filepath.Join(empty, "nothing")} {
		must(t, os.Symlink(to, s.Path("one")))
		if l := at("a link to " + to); l.Ours || !l.InTheWay || l.Elsewhere != own {
			t.Errorf("a link to %s: %+v", to, l)
		} else if r := l.Blocked("one"); r == nil || !strings.Contains(r.Error(), "is a symbolic link") {
			t.Errorf("a link to %s: %v", to, r)
		}
		must(t, os.Remove(s.Path("one")))
	}
	must(t, s.repo.Worktree(own).Remove(ctx))
	must(t, os.Rename(away, s.Path("one")))
	// A worktree that git knows by another path, through a symbolic link.
	linked := filepath.Join(t.TempDir(), "linked")
	must(t, os.Symlink(s.Root, linked))
	through := *s
	through.Root = linked
	if l, err := through.look(ctx, noBoard(), "one"); err != nil || !l.Ours || l.Elsewhere != "" {
		t.Errorf("through a link: %+v %v", l, err)
	}
}

// TestHeld checks when the content of a worktree needs no commit in the attic.
func TestHeld(t *testing.T) {
	ctx, s, commits := began(t)
	side := s.side(t, ctx, "side\n", commits[0])
	same := s.side(t, ctx, "side\n", commits[1])
	other := s.side(t, ctx, "other\n", commits[0])
	tree := testrun.Must(s.treeOf(ctx, side))(t)
	must(t, s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: plumbing.ReviewRef("two", 1), New: side}}, ""))
	committed, changed := work{head: side, commit: side, tree: tree}, work{head: commits[0], commit: side, tree: tree}
	for _, c := range []struct {
		name    string
		task    string
		w       work
		attic   []plumbing.OID
		lasting []plumbing.OID
		want    bool
	}{
		{"the attic has the same files", "one", changed, []plumbing.OID{other, same}, nil, true},
		{"the attic has others", "one", changed, []plumbing.OID{other}, nil, false},
		{"files that were not committed, on a branch that lasts", "one", changed, nil, []plumbing.OID{side}, false},
		{"a branch that lasts", "one", committed, nil, []plumbing.OID{side}, true},
		{"a submission", "two", committed, nil, nil, true},
		{"another task's submission", "one", committed, nil, nil, false},
	} {
		if got, err := s.held(ctx, c.task, c.w, attic{commits: c.attic}, c.lasting); got != c.want || err != nil {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if held, err := s.held(cancelled, "two", committed, attic{}, nil); held || err == nil {
		t.Errorf("cut short: %v %v", held, err)
	}
}

// TestKeepAgain checks that changes in a worktree after its work was kept are kept as well, and only
// once.
func TestKeepAgain(t *testing.T) {
	ctx, s, commits := began(t)
	ada := board.HumanActor("Ada", "ada@example.org")
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	v := s.boarded(t, ctx, commits)
	first := s.side(t, ctx, "first\n", commits[0])
	tree := testrun.Must(s.treeOf(ctx, first))(t)
	before := &kept{commit: first, trees: []plumbing.OID{tree}}
	keep := func(text string, want int) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(s.Path("one"), "file"), []byte(text), 0o644))
		testrun.Must(s.keepAgain(ctx, v, "one", s.Path("one"), s.Path("one"), ada, before))(t)
		a, err := s.attic(ctx, "one")
		if err != nil || len(a.commits) != want {
			t.Errorf("%q: %d are kept, not %d (%v)", text, len(a.commits), want, err)
		}
	}
	keep("first\n", 0)
	keep("late\n", 1)
	keep("late\n", 1)
	aside := s.side(t, ctx, "put aside\n", commits[0])
	must(t, os.WriteFile(filepath.Join(records.LinkedDir(s.Path("one")), "MERGE_AUTOSTASH"), []byte(aside+"\n"), 0o644))
	keep("late\n", 2)
	keep("first\n", 2)
	s.points(t, plumbing.AtticRef("one", 2), aside)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.keepAgain(cancelled, v, "one", s.Path("one"), s.Path("one"), ada, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cut short: %v", err)
	}
}

// TestDropBranch checks that a branch goes along with an operation only where it holds the task's
// work, and nobody has it checked out.
func TestDropBranch(t *testing.T) {
	tip := plumbing.OID(strings.Repeat("1", 40))
	for _, c := range []struct {
		name string
		k    kept
		want int
	}{
		{"the task's", kept{tip: tip, owned: true}, 1},
		{"none", kept{tip: plumbing.ZeroOID, owned: true}, 0},
		{"a person's", kept{tip: tip}, 0},
		{"one in whose worktree a person works", kept{tip: tip, owned: true, at: Slot{Theirs: "another branch"}}, 0},
		{"one that is checked out", kept{tip: tip, owned: true, at: Slot{Elsewhere: "/side"}}, 0},
	} {
		c.k.at.branch = "task/one"
		if got := c.k.dropBranch(); len(got) != c.want || len(got) > 0 && (got[0].Ref != "refs/heads/task/one" || got[0].Old != tip || !got[0].New.IsZero()) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestPassOver checks when a claim that names no task takes another one instead.
func TestPassOver(t *testing.T) {
	of := func(code board.ErrorCode, task string) error {
		r := board.Refuse(code, "no", "")
		r.Task = task
		return r
	}
	for _, c := range []struct {
		name, named, task string
		err               error
		want              bool
	}{
		{"another obstacle", "", "one", of(board.CodeNested, "one"), true},
		{"it was named", "one", "one", of(board.CodeNested, "one"), false},
		{"none was chosen", "", "", of(board.CodeNoWork, ""), false},
		{"another task's", "", "one", of(board.CodeExists, "two"), false},
		{"it is blocked now", "", "one", of(board.CodeLimit, "one"), false},
		{"git failed", "", "one", errors.New("git failed"), false},
	} {
		claim := &claimer{r: ClaimRequest{Task: c.named}, task: c.task, skip: map[string]*board.Refusal{}}
		if got := claim.passOver(c.err); got != c.want || (claim.skip[c.task] != nil) != c.want {
			t.Errorf("%s: %v, skipped %v", c.name, got, claim.skip)
		}
	}
}

// TestNothingLeft checks which reason is given when all tasks were passed over: one that a person
// can do something about.
func TestNothingLeft(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	for code, want := range map[board.ErrorCode]board.ErrorCode{board.CodeWrongState: board.CodeNoWork, board.CodeNested: board.CodeNested} {
		c := &claimer{Project: s, r: ClaimRequest{Request: gitboard.Request{Actor: board.Actor{ID: "coder-1"}}}, skip: map[string]*board.Refusal{"one": board.Refuse(code, "no", "")}}
		r := (*board.Refusal)(nil)
		if err := c.nothing(ctx, v); !errors.As(err, &r) || r.Code != want {
			t.Errorf("%s: %v", code, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	c := &claimer{Project: s, r: ClaimRequest{Request: gitboard.Request{Actor: board.Actor{ID: "coder-1"}}}}
	testrun.ErrorIs(t, c.nothing(cancelled, v), context.Canceled, "cut short")
}

// TestGoneMeanwhile checks that a worktree that goes while it is read, as that of an agent does
// whose claim another process ends, is a lost race and not a failure.
func TestGoneMeanwhile(t *testing.T) {
	ctx, s, commits := began(t)
	v := s.boarded(t, ctx, commits)
	must(t, s.repo.Worktree(s.Path("one")).Add(ctx, commits[0]))
	found := testrun.Must(exec.LookPath("git"))(t)
	bin := t.TempDir()
	must(t, testrun.WriteProgram(filepath.Join(bin, "git"), "#!/bin/sh\ncase \"$*\" in *status*) rm -rf '"+s.Path("one")+"' ;; esac\nexec '"+found+"' \"$@\"\n"))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, err := s.keep(ctx, v, "one", board.HumanActor("Ada", "ada@example.org")); !errors.Is(err, errChanged) {
		t.Errorf("got %v", err)
	}
}
