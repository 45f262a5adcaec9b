package board

// ConvertDiscovery records which task deals with a discovery.
type ConvertDiscovery struct {
	Discovery string `json:"discovery"`
	Task      string `json:"task"`
}

// Op implements Payload.
func (p *ConvertDiscovery) Op() string { return "convert-discovery" }

// TaskID implements TaskPayload.
func (p *ConvertDiscovery) TaskID() string { return p.Task }

// Check implements Payload.
func (p *ConvertDiscovery) Check(s *State, _ Operation) error {
	err := s.openDiscovery(p.Discovery)
	return err
}

// Apply implements Payload.
func (p *ConvertDiscovery) Apply(s *State, _ Operation) {
	d := edit[Discovery](s, RecordPath(DiscoveryDir, p.Discovery))
	d.ConvertedToTask, d.Settled = p.Task, nil
}

// Subject implements Payload.
func (p *ConvertDiscovery) Subject(_, _ *State, _ Operation) (string, string) {
	return "takes up " + p.Discovery, ""
}
