package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Beginning makes the board and its first goal, or adds a goal to a board.
type Beginning struct {
	Call *call.Call
	Run  call.Runs
	Ask  *Asking // nil for no questions
	Goal string
	Spec string // a committed file; "" for specs/vision.md, or else the goal's text
	Yes  bool   // nobody reviews the plan
}

// Goals are the outcome of Begin.
type Goals struct {
	Spec     string   // of the goal that was added, "" if none was
	Written  bool     // the specification is the goal's text, committed on integration
	Settings Proposal // of a new board
	New      bool     // the board is new
}

// Lines describe what was begun.
func (g *Goals) Lines() []string {
	var lines []string
	if g.Spec != "" {
		line := "specification  " + g.Spec
		if g.Written {
			line += ", the goal's text, on the integration branch alone"
		}
		lines = append(lines, line)
	}
	if !g.New {
		return lines
	}
	test := "none: work lands untested (git liza config set integration_test COMMAND)"
	if g.Settings.Test != "" {
		test = g.Settings.Test
	}
	lines = append(lines, "test           "+test)
	if g.Settings.Setup != "" {
		lines = append(lines, "new worktrees  "+g.Settings.Setup)
	}
	if len(g.Settings.Copy) > 0 {
		lines = append(lines, "copied there   "+strings.Join(g.Settings.Copy, ", "))
	}
	return lines
}

// Begin brings the repository to where a team can start. Every change is a command that a user
// could have typed.
func (b *Beginning) Begin(ctx context.Context) (*Goals, error) {
	repo := b.Call.Board.Repo()
	tip, err := repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return nil, err
	}
	if !tip.IsZero() {
		return b.further(ctx)
	}
	if err := b.firstCommit(ctx); err != nil {
		return nil, err
	}
	if b.Goal == "" {
		if b.Goal, err = b.Ask.Line(ctx, "What should be built? "); err != nil {
			return nil, err
		}
	}
	if b.Goal == "" {
		return nil, call.Usage(b.Call.Cmd, "a new board needs a goal")
	}
	args := []string{"init", b.Goal}
	if b.Yes {
		args = append(args, "--unattended")
	}
	if b.Spec != "" {
		args = append(args, "--spec", b.Spec)
	}
	if err := b.uncommitted(ctx); err != nil {
		return nil, err
	}
	if _, err := b.Run(ctx, args); err != nil {
		return nil, err
	}
	v, err := b.Call.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	goal := v.State.TheGoal()
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	if goal == nil || goal.Description != b.Goal { // a remote's board, which this clone has joined
		return b.add(ctx)
	}
	g, err := b.specified(ctx, v, goal)
	if err != nil {
		return nil, err
	}
	g.New = true
	g.Settings, err = b.settings(ctx, v)
	return g, err
}

// specified gives a goal without a specification its text as one.
func (b *Beginning) specified(ctx context.Context, v *gitboard.View, goal *board.Goal) (g *Goals, err error) {
	g = &Goals{Spec: goal.SpecRef}
	if g.Spec != "" {
		return g, nil
	}
	g.Written = true
	if g.Spec, err = b.write(ctx, v, definition.UsualSpec, "specs/"+goal.ID+".md"); err != nil {
		return nil, err
	}
	_, err = b.Run(ctx, []string{"write", "goals." + goal.ID + ".spec_ref", g.Spec})
	return g, err
}

// further adds a goal to a board, unless one in progress has the same text: then the same command
// was run before, and it continues.
func (b *Beginning) further(ctx context.Context) (*Goals, error) {
	if b.Goal == "" {
		return &Goals{}, nil
	}
	v, err := b.Call.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	for _, goal := range v.State.Goals() {
		if goal.Description == b.Goal && goal.Status == board.InProgress {
			return b.specified(ctx, v, goal)
		}
	}
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	return b.add(ctx)
}

// add starts a further goal.
func (b *Beginning) add(ctx context.Context) (g *Goals, err error) {
	v, err := b.Call.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	id := board.NextGoal(v.State)
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	g = &Goals{Spec: b.Spec}
	if g.Spec == "" {
		g.Written = true
		if g.Spec, err = b.write(ctx, v, "specs/"+id+".md"); err != nil {
			return nil, err
		}
	}
	_, err = b.Run(ctx, []string{"goal", "start", b.Goal, "--spec", g.Spec})
	return g, err
}

