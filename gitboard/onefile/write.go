package onefile

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Write is a board as a state.yaml: all of it, archived tasks among the others, but for sessions.
func Write(s *board.State, leases map[string]board.Lease) (string, error) {
	doc, err := codec.Document(board.Unarchived(s), leases)
	if err != nil {
		return "", err
	}
	agents, err := codec.Lookup(doc, []string{"agents"})
	if err != nil {
		return "", err
	}
	for _, a := range agents.Content {
		if a.Kind == yaml.MappingNode {
			*a = *without(a, "session")
		}
	}
	return codec.Render(doc)
}

// WriteLog is a log.yaml of entries.
func WriteLog(entries []board.PastEntry) (string, error) {
	if len(entries) == 0 {
		return "[]\n", nil
	}
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(entries); err != nil {
		return "", err
	}
	return b.String(), e.Close()
}
