package parcel

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// News is the operations on the board since a commit that a clone has (Parcel.Has). It is part of
// the answer to the clone's parcel, so that the clone need not fetch. It is not trusted: the clone
// makes the objects itself, by replay, and compares their ids.
type News struct {
	Since      plumbing.OID            `json:"since"`
	Operations []Operation             `json:"operations"`       // those after Since, oldest first
	Refs       map[string]plumbing.OID `json:"refs"`             // all that a fetch would show beside the board
	Leases     []string                `json:"leases,omitempty"` // the contents of the leases among them
}

const (
	// MaxNews is how many operations an answer brings at most. Text has room for few more, so the
	// server need not read them.
	MaxNews = 512
	// maxRead is how large news may be when they are no longer compressed.
	maxRead = 4 << 20
)

// Text returns the news as part of an answer, and whether it is short enough. It has only letters,
// digits, "-" and "_", since git takes it for a part of a ref's name.
func (n *News) Text() (text string, short bool) {
	encoded, err := json.Marshal(n)
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // fails for an unknown level only
	w.Write(encoded)                             // so does a write to memory
	w.Close()
	text = base64.RawURLEncoding.EncodeToString(b.Bytes())
	return text, err == nil && len(n.Operations) <= MaxNews && len(encoded) <= maxRead && len(text) <= maxText
}

// ParseNews reads what Text has returned, and refuses names that git could take for something else.
func ParseNews(text string) (*News, error) {
	wrong := func(err error) (*News, error) { return nil, fmt.Errorf("these are not the news of a board: %w", err) }
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return wrong(err)
	}
	encoded, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxRead))
	if err != nil {
		return wrong(err)
	}
	n := &News{}
	if err := json.Unmarshal(encoded, n); err != nil {
		return wrong(err)
	}
	for name, at := range n.Refs {
		if err := plumbing.CheckRefName(name); err != nil {
			return wrong(err)
		}
		if at.IsZero() || !at.Valid() {
			return wrong(fmt.Errorf("%q is not the id of an object", at))
		}
	}
	return n, nil
}
