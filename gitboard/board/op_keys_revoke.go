package board

// KeysRevoke revokes a key: it can't sign any later operation.
type KeysRevoke struct {
	Key    string `json:"key"` // its id
	Reason string `json:"reason,omitempty"`
}

// Op implements Payload.
func (p *KeysRevoke) Op() string { return "keys-revoke" }

// Check implements Payload.
func (p *KeysRevoke) Check(s *State, _ Operation) error {
	k := s.Key(p.Key)
	switch {
	case k == nil:
		return refuse(CodeUnknownRecord, "no key is called %s", quote(p.Key)).Way(ActOn("keys-list"))
	case k.Revoked != "":
		return refuse(CodeExists, "the key %s of %s was revoked at %s", Fingerprint(p.Key), k.Principal, k.Revoked)
	case RequiresSignatures(s) && !k.Agents() && !s.humansKey(p.Key):
		return refuse(CodePermission, "%s is the last key of a human: without it nobody could sign for a human, or change that", Fingerprint(p.Key)).
			Advise("%s first, or %s", ActOn("keys-add", k.Principal).With("key", "FILE.pub"), ActOn("config", "require_signatures").With("value", "false"))
	}
	return nil
}

// Apply implements Payload.
func (p *KeysRevoke) Apply(s *State, op Operation) { revoke(s, p.Key, op, p.Reason) }

func revoke(s *State, id string, op Operation, reason string) {
	k := edit[Key](s, RecordPath(KeyDir, id))
	k.Revoked, k.Reason = op.Time, reason
}

// Subject implements Payload.
func (p *KeysRevoke) Subject(before, _ *State, _ Operation) (string, string) {
	return before.Key(p.Key).Principal + ", " + Fingerprint(p.Key), p.Reason
}
