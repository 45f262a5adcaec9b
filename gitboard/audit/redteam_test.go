package audit_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/hooks"
)

// A red team forges operations of every kind: by every role, on tasks in every state, with every
// field of the payload changed. Check, a server and verify must agree on each.

// redTeam is a world in a repository, with a task in each state and the commits that forgers could
// name; or the moment before an operation of an honest history, without a repository.
type redTeam struct {
	*world
	repo    *git.Repo
	honest  *world // a history of every operation
	when    board.Time
	start   plumbing.OID
	tasks   map[board.Status]string
	samples map[string]board.Payload // one of each operation, from an honest history
	work    plumbing.OID             // the approved commit
	merge   plumbing.OID             // the exact merge of it
	commits map[string]plumbing.OID  // by their fault
	board   *board.State             // at the start
	read    map[string]*board.Task   // the tasks at the start, once read
	forged  int
	founded int
	every   int  // one of so many refused operations is also replayed
	secret  bool // text that looks like a credential is allowed
}

var forgers = map[string]board.Actor{
	"planner": planner, "coder": coder1, "another coder": coder2, "reviewer": judge1, "another reviewer": judge2, "human": ada,
	"unregistered":                  agent("coder-9"),
	"of a role that the team lacks": writer,
	"of another session":            {ID: "code-reviewer-1", Role: judge1.Role, Session: "stolen"},
	"of another role":               {ID: "coder-1", Role: judge1.Role, Session: coder1.Session},
	"as a human":                    board.HumanActor("coder-1", "coder-1@liza"),
}

const asItIs = "as it is"

// battlefields are what a human has done on the board before the forgers come.
var battlefields = map[string]func(w *world){
	asItIs:             func(*world) {},
	"paused":           func(w *world) { w.do(ada, &board.Pause{Reason: "a look"}) },
	"tests are needed": func(w *world) { w.do(ada, &board.SetConfig{Key: "require_integration_test", Value: "true"}) },
	"signed": func(w *world) {
		for _, a := range []board.Actor{ada, planner, coder1, coder2, judge1, judge2} {
			w.addKey(a, false)
		}
		w.do(ada, &board.SetConfig{Key: "require_signatures", Value: "true"})
	},
}

// newRedTeam returns a red team on a battlefield, with an honest history.
func newRedTeam(t *testing.T, field string, honest *world) *redTeam {
	w, repo := gitWorld(t)
	r := &redTeam{world: w, repo: repo, tasks: w.everyStatus(), samples: map[string]board.Payload{}, read: map[string]*board.Task{}}
	battlefields[field](w)
	r.honest = honest
	for _, op := range board.Ops() {
		r.samples[op] = r.honest.find(op).op.Payload
	}
	r.start = w.tip()
	r.board, r.every = w.snapshot(r.start).State, 40
	r.when = r.board.Time().Add(time.Second)
	if !*testrun.Long {
		r.every = 400
	}
	r.work = plumbing.OID(w.task(r.tasks[board.Approved]).ReviewCommit)
	_, r.merge = w.mergeCommit(r.tasks[board.Approved], r.work)
	with := func(file string, parents ...plumbing.OID) plumbing.OID {
		var changes map[string]string
		if file != "" {
			changes = map[string]string{file: "//"}
		}
		return w.project(parents, coder1, changes)
	}
	r.commits = map[string]plumbing.OID{
		"none": "", "absent": plumbing.OID(strings.Repeat("ab", 20)), "a blob": plumbing.OID(w.specOID()),
		"integration": w.integration, "the work": r.work, "its merge": r.merge,
		"behind the work": with("a", r.work), "behind integration": with("b", w.integration), "behind the merge": with("c", r.merge),
		"a merge with another content": with("d", w.integration, r.work), "a merge turned round": with("", r.work, w.integration),
		"a merge with more":             with("", w.integration, with("e", r.work)),
		"a merge of three":              with("", w.integration, r.work, with("f", w.integration)),
		"a merge on something else":     with("", with("g", w.integration), r.work),
		"work that nobody has approved": plumbing.OID(w.task(r.tasks[board.ReadyForReview]).ReviewCommit),
	}
	return r
}

// before returns the moment before the first operation of a kind in the honest history.
func (r *redTeam) before(op string) *redTeam {
	step := r.honest.find(op)
	return &redTeam{
		world: r.honest, start: step.parent, board: r.honest.snapshot(step.parent).State, when: step.op.Time, every: r.every, forged: 1000,
		secret:  step.op.AllowSecret,
		commits: map[string]plumbing.OID{"none": "", "absent": plumbing.OID(strings.Repeat("ab", 20)), "integration": r.honest.integration},
	}
}

