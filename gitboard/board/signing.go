package board

import "github.com/git-liza/git-liza/gitboard/roles"

// RequiresSignatures reports whether actors on a board must sign: the setting is on and the board
// has keys.
func RequiresSignatures(s *State) bool {
	if !s.hasKeys() {
		return false
	}
	c := s.Config()
	return c != nil && c.RequireSignatures
}

// MustSign reports whether the commit of a step must be signed. That includes the step that begins
// to require signatures, and the one that ends it.
func MustSign(before, after *State) bool {
	return RequiresSignatures(before) || RequiresSignatures(after)
}

// CheckSigner checks the key that signed a step's commit, "" for none, by the keys on the board
// before it. The very first keys vouch for themselves.
func CheckSigner(before, after *State, a Actor, public string) error {
	if !MustSign(before, after) {
		if public != "" {
			return unsigned("it bears a signature, and this board requires none")
		}
		return firstErr(before, after.Err())
	}
	who := principalOf(a)
	if public == "" {
		return unsigned("the board requires signatures, and this commit of %s bears none", quote(who))
	}
	keys := before
	if !before.hasKeys() {
		keys = after
	}
	id := KeyID(public)
	k := keys.Key(id)
	switch {
	case before.Err() != nil || after.Err() != nil:
		return firstErr(before, after.Err())
	case k == nil || k.Public != public:
		return unsigned("the key %s is not on the board", Fingerprint(id)).Advise("a human adds it: %s", ActOn("keys-add", who).With("key", "FILE.pub"))
	case k.Revoked != "":
		return unsigned("the key %s of %s was revoked at %s", Fingerprint(id), k.Principal, k.Revoked).Way(ActOn("keys-list"))
	case k.Principal != who || k.Agents() == (a.Role == roles.Human):
		return unsigned("the key %s is that of %s, and %s acts", Fingerprint(id), k.Principal, quote(who)).Advise("act under your own name, with your own key: %s", ActOn("keys-list"))
	}
	return nil
}

func unsigned(format string, args ...any) *Refusal { return refuse(CodeSignature, format, args...) }
