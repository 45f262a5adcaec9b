package board_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// public returns an ed25519 key whose bytes are all the same.
func public(fill byte) string {
	const kind = "ssh-ed25519"
	data := append([]byte{0, 0, 0, byte(len(kind))}, kind...)
	data = append(append(data, 0, 0, 0, 32), strings.Repeat(string(rune(fill)), 32)...)
	return kind + " " + base64.StdEncoding.EncodeToString(data)
}

func refusedWith(t *testing.T, err error, code board.ErrorCode) {
	t.Helper()
	if r, is := err.(*board.Refusal); !is || r.Code != code {
		t.Errorf("%v is not a refusal %q", err, code)
	}
}

func TestKeys(t *testing.T) {
	s := begun(t)
	refusedWith(t, s.step(human, &board.SetConfig{Key: "require_signatures", Value: "true"}), "no-key")
	for _, name := range []string{"coder", "coder1", "ada", "Ada@example.org", "coder-1@liza", "a@b,c@d", "*@example.org", "a b@example.org", "a@", "@b", "", "ada\u200b@example.org", "ada@example\u00ad.org"} {
		refusedWith(t, s.step(human, &board.KeysAdd{Principal: name, Public: public('a')}), "invalid")
	}
	for _, key := range []string{"", "ssh-ed25519", "ssh-ed25519 AAAA", public('a') + " comment", "ssh-dss " + public('a')[12:], "ssh-rsa " + public('a')[12:], public('a') + "\n", public('a') + "=",
		"ssh-dss " + base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x07ssh-dss")),
		"ssh-ed25519 " + base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x0bssh-ed25518")), "ssh-ed25519 " + base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x0bssh-ed25519"+strings.Repeat("x", 4096)))} {
		testrun.Equal(t, board.KeyID(key), "", "%q is a key", key)
		refusedWith(t, s.step(human, &board.KeysAdd{Principal: "coder-1", Public: key}), "invalid")
	}
	s.do(human, &board.KeysAdd{Principal: "coder-1", Public: public('a')})
	refusedWith(t, s.step(human, &board.KeysAdd{Principal: "coder-2", Public: public('a')}), "exists")
	refusedWith(t, s.step(human, &board.SetConfig{Key: "require_signatures", Value: "true"}), "no-key")
	s.do(human, &board.KeysAdd{Principal: "ada@example.org", Public: public('h')})
	s.do(human, &board.SetConfig{Key: "require_signatures", Value: "true"})
	if !board.RequiresSignatures(s.state()) {
		t.Error("no signature is required")
	}

	a, h := board.KeyID(public('a')), board.KeyID(public('h'))
	refusedWith(t, s.step(human, &board.KeysRevoke{Key: h}), "permission")
	refusedWith(t, s.step(human, &board.Write{Path: board.RecordPath(board.KeyDir, a), Fields: []board.FieldEdit{{Field: "principal", Value: "coder-2"}}}), "permission")
	s.do(human, &board.KeysAdd{Principal: "coder-1", Public: public('b'), Replaces: true})
	if k := s.state().Key(a); k.Revoked == "" || s.state().Key(h).Revoked != "" || s.state().Key(board.KeyID(public('b'))).Revoked != "" {
		t.Error("the replacement revokes coder-1's earlier key alone")
	}
	refusedWith(t, s.step(human, &board.KeysRevoke{Key: a}), "exists")
	refusedWith(t, s.step(human, &board.KeysAdd{Principal: "coder-1", Public: public('a')}), "exists")
	first := s.state().Key(a).Revoked
	s.do(human, &board.KeysAdd{Principal: "coder-1", Public: public('c'), Replaces: true})
	equal(t, "a key that was revoked before", s.state().Key(a).Revoked, first)
	s.do(human, &board.KeysRevoke{Key: board.KeyID(public('c'))}) // an agent's last key may go
	s.do(human, &board.KeysAdd{Principal: "bob@example.org", Public: public('i')})
	s.do(human, &board.KeysRevoke{Key: h, Reason: "lost"})
	refusedWith(t, s.step(human, &board.KeysRevoke{Key: board.KeyID(public('i'))}), "permission") // h is revoked: it is the last
	s.do(human, &board.SetConfig{Key: "require_signatures", Value: "false"})
	s.do(human, &board.KeysRevoke{Key: board.KeyID(public('i'))})
	refusedWith(t, s.step(human, &board.SetConfig{Key: "require_signatures", Value: "true"}), "no-key")
}

