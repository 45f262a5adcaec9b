package worktrees_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// TestMain hides all settings of git and ours except the repository's own. It changes the
// environment once, so that tests can run in parallel.
func TestMain(m *testing.M) {
	testrun.Prepare()
	for _, entry := range os.Environ() {
		if key, _, _ := strings.Cut(entry, "="); strings.HasPrefix(key, "GIT_") || strings.HasPrefix(key, "LIZA_") {
			os.Unsetenv(key)
		}
	}
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	worktrees.Unsteady(testrepo.Interrupts)
	templates.dir = filepath.Join(home, "templates")
	if err := standInForLFS(filepath.Join(home, "bin")); err != nil {
		panic(err)
	}
	settings := filepath.Join(home, "settings")
	if err := os.WriteFile(settings, []byte(userSettings), 0o644); err != nil {
		panic(err)
	}
	for key, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_GLOBAL": settings, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_TEMPLATE_DIR": "", // each scene is copied: without the samples of hooks
		"GIT_AUTHOR_NAME":  "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
	} {
		os.Setenv(key, value)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// userSettings are the user's own settings of git.
const userSettings = "[filter \"broken\"]\n\tclean = false\n\trequired\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n"

// clock is set by the test.
type clock struct{ past atomic.Int64 }

var begin = time.Now().UTC().Truncate(time.Second)

func (c *clock) now() time.Time       { return begin.Add(time.Duration(c.past.Load())) }
func (c *clock) pass(d time.Duration) { c.past.Add(int64(d)) }
func ms(n int) time.Duration          { return time.Duration(n) * time.Millisecond }
func human() board.Actor              { return board.HumanActor("Ada", "ada@example.org") }
func about(task string) board.About   { return board.About{Task: task} }
func taskRef(task string) string      { return "refs/heads/task/" + task }
func contains(text, part string) bool { return strings.Contains(text, part) }

// scene is a project with a board, in a path with a space and non-ASCII letters. A human has main
// checked out, with an edit and an untracked file.
type scene struct {
	t     *testing.T
	ctx   context.Context
	dir   string
	clock *clock
	b     *gitboard.Board
	agent map[string]board.Actor

	before string // the human's checkout at the start
	moved  bool   // the test changes the checkout on purpose
	calm   bool   // nobody interrupts doctor: it would set a worktree up again
}

// begun makes a scene in a directory.
func begun(t *testing.T, dir string) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	s := &scene{t: t, ctx: ctx, dir: dir, clock: &clock{}, agent: map[string]board.Actor{}}
	testrun.InitRepository(t, s.dir, false)
	s.b = s.open()
	s.write(s.dir, "a.txt", "one\ntwo\nthree\n")
	s.write(s.dir, "mine.txt", "mine\n")
	s.write(s.dir, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	s.write(s.dir, ".gitignore", "*.cache\n")
	s.write(s.dir, "specs/vision.md", "# Vision\n")
	first := s.commitAll(s.dir, "first")
	s.do(human(), &board.Init{Goal: "A goal", IntegrationBranch: "integration"}, plumbing.RefUpdate{Ref: "refs/heads/integration", New: first})
	s.write(s.dir, "mine.txt", "a human's edit\n")
	s.write(s.dir, "untracked", "x\n")
	s.before = s.checkout()
	return s
}

// end verifies the whole board by replay, and checks that the human's checkout is unchanged.
func (s *scene) end() {
	if s.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	// s.b may be closed already.
	b := testrun.Must(gitboard.Open(ctx, s.dir, gitboard.Options{Now: s.clock.now}))(s.t)
	defer b.Close()
	v := testrun.Must(b.View(ctx))(s.t)
	for _, violation := range board.Violations(v.State) {
		s.t.Errorf("violation: %s", violation)
	}
	report := testrun.Must(audit.Verify(ctx, b.Repo(), b.Repo(), audit.Range{}, nil))(s.t)
	for _, f := range report.Findings {
		s.t.Errorf("verify: %s", f)
	}
	if now := s.checkout(); !s.moved && now != s.before {
		s.t.Errorf("the human's checkout was\n%s\nand is\n%s", s.before, now)
	}
	if left, _ := filepath.Glob(filepath.Join(b.Dir(), "claims", "*")); len(left) > 0 {
		s.t.Errorf("left: %v", left)
	}
}

// checkout returns everything that a human sees in the main worktree.
func (s *scene) checkout() string {
	index := testrun.Must(os.ReadFile(filepath.Join(s.dir, ".git", "index")))(s.t)
	head := testrun.Must(os.ReadFile(filepath.Join(s.dir, ".git", "HEAD")))(s.t)
	return fmt.Sprintf("%sindex %x\n%s", head, sha256.Sum256(index),
		s.git(s.dir, "--no-optional-locks", "status", "--porcelain=v2", "--branch"))
}

// open opens the board as a separate process would.
func (s *scene) open() *gitboard.Board { return s.openAt(s.dir) }

func (s *scene) openAt(dir string) *gitboard.Board {
	s.t.Helper()
	b := testrun.Must(gitboard.Open(s.ctx, dir, gitboard.Options{Now: s.clock.now}))(s.t)
	s.t.Cleanup(func() { b.Close() })
	return b
}

func (s *scene) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v (%T)", err, err)
	}
}

