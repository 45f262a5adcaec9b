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

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/definition"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// Beginning makes the board and its first goal, or adds a goal to a board.
type Beginning struct {
	Call *call.Call
	Ask  *Asking // nil for no questions
	Goal string
	Spec string // a committed file; "" for specs/vision.md, or else the goal's text
	Yes  bool   // nobody reviews the plan
}

// Spec is a goal's specification that was brought to integration.
type Spec struct {
	Path    string
	Written bool // it is the goal's text
}

// Line describes it.
func (s Spec) Line() string {
	line := "specification  " + s.Path
	if s.Written {
		line += ", the goal's text, on the integration branch alone"
	}
	return line
}

// Lines describe settings.
func (p *Proposal) Lines() []string {
	test := "none: work lands untested (git liza config set integration_test COMMAND)"
	if p.Test != "" && p.Test != board.NoTest {
		test = p.Test
	}
	lines := []string{"test           " + test}
	if p.Setup != "" {
		lines = append(lines, "new worktrees  "+p.Setup)
	}
	if len(p.Copy) > 0 {
		lines = append(lines, "copied there   "+strings.Join(p.Copy, ", "))
	}
	return lines
}

// Begin makes the board, or adds the goal to it, and gives each goal in progress a specification. It
// returns those of the new goal and of goals that had none. A repetition continues after an
// interruption.
func (b *Beginning) Begin(ctx context.Context) ([]Spec, error) {
	tip, err := b.Call.Board.Repo().Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return nil, err
	}
	if tip.IsZero() {
		offers, err := setup.Shares(ctx, b.Call)
		if err == nil {
			err = b.init(ctx, offers != "")
		}
		if err != nil {
			return nil, err
		}
		by, err := b.Call.Board.Repo().Shared(ctx)
		if err == nil && by != nil {
			err = Say(b.Call, "joined         the board of "+text.Line(by.Name, 60))
		}
		if err != nil {
			return nil, err
		}
	}
	v, err := b.Call.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	known := slices.ContainsFunc(v.State.Goals(), func(g *board.Goal) bool {
		return g.Status == board.InProgress && (b.Goal == "" || g.Description == b.Goal)
	})
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	var specs []Spec
	switch {
	case known:
	case b.Goal == "":
		return nil, board.Refuse(board.CodeWrongState, "no goal is in progress", `git liza start "GOAL"`)
	default:
		spec, err := b.add(ctx, v)
		if err != nil {
			return nil, err
		}
		specs = append(specs, spec)
	}
	more, err := Specify(ctx, b.Call)
	return append(specs, more...), err
}

// init makes the board, or joins the one that a remote shares.
func (b *Beginning) init(ctx context.Context, shared bool) error {
	if err := b.firstCommit(ctx); err != nil {
		return err
	}
	if b.Goal == "" && !shared {
		var err error
		if b.Goal, err = b.Ask.Line(ctx, "What should be built? "); err != nil {
			return err
		}
	}
	if b.Goal == "" && !shared {
		return call.Usage(b.Call.Cmd, "a new board needs a goal")
	}
	if b.Spec == "" {
		if err := uncommitted(ctx, b.Call); err != nil {
			return err
		}
	}
	r := setup.Request{Goal: b.Goal, Spec: b.Spec, Integration: setup.UsualIntegration, Unattended: b.Yes}
	return carry(ctx, b.Call, call.Act{Op: "init", Do: func(ctx context.Context, c *call.Call) (call.Result, error) {
		return call.Result{}, setup.Init(ctx, c, r)
	}})
}

// carry carries out an operation as a command does, on a Board of its own.
func carry(ctx context.Context, c *call.Call, a call.Act) error {
	_, err := a.Carry(ctx, c)
	return err
}

// land brings a file to integration, as it is in a commit.
func land(ctx context.Context, c *call.Call, path, from, reason string) error {
	return carry(ctx, c, call.Act{Op: "land", Do: func(ctx context.Context, c *call.Call) (call.Result, error) {
		actor, err := c.Actor(ctx, "land")
		if err != nil {
			return call.Result{}, err
		}
		_, err = merge.Land(ctx, c.Board, merge.LandRequest{Request: c.Asks(actor), Commit: from, Files: definition.Files([]string{path}), Reason: reason})
		return call.Result{}, err
	}})
}

