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
)

// outcome is the record of a process that pushed for others, made for them. It saves them looking
// at the refs, as they do if no outcome is recorded.
type outcome struct {
	ID    string    `json:"id"` // the link's
	State linkState `json:"state"`
	Said  string    `json:"said,omitempty"`
	// Commits are its operations on the board, if the remote has rewritten them.
	Commits []plumbing.OID `json:"commits,omitempty"`
}

type linkState string

const (
	linkDone    linkState = "done"
	linkLost    linkState = "lost" // to an operation of another clone
	linkDropped linkState = "dropped"
	linkUnclear linkState = "unclear"
	linkUnsent  linkState = "unsent"
	linkTorn    linkState = "torn"
)

const (
	outcomesFile = "pushed"
	maxOutcomes  = 256
)

// recorded returns the recorded outcome of a link, nil if there is none.
func (s *Store) recorded(id string) *outcome {
	for _, line := range slices.Backward(s.outcomes()) {
		var o outcome
		if bytes.Contains(line, []byte(id)) && json.Unmarshal(line, &o) == nil && o.ID == id {
			return &o
		}
	}
	return nil
}

// outcomes returns the recorded lines.
func (s *Store) outcomes() [][]byte {
	data, _ := os.ReadFile(s.file(outcomesFile))
	return slices.Collect(bytes.Lines(data))
}

// record records the outcome of every link of a chain for those who wait. own is the caller's link,
// nil for none: what the remote has taken of it, the caller knows.
func (s *Store) record(c *chain, own *link, err error) {
	var made [][]byte
	for _, l := range c.Links {
		o := outcomeOf(l, err)
		if own != nil && l.ID == own.ID && o.State == linkDone {
			continue
		}
		line, _ := json.Marshal(o) // can't fail: strings only
		made = append(made, append(line, '\n'))
	}
	if len(made) == 0 {
		return
	}
	all := append(s.outcomes(), made...)
	// On failure the callers look at the refs.
	_ = s.write(outcomesFile, bytes.Join(all[max(0, len(all)-maxOutcomes):], nil))
}

// outcomeOf returns the outcome of a link of a chain whose push ended with err.
func outcomeOf(l *link, err error) outcome {
	o := outcome{ID: l.ID}
	torn, taken := (*TornError)(nil), (*takenError)(nil)
	if errors.As(err, &taken) {
		if commits, is := taken.links[l.ID]; is {
			o.State, o.Commits = linkDone, commits
			return o
		}
	}
	switch {
	case err == nil:
		o.State = linkDone
	case errors.As(err, &torn):
		o.State, o.Said = linkTorn, torn.Ref
	case errors.Is(err, git.ErrRefMoved):
		o.State = linkLost
	case errors.As(err, new(*UnclearError)):
		o.State, o.Said = linkUnclear, said(err)
	case errors.Is(err, git.ErrUnsent):
		o.State, o.Said = linkUnsent, said(err)
	default:
		o.State = linkDropped
	}
	return o
}

// write replaces one of this clone's own files atomically.
func (s *Store) write(name string, data []byte) error { return disk.Replace(s.file(name), data) }

func said(err error) string {
	if network := (*git.NetworkError)(nil); errors.As(err, &network) {
		return network.Said
	}
	return err.Error()
}