// testPlace is the worktree in which merges are tested.
func (s *scene) testPlace() string {
	s.t.Helper()
	dir := testrun.Must(merge.TestDir(s.b))(s.t)
	return filepath.Join(dir, ".integration")
}

func (s *scene) git(dir string, args ...string) string {
	s.t.Helper()
	return testrun.RunGit(s.t, dir, args...)
}

func (s *scene) write(dir, name, text string) {
	s.t.Helper()
	path := filepath.Join(dir, name)
	s.check(os.MkdirAll(filepath.Dir(path), 0o755))
	s.check(os.WriteFile(path, []byte(text), 0o644))
}

func (s *scene) read(dir, name string) string {
	s.t.Helper()
	data := testrun.Must(os.ReadFile(filepath.Join(dir, name)))(s.t)
	return string(data)
}

func (s *scene) commitAll(dir, message string) plumbing.OID {
	s.t.Helper()
	return plumbing.OID(testrun.CommitAll(s.t, dir, message))
}

func (s *scene) do(a board.Actor, p board.Payload, refs ...plumbing.RefUpdate) *gitboard.Done {
	s.t.Helper()
	done, err := s.b.Do(s.ctx, gitboard.Request{Actor: a}, func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		return p, refs, nil
	})
	s.check(err)
	return done
}

// task adds a claimable task.
func (s *scene) task(id string, change ...func(*board.AddTask)) {
	s.t.Helper()
	p := &board.AddTask{About: about(id), Ready: true, NoSpecFile: true, Definition: board.Definition{
		Description: "Task " + id, DoneWhen: "exit code 0", Scope: "a.txt", SpecRef: "specs/vision.md", Kind: board.Code, Priority: 3,
	}}
	for _, c := range change {
		c(p)
	}
	s.do(human(), p)
}

func (s *scene) set(key, value string) {
	s.t.Helper()
	s.do(human(), &board.SetConfig{Key: key, Value: value})
}

// as returns an agent and registers it on first use.
func (s *scene) as(id string) board.Actor {
	s.t.Helper()
	if a, known := s.agent[id]; known {
		return a
	}
	_, a, err := s.b.Sessions().Register(s.ctx, id, "", gitboard.Process{PID: 7})
	s.check(err)
	s.agent[id] = a
	return a
}

func (s *scene) claim(id, task string) *worktrees.Claimed {
	s.t.Helper()
	got := testrun.Must(worktrees.Claim(s.ctx, s.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: s.as(id)}, Task: task}))(s.t)
	head, branch, err := s.b.Repo().Worktree(got.Path).Head(s.ctx)
	s.check(err)
	if branch != taskRef(got.Task.ID) || got.Path != s.path(got.Task.ID) {
		s.t.Errorf("%s is on %q at %s", got.Path, branch, head)
	}
	return got
}

func (s *scene) path(task string) string { return filepath.Join(s.dir, ".worktrees", task) }

func (s *scene) preExec(id, task string) {
	s.t.Helper()
	s.do(s.as(id), &board.PreExec{About: about(task), Checkpoint: board.Checkpoint{Intent: "do it", Validation: "go test", FilesToModify: []string{"a.txt"}}})
}

