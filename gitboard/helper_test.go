package gitboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMain removes the scenes that tests have copied.
func TestMain(m *testing.M) {
	testrun.Prepare()
	code := m.Run()
	for _, dir := range scenes {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

var check = testrun.Check

// scenes are the directories that all others are copied from, by what makes them.
var scenes = map[string]string{}

// scene returns a copy of a directory that the first test fills, in an environment without any user's
// settings.
func scene(t testing.TB, name string, fill func(dir string)) (dir string) {
	t.Helper()
	testrun.NotShort(t)
	testrepo.Environment(t)
	if scenes[name] == "" {
		scenes[name] = testrun.Must(os.MkdirTemp("", "liza-"+name+"-"))(t)
		fill(scenes[name])
	}
	dir = t.TempDir()
	testrepo.Copy(t, scenes[name], dir)
	return dir
}

// first is the directory of a project in a scene.
const first = "dépôt à moi"

// project is a repository with one commit.
func project(t testing.TB) string {
	t.Helper()
	return filepath.Join(scene(t, "project", func(dir string) {
		dir = filepath.Join(dir, first)
		testrun.InitRepository(t, dir, false)
		check(t, os.MkdirAll(filepath.Join(dir, "specs"), 0o755))
		check(t, os.WriteFile(filepath.Join(dir, "specs", "vision.md"), []byte("# Vision\n"), 0o644))
		testrun.CommitAll(t, dir, "first")
		testrun.RunGit(t, dir, "branch", "integration")
	}), first)
}

// begun is a project with the board that begin makes.
func begun(t testing.TB) string {
	t.Helper()
	return filepath.Join(scene(t, "begun", func(dir string) {
		dir = filepath.Join(dir, first)
		testrepo.Copy(t, project(t), dir)
		begin(t, open(t, dir, newClock()))
	}), first)
}

func newClock() *testrepo.Clock {
	return testrepo.NewClock(time.Date(2026, 2, 3, 8, 0, 0, 0, time.UTC))
}

func open(t testing.TB, dir string, c *testrepo.Clock) *gitboard.Board {
	t.Helper()
	b := testrun.Must(gitboard.Open(context.Background(), dir, gitboard.Options{Now: c.Now}))(t)
	t.Cleanup(func() { b.Close() })
	return b
}

var (
	ada    = board.HumanActor("Ada", "ada@example.org")
	coder1 = agent("coder-1")
	coder2 = agent("coder-2")
	base   = strings.Repeat("a", 40)
)

func agent(id string) board.Actor {
	role, _ := roles.Of(id)
	return board.Actor{ID: id, Role: role, Session: "session-of-" + id}
}

func do(t testing.TB, b *gitboard.Board, a board.Actor, p board.Payload) *gitboard.Done {
	t.Helper()
	done, err := b.Do(context.Background(), gitboard.Request{Actor: a}, gitboard.Just(p))
	if err != nil {
		t.Fatalf("%s by %s: %v", p.Op(), a.ID, err)
	}
	return done
}

// try carries out an operation under a request id.
func try(b *gitboard.Board, a board.Actor, request string, p board.Payload) (*gitboard.Done, error) {
	return b.Do(context.Background(), gitboard.Request{Actor: a, ID: request}, gitboard.Just(p))
}

// begin makes a board with two coders and one task to claim.
func begin(t testing.TB, b *gitboard.Board) {
	t.Helper()
	do(t, b, ada, &board.Init{Goal: "A greeter", IntegrationBranch: "integration"})
	for _, a := range []board.Actor{coder1, coder2} {
		do(t, b, a, &board.Register{Session: a.Session, PID: 7})
	}
	ready(t, b, "alpha")
}

func ready(t testing.TB, b *gitboard.Board, id string) {
	t.Helper()
	do(t, b, ada, &board.AddTask{About: board.About{Task: id}, Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Say hello", DoneWhen: "it says hello", Scope: "IN: main.go", SpecRef: "specs/vision.md", Kind: board.Doc, Priority: 3,
	}})
}

func claim(id string) board.Payload {
	return &board.Claim{About: board.About{Task: id}, Clone: "here", BaseCommit: base}
}

func note(text string) board.Payload { return &board.AddNote{Message: text} }

// clean verifies the whole board and checks that every commit is proven.
func clean(t testing.TB, s log.Store) *audit.Report {
	t.Helper()
	report := testrun.Must(audit.Verify(context.Background(), s, nil, audit.Range{}, nil))(t)
	for _, f := range report.Findings {
		t.Errorf("verify: %s", f)
	}
	if report.Proven != report.Commits {
		t.Errorf("verify: %d of %d proven", report.Proven, report.Commits)
	}
	return report
}

func fsck(t testing.TB, repo *git.Repo) {
	t.Helper()
	testrun.Fsck(t, repo.CommonDir())
}

func refusal(t testing.TB, err error, code board.ErrorCode) {
	t.Helper()
	var r *board.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Errorf("%v, and not a refusal for %s", err, code)
	}
}

func tipOf(t testing.TB, s log.Store) plumbing.OID {
	t.Helper()
	return testrun.Must(s.Ref(context.Background(), plumbing.BoardRef))(t)
}

// count returns how many operations since a commit belong to a request.
func count(t testing.TB, s log.Store, since plumbing.OID, request string) int {
	t.Helper()
	commits := testrun.Must(s.Log(context.Background(), since, tipOf(t, s)))(t)
	n := 0
	for _, c := range commits {
		if strings.Contains(c.Message, fmt.Sprintf("\nLiza-Request: %s\n", request)) {
			n++
		}
	}
	return n
}