// TestCheckSigner checks who may sign an operation, given the board before and after it.
func TestCheckSigner(t *testing.T) {
	keyed := func() *script {
		s := begun(t)
		s.do(human, &board.KeysAdd{Principal: "ada@example.org", Public: public('h')})
		s.do(human, &board.KeysAdd{Principal: "coder-1", Public: public('a')})
		s.do(human, &board.KeysAdd{Principal: "coder-2", Public: public('r')})
		return s.do(human, &board.KeysRevoke{Key: board.KeyID(public('r'))})
	}
	after := func(s *script, p board.Payload) *board.State {
		next, err := board.Step(s.state(), board.Operation{Actor: human, Time: s.now, Request: "x", Payload: p})
		testrun.Check(t, err)
		return next
	}
	unsigned := begun(t).state()
	s := keyed()
	off := s.state()
	turnOn := after(s, &board.SetConfig{Key: "require_signatures", Value: "true"})
	s = keyed()
	s.do(human, &board.SetConfig{Key: "require_signatures", Value: "true"})
	on := s.state()
	turnOff := after(s, &board.SetConfig{Key: "require_signatures", Value: "false"})
	addsEve := after(s, &board.KeysAdd{Principal: "eve@example.org", Public: public('e')})
	revokes := after(s, &board.KeysAdd{Principal: "ada@example.org", Public: public('k'), Replaces: true})
	eve, loud := board.HumanActor("Eve", "eve@example.org"), board.HumanActor("Ada", "ADA@example.org")
	for name, c := range map[string]struct {
		before, after *board.State
		who           board.Actor
		key           string
		says          string
	}{
		"none required":              {unsigned, unsigned, coder1, "", ""},
		"none required, one there":   {unsigned, unsigned, coder1, public('a'), "requires none"},
		"off with keys":              {off, off, coder1, "", ""},
		"off with keys, signed":      {off, off, coder1, public('a'), "requires none"},
		"turned on":                  {off, turnOn, human, public('h'), ""},
		"turned on, unsigned":        {off, turnOn, human, "", "bears none"},
		"turned on by a stranger":    {off, turnOn, eve, public('e'), "not on the board"},
		"on":                         {on, on, coder1, public('a'), ""},
		"on, a human":                {on, on, human, public('h'), ""},
		"an address in capitals":     {on, on, loud, public('h'), ""},
		"on, unsigned":               {on, on, coder1, "", "bears none"},
		"another's":                  {on, on, coder2, public('a'), "is that of coder-1"},
		"an agent's for a human":     {on, on, human, public('a'), "is that of coder-1"},
		"an agent's for its id":      {on, on, board.HumanActor("Coder", "CODER-1"), public('a'), "is that of coder-1"},
		"a human's for an agent":     {on, on, coder1, public('h'), "is that of ada@example.org"},
		"a human's for another":      {on, on, eve, public('h'), "is that of ada@example.org"},
		"revoked":                    {on, on, coder2, public('r'), "was revoked"},
		"its own addition":           {on, addsEve, eve, public('e'), "not on the board"},
		"revokes itself":             {on, revokes, human, public('h'), ""},
		"with what only comes":       {on, revokes, human, public('k'), "not on the board"},
		"turned off":                 {on, turnOff, human, public('h'), ""},
		"turned off, unsigned":       {on, turnOff, human, "", "bears none"},
		"turned off with another's":  {on, turnOff, human, public('a'), "is that of coder-1"},
		"no key at all in its place": {on, on, coder1, "nonsense", "not on the board"},
	} {
		err := board.CheckSigner(c.before, c.after, c.who, c.key)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refusedWith(t, err, "signature")
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, not %q", name, err, c.says)
		}
	}
}

// TestUnreadKeys checks that a signature is not judged by keys that can't be read, or that are not
// those of their name.
func TestUnreadKeys(t *testing.T) {
	s := begun(t).do(human, &board.KeysAdd{Principal: "ada@example.org", Public: public('h')}).do(human, &board.KeysAdd{Principal: "coder-1", Public: public('a')})
	s.do(human, &board.SetConfig{Key: "require_signatures", Value: "true"})
	for left := 0; ; left++ {
		source := &failing{Source: s.mem, left: left}
		err := board.CheckSigner(board.NewState(source, s.last), s.state(), coder1, public('a'))
		if !source.met {
			break
		}
		if err != errUnread && left > 0 { // the first reading tells whether signatures are required
			t.Errorf("after %d readings: %v", left, err)
		}
	}
	damaged := s.state()
	path := board.RecordPath(board.KeyDir, board.KeyID(public('a')))
	other := *damaged.Key(board.KeyID(public('a')))
	other.Public = public('b')
	damaged.Changes()[path] = &other
	refusedWith(t, board.CheckSigner(damaged, damaged, coder1, public('a')), "signature")
}

// TestSignedInit checks that the first key may sign the commit that adds it.
func TestSignedInit(t *testing.T) {
	none := board.NewState(board.NewMemory(), "")
	op := board.Operation{Actor: human, Time: start, Request: "x", Payload: &board.Init{Goal: "Ship it", IntegrationBranch: "integration", Key: public('h')}}
	after := testrun.Must(board.Step(none, op))(t)
	testrun.ErrorIs(t, board.CheckSigner(none, after, human, public('h')), nil, "it ends")
	refusedWith(t, board.CheckSigner(none, after, human, ""), "signature")
	refusedWith(t, board.CheckSigner(none, after, human, public('a')), "signature")
	op.Payload = &board.Init{Goal: "Ship it", IntegrationBranch: "integration", Key: "nonsense"}
	_, err := board.Step(none, op)
	refusedWith(t, err, "invalid")
}
