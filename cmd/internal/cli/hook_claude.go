package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/prime"
	"github.com/git-liza/git-liza/gitboard/text"
)

// hookClaude answers a hook of Claude Code for the agent in the environment, or for the id that the
// session got when it started: it adds unread notes to the conversation, and continues a turn that
// leaves the agent's task unfinished. A failure blocks no tool.
func hookClaude(ctx context.Context, c *call.Call) error {
	var in struct {
		Event   string `json:"hook_event_name"`
		Session string `json:"session_id"`
		Active  bool   `json:"stop_hook_active"` // this hook has continued the turn before
	}
	err := json.NewDecoder(c.App.Stdin).Decode(&in)
	if err == nil {
		err = c.Open(ctx)
	}
	if err == nil && c.AgentID() == "" {
		err = actAs(ctx, c, in.Session, in.Event == "SessionStart")
	}
	if err != nil || c.AgentID() == "" {
		if err != nil {
			unanswered(c, err)
		}
		return nil
	}
	c.Renew(ctx)
	said := c.Messages(ctx)
	switch in.Event {
	case "SessionStart":
		if c.App.Supervised() {
			return nil // its prompt is enough
		}
		lines, err := primed(ctx, c)
		if err != nil {
			unanswered(c, err)
		}
		said = append(lines, said...)
		fallthrough
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
			if len(held) > 0 && !c.App.Supervised() && len(said) == 0 { // a person may have to answer first
				return c.PrintJSON(map[string]any{"systemMessage": strings.Join(held, "\n")})
			}
			said = append(said, held...)
		}
		if len(said) > 0 {
			return c.PrintJSON(map[string]any{"decision": "block", "reason": strings.Join(said, "\n")})
		}
	}
	return nil
}

// unanswered warns that the hook adds nothing. That blocks no tool.
func unanswered(c *call.Call, err error) {
	fmt.Fprintf(c.App.Stderr, "git liza: warning: %s\n", text.Visible(err.Error()))
}

// sessionID matches the ids of Claude Code's sessions.
var sessionID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{8,64}$`) })

// actAs makes the call, and at the start of a session its commands, act as the agent of a session: a
// coder whose id is free, which its first operation registers.
func actAs(ctx context.Context, c *call.Call, session string, starts bool) error {
	if !sessionID().MatchString(session) {
		return nil
	}
	file := "claude/" + session
	id, err := c.Board.Clone().Kept(file)
	if err != nil || id == "" && !starts {
		return err
	}
	if id == "" {
		v, err := c.View(ctx)
		if err != nil {
			return err
		}
		if id, err = c.Board.Clone().FreeID(v, "claude"); err != nil {
			return err
		}
		if err := c.Board.Clone().Keep(file, id); err != nil {
			return err
		}
	}
	app := *c.App
	was := c.App
	app.Getenv = func(name string) string {
		if name == "LIZA_AGENT_ID" {
			return id
		}
		return was.Getenv(name)
	}
	c.App = &app
	env := c.App.Getenv("CLAUDE_ENV_FILE")
	if !starts || env == "" {
		return nil
	}
	f, err := os.OpenFile(env, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("export LIZA_AGENT_ID=" + id + "\n")
	return errors.Join(err, f.Close())
}

// primed is what prime prints, for an agent that is not registered yet, too.
func primed(ctx context.Context, c *call.Call) ([]string, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	p, err := prime.Of(ctx, c, v, "")
	if err != nil {
		return nil, err
	}
	return p.Lines(), nil
}
