package share

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// refusedAs fails unless an error is a refusal with that code and that hint.
func refusedAs(t *testing.T, err error, code board.ErrorCode, hint string) {
	t.Helper()
	refused := (*board.Refusal)(nil)
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(cmdline.Hint(refused.Hint), hint) {
		t.Errorf("%v, not %s with the hint %q: %+v", err, code, hint, refused)
	}
}

// TestCutOffShare checks which share has to be repeated before anything is written here, and when none
// has to be.
func TestCutOffShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file    string   // left by a share
		remotes []string // none if nil
		set     bool     // the board is shared by hub, according to the settings
		home    bool
		by      string // the remote that the board is to be shared by
		again   bool
		hint    string // of the refusal, "" for none
	}{
		"none":                              {"", nil, false, true, "hub", false, ""},
		"cut off":                           {"hub", []string{"hub", "other"}, false, false, "hub", true, ""},
		"cut off, and another":              {"hub", []string{"hub", "other"}, false, false, "other", true, "git liza share hub"},
		"the remote was taken away":         {"hub", []string{"other"}, false, false, "other", true, "git remote add hub URL"},
		"killed before the board left home": {"hub", []string{"other"}, false, true, "other", false, ""},
		"killed after it was shared":        {"hub", []string{"other"}, true, false, "other", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := alone(t)
			ids := s.commits(t, 2)
			for _, name := range c.remotes {
				check(t, s.repo.Settings().Set(t.Context(), "remote."+name+".url", "x"))
			}
			check(t, os.WriteFile(s.file(sharingFile), []byte(c.file), 0o644))
			if c.home {
				s.set(t, map[string]plumbing.OID{plumbing.HomeRef: ids[0]})
			}
			if c.set {
				s.remote.Store(&git.Remote{Name: "hub"})
			}
			again, err := s.repeats(t.Context(), c.by)
			testrun.Equal(t, again, c.again, "a share by %s repeats one", c.by)
			if c.hint == "" {
				check(t, err)
			} else {
				refusedAs(t, err, board.CodeElsewhere, c.hint)
			}
			_, err = s.atHome(t.Context(), nil)
			if c.again {
				refusedAs(t, err, board.CodeElsewhere, "git liza share ")
			} else if c.home {
				check(t, err)
			}
		})
	}
	// Without any remote, too, what was cut off may have arrived.
	s := alone(t)
	s.commits(t, 1)
	check(t, os.WriteFile(s.file(sharingFile), []byte("hub"), 0o644))
	_, err := s.atHome(t.Context(), nil)
	refusedAs(t, err, board.CodeElsewhere, "git remote add hub URL")
	own := testrun.Must(s.Own(t.Context()))(t)
	if _, err := s.atHome(t.Context(), nil); !own || err != nil {
		t.Errorf("a board of its own: %v, %v", own, err)
	}
	if _, err := os.Stat(s.file(sharingFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left by the share: %v", err)
	}
}

// TestBesideAShare checks that others wait for a share that runs in this clone, but not for long,
// and then look again.
func TestBesideAShare(t *testing.T) {
	t.Parallel()
	s := apart(t)
	ids := s.commits(t, 3)
	s.set(t, map[string]plumbing.OID{plumbing.BoardRef: ids[1]})
	s.remote.Store(nil)
	next := []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: ids[1], New: ids[2]}}
	check(t, s.begin("hub")) // and the board has left home
	share := testrun.Must(s.repo.OpenQueue(s.file(sharingLock)))(t)
	defer share.Close()
	check(t, share.Try())
	s.shareWait = time.Millisecond
	refusedAs(t, s.UpdateRefs(t.Context(), next, ""), board.CodeBusy, "try again")
	refusedAs(t, s.Share(t.Context(), "hub", "probe"), board.CodeBusy, "try again")
	_, err := s.Own(t.Context())
	refusedAs(t, err, board.CodeBusy, "try again")

	s.shareWait = time.Minute
	ends := func(how func()) beside {
		return beside{once(t), map[string]func(){"queue.(*File).await": sync.OnceFunc(func() {
			how()
			check(t, share.Close())
		})}}
	}
	// It ends, and the board is at home again: it was refused.
	check(t, s.UpdateRefs(ends(func() { s.set(t, map[string]plumbing.OID{plumbing.HomeRef: ids[0]}) }), next, ""))
	if at, err := s.repo.Ref(t.Context(), plumbing.BoardRef); at != ids[2] || err != nil {
		t.Errorf("the board is at %s: %v", at, err)
	}
	// It ends, and the board is shared.
	s.set(t, map[string]plumbing.OID{plumbing.HomeRef: plumbing.ZeroOID, plumbing.BoardRef: ids[1]})
	share = testrun.Must(s.repo.OpenQueue(s.file(sharingLock)))(t)
	check(t, <-share.Granted()) // waits that were given up may still be ending
	s.branch, s.at = "refs/heads/integration", ids[1]
	err = s.UpdateRefs(ends(func() { check(t, s.repo.Settings().Set(t.Context(), git.RemoteKey, "hub")) }), next, "")
	if !isNetwork(err) {
		t.Errorf("it is told %v, and not what the remote says", err)
	}
	if at, err := s.repo.Ref(t.Context(), plumbing.BoardRef); at != ids[1] || err != nil {
		t.Errorf("the board is at %s: %v", at, err)
	}
}

