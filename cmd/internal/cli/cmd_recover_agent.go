package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/roles"
)

func recoverAgentCommand() *command {
	var force bool
	return &command{
		name: "recover-agent", group: "supervision", args: "ID", min: 1, max: 1,
		short: "after a crash: recover what an agent that is gone holds, and free its id",
		long: `For a human. Each task that it works on or reviews is recovered as by recover-task, and its lease ends, so that
the id can be registered at once. No process is ended.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "though its lease is live: you know that its process is gone")
		},
		run: func(c *call) error { return c.runRecoverAgent(c.args[0], force) },
	}
}

func (c *call) runRecoverAgent(id string, force bool) error {
	human, err := c.onlyHuman()
	if err != nil {
		return err
	}
	if _, err := roles.Of(id); err != nil {
		return board.Refuse("invalid", err.Error(), "git liza status")
	}
	v, err := c.view()
	if err != nil {
		return err
	}
	if v.State.Agent(id) == nil {
		hint := "nobody is: git liza status"
		if ids := v.State.List(board.AgentDir); len(ids) > 0 {
			hint = suggest(id, ids)
		}
		return errors.Join(v.State.Err(), board.Refuse("unknown-agent", id+" is not registered", hint))
	}
	held, err := v.Lease(c.ctx, id)
	if err != nil {
		return err
	}
	live := !v.Takeable(c.ctx, id, 0)
	if live && !force {
		return board.Refuse("lease", fmt.Sprintf("the lease of %s is live, until %s", id, board.At(held.Expires)),
			"wait until then, or, if you know that its process is gone: git liza recover-agent "+id+" --force")
	}
	tasks := []*recovered{}
	var left error
	for _, brief := range v.State.Tasks() {
		t := v.State.Task(brief.ID)
		if t == nil || holderOf(t) != id {
			continue
		}
		r, err := c.recoverTask(human, t.ID, force)
		if err != nil {
			left = errors.Join(left, err)
			continue
		}
		tasks, left = append(tasks, r), errors.Join(left, r.unfinished())
	}
	if left == nil && live {
		left = c.endLease(id, held)
	}
	if err := errors.Join(v.State.Err(), c.printRecovered(id, tasks, live, left == nil)); err != nil {
		return err
	}
	return left
}

// endLease ends a lease unless its holder has renewed it since, or a release has ended it.
func (c *call) endLease(id string, held *lease.Held) error {
	now, err := lease.Read(c.ctx, c.opened.Log().Store(), id)
	if err != nil || now == nil {
		return err
	}
	err = c.opened.Log().Store().UpdateRefs(c.ctx, []gitio.RefUpdate{lease.Fence(id, held)}, "git liza: recover-agent")
	if errors.Is(err, gitio.ErrRefMoved) {
		return board.Refuse("lease", id+" has renewed its lease just now: its process is alive", "end that process first")
	}
	return err
}

func (c *call) printRecovered(id string, tasks []*recovered, live, ok bool) error {
	if c.json {
		return c.printJSON(map[string]any{"ok": ok, "agent": id, "tasks": tasks, "lease_ended": live && ok})
	}
	var lines []string
	for _, r := range tasks {
		lines = append(lines, r.lines()...)
	}
	switch {
	case !ok:
	case live:
		lines = append(lines, id+": its lease is ended, and the id can be registered at once; should its process be alive after all, end it")
	case len(tasks) > 0:
		lines = append(lines, id+": the id can be registered")
	default:
		lines = append(lines, id+" holds nothing, and its lease has run out: there is nothing to recover")
	}
	if len(lines) == 0 {
		return nil
	}
	return c.say(lines...)
}
