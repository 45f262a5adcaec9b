package hooks

import (
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

const (
	none = "0000000000000000000000000000000000000000"
	one  = "1111111111111111111111111111111111111111"
	two  = "2222222222222222222222222222222222222222"
)

// scene returns a board on which coder-1 works on parse and is stuck, and coder-2 has submitted print.
func scene(t *testing.T, checkpoint bool) *board.State {
	t.Helper()
	config := board.DefaultConfig()
	config.IntegrationBranch = "integration"
	parse := &board.Task{ID: "parse", Status: board.Claimed, AssignedTo: "coder-1", Iteration: 1}
	if checkpoint {
		parse.History = []board.Event{{Event: board.EventPreExec, Agent: "coder-1", Iteration: 1, Checkpoint: &board.Checkpoint{Intent: "x"}}}
	}
	return board.NewState(records{board.NewMemory(), map[string]any{
		board.ConfigPath: config, board.RecordPath(board.TaskDir, "parse"): parse,
		board.RecordPath(board.TaskDir, "print"):    &board.Task{ID: "print", Status: board.ReadyForReview, AssignedTo: "coder-2", History: []board.Event{{Event: board.EventReady, Commit: one}}},
		board.RecordPath(board.TaskDir, "free"):     &board.Task{ID: "free", Status: board.Unclaimed},
		board.RecordPath(board.TaskDir, "stuck"):    &board.Task{ID: "stuck", Status: board.Blocked, AssignedTo: "coder-1"},
		board.RecordPath(board.AgentDir, "coder-1"): &board.Agent{Role: roles.Coder, Session: "s1", PID: 7},
	}}, "2026-01-31T09:00:00Z")
}

// records holds the records of a board by path.
type records struct {
	*board.Memory
	at map[string]any
}

func (r records) Record(path string) (any, error) { return r.at[path], nil }

func coder(id string) Who { return Who{ID: id, Role: roles.Coder, Session: "s1", Task: "parse"} }

func expect(t *testing.T, r *board.Refusal, part string) {
	t.Helper()
	switch {
	case part == "" && r != nil:
		t.Errorf("refused: %s", r.Message)
	case part != "" && (r == nil || !strings.Contains(r.Message, part)):
		t.Errorf("%+v, not %q", r, part)
	case r != nil && cmdline.Hint(r.Hint) == "":
		t.Errorf("%s: no way out", r.Message)
	}
}

func TestReferenceTransaction(t *testing.T) {
	for name, c := range map[string]struct {
		who  Who
		move Move
		part string
	}{
		"own branch":                 {coder("coder-1"), Move{"refs/heads/task/parse", one, two, one, false}, ""},
		"own branch, old unsaid":     {coder("coder-1"), Move{"refs/heads/task/parse", none, two, one, false}, ""},
		"own branch, deleted":        {coder("coder-1"), Move{"refs/heads/task/parse", one, none, one, false}, "task/parse stays as long as"},
		"own branch, by a human":     {Who{Task: "parse"}, Move{"refs/heads/task/parse", none, none, one, false}, "task/parse stays as long as"},
		"own branch, pruned":         {coder("coder-1"), Move{"refs/heads/task/parse", one, none, one, true}, ""},
		"HEAD":                       {coder("coder-1"), Move{"HEAD", one, two, "", false}, ""},
		"ORIG_HEAD":                  {coder("coder-1"), Move{"ORIG_HEAD", none, two, "", false}, ""},
		"the main worktree's HEAD":   {coder("coder-1"), Move{"main-worktree/HEAD", one, two, "", false}, "may not move main-worktree/HEAD"},
		"HEAD in the main worktree":  {Who{ID: "planner-1", Role: roles.Planner, Main: true}, Move{"HEAD", one, two, "", false}, "HEAD of the main worktree"},
		"rebase":                     {coder("coder-1"), Move{"refs/rewritten/onto", none, two, none, false}, ""},
		"bisect":                     {coder("coder-1"), Move{"refs/bisect/bad", none, two, none, false}, ""},
		"fetch":                      {coder("coder-1"), Move{"refs/remotes/origin/main", one, two, one, false}, ""},
		"packing":                    {coder("coder-1"), Move{"refs/heads/integration", none, one, one, false}, ""},
		"pruning after packing":      {coder("coder-1"), Move{"refs/heads/integration", one, none, one, true}, ""},
		"deletion":                   {coder("coder-1"), Move{"refs/heads/integration", one, none, one, false}, "integration moves by"},
		"deletion, unsaid":           {coder("coder-1"), Move{"refs/heads/integration", none, none, one, true}, "integration moves by"},
		"deletion of missing branch": {coder("coder-1"), Move{"refs/heads/gone", none, none, none, false}, ""},
		"worktree add":               {coder("coder-1"), Move{"refs/heads/main", one, one, one, false}, ""},
		"a symbolic ref":             {coder("coder-1"), Move{"refs/heads/integration", one, "ref:refs/heads/x", one, false}, "integration moves by"},
		"integration":                {coder("coder-1"), Move{"refs/heads/integration", one, two, one, false}, "integration moves by"},
		"integration, by nobody":     {Who{Task: "parse"}, Move{"refs/heads/integration", one, two, one, false}, "not by a process without LIZA_AGENT_ID"},
		"the board":                  {coder("coder-1"), Move{plumbing.BoardRef, one, two, one, false}, "moved by git liza alone"},
		"another's":                  {coder("coder-1"), Move{"refs/heads/task/print", one, two, one, false}, "coder-1 does not hold print"},
		"submitted":                  {coder("coder-2"), Move{"refs/heads/task/print", one, two, one, false}, "print is READY_FOR_REVIEW"},
		"no task's":                  {coder("coder-1"), Move{"refs/heads/task/none", none, two, none, false}, "there is no task none"},
		"a lost session":             {Who{ID: "coder-1", Role: roles.Coder, Session: "old", Task: "parse"}, Move{"refs/heads/task/parse", one, two, one, false}, "registered in another session"},
		"a human in the worktree":    {Who{Task: "parse"}, Move{"refs/heads/task/parse", one, two, one, false}, ""},
		"another name of main":       {coder("coder-1"), Move{"refs/heads/task/parse", one, "ref:refs/heads/main", one, false}, "task/parse is not made another name of refs/heads/main"},
		"the same by a human":        {Who{Task: "parse"}, Move{"refs/heads/task/parse", one, "ref:refs/heads/main", one, false}, "task/parse is not made another name of refs/heads/main"},
		"a name for a bisection":     {coder("coder-1"), Move{"refs/bisect/bad", one, "ref:refs/heads/main", one, false}, ""},
		"a human, elsewhere":         {Who{Task: "parse"}, Move{"refs/heads/task/print", one, two, one, false}, "nobody moves task/print"},
		"a stash":                    {coder("coder-1"), Move{"refs/stash", one, two, one, false}, "stashes are shared"},
		"a tag":                      {coder("coder-1"), Move{"refs/tags/integration", one, two, one, false}, "moves no tags"},
		"a branch":                   {coder("coder-1"), Move{"refs/heads/mine", one, two, one, false}, "agents move no other"},
		"one like it":                {coder("coder-1"), Move{"refs/notes/integration", one, two, one, false}, "may not move"},
		"a reviewer's":               {Who{ID: "code-reviewer-1", Role: roles.CodeReviewer}, Move{"refs/heads/task/parse", one, two, one, false}, "is a code_reviewer"},
		"nobody's":                   {coder("coder-1"), Move{"refs/heads/task/free", one, two, one, false}, "does not hold free (UNCLAIMED)"},
		"one that waits":             {coder("coder-1"), Move{"refs/heads/task/stuck", one, two, one, false}, "stuck is BLOCKED"},
		"nobody, below one":          {Who{}, Move{"refs/heads/task/parse", one, two, one, false}, "under a supervisor nobody moves"},
		"nobody, in another":         {Who{Task: "print"}, Move{"refs/heads/task/parse", one, two, one, false}, "inside the worktree of print nobody"},
		"notes":                      {coder("coder-1"), Move{"refs/notes/commits", none, two, none, false}, "coder-1 may not move refs/notes/commits"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, ReferenceTransaction(c.who, scene(t, true), []Move{c.move}), c.part)
		})
	}
	// One transaction moves the agent's own branch and another one.
	own, mine := Move{"refs/heads/task/parse", one, two, one, false}, Move{"refs/heads/mine", one, two, one, false}
	expect(t, ReferenceTransaction(coder("coder-1"), scene(t, true), []Move{own, mine}), "agents move no other")
	for hint, c := range map[string]struct{ id, task string }{"git liza withdraw print": {"coder-2", "print"}, "git liza show stuck": {"coder-1", "stuck"}} {
		r := ReferenceTransaction(coder(c.id), scene(t, true), []Move{{"refs/heads/task/" + c.task, one, two, one, false}})
		if r == nil || !strings.HasPrefix(cmdline.Hint(r.Hint), hint) {
			t.Errorf("%+v, without the hint %q", r, hint)
		}
	}
	// Without a board, rules about a ref's name alone still apply, and other moves are allowed.
	expect(t, ReferenceTransaction(coder("coder-1"), nil, []Move{{"refs/heads/task/parse", one, two, one, false}}), "")
	expect(t, ReferenceTransaction(coder("coder-1"), nil, []Move{{"refs/tags/parse", none, two, none, false}}), "sets and moves no tags")
	expect(t, ReferenceTransaction(coder("coder-1"), nil, []Move{{"refs/liza/leases/coder-1", one, two, one, false}}), "kept by git liza")
}

