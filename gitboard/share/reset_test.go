package share

import (
	"os"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestNotAsPushed checks that a transaction which was decided on an older board does not count as done
// because the board is where the transactions after it were decided.
func TestNotAsPushed(t *testing.T) {
	t.Parallel()
	s := apart(t)
	base := s.found(t)
	now := s.operate(t, board.HumanActor("Ada", "ada@example.org"), &board.AddNote{For: "human", Message: "of another"})
	text, _ := (&parcel.News{Since: now}).Text()
	lost := operation("lost", base, plumbing.OID("1111111111111111111111111111111111111111"))
	d := &delivery{chain: &chain{Base: now, Transactions: []*transaction{lost}}, requests: [][]string{{"a request"}}}
	check(t, s.rewritten(t.Context(), d, text))
	if d.taken == nil || len(d.taken) != 0 {
		t.Errorf("taken: %v", d.taken)
	}
	pushed := operation("pushed", base, now)
	d.chain = &chain{Base: base, Transactions: []*transaction{pushed}}
	if check(t, s.rewritten(t.Context(), d, text)); d.taken != nil {
		t.Errorf("it is there as it was, and counts as decided again: %v", d.taken)
	}
}

// TestLacking checks which submissions a push adds that restores a remote which was reset: those on
// the board here, and not on the one that the remote still has.
func TestLacking(t *testing.T) {
	t.Parallel()
	s := apart(t)
	s.found(t)
	human := board.HumanActor("Ada", "ada@example.org")
	early := s.operate(t, human, &board.AddNote{For: "human", Message: "before all tasks"})
	commit := func(message string) plumbing.OID {
		return s.makes(t, plumbing.Commit{Parents: []plumbing.OID{early}, Message: message + "\n"})
	}
	submit := func(task, agent string, work plumbing.OID) plumbing.OID {
		about, coder := board.About{Task: task}, board.Actor{ID: agent, Role: roles.Coder, Session: "mine"}
		s.operate(t, human, &board.AddTask{About: about, Ready: true, NoSpecFile: true, Definition: board.Definition{
			Description: "d", DoneWhen: "go test ./... passes", Scope: "IN: x", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3}})
		s.operate(t, coder, &board.Register{Session: "mine", Clone: "here", PID: 7})
		s.operate(t, coder, &board.Claim{About: about, Clone: "here", BaseCommit: string(early)})
		s.operate(t, coder, &board.PreExec{About: about, Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"x"}}})
		return s.operate(t, coder, &board.Submit{About: about, Commit: string(work), ReviewBase: string(early), Commits: 1, Files: 1, NoTestsBecause: "none"})
	}
	first, second := commit("first"), commit("second")
	once := submit("one", "coder-1", first)
	twice := submit("two", "coder-2", second)
	refs := map[string]plumbing.OID{
		plumbing.ReviewRef("one", 1): first, plumbing.ReviewRef("two", 1): second, plumbing.ReviewRef("two", 2): second, plumbing.ReviewRef("three", 1): first,
		plumbing.ReviewPrefix + "two/odd": second, plumbing.ReviewPrefix + "odd": second,
	}
	s.set(t, refs)
	for name, c := range map[string]struct {
		reset, here plumbing.OID
		moved       map[string]plumbing.OID
		want        []string
	}{
		"a remote that was not reset":       {plumbing.ZeroOID, twice, nil, nil},
		"one that lacks both":               {early, twice, nil, []string{"one/1", "two/1"}},
		"one that lacks the second":         {once, twice, nil, []string{"two/1"}},
		"one that lacks no submission":      {twice, twice, nil, nil},
		"an operation not on the board":     {early, once, nil, []string{"one/1"}},
		"a submission that is another here": {early, twice, map[string]plumbing.OID{plumbing.ReviewRef("one", 1): second}, []string{"two/1"}},
		"a submission that is missing here": {early, twice, map[string]plumbing.OID{plumbing.ReviewRef("two", 1): plumbing.ZeroOID}, []string{"one/1"}},
	} {
		s.set(t, refs)
		s.set(t, c.moved)
		pushes := testrun.Must(s.lacking(t.Context(), c.reset, c.here))(t)
		var got []string
		for _, p := range pushes {
			got = append(got, p.Ref[len(plumbing.ReviewPrefix):])
			if p.New != refs[p.Ref] || !p.Old.IsZero() {
				t.Errorf("%s: it pushes %+v", name, p)
			}
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: it pushes %s, not %s", name, got, c.want)
		}
	}
}

// TestHomeLost checks which repositories have lost the ref that makes a board at home there.
func TestHomeLost(t *testing.T) {
	t.Parallel()
	type refs = map[string]plumbing.OID
	lease := plumbing.LeaseRef("coder-1")
	for name, c := range map[string]struct {
		refs   refs // "tip" is the board's commit
		shared bool
		begun  bool
		lost   bool
	}{
		"agents have leases":               {refs: refs{lease: "tip"}, lost: true},
		"it has submissions only":          {refs: refs{plumbing.ReviewRef("x", 1): "tip"}},
		"its home is there":                {refs: refs{lease: "tip", plumbing.HomeRef: "tip"}},
		"its home is a branch":             {refs: refs{lease: "tip", plumbing.AsBranch(plumbing.HomeRef): "tip"}},
		"a clone that has seen the board":  {refs: refs{lease: "tip", plumbing.TrackingRef("hub", "state"): "tip"}},
		"a board that is shared":           {refs: refs{lease: "tip"}, shared: true},
		"a share that was cut off":         {refs: refs{lease: "tip"}, begun: true},
		"a copy, in which nobody has work": {},
	} {
		s := apart(t)
		by := s.remote.Load()
		tip := s.commits(t, 1)[0]
		for ref, at := range c.refs {
			if at == "tip" {
				at = tip
			}
			s.set(t, refs{ref: at})
		}
		if c.begun {
			check(t, os.WriteFile(s.file(sharingFile), []byte("hub\n"), 0o644))
		}
		if c.shared {
			check(t, s.repo.Settings().Set(t.Context(), git.RemoteKey, by.Name))
		}
		s.remote.Store(nil)
		if lost, err := s.HomeLost(t.Context()); err != nil || lost != c.lost {
			t.Errorf("%s: its home is lost: %v, %v", name, lost, err)
		}
	}
}
