package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// Figures are what doctor reports besides problems.
type Figures struct {
	Operations int   `json:"operations"`
	Tasks      int   `json:"tasks"`
	Archived   int   `json:"archived_tasks"`
	BoardSize  int64 `json:"board_bytes"` // including the whole history
	git.Usage
	Attic int `json:"attic"` // number of kept pieces of work
	// Large is the size of the files beyond attic_max_mb, in bytes.
	Large int64 `json:"large_bytes"`
	// Dropped is the number of pieces that the board records as kept and that no longer exist.
	Dropped int    `json:"attic_dropped,omitempty"`
	Hooks   string `json:"hooks"`
	Version string `json:"version"`
	Format  int    `json:"format"`
	Git     string `json:"git"`
	Away    string `json:"remote_away,omitempty"` // why the remote could not be asked
	// Ignored are the repository's settings that name programs, which git liza does not run.
	Ignored []string `json:"ignored_settings,omitempty"`
	// Own are settings of the repository itself that change who a person is, or what git runs.
	Own    []string `json:"own_settings,omitempty"`
	Signs  bool     `json:"signs,omitempty"`  // commit.gpgsign is set
	Posing string   `json:"posing,omitempty"` // what makes plain git show other objects
}

func Count(ctx context.Context, c *call.Call) (*Figures, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	repo := c.Board.Repo()
	f := &Figures{Tasks: len(v.State.Tasks()), Archived: len(v.State.List(board.ArchiveDir)), Version: call.ThisBuild().Version, Format: board.Format}
	if f.Operations, err = repo.History().CountCommits(ctx, plumbing.ZeroOID, v.Commit); err != nil {
		return nil, err
	}
	if f.BoardSize, err = repo.History().DiskUsage(ctx, plumbing.BoardRef); err != nil {
		return nil, err
	}
	if f.Usage, err = repo.Upkeep().Usage(ctx); err != nil {
		return nil, err
	}
	attic, err := repo.Refs(ctx, plumbing.AtticPrefix)
	if err != nil {
		return nil, err
	}
	f.Attic = len(attic)
	if f.Dropped, err = dropped(ctx, c, v.State); err != nil {
		return nil, err
	}
	if f.Posing, err = posing(ctx, repo); err != nil {
		return nil, err
	}
	_ = filepath.WalkDir(worktrees.LargeDir(c.Board), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				f.Large += info.Size()
			}
		}
		return nil
	})
	hooks, err := install.Read(repo)
	if err != nil {
		return nil, err
	}
	f.Hooks = setup.HooksState(hooks, repo.Bare())
	if _, _, f.Git, err = git.Version(ctx); err != nil {
		return nil, err
	}
	if f.Ignored, err = repo.Settings().Programs(ctx); err != nil {
		return nil, err
	}
	f.Own = ownSettings(repo)
	if f.Signs, err = signs(ctx, repo); err != nil {
		return nil, err
	}
	return f, v.State.Err()
}

func (f *Figures) Lines() []string {
	attic := fmt.Sprintf("attic    %s of work kept", text.Plural(f.Attic, "piece"))
	if f.Large > 0 {
		attic += fmt.Sprintf(", %s of files in .git/liza/large", size(f.Large))
	}
	if f.Dropped > 0 {
		attic += fmt.Sprintf("; missing: %s that the board records", text.Plural(f.Dropped, "piece"))
	}
	lines := []string{
		fmt.Sprintf("board    %s, %s and %d archived, %s", text.Plural(f.Operations, "operation"), text.Plural(f.Tasks, "task"), f.Archived, size(f.BoardSize)),
		fmt.Sprintf("objects  %d loose, %s; %s, %s", f.Loose, size(f.LooseSize), text.Plural(f.Packs, "pack"), size(f.PackSize)),
		attic,
		"hooks    " + f.Hooks,
		fmt.Sprintf("version  git-liza %s, board format %d, git %s", f.Version, f.Format, f.Git),
	}
	if f.Away != "" {
		lines = append(lines, "remote   not checked: "+f.Away)
	}
	if len(f.Ignored) > 0 {
		lines = append(lines, "settings not followed, because agents can write .git/config: "+text.Line(strings.Join(f.Ignored, ", "), 200)+"; if you need them: git config --global")
	}
	if len(f.Own) > 0 {
		lines = append(lines, "settings of .git/config, which agents can write: "+strings.Join(f.Own, ", ")+"; if a value is not yours: git config --unset KEY")
	}
	if f.Signs {
		lines = append(lines, "signing  commit.gpgsign is set, and an agent's commit fails or hangs if signing needs a person; for this repository: git config commit.gpgsign false")
	}
	if f.Posing != "" {
		lines = append(lines, "note     plain git shows other objects or parents than there are, because of "+f.Posing)
	}
	return append(lines, "history  not checked as a whole: git liza verify")
}

// dropped counts the commits that a board of this repository alone records as kept, and that no
// longer exist.
func dropped(ctx context.Context, c *call.Call, s *board.State) (n int, err error) {
	if c.Board.Remote() != "" {
		return 0, nil // another clone may keep them
	}
	var kept []string
	for _, b := range s.Tasks() {
		t := s.Task(b.ID)
		if t == nil {
			return 0, s.Err()
		}
		for _, e := range t.History {
			if e.Kept != "" {
				kept = append(kept, e.Kept)
			}
		}
	}
	objects, err := c.Board.Repo().Objects(ctx, kept)
	for _, o := range objects {
		if o.OID == "" {
			n++
		}
	}
	return n, err
}

