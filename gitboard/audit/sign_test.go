package audit_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// beginSigned creates a board that is signed from its first commit on, and registers the team.
func (w *world) beginSigned() {
	w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration", Key: w.key(ada).Public()})
	for _, a := range []board.Actor{planner, coder1, coder2, judge1} {
		w.addKey(a, false)
		w.do(a, &board.Register{Session: a.Session, Clone: "clone-1"})
		w.do(a, &board.AgentStatusChange{Status: board.Idle})
	}
}

// signedBy returns a function that adds a signature to a forged commit.
func (w *world) signedBy(a board.Actor) func(*plumbing.Commit) {
	return func(c *plumbing.Commit) {
		c.GPGSig = testrun.Must(w.key(a).Sign(plumbing.EncodeCommit(*c)))(w.t)
	}
}

func TestSignedHistory(t *testing.T) {
	w := memoryWorld(t)
	w.beginSigned()
	w.ready("greet")
	work := w.approved(coder1, "greet")
	w.merge("greet", work)
	report := w.clean()
	if report.Signed != report.Commits || report.SignedFrom != w.steps[0].commit {
		t.Errorf("%d of %d are signed, since %s", report.Signed, report.Commits, report.SignedFrom)
	}
	for _, s := range w.steps {
		check(t, w.log.Replays(w.ctx, s.commit))
	}
	w.do(ada, &board.SetConfig{Key: "require_signatures", Value: "false"})
	w.do(planner, &board.AddNote{For: "human", Message: "not signed"})
	w.do(ada, &board.SetConfig{Key: "require_signatures", Value: "true"})
	again := w.do(planner, &board.AddNote{For: "human", Message: "signed again"})
	report = w.clean()
	if report.Signed != report.Commits-1 || report.SignedFrom != w.steps[len(w.steps)-2].commit || again != report.To {
		t.Errorf("%d of %d are signed, since %s", report.Signed, report.Commits, report.SignedFrom)
	}
}

// TestForgedSignatures covers the attacks that signatures must prevent, for verify and for a replay
// of a single operation.
func TestForgedSignatures(t *testing.T) {
	w := memoryWorld(t)
	w.beginSigned()
	w.starts(coder1, "greet")
	w.submit(coder1, "greet")
	w.do(judge1, &board.ClaimReview{About: about("greet")})
	w.keys = map[string]string{coder2.ID: "the second key of coder-2"}
	w.addKey(coder2, true) // revokes the first one
	w.keys = nil
	tip := w.tip()
	last := w.snapshot(tip).Head
	submission := w.snapshot(w.find("submit").commit).Head
	note := func(a board.Actor) board.Operation {
		return board.Operation{Actor: a, Request: "forged", Payload: &board.Discover{Description: "psst", Severity: "low", Urgency: "deferred"}}
	}
	approval := board.Operation{Actor: judge1, Request: "forged", Payload: &board.Verdict{
		About: about("greet"), Verdict: board.VerdictApproved, Checked: "tests", Commit: w.task("greet").ReviewCommit,
	}}
	of := func(a board.Actor, p board.Payload) board.Operation {
		return board.Operation{Actor: a, Request: "forged", Payload: p}
	}
	stranger := board.HumanActor("Eve", "eve@example.org")
	for name, c := range map[string]struct {
		f    forgery
		text string
	}{
		"no signature":             {forgery{op: note(coder1)}, "bears none"},
		"another agent's key":      {forgery{op: note(coder1), commit: w.signedBy(judge1)}, "is that of code-reviewer-1"},
		"self-approval":            {forgery{op: approval, commit: w.signedBy(coder1)}, "is that of coder-1"},
		"an agent as a human":      {forgery{op: note(ada), commit: w.signedBy(coder1)}, "is that of coder-1"},
		"a human as an agent":      {forgery{op: note(coder1), commit: w.signedBy(ada)}, "is that of ada@example.org"},
		"a human as another":       {forgery{op: note(stranger), commit: w.signedBy(ada)}, "is that of ada@example.org"},
		"an unknown key":           {forgery{op: note(stranger), commit: w.signedBy(stranger)}, "not on the board"},
		"a revoked key":            {forgery{op: note(coder2), commit: w.signedBy(coder2)}, "was revoked"},
		"a key that it adds":       {forgery{op: of(stranger, &board.KeysAdd{Principal: "eve@example.org", Public: w.key(stranger).Public()}), commit: w.signedBy(stranger)}, "not on the board"},
		"signatures off, unsigned": {forgery{op: of(ada, &board.SetConfig{Key: "require_signatures", Value: "false"})}, "bears none"},
		"signatures off, by agent": {forgery{op: of(ada, &board.SetConfig{Key: "require_signatures", Value: "false"}), commit: w.signedBy(coder1)}, "is that of coder-1"},
		"signature of another":     {forgery{op: note(ada), commit: func(c *plumbing.Commit) { c.GPGSig = last.GPGSig }}, "not a signature of this content"},
		"changed after signing": {forgery{op: note(coder1), commit: func(c *plumbing.Commit) {
			w.signedBy(coder1)(c)
			c.Committer.Name = "Somebody else"
		}}, "not a signature of this content"},
		"replayed": {forgery{op: note(coder1), commit: func(c *plumbing.Commit) {
			old := submission
			old.Parents = c.Parents
			*c = old
		}}, "not a signature of this content"},
	} {
		t.Run(name, func(t *testing.T) {
			c.f.parent = tip
			forged := w.forge(c.f)
			report := w.verify(audit.Range{From: tip, To: forged})
			said := ""
			for _, f := range report.Findings {
				if f.Code == audit.CodeSignature {
					said = f.Text
				}
			}
			if !strings.Contains(said, c.text) {
				t.Errorf("%v does not say %q", report.Findings, c.text)
			}
			if report.Proven != 0 || report.Signed != 0 {
				t.Errorf("%d proven, %d signed", report.Proven, report.Signed)
			}
			if err := w.log.Replays(w.ctx, forged); !errors.As(err, new(*log.RecordError)) {
				t.Errorf("replayed, it is not damage: %v", err)
			}
		})
	}
	t.Run("stripped", func(t *testing.T) {
		bare := last
		bare.GPGSig = ""
		o := plumbing.NewObject("commit", plumbing.EncodeCommit(bare))
		check(t, w.store.WriteObjects(w.ctx, []plumbing.Object{o}))
		w.caught(t, last.Parents[0], o.OID, audit.CodeSignature)
		if err := w.log.Replays(w.ctx, o.OID); err == nil {
			t.Error("it replays")
		}
	})
	t.Run("twice", func(t *testing.T) {
		forged := w.forge(forgery{parent: tip, op: note(coder1), commit: w.signedBy(coder1), object: func(data string) string {
			at := strings.Index(data, "gpgsig ")
			header := data[at : strings.Index(data, "\n\n")+1]
			return data[:at] + header + data[at:]
		}})
		if w.verify(audit.Range{From: tip, To: forged}).OK() {
			t.Error("nothing is found")
		}
	})
}

