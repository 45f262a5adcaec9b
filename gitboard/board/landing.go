package board

// Landing is an operation's record of integration: that it moved from Before to After or, if
// Found, that it already contained After. A found commit does not justify a move.
type Landing struct {
	Before, After string // Before is "" if Found
	Found         bool
}

// leftAt records where an operation left integration.
func (s *State) leftAt(commit string) {
	if meta := edit[Meta](s, MetaPath); meta != nil {
		meta.Landed = commit
	}
}

// Landing returns the operation's effect on integration, nil for none.
func (op Operation) Landing() *Landing {
	switch p := op.Payload.(type) {
	case *Merge:
		if p.Failure == "" {
			return &Landing{Before: p.Before, After: p.MergeCommit}
		}
	case *FinishMerge:
		return &Landing{After: p.MergeCommit, Found: true}
	case *Land:
		return &Landing{Before: p.Before, After: p.Commit}
	case *Revert:
		return &Landing{Before: p.Before, After: p.Commit}
	}
	return nil
}
