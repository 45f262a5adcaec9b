package board_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// taskOps returns a payload of every operation on a task.
func taskOps(id string) []board.Payload {
	return []board.Payload{
		add(id), finalize(id), &board.AmendTask{About: about(id), Set: []string{"priority"}, Definition: board.Definition{Priority: 1}, Reason: "r"},
		&board.Abandon{About: about(id), Reason: "r"}, &board.Supersede{About: about(id), By: []string{"other"}, Reason: "r"},
		claim(id), goOn(id), &board.IterationLimit{About: about(id)}, preExec(id), &board.HandOff{About: about(id), Summary: "a", NextAction: "b"},
		&board.Release{About: about(id), Force: true, Reason: "r"}, submit(id), block(id), review(id), on(id, 1, "why?"), &board.Withdraw{About: about(id)},
		approve(id), reject(id), merge(id), conflict(id),
		&board.FinishMerge{About: about(id), ReviewCommit: workCommit, MergeCommit: workCommit, MergeType: board.FastForward},
		retry(id), &board.Unblock{About: about(id)}, &board.Unblock{About: about(id), Mode: "same-coder"},
		&board.Reassign{About: about(id)}, &board.Pause{About: about(id)}, &board.Resume{About: about(id)},
		&board.Write{Path: "tasks/" + id + ".yaml", Fields: []board.FieldEdit{{Field: "priority", Value: "1"}}},
	}
}

var everybody = []board.Actor{planner, coder1, coder2, reviewer1, reviewer2, human}

// TestEveryOperationFromEveryState tries every operation by every role from every state. Whatever
// is not in the table is refused with a readable message.
func TestEveryOperationFromEveryState(t *testing.T) {
	for _, status := range board.Statuses {
		there := begun(t).ready("other").in(status, "login")
		s := there.clone()
		for _, p := range taskOps("login") {
			if p.Op() == "add-task" || p.Op() == "write" {
				continue
			}
			for _, who := range everybody {
				was := s.task("login")
				err := s.step(who, p)
				allowed := false
				for _, op := range board.AllowedFrom(status, who.Role) {
					allowed = allowed || op == p.Op()
				}
				var r *board.Refusal
				switch errors.As(err, &r) {
				case false:
					if !allowed {
						t.Fatalf("%s by %s takes login from %s to %s", p.Op(), who.ID, status, s.task("login").Status)
					}
					s = there.clone()
				case true:
					if s.task("login") != was {
						t.Fatalf("%s changed the task though it was refused", p.Op())
					}
					if !allowed && !strings.Contains(r.Message, "login is "+string(status)) {
						t.Errorf("%s by %s from %s: %s", p.Op(), who.ID, status, r.Message)
					}
				}
			}
		}
	}
}

func TestOperationsNameTheirTask(t *testing.T) {
	s := begun(t)
	for _, p := range taskOps("") {
		for _, who := range everybody {
			if !board.May(who.Role, p.Op()) || p.Op() == "pause" || p.Op() == "resume" || p.Op() == "handoff" && who == planner {
				continue
			}
			s.refused("invalid", who, p)
		}
	}
	s.do(reviewer1, &board.Discover{Description: "no timeout", Severity: "high", Urgency: "deferred"})
	s.refused("invalid", planner, &board.ConvertDiscovery{Discovery: "disc-1"}, "task")
	s.refused("unknown-task", coder1, claim("login"), "login")
}

