package board

// KeysAdd registers a public key for an agent or a human.
type KeysAdd struct {
	Principal string `json:"principal"`
	Public    string `json:"public"`
	Replaces  bool   `json:"replaces,omitempty"` // revokes the principal's other keys
}

// Op implements Payload.
func (p *KeysAdd) Op() string { return "keys-add" }

// Check implements Payload.
func (p *KeysAdd) Check(s *State, _ Operation) error {
	if err := principal(p.Principal); err != nil {
		return err
	}
	id := KeyID(p.Public)
	if id == "" {
		return invalid("%s is not a public key that signs here: ed25519, ecdsa or rsa, as in a .pub file", quote(p.Public))
	}
	switch k := s.Key(id); {
	case k == nil:
		return nil
	case k.Revoked != "":
		return refuse(CodeExists, "the key %s of %s was revoked, and stays so", Fingerprint(id), k.Principal).Advise("make another: ssh-keygen -t ed25519 -f FILE")
	default:
		return refuse(CodeExists, "the key %s is on the board already, as that of %s", Fingerprint(id), k.Principal).Way(ActOn("keys-list"))
	}
}

// Apply implements Payload.
func (p *KeysAdd) Apply(s *State, op Operation) {
	if p.Replaces {
		for _, id := range s.List(KeyDir) {
			if k := s.Key(id); k != nil && k.Principal == p.Principal && k.Revoked == "" {
				revoke(s, id, op, "replaced")
			}
		}
	}
	put(s, RecordPath(KeyDir, KeyID(p.Public)), &Key{Principal: p.Principal, Public: p.Public, Added: op.Time})
}

// Subject implements Payload.
func (p *KeysAdd) Subject(_, _ *State, _ Operation) (string, string) {
	line := p.Principal + ", " + Fingerprint(KeyID(p.Public))
	if p.Replaces {
		line += ", in place of others"
	}
	return line, ""
}
