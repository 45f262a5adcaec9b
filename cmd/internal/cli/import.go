package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/onefile"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	var log string
	var alone bool
	return &call.Command{
		Name: "import", Group: "setting up", Args: "FILE", Min: 1, Max: 1, Writes: true,
		Short: "begin a board with the content of a one-file state.yaml",
		Long: `Faults of the file are listed with their lines and the allowed values, and nothing is imported until they are corrected.
What older files wrote in another form is reported, one line each; nothing of the file is changed. Running work keeps its worktrees
and branches, and agents their tasks: each continues when it registers, once its lease has expired. Short ids of
commits become whole; what this repository lacks is kept as recorded, and reported as WARNING, also by git liza validate.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&log, "log", "", "the log.yaml that belongs to it, a `FILE`; git liza log --yaml shows it again")
			f.BoolVar(&alone, "alone", false, "begin the board without asking the remotes for one")
		},
		Example: `git liza import state.yaml --log log.yaml`,
		Run:     func(ctx context.Context, c *call.Call) error { return runImport(ctx, c, c.Args[0], log, alone) },
	}
})

func runImport(ctx context.Context, c *call.Call, file, log string, alone bool) error {
	if err := git.RequireVersion(ctx); err != nil {
		return err
	}
	if err := setup.HumanOnly(ctx, c); err != nil {
		return err
	}
	elsewhere, err := setup.BoardsElsewhere(ctx, c, alone, "git liza import FILE --alone begins one all the same")
	if err != nil {
		return err
	}
	if len(elsewhere) > 0 {
		return board.Refuse(board.CodeExists, "this project has a board already, at "+strings.Join(elsewhere, ", "), "git liza init joins it")
	}
	old, err := readOneFile(ctx, c, file, log)
	if err != nil {
		return err
	}
	integration := old.Records[board.ConfigPath].(*board.Config).IntegrationBranch
	start, err := setup.StartOf(ctx, c.Board.Repo(), integration)
	if err != nil {
		return err
	}
	payload, err := old.Operation()
	if err != nil {
		return err
	}
	var done *gitboard.Done
	hooks, err := setup.Guarded(ctx, c, func() (err error) {
		done, err = c.Do(ctx, payload.Op(), func(ctx context.Context, _ *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
			// An attempt that failed may have begun the branch, and moved leases.
			if start, err = setup.StartOf(ctx, c.Board.Repo(), integration); err != nil {
				return nil, nil, err
			}
			leases, err := leaseRefs(ctx, c, old.Leases)
			return payload, slices.Concat(start.Refs, leases), err
		})
		return err
	})
	if err != nil {
		return err
	}
	if err := worktrees.Adopt(ctx, c.Board); err != nil {
		return err
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	warnings, err := importWarnings(ctx, c, v)
	if err != nil {
		return err
	}
	runs, listed := setup.Commands(v.State, "commands of the file that run here as you:")
	if err := v.State.Err(); err != nil {
		return err
	}
	if hooks != "" {
		warnings = append(warnings, "WARNING: "+hooks)
	}
	lines := slices.Concat(call.Prefixed("changed: ", old.Changed), warnings, listed,
		[]string{fmt.Sprintf("integration branch: %s at %s", integration, start.Commit.Short()), "next: git liza status"})
	return c.Report(done, map[string]any{"changed": call.Every(old.Changed), "warnings": call.Every(warnings), "commands": runs}, lines...)
}

// readOneFile reads the file and its log, if there is one, and looks up the commits that they name.
func readOneFile(ctx context.Context, c *call.Call, file, log string) (*onefile.Board, error) {
	state, err := readArgument(c, file)
	if err != nil {
		return nil, err
	}
	in := onefile.Input{File: filepath.Base(file), State: state, Now: board.At(c.App.Now())}
	if log != "" {
		if in.Log, err = readArgument(c, log); err != nil {
			return nil, err
		}
		in.LogFile = filepath.Base(log)
	}
	if in.Clone, err = c.Board.Clone().ID(ctx); err != nil {
		return nil, err
	}
	if in.Session, err = c.Board.Token(); err != nil {
		return nil, err
	}
	old, err := onefile.Read(in)
	var bad *onefile.Error
	if errors.As(err, &bad) {
		return nil, board.Refuse(board.CodeInvalid, bad.Error(), "correct each line and import again: nothing was written")
	}
	if err != nil {
		return nil, err
	}
	short := old.Commits()
	names := make([]string, len(short))
	for i, id := range short {
		names[i] = id + "^{commit}"
	}
	objects, err := c.Board.Repo().Objects(ctx, names)
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

func readArgument(c *call.Call, file string) ([]byte, error) {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Directory(), path)
	}
	from, err := os.Open(path)
	if err != nil {
		return nil, call.Usage(c.Cmd, "%v", err)
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, board.MaxImport+1)) // one more is refused
	if err != nil {
		return nil, call.Usage(c.Cmd, "%v", err)
	}
	return data, nil
}

// leaseRefs writes leases and returns the updates that put them into force. They replace leases of
// an earlier board of this clone.
func leaseRefs(ctx context.Context, c *call.Call, leases map[string]board.Lease) ([]plumbing.RefUpdate, error) {
	var refs []plumbing.RefUpdate
	var objects []plumbing.Object
	for _, agent := range slices.Sorted(maps.Keys(leases)) {
		held, err := lease.Read(ctx, c.Board.Log().Store(), agent)
		if err != nil {
			return nil, err
		}
		update, object := lease.Renew(held, lease.Content{Lease: leases[agent]})
		refs, objects = append(refs, update), append(objects, object)
	}
	return refs, c.Board.Repo().WriteObjects(ctx, objects)
}

// importWarnings describes what this repository lacks of the imported board.
func importWarnings(ctx context.Context, c *call.Call, v *gitboard.View) ([]string, error) {
	issues, err := records.Validate(ctx, c, v)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, i := range issues {
		lines = append(lines, i.String())
	}
	return lines, nil
}

var _ = add(func() *call.Command {
	var log, goal string
	return &call.Command{
		Name: "export", Group: "setting up", Max: 0, Reads: true,
		Short: "print the whole board as a state.yaml of the one-file version",
		Long: `It is git liza read with archived tasks among the others, and without sessions: git liza import begins the same board
with it anywhere else. With --goal it is a board with that goal alone: its tasks, what is recorded about them or about
no goal, and no agent that works for another. What they waited for elsewhere is left out.`,
		Flags: func(f *pflag.FlagSet) {
			call.NarrowFlag(f, &goal)
			f.StringVar(&log, "log", "", "write the operations as a log.yaml to a new `FILE`, too; - for that alone, on standard output")
		},
		Example: `git liza export --log log.yaml > state.yaml`,
		Run: func(ctx context.Context, c *call.Call) error {
			if goal != "" && log != "" {
				return call.Usage(c.Cmd, "the log is that of the whole board: --log and --goal don't go together")
			}
			return runExport(ctx, c, log, goal)
		},
	}
})

func runExport(ctx context.Context, c *call.Call, log, goal string) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if err := call.Narrowed(v.State, goal); err != nil {
		return err
	}
	if c.JSON {
		return call.Usage(c.Cmd, "a state.yaml is YAML; as JSON: git liza read --json")
	}
	if log != "" {
		lines, err := history.Lines(ctx, c, history.Options{}, plumbing.ZeroOID, v.Commit)
		if err != nil {
			return err
		}
		var all []board.PastEntry
		for i := len(lines) - 1; i >= 0; i-- {
			entries, err := history.Entries(ctx, c, history.Filter{}, lines[i])
			if err != nil {
				return err
			}
			all = append(all, entries...)
		}
		text, err := onefile.WriteLog(all)
		if err != nil {
			return err
		}
		if log == "-" {
			_, err = io.WriteString(c.App.Stdout, text)
			return err
		}
		if !filepath.IsAbs(log) {
			log = filepath.Join(c.Directory(), log)
		}
		var refusal *board.Refusal
		if err := call.WriteFile(log, []byte(text), nil); errors.As(err, &refusal) {
			return err
		} else if err != nil {
			return call.Usage(c.Cmd, "--log: %v", err)
		}
	}
	leases, err := records.Leases(ctx, c, v)
	if err != nil {
		return err
	}
	state := v.State
	if goal != "" {
		state = board.OfGoal(state, goal)
	}
	text, err := onefile.Write(state, leases)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.App.Stdout, text)
	return err
}