func TestWhoIsActing(t *testing.T) {
	s := begun(t).ready("login")
	old := coder1
	old.Session = "before"
	s.refused("session", old, claim("login"), "coder-1", "another session")
	old.Session = ""
	s.refused("session", old, claim("login"))
	s.refused("session", agent("coder-9"), claim("login"), "coder-9 is not registered", "git liza register")
	s.refused("invalid", board.Actor{ID: "coder", Role: roles.Coder, Session: "s"}, claim("login"), "coder-1")
	s.refused("invalid", board.Actor{ID: "coder-1", Role: roles.Planner, Session: "s-coder-1"}, claim("login"), "coder-1 is a coder")
	s.refused("invalid", board.Actor{ID: "coder-1", Role: roles.Human}, finalize("login"))
	s.refused("invalid", board.Actor{ID: "human", Role: roles.Human, Session: "s"}, finalize("login"))
	s.refused("invalid", board.Actor{ID: "system", Role: roles.System}, finalize("login"))
	for _, agents := range []board.Actor{board.HumanActor("Coder", "coder-1@Liza"), board.HumanActor("Coder", "coder-1"), board.HumanActor("Coder", "CODER-1"), board.HumanActor("Code-Reviewer-1", "ada@example.org")} {
		s.refused("identity", agents, &board.Pause{}, "an agent's name or address", "git config user.email")
	}
	for _, human := range []board.Actor{board.HumanActor("Ann\x1b[2J", "ann@example.com"), board.HumanActor("Ann", "ann@\u202eexample.com"), board.HumanActor("Ann\nOp", "ann@example.com"), board.HumanActor("\xff", "ann@example.com"), board.HumanActor("Ann", "ann\u200b@example.com")} {
		s.refused("identity", human, &board.Pause{}, "holds a control character", "git config user.name")
	}
	// Persian needs the joiner.
	s.do(board.HumanActor("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 Å", "ann@example.com"), &board.AddNote{Message: "x"})
	s.refused("permission", reviewer1, &board.Pause{}, "a pause is for a human, not for a code_reviewer")
}

