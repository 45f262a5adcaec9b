package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(keysRevokeCommand)

func keysRevokeCommand() *edge.Command {
	var reason string
	return &edge.Command{
		Name: "keys revoke", Group: "setting up", Args: "KEY", Min: 1, Max: 1, Writes: true,
		Short: "revoke a key: from now on it signs nothing",
		Long: `KEY is a key's fingerprint (SHA256:...) or the beginning of it, or whose it is, where that is one key alone.
What it has signed before stays valid: the order on the board decides, not dates.`,
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza keys revoke SHA256:yKYm9JeS2c0Bzb0nBHyh1gwcvHl1VGfE9jXkqk4q0dE --reason "the laptop was stolen"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			done, err := c.Do(ctx, "keys-revoke", func(_ context.Context, v *gitboard.View) (board.Payload, []git.RefUpdate, error) {
				id, err := findKey(v.State, c.Args[0])
				return &board.KeysRevoke{Key: id, Reason: reason}, nil, err
			})
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
}

// findKey finds a key by its fingerprint, the beginning of that, or its owner.
func findKey(s *board.State, word string) (string, error) {
	var found []string
	for _, id := range s.List(board.KeyDir) {
		k := s.Key(id)
		switch name := board.Fingerprint(id); {
		case k == nil:
		case name == word:
			return id, nil
		case k.Revoked == "" && (k.Principal == strings.ToLower(word) || strings.HasPrefix(name, word) && len(word) > len("SHA256:")):
			found = append(found, id)
		}
	}
	switch {
	case s.Err() != nil:
		return "", s.Err()
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", board.Refuse(board.CodeUnknownRecord, fmt.Sprintf("no key is called %q", plain.Line(word, 80)), "git liza keys list")
	}
	var names []string
	for _, id := range found {
		names = append(names, board.Fingerprint(id))
	}
	return "", board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is more than one key", plain.Line(word, 80)), "name one of them: "+strings.Join(names, ", "))
}
