package cli

import (
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
)

func readCommand() *command {
	return &command{
		name: "read", group: "machines", args: "[PATH]", max: 1, reads: true,
		short: "print the board as one YAML document, or a part of it",
		long:  "A path is made of keys with dots between; an item of a list is named by its id: tasks.add-auth.status.",
		run: func(c *call) error {
			v, err := c.view()
			if err != nil {
				return err
			}
			n, err := c.document(v)
			if err != nil {
				return err
			}
			if len(c.args) == 1 {
				if n, err = lookup(n, c.args[0]); err != nil {
					return err
				}
			}
			if c.json {
				var value any
				if err := n.Decode(&value); err != nil {
					return err
				}
				return c.printJSON(value)
			}
			text, err := codec.Render(n)
			if err != nil {
				return err
			}
			_, err = io.WriteString(c.app.Stdout, text)
			return err
		},
	}
}

// document is the whole board with its leases; an old one has none.
func (c *call) document(v *gitboard.View) (*yaml.Node, error) {
	leases := map[string]board.Lease{}
	if c.at == "" {
		held, err := v.Leases(c.ctx)
		if err != nil {
			return nil, err
		}
		for agent, h := range held {
			leases[agent] = board.Lease{Agent: agent, Session: h.Session, Task: h.Task, Expires: board.At(h.Expires), Heartbeat: board.At(h.Heartbeat)}
		}
	}
	return codec.Document(v.State, leases)
}

func lookup(n *yaml.Node, path string) (*yaml.Node, error) {
	keys := strings.Split(strings.Trim(path, "."), ".")
	found, err := codec.Lookup(n, keys)
	if err == nil {
		return found, nil
	}
	for len(keys) > 1 {
		keys = keys[:len(keys)-1]
		if n, upper := codec.Lookup(n, keys); upper == nil {
			return nil, board.Refuse("unknown-record", err.Error(), suggest(path, codec.Keys(n)))
		}
	}
	return nil, board.Refuse("unknown-record", err.Error(), suggest(path, codec.Keys(n)))
}

func suggest(path string, keys []string) string {
	last := path[strings.LastIndexByte(path, '.')+1:]
	if near := board.Nearest(last, keys, 3); len(near) > 0 {
		return "nearest: " + strings.Join(near, ", ")
	}
	if len(keys) > 20 {
		keys = keys[:20]
	}
	return "there are: " + strings.Join(keys, ", ")
}