// fit returns a sample of an operation, changed to be about a task and to name commits of this
// world.
func (r *redTeam) fit(op, task string) board.Payload {
	p := clone(r.samples[op])
	t := r.read[task]
	if t == nil {
		t = r.task(task)
		r.read[task] = t
	}
	if f := field(p, "Task"); f.IsValid() && f.Kind() == reflect.String && f.String() != "" && op != "add-task" {
		f.SetString(task)
	}
	for name, oid := range map[string]string{
		"ReviewCommit": t.ReviewCommit, "Commit": t.ReviewCommit, "ReviewBase": t.BaseCommit, "BaseCommit": string(r.integration),
		"Before": string(r.integration), "Onto": string(r.integration), "MergeCommit": string(r.merge), "SpecOID": r.specOID(),
	} {
		if f := field(p, name); f.IsValid() && oid != "" {
			f.SetString(oid)
		}
	}
	switch p := p.(type) {
	case *board.Merge:
		p.MergeType, p.Failure, p.Files, p.Log = board.MergeCommitType, "", nil, ""
	case *board.FinishMerge:
		p.MergeType = board.MergeCommitType
	case *board.Land:
		p.Commit = string(r.commits["behind integration"])
	}
	return p
}

func clone(p board.Payload) board.Payload {
	c := reflect.New(reflect.TypeOf(p).Elem())
	c.Elem().Set(reflect.ValueOf(p).Elem())
	return c.Interface().(board.Payload)
}

func field(p board.Payload, name string) reflect.Value {
	return reflect.ValueOf(p).Elem().FieldByName(name)
}

// bent returns copies of a payload, each with one field changed, by a name that describes the
// change.
func (r *redTeam) bent(p board.Payload) map[string]board.Payload {
	all := map[string]board.Payload{"": p}
	_, copies := testrun.Bend(p, func(s string) []string {
		if !looksLikeOID(s) {
			return []string{"", "other", board.FastForward, "../" + s, s + " "}
		}
		var commits []string
		for _, oid := range r.commits {
			commits = append(commits, string(oid))
		}
		return commits
	})
	for change, c := range copies {
		all[change] = c.(board.Payload)
	}
	return all
}

func looksLikeOID(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }

// landings returns every way to name commits in an operation that lands something.
func (r *redTeam) landings(p board.Payload) map[string]board.Payload {
	all := map[string]board.Payload{}
	for after, to := range r.commits {
		for _, before := range []string{"none", "absent", "integration", "the work", "behind integration"} {
			from := r.commits[before]
			for _, how := range []string{board.MergeCommitType, board.FastForward} {
				if _, lands := p.(*board.Land); lands && how == board.FastForward {
					continue // a land does not say how
				}
				c := clone(p)
				name := fmt.Sprintf("%s from %s by %s", after, before, how)
				switch c := c.(type) {
				case *board.Merge:
					c.MergeCommit, c.Before, c.MergeType = string(to), string(from), how
				case *board.FinishMerge:
					c.MergeCommit, c.Before, c.MergeType = string(to), string(from), how
				case *board.Land:
					c.Commit, c.Before = string(to), string(from)
				}
				all[name] = c
			}
		}
	}
	return all
}

// allowed reports whether the rules allow an operation.
func (r *redTeam) allowed(op board.Operation) bool {
	err := func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("it panics: %v", cause)
				r.t.Errorf("%s: %v", op.Name(), err)
			}
		}()
		_, err = board.Step(r.board, op)
		return err
	}()
	if refused := (*board.Refusal)(nil); err != nil && !errors.As(err, &refused) {
		r.t.Errorf("%s: %v", op.Name(), err)
	}
	return err == nil
}

