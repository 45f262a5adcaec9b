package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/gitboard/text"
)

// hookClaude answers a hook of Claude Code for the agent in the environment: it adds unread notes to
// the conversation, and continues a turn that leaves the agent's task unfinished. A failure stops
// nobody.
func hookClaude(ctx context.Context, c *call.Call) error {
	var in struct {
		Event  string `json:"hook_event_name"`
		Active bool   `json:"stop_hook_active"` // this hook has continued the turn before
	}
	if err := json.NewDecoder(c.App.Stdin).Decode(&in); err != nil {
		unanswered(c, err)
		return nil
	}
	if c.AgentID() == "" {
		return nil
	}
	if err := c.Open(ctx); err != nil {
		unanswered(c, err)
		return nil
	}
	var said []string
	for _, n := range c.Messages(ctx) {
		said = append(said, "Message "+n.Line())
	}
	switch in.Event {
	case "PostToolUse":
		if len(said) > 0 {
			return c.PrintJSON(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": in.Event, "additionalContext": strings.Join(said, "\n")}})
		}
	case "Stop":
		if !in.Active {
			held, err := prime.Unfinished(ctx, c)
			if err != nil {
				unanswered(c, err)
			}
			said = append(said, held...)
		}
		if len(said) > 0 {
			return c.PrintJSON(map[string]any{"decision": "block", "reason": strings.Join(said, "\n")})
		}
	}
	return nil
}

// unanswered warns that the hook adds nothing, which stops nobody.
func unanswered(c *call.Call, err error) {
	fmt.Fprintf(c.App.Stderr, "git liza: warning: %s\n", text.Visible(err.Error()))
}