// Specify brings the specifications of goals in progress to integration, where planners read them:
// the file that is committed in the worktree, else the goal's text.
func Specify(ctx context.Context, c *call.Call) ([]Spec, error) {
	v, err := c.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	lacking, _, err := v.NoSpec(ctx)
	if err != nil {
		return nil, err
	}
	var specs []Spec
	for _, id := range lacking {
		goal := v.State.Goal(id)
		if err := v.State.Err(); err != nil {
			return nil, err
		}
		path, _, _ := strings.Cut(goal.Spec(), "#")
		if has, err := inHead(ctx, c, path); err != nil {
			return nil, err
		} else if has {
			if err := land(ctx, c, path, "HEAD", "The goal's specification."); err != nil {
				return nil, err
			}
			specs = append(specs, Spec{Path: path})
			continue
		}
		if goal.SpecRef != "" {
			continue // the human wants that file
		}
		if err := uncommitted(ctx, c); err != nil {
			return nil, err
		}
		path, err := Write(ctx, c, Specification(goal.Description), board.UsualSpec, "specs/"+id+".md")
		if err != nil {
			return nil, err
		}
		specs = append(specs, Spec{path, true})
		p := &board.Write{Path: board.RecordPath(board.GoalDir, id), Fields: []board.FieldEdit{{Field: "spec_ref", Value: path}}}
		if err := carry(ctx, c, acts.Plain(p)); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

// add starts a further goal.
func (b *Beginning) add(ctx context.Context, v *gitboard.View) (s Spec, err error) {
	id := board.NextGoal(v.State)
	if err := v.State.Err(); err != nil {
		return s, err
	}
	s = Spec{b.Spec, b.Spec == ""}
	if s.Written {
		if s.Path, err = Write(ctx, b.Call, Specification(b.Goal), "specs/"+id+".md"); err != nil {
			return s, err
		}
	}
	return s, carry(ctx, b.Call, acts.Named("goal start", acts.StartGoal, board.GoalStart{Text: b.Goal, SpecRef: s.Path}))
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
func uncommitted(ctx context.Context, c *call.Call) error {
	repo, spec := c.Board.Repo(), board.UsualSpec
	if repo.TopLevel() == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(repo.TopLevel(), spec)); err != nil {
		return nil
	}
	if has, err := inHead(ctx, c, spec); has || err != nil {
		return err
	}
	return board.Refuse(board.CodeGate, spec+" is not committed, so agents would not see it", fmt.Sprintf("git add %s && git commit -m 'The vision', then git liza %s", spec, c.Cmd.Name))
}

// inHead reports whether the commit that is checked out has a file.
func inHead(ctx context.Context, c *call.Call, path string) (bool, error) {
	repo := c.Board.Repo()
	if repo.TopLevel() == "" {
		return false, nil
	}
	head, _, err := repo.Worktree(repo.TopLevel()).Head(ctx)
	if err != nil || head.IsZero() {
		return false, err
	}
	oid, err := definition.FileIn(ctx, repo, head, path)
	return oid != "", err
}

// Write commits a specification on the integration branch, as the first of the paths that neither the
// branch nor the worktree has. It returns the path.
func Write(ctx context.Context, c *call.Call, spec string, paths ...string) (string, error) {
	repo := c.Board.Repo()
	v, err := c.Board.View(ctx)
	if err != nil {
		return "", err
	}
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
	who.When = c.App.Now()
	commit, objects := onlyFile(path, spec, who)
	if err := repo.WriteObjects(ctx, objects); err != nil {
		return "", err
	}
	return path, land(ctx, c, path, string(commit), "The goal's text.")
}

// onlyFile returns a commit without parents that has just one file.
func onlyFile(path, content string, who plumbing.Signature) (commit plumbing.OID, objects []plumbing.Object) {
	file := plumbing.NewObject(plumbing.BlobObject, []byte(content))
	tree, trees, _ := plumbing.PutFile(plumbing.ZeroOID, path, plumbing.TreeEntry{Mode: filemode.Regular, OID: file.OID}, nil) // it reads no tree
	made := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{Tree: tree, Author: who, Committer: who, Message: "The goal's text\n"}))
	return made.OID, slices.Concat([]plumbing.Object{file}, trees, []plumbing.Object{made})
}

// Settings are how merges are tested and worktrees prepared. Unless a test is set, it proposes them
// from the project's files, asks, and sets them.
func (b *Beginning) Settings(ctx context.Context) (*Proposal, error) {
	v, err := b.Call.Board.View(ctx)
	if err != nil {
		return nil, err
	}
	config := v.State.Config()
	if err := v.State.Err(); err != nil || config.IntegrationTest != "" {
		return &Proposal{config.IntegrationTest, config.WorktreeSetup, config.WorktreeCopy}, err
	}
	repo := b.Call.Board.Repo()
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, err
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
		return nil, failed
	}
	if p.Test, err = b.test(ctx, p.Test); err != nil {
		return nil, err
	}
	var set []board.Payload
	for _, s := range [][2]string{{"worktree_setup", p.Setup}, {"worktree_copy", strings.Join(p.Copy, ",")}, {"integration_test", p.Test}} {
		if s[1] != "" {
			set = append(set, &board.SetConfig{Key: s[0], Value: s[1]})
		}
	}
	if len(set) == 0 {
		return &p, nil
	}
	return &p, carry(ctx, b.Call, acts.All(set...))
}

// test asks which command tests merged work.
func (b *Beginning) test(ctx context.Context, proposed string) (string, error) {
	if b.Ask == nil {
		return proposed, nil
	}
	question := fmt.Sprintf("Test of merged work: %s. Enter takes it; or another command, or none: ", proposed)
	if proposed == "" {
		question, proposed = "This project shows no test. The command that tests merged work (Enter for none: work lands untested): ", board.NoTest
	}
	for {
		switch answer, err := b.Ask.Line(ctx, question); {
		case err != nil || answer == "":
			return proposed, err
		case slices.Contains([]string{"n", "no"}, strings.ToLower(answer)):
			return board.NoTest, nil
		case !slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)):
			return answer, nil
		case proposed != board.NoTest:
			return proposed, nil
		}
		question = "A command, as make test, or Enter for none: "
	}
}