// attack forges an operation and checks that Check, a server and verify agree on it. It reports
// whether the board's rules allow it. If operations must be signed, it is forged without a
// signature, with the forger's own and with somebody else's.
func (r *redTeam) attack(who string, p board.Payload, name string) bool {
	r.forged++
	op := board.Operation{Actor: forgers[who], Time: r.when, Request: fmt.Sprintf("forged-%d", r.forged), AllowSecret: r.secret, Payload: p}
	ok := r.allowed(op)
	if !ok && r.forged%r.every != 0 {
		return ok // a replay applies the same rules
	}
	name = fmt.Sprintf("%s by %s, %s", op.Name(), who, name)
	if c := r.board.Config(); c == nil || !c.RequireSignatures {
		r.replay(forgery{parent: r.start, op: op}, ok, name)
		return ok
	}
	r.replay(forgery{parent: r.start, op: op}, false, name+", not signed")
	other := coder2
	if op.Actor.ID == other.ID {
		other = judge1
	}
	r.replay(forgery{parent: r.start, op: op, commit: r.signedBy(other)}, false, name+", signed by "+other.ID)
	r.replay(forgery{parent: r.start, op: op, commit: r.signedBy(op.Actor)}, ok && r.hasKey(op.Actor), name+", signed")
	return ok
}

// hasKey reports whether a forger's own key is on the board, if operations must be signed.
func (r *redTeam) hasKey(a board.Actor) bool {
	return a == ada || slices.Contains([]string{planner.ID, coder1.ID, coder2.ID, judge1.ID, judge2.ID}, a.ID) && a.Role != roles.Human
}

// replay forges an operation and checks that a server and verify agree on whether it is valid. Now
// and then the server takes it with all that was before, as a board that is new to it.
func (r *redTeam) replay(f forgery, ok bool, name string) {
	forged := r.forge(f)
	near := testrun.Must(audit.Near(r.ctx, r.store, audit.Range{From: r.start, To: forged}))(r.t)
	if near.OK() != ok {
		r.t.Errorf("%s: allowed %v, and a server finds %s", name, ok, texts(near.Findings))
	}
	alone := testrun.Must(audit.Verify(r.ctx, r.store, nil, audit.Range{From: r.start, To: forged}, nil))(r.t)
	if alone.OK() != ok {
		r.t.Errorf("%s: allowed %v, and verify finds %s", name, ok, texts(alone.Findings))
	}
	if r.founded++; r.founded%20 == 0 {
		whole := testrun.Must(audit.Near(r.ctx, r.store, audit.Range{To: forged}))(r.t)
		if whole.OK() != ok {
			r.t.Errorf("%s: allowed %v, and of a board that is new to it a server finds %s", name, ok, texts(whole.Findings))
		}
	}
	if ok && r.repo != nil && r.names(f.op.Payload) {
		r.evidence(f.op, forged, name)
	}
}

// evidence checks what an allowed operation states about the repository, as a server does before it
// accepts the operation and as verify does later. Integration is where it was, and then at each
// commit to which a forger might push it as well.
func (r *redTeam) evidence(op board.Operation, forged plumbing.OID, name string) {
	targets := []plumbing.OID{r.integration}
	if after := landed(op.Payload); r.files[after] != nil && after != r.integration {
		targets = append(targets, after, r.commits["behind the work"])
	}
	for i, to := range targets {
		push := testrun.Must(audit.Examine(r.ctx, r.repo, log.NewReader(r.repo, ""), audit.Range{From: r.start, To: forged}, to))(r.t)
		taken := push.OK() && r.moves(push, to) == nil
		if taken && to != r.integration && !r.justified(op, to) {
			r.t.Errorf("%s moves integration to %s", name, r.named(to))
		}
		if !taken && (i > 0 || r.forged%r.every != 0) {
			continue
		}
		was := r.integration
		r.world.move(to)
		report := r.verify(audit.Range{From: r.start, To: forged})
		if push.OK() && report.OK() != taken && !(to == was && len(push.Landings) > 0) {
			r.t.Errorf("%s, integration at %s: taken %v by a server (%v), and verify finds %s", name, r.named(to), taken, r.moves(push, to), texts(report.Findings))
		}
		if !push.OK() && report.OK() {
			r.t.Errorf("%s: a server finds %s, and verify nothing", name, texts(push.Findings))
		}
		r.world.move(was)
	}
}

// names reports whether an operation names commits of the project.
func (r *redTeam) names(p board.Payload) bool {
	said := fmt.Sprintf("%+v", p)
	for _, oid := range r.commits {
		if oid != "" && strings.Contains(said, string(oid)) {
			return true
		}
	}
	return false
}

// landed returns the commit that an operation says is on integration.
func landed(p board.Payload) plumbing.OID {
	switch p := p.(type) {
	case *board.Merge:
		return plumbing.OID(p.MergeCommit)
	case *board.FinishMerge:
		return plumbing.OID(p.MergeCommit)
	case *board.Land:
		return plumbing.OID(p.Commit)
	}
	return plumbing.ZeroOID
}

