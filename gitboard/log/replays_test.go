package log_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestReplaysOfDamage checks that an object missing from a commit or the board before it is damage, and named.
func TestReplaysOfDamage(t *testing.T) {
	w := newWriter(t, testrepo.NewMemory()).init()
	w.do(task("login"))
	blob := plumbing.NewObject("blob", []byte("x"))
	check(t, w.log.Store().WriteObjects(w.ctx, []plumbing.Object{blob}))
	w.byHand(map[string][]byte{"goals/goal-1.yaml": nil, "tasks/login.yaml": nil})
	for says, at := range map[string]plumbing.OID{
		"the commit: ":              blob.OID,
		"goals is missing":          w.byHand(map[string][]byte{"README.md": []byte("x")}), // it repeats the message of the task
		"board.yaml: it is missing": w.byHand(map[string][]byte{"board.yaml": nil}),
	} {
		err := w.log.Replays(w.ctx, at)
		if broken := (*log.RecordError)(nil); !errors.As(err, &broken) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestReplays(t *testing.T) {
	testrepo.Both(t, func(t *testing.T, s log.Store) {
		w := newWriter(t, s)
		w.init()
		w.do(task("login"))
		good := w.do(note("so")).Commit
		all := testrun.Must(s.Log(w.ctx, plumbing.ZeroOID, good))(t)
		for _, c := range all {
			testrun.ErrorIs(t, w.log.Replays(w.ctx, c.OID), nil, "%s", c.Message)
		}
		// rebuild makes a commit after another one out of nothing but its text.
		rebuild := func(on plumbing.OID, c plumbing.Commit) (*log.Built, error) {
			before := testrun.Must(w.log.At(w.ctx, on))(t)
			return log.Rebuild(before, plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c)), "")
		}
		for i, c := range all[1:] {
			built := testrun.Must(rebuild(all[i].OID, c))(t)
			for _, o := range built.Objects() {
				if kept, err := s.Object(w.ctx, string(o.OID)); err != nil || kept.Type != o.Type {
					t.Errorf("%s has an object that the commit has not: %v", c.Message, err)
				}
			}
			if err := w.log.Replays(w.ctx, built.Next().Commit); err != nil || built.Commit != c.OID {
				t.Errorf("%s becomes %s: %v", c.OID, built.Commit, err)
			}
		}
		last := all[len(all)-1]
		for name, forge := range map[string]func(c *plumbing.Commit){
			"leads to other files":          func(c *plumbing.Commit) { c.Tree = all[1].Tree },
			"not a board commit's trailers": func(c *plumbing.Commit) { c.Message = "tidy up\n" },
			"the message is not":            func(c *plumbing.Commit) { c.Message = strings.Replace(c.Message, "note", "Note", 1) },
			"there is no board here":        func(c *plumbing.Commit) { c.Parents = nil },
			"2 parents":                     func(c *plumbing.Commit) { c.Parents = append(c.Parents, all[0].OID) },
			"is before its parent's":        func(c *plumbing.Commit) { c.Author.When = c.Author.When.AddDate(-1, 0, 0) },
			"the commit: it is missing":     nil,
		} {
			c, oid := last, plumbing.OID(strings.Repeat("7", 40))
			c.Parents = append([]plumbing.OID{}, last.Parents...)
			if forge != nil {
				forge(&c)
				o := plumbing.NewObject("commit", plumbing.EncodeCommit(c))
				check(t, s.WriteObjects(w.ctx, []plumbing.Object{o}))
				oid = o.OID
			}
			err := w.log.Replays(w.ctx, oid)
			var broken *log.RecordError
			if !errors.As(err, &broken) || forge != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := rebuild(last.Parents[0], c); (forge == nil) != (err == nil) {
				t.Errorf("%s is rebuilt: %v", name, err)
			}
		}
	})
}

func keyNamed(t testing.TB, name string) *sshsig.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key := testrun.Must(ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed[:])))(t)
	return testrun.Must(sshsig.NewSigner(key, nil))(t)
}

// TestSigned checks that a commit is signed with an accepted key if the board requires it, and that
// a key is not used otherwise.
func TestSigned(t *testing.T) {
	s := testrepo.NewMemory()
	w := newWriter(t, s).init()
	key, other := keyNamed(t, "ada"), keyNamed(t, "eve")
	do := func(p board.Payload, key *sshsig.Signer) error {
		t.Helper()
		prepared := w.prepare(w.tip(), p)
		signed := by
		signed.Key = key
		built, err := prepared.Build(signed)
		if may := prepared.CheckKey(key); prepared.MustSign() && (err == nil) != (may == nil) {
			t.Errorf("built: %v, checked: %v", err, may)
		}
		if err == nil {
			w.must(built)
		}
		return err
	}
	check(t, do(note("one"), other))
	testrun.Equal(t, w.tip().Head.GPGSig, "", "signed though nobody asked for it")
	check(t, do(&board.KeysAdd{Principal: ada.Email, Public: key.Public()}, nil))
	check(t, do(&board.SetConfig{Key: "require_signatures", Value: "true"}, key))
	check(t, do(note("two"), key))
	last := w.tip()
	testrun.Equal(t, testrun.Must(log.SignedBy(last.Head))(t), key.Public(), "signed by")
	check(t, w.log.Replays(w.ctx, last.Commit))
	for name, key := range map[string]*sshsig.Signer{"no key": nil, "a stranger's": other} {
		var refused *board.Refusal
		if err := do(note("three"), key); !errors.As(err, &refused) || refused.Code != board.CodeSignature {
			t.Errorf("%s: %v", name, err)
		}
	}
	testrun.Equal(t, w.tip().Commit, last.Commit, "what may not be signed is written")
	for name, forge := range map[string]func(c *plumbing.Commit){
		"bears none":         func(c *plumbing.Commit) { c.GPGSig = "" },
		"not a signature of": func(c *plumbing.Commit) { c.Committer.Name = "Eve" },
		"the signature":      func(c *plumbing.Commit) { c.GPGSig = strings.Replace(c.GPGSig, "SIGNATURE", "SIGNED", 1) },
	} {
		c := last.Head
		forge(&c)
		o := plumbing.NewObject("commit", plumbing.EncodeCommit(c))
		check(t, s.WriteObjects(w.ctx, []plumbing.Object{o}))
		if err := w.log.Replays(w.ctx, o.OID); !errors.As(err, new(*log.RecordError)) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