// firstCommit makes an empty commit in a repository without one, if its human agrees.
func (b *Beginning) firstCommit(ctx context.Context) error {
	repo := b.Call.Board.Repo()
	if repo.TopLevel() == "" {
		return nil
	}
	commit, branch, err := repo.Worktree(repo.TopLevel()).Head(ctx)
	if err != nil || !commit.IsZero() || branch == "" {
		return err
	}
	if !b.Yes {
		yes, err := b.Ask.Yes(ctx, "This repository has no commit yet. Make an empty first one? [Y/n] ")
		if err != nil {
			return err
		}
		if !yes {
			return board.Refuse(board.CodeNoCommit, "this repository has no commit yet, and agents begin at one", "git commit --allow-empty -m 'First commit', then git liza start")
		}
	}
	who, err := repo.Settings().Identity(ctx)
	if err != nil {
		return gitboard.NoIdentity(err)
	}
	who.When = b.Call.App.Now()
	empty := plumbing.NewObject(plumbing.TreeObject, nil)
	first := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: empty.OID, Author: who, Committer: who, Message: "First commit\n"}))
	if err := repo.WriteObjects(ctx, []plumbing.Object{empty, first}); err != nil {
		return err
	}
	return repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: branch, Old: plumbing.ZeroOID, New: first.OID}}, "git liza start")
}

// uncommitted refuses a specification that lies in the worktree alone: agents would not see it.
func (b *Beginning) uncommitted(ctx context.Context) error {
	repo, spec := b.Call.Board.Repo(), definition.UsualSpec
	if b.Spec != "" || repo.TopLevel() == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(repo.TopLevel(), spec)); err != nil {
		return nil
	}
	head, _, err := repo.Worktree(repo.TopLevel()).Head(ctx)
	if err != nil {
		return err
	}
	if _, err := repo.History().FileOID(ctx, head, spec); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	return board.Refuse(board.CodeGate, spec+" is not committed, so agents would not see it", fmt.Sprintf("git add %s && git commit -m 'The vision', then git liza start", spec))
}

// write commits the goal's text on the integration branch, as the first of the paths that neither
// the branch nor the worktree has. It returns the path.
func (b *Beginning) write(ctx context.Context, v *gitboard.View, paths ...string) (string, error) {
	repo := b.Call.Board.Repo()
	tip, err := v.Integration(ctx)
	if err != nil {
		return "", err
	}
	path := paths[len(paths)-1]
	for _, p := range paths {
		_, err := repo.History().FileOID(ctx, tip, p)
		if _, there := os.Stat(filepath.Join(repo.TopLevel(), p)); errors.Is(err, git.ErrNotFound) && there != nil {
			path = p
			break
		}
	}
	who, err := repo.Settings().Identity(ctx)
	if err != nil {
		return "", gitboard.NoIdentity(err)
	}
	who.When = b.Call.App.Now()
	commit, objects := onlyFile(path, Specification(b.Goal), who)
	if err := repo.WriteObjects(ctx, objects); err != nil {
		return "", err
	}
	_, err = b.Run(ctx, []string{"land", "--spec", path, "--from", string(commit), "--reason", "The goal's text, by git liza start."})
	return path, err
}

// onlyFile returns a commit without parents that has just one file.
func onlyFile(path, content string, who plumbing.Signature) (commit plumbing.OID, objects []plumbing.Object) {
	file := plumbing.NewObject(plumbing.BlobObject, []byte(content))
	tree, trees, _ := plumbing.PutFile(plumbing.ZeroOID, path, plumbing.TreeEntry{Mode: filemode.Regular, OID: file.OID}, nil) // it reads no tree
	made := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree, Author: who, Committer: who, Message: "The goal's text\n"}))
	return made.OID, slices.Concat([]plumbing.Object{file}, trees, []plumbing.Object{made})
}

// settings proposes how merges are tested and worktrees prepared, and sets it.
func (b *Beginning) settings(ctx context.Context, v *gitboard.View) (Proposal, error) {
	repo := b.Call.Board.Repo()
	tip, err := v.Integration(ctx)
	if err != nil {
		return Proposal{}, err
	}
	var failed error
	read := func(name string) (string, bool) {
		o, err := repo.Object(ctx, string(tip)+":"+name)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			failed = err
		}
		return string(o.Data), err == nil && o.Type == plumbing.BlobObject
	}
	beside := func(name string) bool {
		_, committed := read(name)
		info, err := os.Stat(filepath.Join(repo.TopLevel(), name))
		return !committed && repo.TopLevel() != "" && err == nil && info.Mode().IsRegular()
	}
	p := Propose(read, beside)
	if failed != nil {
		return p, failed
	}
	if p.Test, err = b.test(ctx, p.Test); err != nil {
		return p, err
	}
	for _, s := range [][2]string{{"integration_test", p.Test}, {"worktree_setup", p.Setup}, {"worktree_copy", strings.Join(p.Copy, ",")}} {
		if s[1] != "" {
			if _, err := b.Run(ctx, []string{"config", "set", s[0], s[1]}); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// test asks which command tests merged work.
func (b *Beginning) test(ctx context.Context, proposed string) (string, error) {
	question := fmt.Sprintf("Test of merged work: %s. Enter takes it; or another command, or none: ", proposed)
	if proposed == "" {
		question = "The command that tests merged work (Enter for none): "
	}
	answer, err := b.Ask.Line(ctx, question)
	switch {
	case err != nil || answer == "":
		return proposed, err
	case answer == "none":
		return "", nil
	}
	return answer, nil
}