// work writes a file and a test, and commits them.
func (s *scene) work(task, file, text string) plumbing.OID {
	s.t.Helper()
	s.write(s.path(task), file, text)
	s.write(s.path(task), task+"_test.txt", "a test\n"+text)
	return s.commitAll(s.path(task), "work on "+task+s.trailers(task))
}

// trailers returns the trailers that a hook would add to a commit of this task.
func (s *scene) trailers(task string) string {
	s.t.Helper()
	return "\n\nLiza-Task: " + task + "\nLiza-Agent: " + s.state().Task(task).AssignedTo + "\n"
}

func (s *scene) submit(id, task string) plumbing.OID {
	s.t.Helper()
	done, warnings, err := worktrees.Submit(s.ctx, s.b, worktrees.SubmitRequest{Request: gitboard.Request{Actor: s.as(id)}, Task: task})
	s.check(err)
	if len(warnings) > 0 {
		s.t.Errorf("warnings: %v", warnings)
	}
	return plumbing.OID(done.After.Task(task).ReviewCommit)
}

func (s *scene) verdict(id, task, verdict string) {
	s.t.Helper()
	s.do(s.as(id), &board.ClaimReview{About: about(task)})
	t := s.state().Task(task)
	reason := ""
	if verdict == board.VerdictRejected {
		r := board.Rejection{Blockers: []board.Finding{{Where: "a.txt:1", Issue: "wrong", Why: "it breaks", Suggestion: "mend it"}}, Overall: "No.", Spec: "n/a", Anomaly: "none"}
		if t.Iteration > 1 {
			r.Prior = []string{"STILL PRESENT: a.txt:1"}
		}
		reason = r.Text()
	}
	_, err := worktrees.Verdict(s.ctx, s.b, worktrees.VerdictRequest{Request: gitboard.Request{Actor: s.as(id)}, Task: task, Verdict: verdict, Checked: "tests", Commit: t.ReviewCommit[:8], Reason: reason})
	s.check(err)
}

// submitted takes a claimed task to its submission, with one commit.
func (s *scene) submitted(id, task, file, text string) plumbing.OID {
	s.t.Helper()
	s.preExec(id, task)
	s.work(task, file, text)
	return s.submit(id, task)
}

// approved takes a task from claim to approval, with one commit.
func (s *scene) approved(coder, task, file, text string) plumbing.OID {
	s.t.Helper()
	s.claim(coder, task)
	commit := s.submitted(coder, task, file, text)
	s.verdict("code-reviewer-1", task, board.VerdictApproved)
	return commit
}

func (s *scene) merge(task string) *merge.Result {
	s.t.Helper()
	got, err := mergeOne(s.ctx, s.b, merge.TrainRequest{Request: gitboard.Request{Actor: s.as("code-reviewer-1")}, Tasks: []string{task}})
	s.check(err)
	if len(got.Warnings) > 0 {
		s.t.Errorf("warnings: %v", got.Warnings)
	}
	return got
}

func mergeOne(ctx context.Context, b *gitboard.Board, r merge.TrainRequest) (*merge.Result, error) {
	all, err := merge.Train(ctx, b, r)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// appears waits for a file that a test's command creates.
func (s *scene) appears(file string) {
	s.t.Helper()
	for {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("%s does not appear", file)
		case <-time.After(ms(5)):
		}
	}
}

func (s *scene) lease(of string) *lease.Held {
	s.t.Helper()
	held := testrun.Must(lease.Read(s.ctx, s.b.Repo(), of))(s.t)
	if held == nil {
		s.t.Fatalf("%s has no lease", of)
	}
	return held
}

func (s *scene) state() *board.State {
	s.t.Helper()
	v := testrun.Must(s.b.View(s.ctx))(s.t)
	return v.State
}

func (s *scene) is(task string, want board.Status) *board.Task {
	s.t.Helper()
	t := s.state().Task(task)
	if t.Status != want {
		s.t.Fatalf("%s is %s, not %s", task, t.Status, want)
	}
	return t
}

func (s *scene) ref(name string) plumbing.OID {
	s.t.Helper()
	return testrun.Must(s.b.Repo().Ref(s.ctx, name))(s.t)
}

