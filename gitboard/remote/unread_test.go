package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
)

// insist makes a call in contexts that are cancelled at one place of this package, each in turn,
// and then in one that is not. The call says whether its result is right, or that it has none.
func insist(t *testing.T, name string, call func(ctx context.Context) error) {
	t.Helper()
	if err := testrepo.Insist(once(t), "github.com/git-liza/git-liza/gitboard/remote", call); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// TestUnread checks that a read which fails is never taken for an answer: the call fails as well,
// or its result is the right one.
func TestUnread(t *testing.T) {
	t.Parallel()
	unlike := func(got, want any, err error) error {
		if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%v, not %v", got, want)
		}
		return err
	}
	missing := git.OID("1111111111111111111111111111111111111111")
	t.Run("the branch of a task", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		ids := s.commits(t, 1)
		s.set(t, map[string]git.OID{s.Task("x"): ids[0]})
		insist(t, "where it is", func(ctx context.Context) error {
			seen, commit, err := s.Published(ctx, "x")
			return unlike([]git.OID{seen, commit}, []git.OID{ids[0], ids[0]}, err)
		})
	})
	t.Run("a carrier", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		ids := s.commits(t, 2)
		odd := git.NewObject(git.CommitObject, git.EncodeCommit(git.Commit{Tree: git.EmptyTree, Message: "anew\n"}))
		check(t, s.repo.WriteObjects(t.Context(), []git.Object{odd}))
		insist(t, "of a branch that can't be deleted", func(ctx context.Context) error {
			p := &plan{retired: []retired{{"x", ids[1]}}, pushes: []gitio.Push{{Ref: git.PublishedRef("x"), Old: ids[1], New: odd.OID}}}
			if err := s.regrow(ctx, p); err != nil {
				return err
			}
			made, err := s.repo.Object(t.Context(), string(p.pushes[0].New))
			check(t, err)
			carrier, err := git.DecodeCommit(made)
			check(t, err)
			follows, err := s.repo.History().IsAncestor(t.Context(), ids[1], p.pushes[0].New)
			return unlike([]any{carrier.Carried(), carrier.Author.Name, follows, len(p.carriers)}, []any{odd.OID, "Ada", true, 1}, err)
		})
	})
	t.Run("the board of a clone that shares it by another", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		s.commits(t, 1)
		check(t, s.repo.Settings().Set(t.Context(), "remote.another.url", "nowhere"))
		check(t, s.repo.Settings().Set(t.Context(), gitio.RemoteKey, "another"))
		insist(t, "Share", func(ctx context.Context) error {
			s.remote.Store(nil)
			err := s.Share(ctx, "hub", "probe")
			if refused := (*board.Refusal)(nil); errors.As(err, &refused) && refused.Code == board.CodeExists {
				return nil
			}
			return err
		})
		insist(t, "Refetch", func(ctx context.Context) error {
			s.remote.Store(nil)
			err := s.Refetch(ctx, git.BoardRef)
			if isNetwork(err) {
				return nil
			}
			return unlike("done", "an error", err)
		})
	})
	t.Run("the answer to a delivery", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		base := s.found(t)
		now := s.operate(t, board.HumanActor("Ada", "ada@example.org"), &board.AddNote{For: "human", Message: "decided there"})
		text, _ := (&parcel.News{Since: now}).Text()
		op, err := s.repo.Object(t.Context(), string(now))
		check(t, err)
		c, err := git.DecodeCommit(op)
		check(t, err)
		head, err := codec.ParseHead(c.Message)
		check(t, err)
		lease := git.LeaseRef("x")
		mine := &link{ID: "operation", Base: base, Updates: []git.RefUpdate{{Ref: git.BoardRef, Old: base, New: missing}}}
		renews := &link{ID: "lease", Base: now, Updates: []git.RefUpdate{{Ref: lease, New: base}}}
		d := &delivery{chain: &chain{Base: now, Links: []*link{mine, renews}}, requests: [][]string{{codec.Identity(head.Agent, head.Request)}, nil}}
		insist(t, "rewritten", func(ctx context.Context) error {
			s.set(t, map[string]git.OID{lease: base})
			// News leave only leases that they have.
			news := &parcel.News{Since: now, Refs: map[string]git.OID{lease: base}}
			text, _ := news.Text()
			err := s.rewritten(ctx, d, text)
			taken := (*takenError)(nil)
			if isNetwork(err) { // it has asked the remote, which is gone
				return nil
			}
			if !errors.As(err, &taken) {
				return unlike(err, "a delivery", err)
			}
			return unlike(taken.links, map[string][]git.OID{"operation": {now}, "lease": nil}, nil)
		})
		l := &lesson{Store: s, chain: &chain{}, news: &parcel.News{Since: now}}
		insist(t, "the board", func(ctx context.Context) error { return l.board(ctx) })
		s.set(t, map[string]git.OID{lease: base})
		insist(t, "learn", func(ctx context.Context) error { // that the lease is gone
			s.set(t, map[string]git.OID{lease: base})
			if err := s.learn(ctx, &delivery{chain: d.chain}, text); err != nil {
				return err
			}
			at, err := s.repo.Ref(t.Context(), lease)
			return unlike(at.OrZero(), git.ZeroOID, err)
		})
	})
	t.Run("a lease in a parcel", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		ids := s.commits(t, 1)
		s.branch, s.at = "refs/heads/integration", ids[0]
		held := git.NewObject(git.BlobObject, []byte("held"))
		check(t, s.repo.WriteObjects(t.Context(), []git.Object{held}))
		insist(t, "wrap", func(ctx context.Context) error {
			d, p := &delivery{}, &parcel.Parcel{Links: []parcel.Link{{Base: ids[0], Refs: []git.RefUpdate{{Ref: git.LeaseRef("x"), Old: git.ZeroOID, New: held.OID}}}}}
			err := s.wrap(ctx, d, p)
			return unlike(p.Blobs, []string{"held"}, err)
		})
	})
	t.Run("the board that was replaced", func(t *testing.T) {
		t.Parallel()
		s := apart(t)
		ids := s.commits(t, 2)
		for _, before := range []git.OID{git.ZeroOID, ids[1]} {
			insist(t, "Replace", func(ctx context.Context) error {
				s.set(t, map[string]git.OID{git.BoardRef: ids[1], git.ForgedRef(ids[1]): before})
				if err := s.Replace(ctx, ids[1], ids[0]); err != nil {
					return err
				}
				at, err := s.repo.Ref(t.Context(), git.BoardRef)
				check(t, err)
				kept, err := s.repo.Ref(t.Context(), git.ForgedRef(ids[1]))
				return unlike([]git.OID{at, kept}, []git.OID{ids[0], ids[1]}, err)
			})
		}
	})
}