func TestBusy(t *testing.T) {
	stays, moves := Move{"refs/heads/a", one, one, one, false}, Move{"refs/heads/b", one, two, one, false}
	if got := Busy([]Move{stays, moves}); len(got) != 1 || got[0] != moves {
		t.Errorf("%+v", got)
	}
}

// TestTowardsIntegration checks that the hint names the command that this caller can use.
func TestTowardsIntegration(t *testing.T) {
	for hint, who := range map[string]Who{
		"git liza submit parse": coder("coder-1"), "git liza status": {ID: "coder-1", Role: roles.Coder},
		"git liza merge ID, once the task is APPROVED":            {ID: "code-reviewer-1", Role: roles.CodeReviewer, Task: "parse"},
		"as a human, at the project's root: git liza land COMMIT": {Task: "parse"},
	} {
		testrun.Equal(t, cmdline.Hint(towardsIntegration(who)), hint, "%+v", who)
	}
}

func TestCheckIntegration(t *testing.T) {
	const three = "3333333333333333333333333333333333333333"
	holds := func(older, newer string) bool { return older <= newer && older != none }
	move := func(to string) *Move { return &Move{Ref: "refs/heads/integration", Old: one, New: to, Now: one} }
	for name, c := range map[string]struct {
		i    Integration
		part string
	}{
		"nothing":                     {Integration{Now: one}, ""},
		"a recorded move":             {Integration{Now: one, Move: move(two), Landings: []board.Landing{{Before: one, After: two}}}, ""},
		"two of them":                 {Integration{Now: one, Move: move(three), Landings: []board.Landing{{Before: one, After: two}, {Before: two, After: three}}}, ""},
		"one that was found":          {Integration{Now: one, Move: move(two), Landings: []board.Landing{{Before: none, After: two, Found: true}}}, "nothing on the board records"},
		"found before a move":         {Integration{Now: one, Move: move(two), Landings: []board.Landing{{Before: none, After: two, Found: true}, {Before: one, After: two}}}, "does not hold 2222222222"},
		"found with a move":           {Integration{Now: one, Move: move(two), Landings: []board.Landing{{Before: none, After: one, Found: true}, {Before: one, After: two}, {Before: none, After: two, Found: true}}}, ""},
		"found beyond a move":         {Integration{Now: one, Move: move(three), Landings: []board.Landing{{Before: one, After: two}, {Before: none, After: three, Found: true}}}, "does not hold 3333333333"},
		"found, and nothing moves":    {Integration{Now: one, Landings: []board.Landing{{Before: none, After: two, Found: true}}}, "integration does not move with it"},
		"found and found":             {Integration{Now: one, Landings: []board.Landing{{Before: none, After: two, Found: true}, {Before: none, After: one, Found: true}}}, "integration does not move with it"},
		"unrecorded":                  {Integration{Now: one, Move: move(two)}, "nothing on the board records"},
		"further than recorded":       {Integration{Now: one, Move: move(three), Landings: []board.Landing{{Before: one, After: two}}}, "the board records integration at 2222222222"},
		"from elsewhere":              {Integration{Now: one, Move: move(three), Landings: []board.Landing{{Before: two, After: three}}}, "a move from 2222222222"},
		"back":                        {Integration{Now: three, Move: move(two), Landings: []board.Landing{{Before: three, After: two}}}, "would lose commits"},
		"deleted":                     {Integration{Now: one, Move: move(none)}, "is not deleted"},
		"recorded alone":              {Integration{Now: one, Landings: []board.Landing{{Before: one, After: two}}}, "integration does not move with it"},
		"recorded afterwards":         {Integration{Now: two, Landings: []board.Landing{{Before: none, After: two, Found: true}}}, ""},
		"the first push":              {Integration{Now: none, Move: move(two), Founding: true, Landings: []board.Landing{{Before: one, After: two}}}, ""},
		"the first push, alone":       {Integration{Now: none, Founding: true}, "begins without integration"},
		"made later":                  {Integration{Now: none, Move: move(two)}, "no push makes it"},
		"made by a merge":             {Integration{Now: none, Move: move(two), Landings: []board.Landing{{Before: one, After: two}}}, "no push makes it"},
		"nothing to lose, or to move": {Integration{Now: none}, ""},
		"there, as the board begins":  {Integration{Now: one, Founding: true}, ""},
		"missing, and one has landed": {Integration{Now: none, Landings: []board.Landing{{Before: none, After: "0", Found: true}}}, "does not move with it"},
		"the first push, none landed": {Integration{Now: none, Move: move(two), Founding: true}, ""},
		"a landing that is no growth": {Integration{Now: one, Move: move(two), Landings: []board.Landing{{Before: one, After: "0"}, {Before: "0", After: two}}}, "records a move from"},
		"the first push, incomplete":  {Integration{Now: none, Move: move(one), Founding: true, Landings: []board.Landing{{Before: one, After: two}}}, "does not hold it"},
	} {
		t.Run(name, func(t *testing.T) {
			c.i.Branch, c.i.Holds = "integration", holds
			expect(t, CheckIntegration(c.i), c.part)
		})
	}
}

