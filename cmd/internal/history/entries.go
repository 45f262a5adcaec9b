package history

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/onefile"
)

// pastActions maps operations to action names of the older form. An operation whose name depends on
// its outcome is named after the resulting status.
var pastActions = map[string]string{
	"init": "initialized", "register": "registered", "deregister": "deregistered",
	"add-task": "created", "finalize": "finalized", "amend-task": "amended", "supersede": "superseded", "abandon": "abandoned",
	"unblock": "unblocked", "reassign": "reassigned", "claim": "claimed", "pre-exec": board.EventPreExec, "handoff": "handed_off",
	"submit": "submitted_for_review", "withdraw": "withdrawn", "block": "blocked", "iteration-limit": "blocked", "claim-review": "review_claimed",
	"release": "claim_released", "finish-merge": "merged", "retry-merge": "merge_retried", "pause": "paused", "resume": "resumed", "abort": "aborted",
	"checkpoint": "checkpoint", "note": "note_added", "discover": "discovered", "anomaly": "anomaly_logged", "land": "landed", "revert": "reverted",
}

func (l Line) action() string {
	switch {
	case l.Op == "verdict", l.Op == "merge":
		return strings.ToLower(l.To)
	case pastActions[l.Op] != "":
		return pastActions[l.Op]
	}
	return strings.ReplaceAll(l.Op, "-", "_")
}

// detail is the subject without the operation's name at its start.
func (l Line) detail() string {
	_, detail, found := strings.Cut(l.Subject, ": ")
	if !found || l.Op == "" {
		return l.Subject
	}
	return detail
}

// Entries returns an operation's entries in a log.yaml of the older form. An import returns the log
// that came with it.
func Entries(ctx context.Context, c *call.Call, o Filter, l Line) ([]board.PastEntry, error) {
	if l.Op != (&board.Import{}).Op() {
		return []board.PastEntry{{Timestamp: l.Time, Agent: l.Agent, Action: l.action(), Task: l.Task, Detail: l.detail()}}, nil
	}
	op, err := c.Board.Operation(ctx, l.Commit)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(op.Payload.(*board.Import).Log, func(e board.PastEntry) bool {
		return o.Task != "" && e.Task != o.Task || o.Agent != "" && e.Agent != o.Agent || e.Timestamp < o.From
	}), nil
}

func PrintEntries(ctx context.Context, c *call.Call, o Filter, l Line) error {
	entries, err := Entries(ctx, c, o, l)
	if err != nil || len(entries) == 0 {
		return err
	}
	text, err := onefile.WriteLog(entries)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.App.Stdout, text)
	return err
}