// TestNotAsPushed checks that a link which was decided on an older board does not count as done
// because the board is where the links after it were decided.
func TestNotAsPushed(t *testing.T) {
	t.Parallel()
	s := apart(t)
	base := s.found(t)
	now := s.operate(t, board.HumanActor("Ada", "ada@example.org"), &board.AddNote{For: "human", Message: "of another"})
	text, _ := (&parcel.News{Since: now}).Text()
	lost := &link{ID: "lost", Base: base, Updates: []git.RefUpdate{{Ref: git.BoardRef, Old: base, New: git.OID("1111111111111111111111111111111111111111")}}}
	d := &delivery{chain: &chain{Base: now, Links: []*link{lost}}, requests: [][]string{{"a request"}}}
	taken := (*takenError)(nil)
	if err := s.rewritten(t.Context(), d, text); !errors.As(err, &taken) || len(taken.links) != 0 {
		t.Errorf("it ends with %v", err)
	}
	pushed := &link{ID: "pushed", Base: base, Updates: []git.RefUpdate{{Ref: git.BoardRef, Old: base, New: now}}}
	d.chain = &chain{Base: base, Links: []*link{pushed}}
	check(t, s.rewritten(t.Context(), d, text)) // it is there as it was
}

// TestGapIsNotApart checks that a board whose history has a gap is not taken for another one than
// that of the remote, from which it follows.
func TestGapIsNotApart(t *testing.T) {
	t.Parallel()
	s := apart(t)
	first := s.found(t)
	human := board.HumanActor("Ada", "ada@example.org")
	lost := s.operate(t, human, &board.AddNote{For: "human", Message: "lost"})
	last := s.operate(t, human, &board.AddNote{For: "human", Message: "still here"})
	check(t, os.RemoveAll(s.repo.Upkeep().KeptDir()))
	check(t, os.Remove(filepath.Join(s.repo.CommonDir(), "objects", string(lost[:2]), string(lost[2:]))))
	var err error
	s.repo, err = gitio.Open(t.Context(), s.repo.CommonDir()) // one that has not read it
	check(t, err)
	defer s.repo.Close()
	for _, c := range []struct{ here, there git.OID }{{last, first}, {first, last}} {
		s.set(t, map[string]git.OID{s.tracking("state"): c.there})
		if _, err := s.Lacking(t.Context(), c.here); !errors.As(err, new(*gitio.DamagedError)) {
			t.Errorf("here is %s, there %s: %v", c.here.Short(), c.there.Short(), err)
		}
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
	commit := func(message string) git.OID {
		o := git.NewObject(git.CommitObject, git.EncodeCommit(git.Commit{Tree: git.EmptyTree, Parents: []git.OID{early}, Message: message + "\n"}))
		check(t, s.repo.WriteObjects(t.Context(), []git.Object{o}))
		return o.OID
	}
	submit := func(task, agent string, work git.OID) git.OID {
		about, coder := board.About{Task: task}, board.Actor{ID: agent, Role: roles.Coder, Session: "mine"}
		s.operate(t, human, &board.AddTask{About: about, Ready: true, NoSpecFile: true, Definition: board.Definition{
			Description: "d", DoneWhen: "go test ./... passes", Scope: "IN: x", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3}})
		s.operate(t, coder, &board.Register{Session: "mine", Clone: "here"})
		s.operate(t, coder, &board.Claim{About: about, Clone: "here", BaseCommit: string(early)})
		s.operate(t, coder, &board.PreExec{About: about, Checkpoint: board.Checkpoint{Intent: "i", Validation: "v", FilesToModify: []string{"x"}}})
		return s.operate(t, coder, &board.Submit{About: about, Commit: string(work), ReviewBase: string(early), Commits: 1, Files: 1, NoTestsBecause: "none"})
	}
	first, second := commit("first"), commit("second")
	once := submit("one", "coder-1", first)
	twice := submit("two", "coder-2", second)
	refs := map[string]git.OID{
		git.ReviewRef("one", 1): first, git.ReviewRef("two", 1): second, git.ReviewRef("two", 2): second, git.ReviewRef("three", 1): first,
		git.ReviewPrefix + "two/odd": second, git.ReviewPrefix + "odd": second,
	}
	s.set(t, refs)
	for name, c := range map[string]struct {
		reset, here git.OID
		moved       map[string]git.OID
		want        []string
	}{
		"a remote that was not reset":       {git.ZeroOID, twice, nil, nil},
		"one that lacks both":               {early, twice, nil, []string{"one/1", "two/1"}},
		"one that lacks the second":         {once, twice, nil, []string{"two/1"}},
		"one that lacks no submission":      {twice, twice, nil, nil},
		"an operation not on the board":     {early, once, nil, []string{"one/1"}},
		"a submission that is another here": {early, twice, map[string]git.OID{git.ReviewRef("one", 1): second}, []string{"two/1"}},
		"a submission that is missing here": {early, twice, map[string]git.OID{git.ReviewRef("two", 1): git.ZeroOID}, []string{"one/1"}},
	} {
		insist(t, name, func(ctx context.Context) error {
			s.set(t, refs)
			s.set(t, c.moved)
			pushes, err := s.lacking(ctx, c.reset, c.here)
			if err != nil {
				return err
			}
			var got []string
			for _, p := range pushes {
				got = append(got, p.Ref[len(git.ReviewPrefix):])
				if p.New != refs[p.Ref] || !p.Old.IsZero() {
					return fmt.Errorf("it pushes %+v", p)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				return fmt.Errorf("it pushes %s, not %s", got, c.want)
			}
			return nil
		})
	}
}

// TestHomeLost checks which repositories have lost the ref that makes a board at home there.
func TestHomeLost(t *testing.T) {
	t.Parallel()
	type refs = map[string]git.OID
	lease := git.LeaseRef("coder-1")
	for name, c := range map[string]struct {
		refs   refs // "tip" is the board's commit
		shared bool
		begun  bool
		lost   bool
	}{
		"agents have leases":               {refs: refs{lease: "tip"}, lost: true},
		"it has submissions only":          {refs: refs{git.ReviewRef("x", 1): "tip"}},
		"its home is there":                {refs: refs{lease: "tip", git.HomeRef: "tip"}},
		"its home is a branch":             {refs: refs{lease: "tip", git.AsBranch(git.HomeRef): "tip"}},
		"its home is a broken branch":      {refs: refs{lease: "tip", git.AsBranch(git.HomeRef): "broken"}},
		"a clone that has seen the board":  {refs: refs{lease: "tip", git.TrackingRef("hub", "state"): "tip"}},
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
			check(t, s.repo.Settings().Set(t.Context(), gitio.RemoteKey, by.Name))
		}
		insist(t, name, func(ctx context.Context) error {
			s.remote.Store(nil)
			lost, err := s.HomeLost(ctx)
			if err == nil && lost != c.lost {
				return fmt.Errorf("its home is lost: %v", lost)
			}
			return err
		})
	}
}