// TestOfferFails checks that the board stays at home if a share has sent nothing, and if the remote
// has another board by then, also when an earlier share to it was cut off.
func TestOfferFails(t *testing.T) {
	t.Parallel()
	const another, later = "another", "later"
	for name, c := range map[string]struct {
		there   string // the board that the remote has by then
		push    string // where the remote takes pushes, "" for where it is
		hook    string // by which it declines what is pushed
		home    bool   // the board is at home when the share begins
		back    bool   // and afterwards
		want    any    // a type of error, or an error
		unclear bool
	}{
		"unsent":                          {push: "nowhere", home: true, back: true, want: git.ErrUnsent},
		"unsent, after one":               {push: "nowhere", want: git.ErrUnsent, unclear: true},
		"another board":                   {there: another, home: true, back: true, want: new(*DivergedError)},
		"another board, after one":        {there: another, back: true, want: new(*DivergedError)},
		"the board, which has come apart": {there: later, home: true, want: new(*DivergedError)},
		"declined":                        {hook: "exit 1", home: true, back: true, want: git.ErrRejected},
		"declined, after one":             {hook: "exit 1", want: git.ErrRejected},
		"declined, and gone":              {hook: "rm HEAD; exit 1", home: true, want: new(*git.NetworkError), unclear: true},
		"not atomic":                      {hook: "not atomic", home: true, back: true, want: git.ErrNotAtomic},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub, s := alone(t), alone(t)
			tip := s.commits(t, 3)[2]
			if c.there != "" {
				theirs := hub.commits(t, 2)
				made := plumbing.Commit{Message: c.there + "\n"}
				if c.there == later {
					made.Parents = theirs
				}
				apart := hub.makes(t, made)
				hub.set(t, map[string]plumbing.OID{plumbing.BoardRef: apart, plumbing.HomeRef: apart})
			}
			if c.hook == "not atomic" {
				check(t, hub.repo.Settings().Set(t.Context(), "receive.advertiseAtomic", "false"))
			} else if c.hook != "" {
				check(t, testrun.WriteProgram(filepath.Join(hub.repo.CommonDir(), "hooks", "update"), "#!/bin/sh\n"+c.hook+"\n"))
			}
			check(t, s.repo.Settings().Set(t.Context(), "remote.hub.url", hub.repo.CommonDir()))
			if c.push != "" {
				check(t, s.repo.Settings().Set(t.Context(), "remote.hub.pushurl", filepath.Join(t.TempDir(), c.push)))
			}
			home := plumbing.ZeroOID
			if c.home {
				home = tip
				s.set(t, map[string]plumbing.OID{plumbing.HomeRef: home})
			}
			by := testrun.Must(s.repo.Remote(t.Context(), "hub"))(t)
			ctx, _ := retry.With(t.Context(), 1)
			err := s.offer(ctx, by, map[string]string{plumbing.BoardRef: plumbing.BoardRef, string(tip): plumbing.HomeRef}, home)
			wanted, is := c.want.(error)
			if is && !errors.Is(err, wanted) || !is && !errors.As(err, c.want) || errors.As(err, new(*log.UnclearError)) != c.unclear {
				t.Errorf("it ends with %v", err)
			}
			_, here := s.atHome(t.Context(), nil)
			if (here == nil) != c.back {
				t.Errorf("the board is at home here: %v", here)
			}
			if _, err := os.Stat(s.file(sharingFile)); errors.Is(err, os.ErrNotExist) != c.back {
				t.Errorf("left by the share: %v", err)
			}
		})
	}
}

