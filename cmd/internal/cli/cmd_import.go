package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/onefile"
)

func importCommand() *command {
	var log string
	var alone bool
	return &command{
		name: "import", group: "setting up", args: "FILE", min: 1, max: 1, writes: true,
		short: "begin a board with what a state.yaml of the one-file version holds",
		long: `What can't be kept as it was is told, a line each; nothing of the file is changed. Running work keeps its worktrees
and branches, and agents their tasks: each goes on when it registers, once its lease has run out. Short ids of
commits become whole; what this repository lacks is kept as recorded, and told as WARNING, by git liza validate, too.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&log, "log", "", "the log.yaml that belongs to it, a `FILE`; git liza log --yaml shows it again")
			f.BoolVar(&alone, "alone", false, "begin the board without asking the remotes for one")
		},
		run: func(c *call) error { return c.runImport(c.args[0], log, alone) },
	}
}

func (c *call) runImport(file, log string, alone bool) error {
	b, err := c.board()
	if err != nil {
		return err
	}
	if err := gitio.RequireVersion(c.ctx); err != nil {
		return err
	}
	if err := c.humanOnly(); err != nil {
		return err
	}
	elsewhere, err := c.boardsElsewhere(alone, "git liza import FILE --alone begins one all the same")
	if err != nil {
		return err
	}
	if len(elsewhere) > 0 {
		return board.Refuse("exists", "this project has a board already, at "+strings.Join(elsewhere, ", "), "git liza init joins it")
	}
	old, err := c.readOneFile(file, log)
	if err != nil {
		return err
	}
	integration := old.Records[board.ConfigPath].(*board.Config).IntegrationBranch
	start, err := startOf(c.ctx, b.Repo(), integration)
	if err != nil {
		return err
	}
	payload, err := old.Operation()
	if err != nil {
		return err
	}
	leases, err := c.leaseRefs(old.Leases)
	if err != nil {
		return err
	}
	done, err := c.do(payload.Op(), func(context.Context, *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		return payload, slices.Concat(start.refs, leases), nil
	})
	if err != nil {
		return err
	}
	if err := c.makeStopDir(b); err != nil {
		return err
	}
	warnings, err := c.importWarnings()
	if err != nil {
		return err
	}
	if hooks := c.installHooks(b); hooks != "" {
		warnings = append(warnings, "WARNING: "+hooks)
	}
	lines := slices.Concat(prefixed("changed: ", old.Told), warnings,
		[]string{fmt.Sprintf("integration branch: %s at %s", integration, start.commit.Short()), "next: git liza status"})
	return c.report(done, map[string]any{"changed": every(old.Told), "warnings": every(warnings)}, lines...)
}

// readOneFile reads the file, and the log where there is one, and looks up the commits that they name.
func (c *call) readOneFile(file, log string) (*onefile.Board, error) {
	state, err := c.readArgument(file)
	if err != nil {
		return nil, err
	}
	in := onefile.Input{File: filepath.Base(file), State: state, Now: board.At(c.app.Now())}
	if log != "" {
		if in.Log, err = c.readArgument(log); err != nil {
			return nil, err
		}
		in.LogFile = filepath.Base(log)
	}
	if in.Clone, err = c.opened.CloneID(); err != nil {
		return nil, err
	}
	if in.Session, err = c.opened.Token(); err != nil {
		return nil, err
	}
	old, err := onefile.Read(in)
	var bad *onefile.Error
	if errors.As(err, &bad) {
		return nil, board.Refuse("invalid", bad.Error(), "mend the line and import again: nothing has been written")
	}
	if err != nil {
		return nil, err
	}
	short := old.Commits()
	names := make([]string, len(short))
	for i, id := range short {
		names[i] = id + "^{commit}"
	}
	objects, err := c.opened.Repo().Objects(c.ctx, names)
	if err != nil {
		return nil, err
	}
	whole := map[string]string{}
	for i, o := range objects {
		whole[short[i]] = string(o.OID)
	}
	old.Resolve(whole)
	return old, nil
}

func (c *call) readArgument(file string) ([]byte, error) {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.directory(), path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage(c.cmd, "%v", err)
	}
	return data, nil
}

// leaseRefs writes leases and returns the updates that put them into force. Where one stands already, from a board
// that was here before, it is replaced.
func (c *call) leaseRefs(leases map[string]board.Lease) ([]gitio.RefUpdate, error) {
	var refs []gitio.RefUpdate
	var objects []gitio.Object
	for _, agent := range slices.Sorted(maps.Keys(leases)) {
		l := leases[agent]
		held, err := lease.Read(c.ctx, c.opened.Log().Store(), agent)
		if err != nil {
			return nil, err
		}
		update, object := lease.Renew(held, lease.Lease{Agent: agent, Session: l.Session, Task: l.Task, Expires: l.Expires.Std(), Heartbeat: l.Heartbeat.Std()})
		refs, objects = append(refs, update), append(objects, object)
	}
	return refs, c.opened.Repo().WriteObjects(c.ctx, objects)
}

// importWarnings is what this repository lacks of what was imported.
func (c *call) importWarnings() ([]string, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	issues, err := c.validate(v)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, i := range issues {
		lines = append(lines, i.String())
	}
	return lines, nil
}