// TestManyNotes checks that a board with more notes than fit into one directory verifies, and that
// none of its directories is large.
func TestManyNotes(t *testing.T) {
	most := 230
	if *testrun.Long {
		most = 10_030 // reaches the second upper-level directory
	}
	w := memoryWorld(t)
	w.begin()
	for n := range most {
		w.do(ada, &board.AddNote{Message: fmt.Sprintf("note %d", n)})
	}
	w.do(ada, &board.Ack{IDs: []string{"note-1", fmt.Sprintf("note-%d", most)}})
	if report := w.clean(); report.Proven != len(w.steps) {
		t.Errorf("%d of %d proven", report.Proven, len(w.steps))
	}
	entries := map[string]map[string]bool{}
	for at := range testrun.Must(testrun.Must(log.ReadTree(w.ctx, w.store, w.snapshot(w.tip()).Head.Tree))(t).Files())(t) {
		for ; at != "."; at = path.Dir(at) {
			dir := path.Dir(at)
			if entries[dir] == nil {
				entries[dir] = map[string]bool{}
			}
			entries[dir][at] = true
		}
	}
	for dir, all := range entries {
		if len(all) > 100 {
			t.Errorf("%s has %d entries", dir, len(all))
		}
	}
}

// TestReceivedReadsLittle checks that the records that are read to receive operations are not more
// where the board has more, also if many operations come at once.
func TestReceivedReadsLittle(t *testing.T) {
	const many, received = 100, 40
	store := &reading{Memory: testrepo.NewMemory()}
	w := newWorld(t, store)
	w.begin()
	for n := range many {
		w.do(ada, &board.AddNote{Message: fmt.Sprintf("note %d", n)})
	}
	from := w.tip()
	for n := range received {
		w.do(ada, &board.AddNote{Message: fmt.Sprintf("more %d", n)})
	}
	store.files = 0
	report, err := audit.Near(w.ctx, store, audit.Range{From: from, To: w.tip()})
	if err != nil || !report.OK() || report.Proven != received {
		t.Fatalf("%+v: %v", report, err)
	}
	if store.files >= received {
		t.Errorf("%d files are read for %d operations", store.files, received)
	}
}

// reading counts the files that are read.
type reading struct {
	*testrepo.Memory
	files int
}

func (r *reading) Object(ctx context.Context, name string) (plumbing.Object, error) {
	o, err := r.Memory.Object(ctx, name)
	if o.Type == plumbing.BlobObject {
		r.files++
	}
	return o, err
}

func (r *reading) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	objects, err := r.Memory.Objects(ctx, names)
	for _, o := range objects {
		if o.Type == plumbing.BlobObject {
			r.files++
		}
	}
	return objects, err
}