// attic returns the commits kept for a task.
func (s *scene) attic(task string) []plumbing.OID {
	s.t.Helper()
	refs := testrun.Must(s.b.Repo().Refs(s.ctx, "refs/liza/attic/"+task))(s.t)
	var all []plumbing.OID
	for i, r := range refs {
		if want := fmt.Sprintf("refs/liza/attic/%s/%d", task, i+1); r.Name != want {
			s.t.Errorf("%s instead of %s", r.Name, want)
		}
		all = append(all, r.OID)
	}
	return all
}

// file returns the content of a file in a commit, "" if it does not exist.
func (s *scene) file(commit plumbing.OID, name string) string {
	s.t.Helper()
	o, err := s.b.Repo().Object(s.ctx, string(commit)+":"+name)
	if errors.Is(err, git.ErrNotFound) {
		return ""
	}
	s.check(err)
	return string(o.Data)
}

// folders lists the entries of .worktrees.
func (s *scene) folders() []string {
	s.t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.dir, ".worktrees"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	s.check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (s *scene) lies(want ...string) {
	s.t.Helper()
	testrun.EqualSlices(s.t, s.folders(), want, ".worktrees holds")
	all := testrun.Must(s.b.Repo().Worktrees(s.ctx))(s.t)
	var known []string
	for _, w := range all[1:] {
		if filepath.Base(filepath.Dir(w.Path)) == ".worktrees" {
			known = append(known, filepath.Base(w.Path))
		}
	}
	slices.Sort(known)
	if !slices.Equal(known, want) {
		s.t.Errorf("git knows %q, not %q", known, want)
	}
}

// refused checks that err is a refusal with this code, and that its message or hint contains part.
func (s *scene) refused(err error, code board.ErrorCode, part string) {
	s.t.Helper()
	var r *board.Refusal
	if !errors.As(err, &r) {
		s.t.Fatalf("not refused: %v", err)
	}
	if r.Code != code || !contains(r.Error()+" | "+cmdline.Hint(r.Hint), part) {
		s.t.Errorf("refused as %s: %s | %s", r.Code, r.Message, cmdline.Hint(r.Hint))
	}
}

// problems returns what both diagnoses find.
func (s *scene) problems() []doctor.Problem {
	s.t.Helper()
	return testrun.Must(s.diagnosed(s.ctx))(s.t)
}

func (s *scene) diagnosed(ctx context.Context) ([]doctor.Problem, error) {
	found, err := doctor.Diagnose(ctx, s.b)
	if err != nil {
		return nil, err
	}
	more, err := merge.Diagnose(ctx, s.b, human())
	return append(found, more...), err
}

// ours begins the import paths of the packages whose uses of git are interrupted.
const ours = "github.com/git-liza/git-liza/worktrees"

// mended checks that exactly problems of these kinds are found, and that none are left once they
// are repaired, by one who is interrupted again and again.
func (s *scene) mended(kinds ...string) {
	s.t.Helper()
	found := s.problems()
	var got []string
	for _, p := range found {
		got = append(got, p.Kind)
	}
	slices.Sort(got)
	slices.Sort(kinds)
	if !slices.Equal(got, kinds) {
		s.t.Fatalf("problems %q, not %q: %+v", got, kinds, found)
	}
	if !s.calm && *testrun.Long {
		s.insist(func(ctx context.Context) error {
			found, err := s.diagnosed(ctx)
			if err == nil {
				_, err = fixAll(ctx, found)
			}
			return err
		})
	}
	if len(found) == 0 {
		return
	}
	left := testrun.Must(fixAll(s.ctx, found))(s.t)
	testrun.Must(fixAll(s.ctx, found))(s.t) // repeating a fix is harmless
	if left = append(left, s.problems()...); len(left) > 0 {
		s.t.Errorf("left: %+v", left)
	}
}

// fixAll repairs what it can and returns what is left for a human.
func fixAll(ctx context.Context, problems []doctor.Problem) (left []doctor.Problem, err error) {
	for _, p := range problems {
		if p.Fix == nil {
			left = append(left, p)
			continue
		}
		if failed := p.Fix(ctx); failed != nil {
			left = append(left, p)
			err = errors.Join(err, failed)
		}
	}
	return left, err
}

// step is something that many tests begin with.
type step struct {
	name string // with all arguments: equal names do the same
	do   func(s *scene)
}

// ready adds a claimable task.
func ready(id string) step {
	return step{"ready " + id, func(s *scene) { s.task(id) }}
}

// claimed has a coder claim a task.
func claimed(coder, id string) step {
	return step{"claimed " + coder + " " + id, func(s *scene) { s.claim(coder, id) }}
}

// submitted takes a claimed task to its submission.
func submitted(coder, id, file, text string) step {
	return step{fmt.Sprintf("submitted %s %s %s %q", coder, id, file, text), func(s *scene) { s.submitted(coder, id, file, text) }}
}

// approved takes a task from claim to approval.
func approved(coder, id, file, text string) step {
	return step{fmt.Sprintf("approved %s %s %s %q", coder, id, file, text), func(s *scene) { s.approved(coder, id, file, text) }}
}

// conflicting are the steps to two approved tasks that add the same file.
func conflicting() []step {
	return []step{ready("one"), ready("other"), approved("coder-1", "one", "b.txt", "mine\n"), approved("coder-3", "other", "b.txt", "theirs\n")}
}

// conflicted merges other, so that one fails.
var conflicted = step{"conflicted", func(s *scene) {
	s.merge("other")
	if got := s.merge("one"); got.Failure != board.FailConflict {
		s.t.Fatalf("there is no conflict: %+v", got)
	}
}}

// train approves n tasks, t1 to tn, each a second after the one before. Each adds its own file,
// except those in write: they write that text to shared.txt.
func train(n int, write map[int]string) []step {
	var steps []step
	for i := 1; i <= n; i++ {
		id, coder := fmt.Sprintf("t%d", i), fmt.Sprintf("coder-%d", i)
		file, text := id+".txt", id+"\n"
		if shared, ok := write[i]; ok {
			file, text = "shared.txt", shared
		}
		steps = append(steps, step{fmt.Sprintf("train %s %s %q", id, file, text), func(s *scene) {
			ready(id).do(s)
			s.approved(coder, id, file, text)
			s.clock.pass(time.Second)
		}})
	}
	return steps
}

// newTrain makes a scene in which a train can be merged.
func newTrain(t *testing.T, n int, write map[int]string) *scene {
	t.Helper()
	return newScene(t, train(n, write)...)
}

// templates are scenes that were made once, by the first test that begins with their steps. Each
// test gets a copy: a hundred git processes cost more than the copy of some files.
var templates struct {
	dir string // set by TestMain
	mu  sync.Mutex
	of  map[string]*template
}

type template struct {
	once sync.Once
	made *scene // nil if that failed
}

// newScene makes a scene and takes the steps.
func newScene(t *testing.T, steps ...step) *scene {
	t.Helper()
	testrun.NotShort(t)
	t.Parallel()
	s := copyOf(t, steps, filepath.Join(t.TempDir(), "Jürgens Projekt"))
	t.Cleanup(s.end)
	return s
}

// copyOf makes a scene in a directory by copying the template of its steps.
func copyOf(t *testing.T, steps []step, dir string) *scene {
	t.Helper()
	name := ""
	for _, step := range steps {
		name += step.name + "\n"
	}
	templates.mu.Lock()
	if templates.of == nil {
		templates.of = map[string]*template{}
	}
	like := templates.of[name]
	if like == nil {
		like = &template{}
		templates.of[name] = like
	}
	home := filepath.Join(templates.dir, fmt.Sprintf("template %d ü", len(templates.of)))
	templates.mu.Unlock()
	like.once.Do(func() {
		var s *scene
		if last := len(steps) - 1; last < 0 {
			s = begun(t, home)
		} else {
			s = copyOf(t, steps[:last], home)
			steps[last].do(s)
		}
		s.b.Close()
		like.made = s
	})
	if like.made == nil {
		t.Fatalf("the scene could not be made: %s", name)
	}
	return like.made.copied(t, dir)
}

// copied returns a copy of a scene in another directory.
func (s *scene) copied(t *testing.T, dir string) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	c := &scene{t: t, ctx: ctx, dir: dir, clock: &clock{}, agent: maps.Clone(s.agent), before: s.before}
	c.clock.past.Store(s.clock.past.Load())
	testrepo.Copy(t, s.dir, dir)
	c.b = c.open()
	return c
}