// TestShareACopy checks that the way out of a copy is not the command that was just refused.
func TestShareACopy(t *testing.T) {
	t.Parallel()
	for other, hint := range map[string]string{"": "git liza init --alone ", "team": "git liza share team, "} {
		hub, s := alone(t), alone(t)
		s.commits(t, 1)
		check(t, s.repo.Settings().Set(t.Context(), "remote.hub.url", hub.repo.CommonDir()))
		if other != "" {
			check(t, s.repo.Settings().Set(t.Context(), "remote."+other+".url", "nowhere"))
		}
		err := s.Share(t.Context(), "hub", "probe")
		refusedAs(t, err, board.CodeElsewhere, "git liza init --alone makes the copy a board of its own")
		if refused := (*board.Refusal)(nil); errors.As(err, &refused) && !strings.HasPrefix(cmdline.Hint(refused.Hint), hint) {
			t.Errorf("beside %q the hint is %q", other, cmdline.Hint(refused.Hint))
		}
	}
}

// TestShareAgain checks who may offer a board that is not at home here to a remote that has none:
// one whose share was cut off, or whose remote has lost everything.
func TestShareAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by    string // the remote that shares the board, according to the settings
		begun bool
		hint  string // of the refusal, "" for none
	}{
		"cut off":                   {begun: true},
		"the remote was made anew":  {by: "hub"},
		"the remote was taken away": {by: "gone", hint: "git remote add gone URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub, s := alone(t), alone(t)
			tip := s.found(t)
			s.set(t, map[string]plumbing.OID{plumbing.HeadsPrefix + "integration": tip, plumbing.LeaseRef("coder-1"): tip})
			check(t, s.repo.Settings().Set(t.Context(), "remote.hub.url", hub.repo.CommonDir()))
			if c.by != "" {
				check(t, s.repo.Settings().Set(t.Context(), git.RemoteKey, c.by))
			}
			if c.begun {
				check(t, s.begin("hub"))
			}
			err := s.Share(t.Context(), "hub", "probe")
			there, readErr := hub.repo.Ref(t.Context(), plumbing.BoardRef)
			check(t, readErr)
			if c.hint != "" {
				refusedAs(t, err, board.CodeExists, c.hint)
			} else {
				check(t, err)
			}
			if (there == tip) != (c.hint == "") {
				t.Errorf("the remote has the board at %s", there)
			}
		})
	}
}

// TestUnknownRemote checks which way out the refusal of a remote that is not there names.
func TestUnknownRemote(t *testing.T) {
	t.Parallel()
	s := apart(t)
	for name, hint := range map[string]string{
		"other": "git remote add other URL", "": "git remote add NAME URL, then git liza share NAME",
		"https://hub.example.org": "git remote add NAME URL, then git liza share NAME", "host:board": "git remote add NAME URL, then git liza share NAME",
	} {
		refusedAs(t, s.fit(t.Context(), name), board.CodeNoRemote, hint)
	}
	check(t, s.fit(t.Context(), "hub"))
}

// TestCopyWithoutRemotes checks that a board is not taken for a copy where it can have come from
// nowhere.
func TestCopyWithoutRemotes(t *testing.T) {
	t.Parallel()
	s := alone(t)
	ids := s.commits(t, 1)
	check(t, s.repo.Settings().Set(t.Context(), "include.path", "another")) // which could name remotes
	stays := []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: ids[0], New: ids[0]}}
	if updates, err := s.atHome(t.Context(), stays); err != nil || len(updates) != 1 {
		t.Errorf("it ends with %v, %v", updates, err)
	}
}

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
		testrun.Equal(t, testrun.Must(s.HomeLost(t.Context()))(t), c.lost, "%s: its home is lost", name)
	}
}