// TestReservedNames covers names that git or a file system interprets in another way.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{"", "HEAD", "head", "@", "FETCH_HEAD", "orig_head", "AUTO_MERGE", "refs", "refs/heads/x", strings.Repeat("a", 40), strings.Repeat("0", 64), "liza", "liza/state",
		"Liza/State", "task", "TASK/x", "-x", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`, "a@{1}", "a/", "/a", "a//b", "a.", ".a", "a/.b", "a.lock", "a.lock/b", "con", "x/NUL", "com1.x",
		"a\tb", "a\x1b", "a\u202eb", "\xff", strings.Repeat("x/", 150) + "x"} {
		s := newScript(t)
		s.refused("invalid", human, &board.Init{Goal: "A goal", IntegrationBranch: name})
	}
	for _, name := range []string{"integration", "main", "develop", "team/next", "überall", "tasks", "lizard", "v1.2", "a@b", "console", "headless"} {
		newScript(t).do(human, &board.Init{Goal: "A goal", IntegrationBranch: name})
	}
	s := begun(t)
	for _, id := range []string{"con", "prn", "aux", "nul", "com1", "lpt9", strings.Repeat("x", 65)} {
		s.refused("invalid", planner, add(id), "devices on Windows")
	}
	for _, id := range []string{"null", "console", "com", "com10", "aux-1"} {
		s.do(planner, add(id))
	}
}

func TestOperationsOutOfForm(t *testing.T) {
	s := begun(t)
	s.now = s.now.Add(-1e9)
	if err := s.step(planner, add("login"), 0); err == nil || !strings.Contains(err.Error(), "before its parent's") {
		t.Errorf("an operation before its parent: %v", err)
	}
	s.now = s.now.Add(1e9)
	s.do(planner, add("login"), 0) // the same second is allowed
	for _, op := range []board.Operation{
		{Actor: planner, Time: "2027-01-01", Request: "r", Payload: add("logout")},
		{Actor: planner, Time: "2027-02-30T00:00:00Z", Request: "r", Payload: add("logout")},
		{Actor: planner, Time: "2027-01-01T00:00:00Z", Request: "", Payload: add("logout")},
		{Actor: planner, Time: "2027-01-01T00:00:00Z", Request: "a b", Payload: add("logout")},
	} {
		if err := s.run(op); err == nil {
			t.Errorf("%+v is allowed", op)
		}
	}
	fresh := newScript(t)
	fresh.refused("no-board", planner, add("login"), "git liza init")
	s.refused("exists", human, &board.Init{Goal: "Again", IntegrationBranch: "main"})
}

func TestTexts(t *testing.T) {
	s := begun(t)
	note := func(text string) *board.AddNote { return &board.AddNote{Message: text} }
	for _, text := range []string{"a\x00b", "\x1b[31mred", "\xff", "\ufeffbom", "a\u0085b", strings.Repeat("x", board.MaxText+1), " \n"} {
		s.refused("invalid", human, note(text))
	}
	for _, text := range []string{"tab\tand\r\nlines", "\u202eright to left", "a\u2028b", strings.Repeat("x", board.MaxText)} {
		s.do(human, note(text))
	}
	s.refused("secret", human, note("key AKIAABCDEFGHIJKLMNOP"), "an AWS access key", "--allow-secret")
	for _, text := range []string{"https://user:pass@host", "see postgres://app:s3cret@db.example.org:5432/x?y", "redis://:hunter2@cache", "x-git+ssh://a:b@c/d"} {
		s.refused("secret", human, note(text), "a password in an address", "--allow-secret")
	}
	for _, text := range []string{"https://user@host", "http://localhost:8080/a@b", "ssh://git@host:22/x", "https://user:$TOKEN@host", "https://user:${P}@host", "https://user:<pass>@host", "https://user:***@host", "a://b:c d@e", "12:30 @ noon, see https://x/y"} {
		s.do(human, note(text))
	}
	s.now, s.n = s.now.Add(1e9), s.n+1
	testrun.ErrorIs(t, s.run(board.Operation{Actor: human, Time: s.now, Request: "r/secret", AllowSecret: true, Payload: note("key AKIAABCDEFGHIJKLMNOP")}), nil, "it ends")
	many := add("many")
	for range 9 {
		many.DependsOn = append(many.DependsOn, strings.Repeat("x", board.MaxText))
	}
	s.refused("invalid", planner, many, "texts")
}

// TestSeen: who names what they saw decides on nothing else. A task that has changed since is
// refused, whatever the operation; other tasks may change.
func TestSeen(t *testing.T) {
	s := begun(t).do(planner, add("login")).do(planner, add("users"))
	seen := "users=0000 login=" + s.task("login").Version()
	decide := func(a board.Actor, p board.Payload) error {
		s.now = s.now.Add(time.Minute)
		s.n++
		return s.run(board.Operation{Actor: a, Time: s.now, Request: fmt.Sprintf("seen/%d", s.n), Payload: p, Seen: seen})
	}
	stale := func(p board.Payload) {
		t.Helper()
		r, is := decide(human, p).(*board.Refusal)
		if !is || r.Code != board.CodeStale || r.Task != "login" || cmdline.Hint(r.Hint) != "git liza show login" {
			t.Errorf("%s: %+v", p.Op(), r)
		}
	}
	amended := func(text string) *board.AmendTask {
		return &board.AmendTask{About: about("login"), Definition: board.Definition{DoneWhen: text}, Set: []string{"done_when"}, Reason: "r"}
	}

	s.do(planner, amended("'login' prints all passwords"))
	stale(finalize("login"))
	stale(amended("'login' prints ok"))
	seen = "login=" + s.task("login").Version()
	s.do(human, &board.AddNote{Message: "hello", For: "login"}) // not what is decided on
	testrun.Check(t, decide(human, finalize("login")))

	seen = "new=0000"
	testrun.Check(t, decide(human, add("new")))

	block := func(question string) {
		s.do(human, &board.Block{About: about("login"), Reason: "r", Questions: []string{question}})
	}
	block("Euro?")
	seen = "login=" + s.task("login").Version()
	s.do(human, &board.Answer{About: about("login"), Text: "yes"})
	block("May the tests be deleted?")
	stale(&board.Answer{About: about("login"), Text: "yes"})
}

// TestSeenHalt: who resumes what they saw resumes nothing else.
func TestSeenHalt(t *testing.T) {
	s := begun(t).do(human, &board.Pause{Reason: "lunch"})
	seen := "control=" + board.HaltVersion(s.state())
	s.do(planner, &board.SetCheckpoint{Reason: "is the schema right?"})
	resume := func(seen string) error {
		s.now, s.n = s.now.Add(time.Minute), s.n+1
		return s.run(board.Operation{Actor: human, Time: s.now, Request: fmt.Sprintf("seen/%d", s.n), Payload: &board.Resume{}, Seen: seen})
	}
	if r, is := resume(seen).(*board.Refusal); !is || r.Code != board.CodeStale {
		t.Errorf("another halt is resumed: %v", r)
	}
	testrun.ErrorIs(t, resume("control="+board.HaltVersion(s.state())), nil, "it ends")
	unread := board.NewState(&failing{Source: s.mem}, s.last)
	if board.HaltVersion(unread); unread.Err() != errUnread {
		t.Errorf("a version of what can't be read: %v", unread.Err())
	}
}

func words[T ~string](list []T) string {
	var w []string
	for _, s := range list {
		if s == "" {
			s = "-"
		}
		w = append(w, string(s))
	}
	return strings.Join(w, ", ")
}

func TestTransitionTable(t *testing.T) {
	var b strings.Builder
	for _, row := range board.Transitions() {
		to := string(row.To)
		if to == "" {
			to = "(same)"
		}
		fmt.Fprintf(&b, "%-16s %s -> %s | %s | %s\n", row.Op, words(row.From), to, words(row.Who), row.Note)
	}
	golden.Check(t, "testdata/transitions.txt", b.String())
}

func TestWhoMovesTasksMayAskForIt(t *testing.T) {
	for _, row := range board.Transitions() {
		for _, who := range row.Who {
			if who != roles.System && !board.May(who, row.Op) {
				t.Errorf("%s from %s: %s is not in the permission table", row.Op, words(row.From), who)
			}
		}
	}
}

func TestPermissionTable(t *testing.T) {
	var b strings.Builder
	for _, op := range board.Ops() {
		fmt.Fprintf(&b, "%-18s", op)
		for _, r := range actors {
			if board.May(r, op) {
				b.WriteString(" " + string(r))
			}
		}
		b.WriteByte('\n')
	}
	golden.Check(t, "testdata/permissions.txt", b.String())
}

var actors = []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human}

func TestUnknownOperationsAreNobodys(t *testing.T) {
	for _, r := range append([]roles.Role{roles.System}, actors...) {
		if board.May(r, "rm") {
			t.Errorf("a %s may rm", r)
		}
	}
	for _, op := range board.Ops() {
		if board.May(roles.System, op) || board.May("", op) {
			t.Errorf("%s may be asked for by nobody", op)
		}
	}
}

func TestEveryOperationHasOneRow(t *testing.T) {
	ops := board.Ops()
	slices.Sort(ops)
	testrun.Equal(t, len(slices.Compact(ops)), len(board.Ops()), "an operation has two rows")
	for _, op := range board.Ops() {
		if len(board.Allowed(op)) == 0 {
			t.Errorf("nobody may ask for %s", op)
		}
	}
}

// TestBornRecords checks that each record that the table says an operation creates is a numbered
// one.
func TestBornRecords(t *testing.T) {
	for _, op := range board.Ops() {
		if dir := board.BornIn(op); dir != "" && !slices.Contains(slices.Collect(maps.Keys(numbered)), dir) {
			t.Errorf("%s makes a record in %s, where records have no numbers", op, dir)
		}
	}
	s := begun(t)
	for _, p := range []board.Payload{
		&board.AddNote{Message: "m"}, &board.LogAnomaly{Type: "spec_gap"}, &board.Discover{Description: "d", Severity: "low", Urgency: "deferred"},
		&board.RecordSpecChange{Spec: "s", Change: "c"},
	} {
		dir := board.BornIn(p.Op())
		s.do(human, p)
		if last, err := s.state().LastID(dir); err != nil || last != numbered[dir]+"-1" {
			t.Errorf("%s made %q in %s, %v", p.Op(), last, dir, err)
		}
	}
}