// posing names what makes plain git show other objects than the repository has: replacements
// (git-replace) and grafts.
func posing(ctx context.Context, repo *git.Repo) (string, error) {
	refs, err := repo.Refs(ctx, plumbing.ReplacePrefix)
	var by []string
	if len(refs) > 0 {
		by = append(by, text.Plural(len(refs), "replacement")+" (git replace -l)")
	}
	grafts := filepath.Join(repo.CommonDir(), "info", "grafts")
	if _, absent := os.Lstat(grafts); absent == nil {
		by = append(by, grafts)
	}
	return strings.Join(by, " and "), err
}

// size formats a number of bytes.
func size(bytes int64) string {
	const kilo = 1 << 10
	switch {
	case bytes < kilo:
		return fmt.Sprintf("%d B", bytes)
	case bytes < kilo*kilo:
		return fmt.Sprintf("%.0f KiB", float64(bytes)/kilo)
	case bytes < kilo*kilo*kilo:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/kilo/kilo)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/kilo/kilo/kilo)
}

// tooManyLoose is how many loose objects slow git down; git packs them itself from 6 700 on, where
// it may.
const tooManyLoose = 10_000

// skewed is how far ahead of this clock an operation may be dated without being reported.
const skewed = time.Minute

// AskRemote asks the remote of a shared board whether it has lost something. away is the reason why
// it could not be asked: that is no problem of the board.
func AskRemote(ctx context.Context, c *call.Call) (found []Finding, away string, err error) {
	err = c.Board.Sharing().Check(ctx)
	if err == nil {
		return nil, "", nil
	}
	f := Finding{Text: err.Error(), Hint: call.Classify(err).Hint}
	switch {
	case errors.Is(err, git.ErrNoRemote):
		f.Kind = doctor.MissingRemote
	case errors.As(err, new(*share.LostError)):
		f.Kind = doctor.LostBoard
	case errors.As(err, new(*share.MovedError)):
		f.Kind, f.Hint = doctor.LostSubmission, "somebody who may write there puts its refs right: as they are here, unless another problem names them"
	case ctx.Err() != nil:
		return nil, "", err
	default:
		return nil, f.Text, nil
	}
	return []Finding{f}, "", nil
}

// health checks the boards here and at the remote, as it was last seen, the hooks, the repository's
// objects, and the clocks of those who wrote operations.
func health(ctx context.Context, c *call.Call) ([]doctor.Problem, error) {
	var found []doctor.Problem
	repo := c.Board.Repo()
	seen, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	_, err = seen.Lacking(ctx)
	switch {
	case errors.As(err, new(*share.DivergedError)):
		found = append(found, doctor.Problem{Kind: doctor.Apart, Text: err.Error(), Hint: call.Classify(err).Hint})
	case err != nil:
		return nil, err
	}
	back := (*board.Refusal)(nil)
	switch err := seen.SetBack(ctx); {
	case errors.As(err, &back) && back.Code == board.CodeSetBack:
		found = append(found, doctor.Problem{Kind: doctor.SetBackBranch, Text: back.Message, Hint: cmdline.Hint(back.Hint)})
	case err != nil && back == nil && !errors.As(err, new(*git.BrokenRefError)): // others are reported
		return nil, err
	}
	found = append(found, oddSettings(repo)...)
	hooks, err := install.Read(repo)
	if err != nil {
		return nil, err
	}
	if hooks.Files != hooks.On {
		text := "git's hooks are not as this version installs them"
		if len(hooks.Overwritten) > 0 {
			text += ": another program has overwritten " + strings.Join(hooks.Overwritten, ", ")
		}
		found = append(found, doctor.Problem{
			Kind: doctor.HalfHooks, Path: hooks.Dir, Text: text,
			Fix: func(ctx context.Context) error {
				_, err := setup.KeepHooks(ctx, c)
				return err
			},
		})
	}
	usage, err := repo.Upkeep().Usage(ctx)
	if err != nil {
		return nil, err
	}
	if usage.Loose > tooManyLoose {
		found = append(found, doctor.Problem{
			Kind: doctor.LooseObjects, Text: fmt.Sprintf("%d objects lie loose, which slows git down", usage.Loose),
			Fix: func(ctx context.Context) error { return repo.Upkeep().Pack(ctx) },
		})
	}
	ahead := seen.State.Time().Std().Sub(c.App.Now())
	if ahead <= skewed {
		return found, nil
	}
	commits, err := c.Board.Log().Store().Log(ctx, plumbing.ZeroOID, seen.Commit)
	if err != nil {
		return found, err
	}
	for _, commit := range commits {
		early := commit.Author.When.Sub(c.App.Now())
		if early <= skewed {
			continue
		}
		head, _ := codec.ParseHead(commit.Message)
		found = append(found, doctor.Problem{
			Kind: doctor.ClockSkew, Task: head.Task,
			Text: fmt.Sprintf("the operation %s by %s, committed by %s, is dated %s, %s ahead of this clock, and so are all since then", commit.OID.Short(), head.Agent, commit.Committer.Email, board.At(commit.Author.When), board.Span(early)),
			Hint: "compare the clocks of both machines: date -u",
		})
		break
	}
	return found, nil
}
