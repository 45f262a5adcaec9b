package cli

import (
	"io"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
)

// logEntry is an operation as log.yaml of the older, one-file form had it.
type logEntry struct {
	Timestamp board.Time `yaml:"timestamp"`
	Agent     string     `yaml:"agent"`
	Action    string     `yaml:"action"`
	Task      string     `yaml:"task,omitempty"`
	Detail    string     `yaml:"detail"`
}

// pastActions are the names of actions in the older form. An operation whose name depends on how it ended is named
// by the state that it led to.
var pastActions = map[string]string{
	"init": "initialized", "register": "registered", "deregister": "deregistered",
	"add-task": "created", "finalize": "finalized", "amend-task": "amended", "supersede": "superseded", "abandon": "abandoned",
	"unblock": "unblocked", "reassign": "reassigned", "claim": "claimed", "pre-exec": board.EventPreExec, "handoff": "handed_off",
	"submit": "submitted_for_review", "withdraw": "withdrawn", "block": "blocked", "iteration-limit": "blocked", "claim-review": "review_claimed",
	"release": "claim_released", "finish-merge": "merged", "retry-merge": "merge_retried", "pause": "paused", "resume": "resumed", "abort": "aborted",
	"checkpoint": "checkpoint", "note": "note_added", "discover": "discovered", "anomaly": "anomaly_logged", "land": "landed",
}

func (l logLine) action() string {
	switch {
	case l.Op == "verdict", l.Op == "merge":
		return strings.ToLower(l.To)
	case pastActions[l.Op] != "":
		return pastActions[l.Op]
	}
	return strings.ReplaceAll(l.Op, "-", "_")
}

// detail is the subject without the operation that it begins with.
func (l logLine) detail() string {
	_, detail, found := strings.Cut(l.Subject, ": ")
	if !found || l.Op == "" {
		return l.Subject
	}
	return detail
}

func (c *call) printLogEntry(l logLine) error {
	data, err := yaml.Marshal([]logEntry{{l.Time, l.Agent, l.action(), l.Task, l.detail()}})
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.app.Stdout, string(data))
	return err
}
