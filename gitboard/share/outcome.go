package share

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// outcome returns the outcome of a transaction whose push ended with err. fellows reports whether other
// transactions travelled with it, or another process pushed it: then it may not be to blame.
func (l *transaction) outcome(fellows bool, err error) log.Outcome {
	switch o := log.OutcomeOf(err); {
	case errors.As(err, new(*TornError)):
		return log.Outcome{Kind: log.Done, Err: err}
	case !fellows || o.Kind == log.Done || o.Kind == log.Unclear || errors.Is(err, git.ErrUnsent):
		return o
	case errors.Is(err, git.ErrRefMoved):
		return l.overtaken()
	}
	return l.dropped()
}

// taken returns the outcome of a transaction that the remote has decided again.
func (l *transaction) taken(by taken) log.Outcome {
	commits, is := by[l.ID]
	switch {
	case !is:
		return l.overtaken()
	case len(commits) == 0:
		return log.Outcome{Kind: log.Done}
	}
	return log.Outcome{Kind: log.Rewritten, Commits: commits}
}

// overtaken is the outcome of a transaction of a chain that lost the race. An operation is decided again; a
// transaction that only moves leases may not have lost at all, so it retries alone.
func (l *transaction) overtaken() log.Outcome {
	if l.commit() == "" {
		return l.dropped()
	}
	return log.Outcome{Kind: log.Lost, Err: orMoved(nil, plumbing.BoardRef)}
}

// dropped is the outcome of a transaction that was left out for a reason that may not be its own.
func (l *transaction) dropped() log.Outcome {
	return log.Outcome{Kind: log.Lost, Exclusive: true, Err: orMoved(nil, l.Updates[len(l.Updates)-1].Ref)}
}

// record is an outcome as a process that pushed for others stores it. It saves them looking at the
// refs, as they do if no outcome is recorded.
type record struct {
	ID        string         `json:"id"` // the transaction's
	Kind      log.Kind       `json:"kind"`
	Exclusive bool           `json:"exclusive,omitempty"`
	Said      string         `json:"said,omitempty"`
	Torn      string         `json:"torn,omitempty"` // see TornError
	Commits   []plumbing.OID `json:"commits,omitempty"`
}

const (
	outcomesFile = "pushed"
	maxOutcomes  = 256
)

// recorded returns the recorded outcome of a transaction, nil if there is none.
func (s *Store) recorded(id string) *log.Outcome {
	for _, line := range slices.Backward(s.records()) {
		var r record
		if bytes.Contains(line, []byte(id)) && json.Unmarshal(line, &r) == nil && r.ID == id && r.Kind != 0 {
			o := log.Outcome{Kind: r.Kind, Exclusive: r.Exclusive, Commits: r.Commits}
			switch {
			case r.Torn != "":
				o.Err = &TornError{Remote: s.Name(), Ref: r.Torn}
			case r.Kind == log.Lost:
				o.Err = git.ErrRefMoved
			case r.Kind == log.Unclear:
				o.Err = &log.UnclearError{Err: &git.NetworkError{Remote: s.Name(), Said: r.Said, Err: errors.New(r.Said)}}
			case r.Kind == log.Refused:
				o.Err = &git.NetworkError{Remote: s.Name(), Said: r.Said, Err: git.ErrUnsent}
			}
			return &o
		}
	}
	return nil
}

// records returns the recorded lines.
func (s *Store) records() [][]byte {
	data, _ := os.ReadFile(s.file(outcomesFile))
	return slices.Collect(bytes.Lines(data))
}

// record records the outcomes of transactions, by their ids, for the processes that wait.
func (s *Store) record(outcomes map[string]log.Outcome) {
	if len(outcomes) == 0 {
		return
	}
	all := s.records()
	for id, o := range outcomes {
		r := record{ID: id, Kind: o.Kind, Exclusive: o.Exclusive, Commits: o.Commits}
		if torn := (*TornError)(nil); errors.As(o.Err, &torn) {
			r.Torn = torn.Ref
		} else if o.Kind == log.Unclear || o.Kind == log.Refused {
			r.Said = said(o.Err)
		}
		line, _ := json.Marshal(r) // can't fail: strings only
		all = append(all, append(line, '\n'))
	}
	// On failure the callers look at the refs.
	_ = s.write(outcomesFile, bytes.Join(all[max(0, len(all)-maxOutcomes):], nil))
}

// write replaces one of this clone's own files atomically.
func (s *Store) write(name string, data []byte) error { return disk.Replace(s.file(name), data) }

func said(err error) string {
	if network := (*git.NetworkError)(nil); errors.As(err, &network) {
		return network.Said
	}
	return err.Error()
}
