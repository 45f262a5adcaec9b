package merge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func ada() board.Actor { return board.HumanActor("Ada", "ada@example.org") }

// do carries out an operation.
func do(t *testing.T, ctx context.Context, b *gitboard.Board, actor board.Actor, p board.Payload) *gitboard.Done {
	t.Helper()
	return testrun.Must(b.Do(ctx, gitboard.Request{Actor: actor}, gitboard.Just(p)))(t)
}

// commitOn commits a file on top of a commit, and leaves the main worktree there.
func commitOn(t *testing.T, b *gitboard.Board, parent plumbing.OID, file, text string) plumbing.OID {
	t.Helper()
	top := b.Repo().TopLevel()
	run(t, top, "checkout", "-q", "--detach", string(parent))
	must(t, os.WriteFile(filepath.Join(top, file), []byte(text), 0o644))
	return plumbing.OID(testrun.CommitAll(t, top, text))
}

// setIntegration moves integration without an operation.
func setIntegration(t *testing.T, b *gitboard.Board, commit plumbing.OID) {
	t.Helper()
	run(t, b.Repo().TopLevel(), "-c", "core.hooksPath="+os.DevNull, "update-ref", "refs/heads/integration", string(commit))
}

// approve adds a task, and takes it to the approval of a commit on top of integration, by
// operations alone. It returns the reviewer.
func approve(t *testing.T, ctx context.Context, b *gitboard.Board, id string, commit plumbing.OID, change ...func(*board.AddTask)) board.Actor {
	t.Helper()
	v := testrun.Must(b.View(ctx))(t)
	base := testrun.Must(v.Integration(ctx))(t)
	about, n := board.About{Task: id}, len(v.State.Tasks())+1
	_, coder, err := b.Sessions().Register(ctx, fmt.Sprint("coder-", n), "", gitboard.Process{})
	must(t, err)
	_, reviewer, err := b.Sessions().Register(ctx, fmt.Sprint("code-reviewer-", n), "", gitboard.Process{})
	must(t, err)
	add := &board.AddTask{About: about, Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Task " + id, DoneWhen: "exit code 0", Scope: "a.txt", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3,
	}}
	for _, c := range change {
		c(add)
	}
	do(t, ctx, b, ada(), add)
	do(t, ctx, b, coder, &board.Claim{About: about, Clone: "another", BaseCommit: string(base)})
	do(t, ctx, b, coder, &board.PreExec{About: about, Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt"}}})
	do(t, ctx, b, coder, &board.Submit{
		About: about, Commit: string(commit), Tree: string(run(t, b.Repo().TopLevel(), "rev-parse", string(commit)+"^{tree}")), ReviewBase: string(base),
		Commits: 1, Files: 1, NoTestsBecause: "none", People: []string{"ada@example.org"},
	})
	do(t, ctx, b, reviewer, &board.ClaimReview{About: about})
	do(t, ctx, b, reviewer, &board.Verdict{About: about, Verdict: board.VerdictApproved, Checked: "tests", Commit: string(commit)})
	return reviewer
}

// again opens the board as another process does.
func again(t *testing.T, b *gitboard.Board, o gitboard.Options) *gitboard.Board {
	t.Helper()
	other := testrun.Must(gitboard.Open(t.Context(), b.Repo().TopLevel(), o))(t)
	t.Cleanup(func() { other.Close() })
	return other
}

func view(t *testing.T, ctx context.Context, b *gitboard.Board) *gitboard.View {
	t.Helper()
	return testrun.Must(b.View(ctx))(t)
}