func TestServersLimits(t *testing.T) {
	expect(t, TooLarge("blob", one, 1<<20, false), "")
	expect(t, TooLarge("blob", one, 1<<20+1, false), "1048577 bytes")
	expect(t, TooLarge("tree", one, 1<<20+1, false), "")
	expect(t, TooLarge("tag", one, 1, true), "the tag 1111111111")
	expect(t, TooLarge("blob", one, 32<<20, true), "")
	expect(t, TooLarge("blob", one, 32<<20+1, true), "33554433 bytes")
	expect(t, Ahead("2026-01-31T09:02:00Z", "2026-01-31T09:00:00Z", "it"), "")
	expect(t, Ahead("2026-01-31T09:02:01Z", "2026-01-31T09:00:00Z", "it"), "it is of 2026-01-31T09:02:01Z")
}

func TestOwnRef(t *testing.T) {
	s := scene(t, true)
	const now = "2026-01-31T09:00:00Z"
	until := func(span time.Duration) board.Time { return board.Time(now).Add(span) }
	gone := Move{plumbing.PublishedPrefix + "parse", one, none, one, false}
	state := Move{plumbing.BoardRef, one, two, one, false}
	holder := func(id, session string) *board.Lease {
		return &board.Lease{Agent: id, Session: session, Task: "parse", Expires: until(300 * time.Second)}
	}
	long := holder("coder-1", "s1")
	long.Expires = until(board.ClockSlack + 301*time.Second)
	merge := holder(plumbing.MergeHolder, "any")
	merge.Expires = until(1 << 40)
	for name, c := range map[string]struct {
		ref, now, new string
		lease         *board.Lease
		beside        []Move
		part          string
	}{
		"a lease":                         {"refs/liza/leases/coder-1", one, two, holder("coder-1", "s1"), nil, ""},
		"a lease of another session":      {"refs/liza/leases/coder-1", one, two, holder("coder-1", "s2"), nil, "another session"},
		"another's lease":                 {"refs/liza/leases/coder-1", one, two, holder("coder-2", "s1"), nil, "is not a lease of it"},
		"a lease for ever":                {"refs/liza/leases/coder-1", one, two, long, nil, "longer than a lease may"},
		"the merge lease for ever":        {"refs/liza/leases/" + plumbing.MergeHolder, none, two, merge, nil, "longer than a lease may"},
		"a lease deleted":                 {"refs/liza/leases/coder-1", one, none, nil, nil, "ends by an operation"},
		"a lease ended":                   {"refs/liza/leases/coder-1", one, none, nil, []Move{state}, ""},
		"the merge lease deleted":         {"refs/liza/leases/" + plumbing.MergeHolder, one, none, nil, nil, ""},
		"a branch that goes":              {"refs/liza/attic/parse/" + one, none, one, nil, []Move{gone}, ""},
		"a branch that goes, elsewhere":   {"refs/liza/attic/parse/1", none, one, nil, []Move{gone}, "the attic takes"},
		"another commit than its name":    {"refs/liza/attic/parse/" + one, none, two, nil, []Move{gone}, "the attic takes"},
		"what no branch had":              {"refs/liza/attic/parse/" + two, none, two, nil, []Move{gone}, "the attic takes"},
		"a branch that stays":             {"refs/liza/attic/parse/" + one, none, one, nil, nil, "the attic takes"},
		"a branch that moves":             {"refs/liza/attic/parse/" + one, none, one, nil, []Move{{plumbing.PublishedRef("parse"), one, two, one, false}}, "the attic takes the branch"},
		"a task's branch":                 {plumbing.PublishedRef("parse"), none, one, nil, nil, ""},
		"the branch of no task yet":       {plumbing.PublishedRef("no-task-yet"), none, one, nil, nil, ""},
		"below a task's branch":           {plumbing.PublishedRef("parse/x"), none, one, nil, nil, `no task is "parse/x"`},
		"below a task's branch, deleted":  {plumbing.PublishedRef("parse/x"), none, none, nil, nil, ""},
		"a device's name":                 {plumbing.PublishedRef("nul"), none, one, nil, nil, `no task is "nul"`},
		"the attic emptied":               {"refs/liza/attic/parse/1", one, none, nil, nil, "is kept"},
		"kept work moved":                 {"refs/liza/attic/parse/" + one, two, one, nil, []Move{gone}, "stays what it is"},
		"a submission":                    {"refs/liza/review/print/1", none, one, nil, nil, ""},
		"a submission moved":              {"refs/liza/review/print/1", one, two, nil, nil, "stays what it is"},
		"a submission's place, taken":     {"refs/liza/review/print/1", two, one, nil, nil, ""},
		"another commit":                  {"refs/liza/review/print/1", none, two, nil, nil, "no submission 1 of print"},
		"a submission before it is made":  {"refs/liza/review/print/2", none, one, nil, nil, "no submission 2 of print"},
		"a number in another form":        {"refs/liza/review/print/01", none, one, nil, nil, "no submission 01"},
		"in the place of all submissions": {"refs/liza/review/print", none, one, nil, nil, "no submission"},
		"below a submission":              {"refs/liza/review/print/1/x", none, one, nil, nil, "no submission 1/x"},
		"an unknown task's":               {"refs/liza/review/none/1", none, one, nil, nil, `no task "none"`},
		"a clone's own":                   {"refs/liza/remotes/x/state", none, one, nil, nil, "one clone's own"},
		"a probe":                         {plumbing.ProbePrefix + "1769850000-x", none, one, nil, nil, ""},
		"a probe of another day":          {plumbing.ProbePrefix + "1769750000-x", none, one, nil, nil, "no probe of this day"},
		"the probe of its own name":       {plumbing.ProbePrefix + plumbing.Probe, none, one, nil, nil, ""},
		"a stray probe":                   {plumbing.ProbePrefix + "x", none, one, nil, nil, "no probe of this day"},
		"a stray probe, deleted":          {plumbing.ProbePrefix + "x", one, none, nil, nil, ""},
		"the home":                        {plumbing.HomeRef, none, one, nil, nil, ""},
		"the home, moved":                 {plumbing.HomeRef, one, two, nil, nil, "one clone's own"},
		"no agent's lease":                {plumbing.LeaseRef("boss"), none, one, nil, nil, "is not an agent"},
		"what can't be read":              {plumbing.LeaseRef("coder-1"), none, one, nil, nil, "is not a lease of it"},
		"an unregistered agent's":         {plumbing.LeaseRef("coder-9"), none, one, &board.Lease{Agent: "coder-9", Session: "s1"}, nil, "not at all"},
		"an unregistered agent's, ended":  {plumbing.LeaseRef("coder-9"), one, none, nil, nil, ""},
		"beside the board":                {"refs/heads/liza/x", none, one, nil, nil, "nothing else"},
	} {
		t.Run(name, func(t *testing.T) {
			m := Move{c.ref, c.now, c.new, c.now, false}
			push := Push{Moves: append([]Move{m}, c.beside...), State: s, Now: now}
			expect(t, push.OwnRef(m, c.lease), c.part)
			push.State = nil
			if strings.HasPrefix(c.ref, plumbing.OwnPrefix) && !strings.HasPrefix(c.ref, plumbing.ProbePrefix) {
				expect(t, push.OwnRef(m, c.lease), "there is no board here")
			}
		})
	}
	// Probes that nothing deletes don't become thousands.
	m := Move{plumbing.ProbePrefix + "1769850000-x", none, one, none, false}
	expect(t, Push{Moves: []Move{m}, Now: now, Probes: 101}.OwnRef(m, nil), "too many probes")
}

