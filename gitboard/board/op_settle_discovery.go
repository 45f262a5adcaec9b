package board

// SettleDiscovery defers or rejects a discovery.
type SettleDiscovery struct {
	Discovery string `json:"discovery"`
	How       string `json:"how"` // deferred or rejected
	Reason    string `json:"reason"`
}

// Op implements Payload.
func (p *SettleDiscovery) Op() string { return "settle-discovery" }

// Check implements Payload.
func (p *SettleDiscovery) Check(s *State, _ Operation) error {
	if err := s.openDiscovery(p.Discovery); err != nil {
		return err
	}
	if p.How != "deferred" && p.How != "rejected" {
		return invalid("a discovery is settled as deferred or rejected, not %s", quote(p.How)).Advise("%s or %s", ActOn("").With("defer", ""), ActOn("").With("reject", ""))
	}
	return required("reason", p.Reason)
}

// Apply implements Payload.
func (p *SettleDiscovery) Apply(s *State, op Operation) {
	edit[Discovery](s, RecordPath(DiscoveryDir, p.Discovery)).Settled = &Settlement{By: op.Actor.ID, How: p.How, Reason: p.Reason}
}

// Subject implements Payload.
func (p *SettleDiscovery) Subject(_, _ *State, _ Operation) (string, string) {
	return p.Discovery + " " + p.How, p.Reason
}