// moves returns a server's decision about the move of integration in a push.
func (r *redTeam) moves(push *audit.Push, to plumbing.OID) *board.Refusal {
	i := hooks.Integration{Branch: "integration", Now: string(r.integration), Holds: func(older, newer string) bool {
		return testrun.Must(r.repo.History().IsAncestor(r.ctx, plumbing.OID(older), plumbing.OID(newer)))(r.t)
	}}
	if to != r.integration {
		i.Move = &hooks.Move{Ref: integrationRef, Old: i.Now, New: string(to), Now: i.Now}
	}
	i.Landings = push.Landings
	return hooks.CheckIntegration(i)
}

// justified restates, independently of the tested code, what may move integration: a reviewer's
// exact merge of the approved work, and a human's land.
func (r *redTeam) justified(op board.Operation, to plumbing.OID) bool {
	switch p := op.Payload.(type) {
	case *board.Merge:
		return op.Actor.Role == judge1.Role && p.Task == r.tasks[board.Approved] && (to == r.merge || to == r.work)
	case *board.Land:
		return op.Actor == ada && p.Commit == string(to)
	case *board.Revert:
		return op.Actor == ada && p.Commit == string(to)
	}
	return false
}

func (r *redTeam) named(oid plumbing.OID) string {
	for name, is := range r.commits {
		if is == oid {
			return name
		}
	}
	return string(oid)
}

// TestRedTeam tries every operation by every role on a task in every state and, if the rules allow
// it, with every field changed, on each battlefield. Operations that land something are tried with
// every pair of commits. What does not fit the board, so that all of it is refused, is tried again
// on the board of an honest history on which it was done. Without -long it is one forgery in 320
// of the first battlefield and one in 1600 of the others.
func TestRedTeam(t *testing.T) {
	testrun.NotShort(t)
	files := corpusFiles(t)
	honest := recorded(t, files[len(files)-1])
	for field := range battlefields {
		t.Run(field, func(t *testing.T) { redTeamOn(t, field, honest) })
	}
}

func redTeamOn(t *testing.T, field string, honest *world) {
	r, share := newRedTeam(t, field, honest), 1600
	if field == asItIs {
		share = 320
	}
	n, forged, allowed := 0, 0, 0
	attack := func(r *redTeam, who string, forge map[string]board.Payload, about string) {
		for _, name := range slices.Sorted(maps.Keys(forge)) {
			if n++; !testrun.OneIn(share, n) {
				continue
			}
			forged++
			if r.attack(who, forge[name], about+","+name) {
				allowed++
			}
		}
	}
	may := func(r *redTeam, who string, p board.Payload) bool {
		return r.allowed(board.Operation{Actor: forgers[who], Time: r.when, Request: "x", AllowSecret: r.secret, Payload: p})
	}
	everybody := slices.Sorted(maps.Keys(forgers))
	for _, op := range board.Ops() {
		fits := false
		for _, status := range board.Statuses {
			task := r.tasks[status]
			about := strings.Contains(fmt.Sprintf("%+v", r.fit(op, task)), task)
			if !about && status != board.Approved {
				continue // it is not about a task
			}
			for _, who := range everybody {
				p := r.fit(op, task)
				forge := map[string]board.Payload{"as it should be": p}
				if may(r, who, p) {
					forge, fits = r.bent(p), true
				}
				switch p.(type) {
				case *board.Merge, *board.FinishMerge, *board.Land:
					if status == board.Approved && slices.Contains([]string{"coder", "reviewer", "human"}, who) {
						forge = r.landings(p)
					}
				}
				attack(r, who, forge, task)
			}
		}
		if fits || field != asItIs || op == (&board.Init{}).Op() { // there is no board before init
			continue
		}
		then := r.before(op)
		for _, who := range everybody {
			if p := r.samples[op]; may(then, who, p) {
				fits = true
				attack(then, who, then.bent(p), "then")
			}
		}
		if !fits {
			t.Errorf("nobody may do %s as it is forged here, so none of its fields were changed", op)
		}
	}
	t.Logf("%d of %d operations were forged, %d of them within the rules of the board", forged, n, allowed)
	if allowed < forged/10 {
		t.Errorf("only %d of %d forged operations were within the rules", allowed, forged)
	}
}