// TestTwice checks that a push moves each ref once.
func TestTwice(t *testing.T) {
	a, b := Move{"refs/heads/a", one, two, one, false}, Move{"refs/heads/b", one, two, one, false}
	again := Move{"refs/heads/a", two, one, one, false}
	expect(t, Push{Moves: []Move{a, b}}.Twice(), "")
	expect(t, Push{Moves: []Move{a, b, again}}.Twice(), "refs/heads/a is moved twice")
}

// TestSubmitted checks that work which is submitted has its ref.
func TestSubmitted(t *testing.T) {
	expect(t, Submitted("parse", 2, one, one), "")
	expect(t, Submitted("parse", 2, one, two), "submission 2 of parse is 1111111111, and refs/liza/review/parse/2 does not come with it")
	expect(t, Submitted("parse", 2, one, none), "does not come with it")
}

// TestPrePush checks that an integration test can push only the candidate it tests, to where a
// hosted CI finds it, and that an agent can't push anything.
func TestPrePush(t *testing.T) {
	one, two, none := strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("0", 40)
	line := func(commit, ref string) string { return "HEAD " + commit + " " + ref + " " + none + "\n" }
	for name, c := range map[string]struct {
		who       Who
		input     string
		candidate string
		allowed   bool
	}{
		"its candidate":             {Who{}, line(one, "refs/heads/liza/candidate/7"), one, true},
		"its end":                   {Who{}, line(none, "refs/heads/liza/candidate/7"), one, true},
		"another commit":            {Who{}, line(two, "refs/heads/liza/candidate/7"), one, false},
		"another branch":            {Who{}, line(one, "refs/heads/liza/candidate"), one, false},
		"one more ref":              {Who{}, line(one, "refs/heads/liza/candidate/7") + line(one, "refs/heads/main"), one, false},
		"while nothing is tested":   {Who{}, line(one, "refs/heads/liza/candidate/7"), "", false},
		"its end, nothing tested":   {Who{}, line(none, "refs/heads/liza/candidate/7"), "", false},
		"half a line":               {Who{}, "HEAD\n", one, false},
		"nothing":                   {Who{}, "", one, false},
		"an agent, the candidate":   {Who{ID: "coder-1", Task: "one"}, line(one, "refs/heads/liza/candidate/7"), one, false},
		"an agent, its own branch":  {Who{ID: "coder-1", Task: "one"}, line(one, "refs/heads/task/one"), one, false},
		"a line that says too much": {Who{}, "x " + line(one, "refs/heads/liza/candidate/7"), one, false},
	} {
		r := PrePush(c.who, ReadPushed(c.input), c.candidate)
		if (r == nil) != c.allowed || c.who.Task != "" && !strings.HasPrefix(cmdline.Hint(r.Hint), "git liza submit one ") {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// TestTaskBranchPrefix: with another prefix the branches below it are the tasks', and task/ belongs
// to people.
func TestTaskBranchPrefix(t *testing.T) {
	s := scene(t, true)
	s.Config().TaskBranchPrefix = "agents/"
	for ref, part := range map[string]string{
		"refs/heads/agents/parse": "",
		"refs/heads/agents/print": "does not hold print (READY_FOR_REVIEW, coder-2's), so agents/print is not its branch",
		"refs/heads/task/parse":   "task/parse is not a task's branch",
	} {
		expect(t, ReferenceTransaction(coder("coder-1"), s, []Move{{ref, one, two, one, false}}), part)
	}
	expect(t, PreCommit(coder("coder-1"), s, Place{Branch: "refs/heads/agents/parse"}), "")
	expect(t, PreCommit(Who{Task: "parse"}, s, Place{Branch: "refs/heads/agents/parse"}), "")
	expect(t, PreCommit(coder("coder-1"), s, Place{Branch: "refs/heads/task/parse"}), "commits go on to agents/parse")

	// A board that can't be read doesn't stop work, and doesn't free the branches of others.
	expect(t, ReferenceTransaction(coder("coder-1"), nil, []Move{{"refs/heads/agents/parse", one, two, one, false}}), "")
	expect(t, ReferenceTransaction(coder("coder-1"), nil, []Move{{"refs/heads/agents/print", one, two, one, false}}), "agents move no other")
}
