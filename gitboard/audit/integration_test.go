package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestUnknownIntegration checks that moves of integration are noted as unchecked where its first
// recorded position is not here, and not looked for where the board has no settings that name the
// branch.
func TestUnknownIntegration(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	tip := w.tip()
	nowhere := strings.Repeat("a", 40)
	w.do(coder1, &board.Claim{About: about("alpha"), Clone: "clone-1", BaseCommit: nowhere})
	if notes := texts(w.verify(audit.Range{}).Notes); !strings.HasPrefix(notes, "integration: this clone does not have the branch integration since "+nowhere[:10]+": what landed can't be checked here\n") {
		t.Errorf("%s", notes)
	}
	w.rewind(tip)
	w.claim(coder1, "alpha")
	w.rewind(w.forge(forgery{parent: w.tip(), op: noteOf("f"), files: map[string][]byte{board.ConfigPath: nil}}))
	if report := w.verify(audit.Range{}); len(report.Findings) != 1 || report.Findings[0].Code != audit.CodeTree || len(report.Notes) != 0 {
		t.Errorf("%s %s", findings(report), texts(report.Notes))
	}
	// A server that has no integration examines a submission all the same.
	w.rewind(tip)
	w.claim(coder1, "alpha")
	w.preExec(coder1, "alpha")
	from := w.tip()
	w.submit(coder1, "alpha")
	for _, integration := range []plumbing.OID{w.integration, plumbing.ZeroOID} {
		push := testrun.Must(audit.Examine(w.ctx, repo, log.NewReader(repo, ""), audit.Range{From: from, To: w.tip()}, integration))(t)
		if !push.OK() {
			t.Errorf("%s", texts(push.Findings))
		}
	}
}

// TestMovesBetweenRecords checks that commits on integration are found between the recorded moves,
// whatever these claim.
func TestMovesBetweenRecords(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	w.ready("alpha")
	work := w.approved(coder1, "alpha")
	// A merge that says that it moved nothing hides nothing.
	w.move(work)
	w.do(judge1, &board.Merge{About: about("alpha"), ReviewCommit: string(work), Before: string(work), MergeCommit: string(work), MergeType: board.FastForward})
	w.ready("beta")
	begun := w.tip()
	expect := func(r audit.Range, notes int, found ...plumbing.OID) {
		t.Helper()
		report := w.verify(r)
		var commits []plumbing.OID
		for _, f := range report.Findings {
			commits = append(commits, f.Commit)
		}
		if len(report.Notes) != notes || !slices.Equal(commits, found) {
			t.Errorf("%s\n%s", texts(report.Findings), texts(report.Notes))
		}
	}
	expect(audit.Range{}, 0, work)
	// A range that ends with an operation that says nothing of integration is looked at up to the
	// last one before it that does.
	w.claim(coder2, "beta")
	expect(audit.Range{To: begun}, 0, work)
	// Integration begins anew.
	apart := w.project([]plumbing.OID{w.project(nil, coder2, map[string]string{"new.go": "//"})}, ada, map[string]string{"more.go": "//"})
	w.move(apart)
	report := w.verify(audit.Range{})
	if text := texts(report.Findings); !strings.Contains(text, "by coder-2, which no merge or land records") || len(report.Notes) != 2 {
		t.Errorf("%s\n%s", text, texts(report.Notes))
	}
}

// TestMovesInACircle checks that landings that lead back to each other are found, and end.
func TestMovesInACircle(t *testing.T) {
	w, _ := gitWorld(t)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	first := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"a": "a"})
	w.do(ada, &board.Land{Before: string(w.integration), Commit: string(first)}, w.lands(first))
	second := w.project([]plumbing.OID{first}, ada, map[string]string{"b": "b"})
	w.do(ada, &board.Land{Before: string(first), Commit: string(second)}, w.lands(second))
	w.clean()
	w.do(ada, &board.Land{Before: string(second), Commit: string(first)})
	if report := w.verify(audit.Range{}); len(report.Findings) != 1 || !strings.Contains(texts(report.Findings), "does not follow from "+string(second)) {
		t.Errorf("%s", texts(report.Findings))
	}
}

// TestBeforeTheFirstClaim checks that an agent's commit is found on integration although nobody has
// claimed anything yet, or has begun behind it, and that nothing is reported of what people bring then.
func TestBeforeTheFirstClaim(t *testing.T) {
	w, repo := gitWorld(t)
	w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration", Start: string(w.integration)})
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"mine": "//"}))
	w.clean()
	by := w.project([]plumbing.OID{w.integration}, coder2, map[string]string{"its": "//"})
	w.move(by)
	w.move(w.project([]plumbing.OID{w.integration}, ada, map[string]string{"mine too": "//"}))
	compared := func() string {
		t.Helper()
		at := w.snapshot(w.tip())
		strays := testrun.Must(audit.Compare(w.ctx, w.store, repo, at, audit.Strays{}, w.operation))(t)
		return fmt.Sprint(strays.Found)
	}
	expect := func() {
		t.Helper()
		report := w.verify(audit.Range{})
		if len(report.Findings) != 1 || report.Findings[0].Commit != by || len(report.Notes) != 0 {
			t.Errorf("%s\n%s", texts(report.Findings), texts(report.Notes))
		}
		testrun.Contains(t, compared(), string(by), "compared")
	}
	expect()
	for _, a := range []board.Actor{planner, coder1} {
		w.do(a, &board.Register{Session: a.Session, Clone: "clone-1"})
		w.do(a, &board.AgentStatusChange{Status: board.Idle})
	}
	w.ready("alpha")
	w.claim(coder1, "alpha")
	expect()
}

// TestIntegrationSetBack checks what is reported of an integration that lacks the commit at which the
// newest claim began, and of one that is missing: only where the board is at home is that wrong.
func TestIntegrationSetBack(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	was := w.integration
	w.move(w.project([]plumbing.OID{was}, ada, map[string]string{"a": "a"}))
	w.claim(coder1, "alpha")
	begun := w.integration
	w.clean()
	for _, c := range []struct {
		to          plumbing.OID
		found, note string
	}{
		{w.project([]plumbing.OID{begun}, ada, map[string]string{"b": "b"}), "", "by Ada, which no merge or land records"},
		{was, "", "integration has been set back: it lacks " + begun.Short() + ", where it was then"},
		{plumbing.ZeroOID, "", "this clone does not have the branch integration since " + begun.Short()},
	} {
		w.move(c.to)
		report := w.verify(audit.Range{})
		if !report.OK() || len(report.Notes) != 1 || !strings.Contains(texts(report.Notes), c.note) {
			t.Errorf("at %s: %s%s", c.to.Short(), texts(report.Findings), texts(report.Notes))
		}
	}
	check(t, repo.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.HomeRef, New: w.tip()}}, ""))
	if report := w.verify(audit.Range{}); len(report.Findings) != 1 || !strings.Contains(texts(report.Findings), "the branch integration is missing, which the board has known since "+begun.Short()) {
		t.Errorf("at home: %s%s", texts(report.Findings), texts(report.Notes))
	}
	w.move(begun)
	w.clean()
}

// TestHiddenGap checks that a commit of integration that only git's commit graph still has is not
// taken for one that nobody in particular made, and one of the board not for one that claims nothing.
func TestHiddenGap(t *testing.T) {
	w, repo := gitWorld(t)
	w.begin()
	w.ready("alpha")
	w.claim(coder1, "alpha")
	by := w.project([]plumbing.OID{w.integration}, coder2, map[string]string{"quick.go": "//"})
	w.move(w.project([]plumbing.OID{by}, ada, map[string]string{"slow.go": "//"}))
	l := &lossy{w, repo, nil}
	l.forget("liza", "kept")
	testrun.RunGit(t, repo.CommonDir(), "commit-graph", "write", "--reachable")
	l.lose(by)
	repo = l.reopened()
	if report, err := audit.Verify(w.ctx, repo, repo, audit.Range{}, nil); err == nil || !strings.Contains(err.Error(), "read integration: ") {
		t.Errorf("%v: %s%s", err, texts(report.Findings), texts(report.Notes))
	}
	l.lose(w.find("add-task").commit)
	if claims, err := audit.Recorded(w.ctx, l.reopened(), audit.Range{To: w.tip()}); err == nil {
		t.Errorf("%+v", claims)
	}
}
