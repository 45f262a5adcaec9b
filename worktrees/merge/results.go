package merge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// failure is a test that did not pass, or that could not be run.
type failure struct {
	log string // the end of its output
	how *worktrees.FailedError
	why error // what keeps the candidate from being tested; nil if it was tested
}

// tests remembers the results of testing trees: those that passed in a file of this clone, for all
// later merges; those that failed as long as the process lives.
type tests struct {
	file   string
	afresh bool

	mu      sync.Mutex
	passed  map[string]bool // nil until read
	failed  map[string]*failure
	running map[string]chan struct{} // closed when the test ends
	flaky   []flake
}

// flake is a test that failed and then passed on the same commit.
type flake struct {
	command string
	runs    int
}

func testsOf(b *gitboard.Board, afresh bool) *tests {
	return &tests{file: filepath.Join(b.Dir(), "tested"), afresh: afresh, failed: map[string]*failure{}, running: map[string]chan struct{}{}}
}

// maxTested limits the bytes of remembered passed tests. If there are more, the newer half is
// kept.
const maxTested = 256 << 10

// testKey identifies a tree together with the command that tests it.
func testKey(tree plumbing.OID, command string) string {
	return fmt.Sprintf("%s %x", tree, sha256.Sum256([]byte(command)))
}

// begin reports the result of testing a tree, and waits if the test is running. If it is untested,
// the caller must run the test and then call end.
func (t *tests) begin(ctx context.Context, key string) (f *failure, known bool, end func(), err error) {
	for {
		t.mu.Lock()
		running := t.running[key]
		if running == nil {
			break
		}
		t.mu.Unlock()
		select {
		case <-running:
		case <-ctx.Done():
			return nil, false, nil, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if f, known := t.known(key); known {
		return f, true, nil, nil
	}
	ended := make(chan struct{})
	t.running[key] = ended
	return nil, false, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.running, key)
		close(ended)
	}, nil
}

// known returns the result of testing a tree, if known. t must be locked.
func (t *tests) known(key string) (f *failure, known bool) {
	if f, known := t.failed[key]; known {
		return f, true
	}
	if t.passed == nil {
		t.passed = map[string]bool{}
		if !t.afresh {
			text, _ := os.ReadFile(t.file) // if it can't be read, the tests run again
			for line := range bytes.Lines(text) {
				t.passed[string(bytes.TrimSuffix(line, []byte("\n")))] = true
			}
		}
	}
	return nil, t.passed[key]
}

// learn remembers a result. If it can't be written, the next process tests again.
func (t *tests) learn(key string, f *failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f != nil {
		t.failed[key] = f
		return
	}
	if t.passed == nil {
		t.passed = map[string]bool{}
	}
	t.passed[key] = true
	file, err := os.OpenFile(t.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer file.Close()
	if _, err := io.WriteString(file, key+"\n"); err != nil {
		return
	}
	if size, _ := file.Seek(0, io.SeekEnd); size > maxTested {
		t.forget()
	}
}

// forget drops the older half of the remembered results, and all of them if they can't be read.
func (t *tests) forget() {
	text, _ := os.ReadFile(t.file)
	half := text[len(text)/2:]
	half = half[bytes.IndexByte(half, '\n')+1:]
	_ = disk.Replace(t.file, half)
}

// prove tests a train. green is how many of its candidates pass together; failed is the failure of the
// next candidate, nil for none. If the train can't be tested, a shorter one is; a first candidate that can't be
// tested fails.
func (t *train) prove(ctx context.Context, candidates []*candidate) (green int, failed *failure, err error) {
	s := newSearch(len(candidates))
	for n := s.next(); n > 0; n = s.next() {
		f, err := t.try(ctx, candidates, n)
		switch {
		case err != nil:
			return 0, nil, err
		case f != nil && f.why != nil && n > 1:
			s.cut(n)
			failed = nil
			continue
		case f != nil:
			failed = f
		}
		s.learn(n, f == nil)
	}
	return s.green, failed, nil
}

// try tests the first candidates of a train together while renewing the merge lease.
func (t *train) try(ctx context.Context, candidates []*candidate, n int) (f *failure, err error) {
	c := candidates[n-1]
	if c.command == "" {
		return nil, nil
	}
	if err := t.held.show(ctx, idsOf(candidates), idsOf(candidates[:n]), c.commit); err != nil {
		return nil, t.held.lost(err)
	}
	tree, err := c.treeOf(ctx, t.b)
	if err != nil {
		return nil, err
	}
	if a := t.ahead[testPlace]; a != nil && a.tree != tree {
		a.stop()
	}
	err = t.held.during(ctx, renewEvery, func(ctx context.Context) (err error) {
		f, err = t.test(ctx, &testRun{c: c, held: t.held, tasks: idsOf(candidates[:n]), place: testPlace, out: t.r.Out})
		return err
	})
	if err = t.held.lost(err); t.alone() || !untestable(err) {
		return f, err
	}
	if n == 1 && notSetUp(err) {
		if err := t.setsUpWithout(ctx, c); err != nil {
			return nil, err
		}
	}
	return &failure{why: fmt.Errorf("%s can't be tested: %w", c.task.ID, err)}, nil
}

// setsUpWithout returns an error if worktree_setup fails or runs out of time also with what the
// first candidate was computed on, which is integration: then it does with every task. It runs only once.
func (t *train) setsUpWithout(ctx context.Context, first *candidate) error {
	if t.setsUpBare {
		return nil
	}
	bare := *first
	bare.commit, bare.tree = first.base, ""
	err := t.held.during(ctx, renewEvery, func(ctx context.Context) error {
		_, err := (&testRun{c: &bare, held: t.held, place: testPlace, own: true}).prepare(ctx, t.b)
		return err
	})
	t.setsUpBare = err == nil
	if failed := (*worktrees.FailedError)(nil); errors.As(err, &failed) {
		err = fmt.Errorf("no task can be tested, since worktree_setup fails with %s alone: %w", first.view.State.Config().IntegrationBranch, failed)
	}
	return t.held.lost(err)
}

// untestable reports whether an error can be due to a candidate's content: worktree_setup fails in
// it, or it names a commit of a submodule that isn't available in this clone.
func untestable(err error) bool {
	return notSetUp(err) || refusedAs(err, board.CodeMissing)
}

// notSetUp reports whether worktree_setup failed or ran out of time.
func notSetUp(err error) bool { return errors.As(err, new(*worktrees.FailedError)) }

// test tests a candidate unless the result is known. A failing test is repeated as often as the
// board's configuration allows.
func (t *train) test(ctx context.Context, r *testRun) (*failure, error) {
	tree, err := r.c.treeOf(ctx, t.b)
	if err != nil {
		return nil, err
	}
	key := testKey(tree, r.c.command)
	f, known, end, err := t.tests.begin(ctx, key)
	if known || err != nil {
		return f, err
	}
	defer end()
	for run := 0; run <= r.c.view.State.Config().IntegrationTestRetry; run++ {
		if f, err = r.run(ctx, t.b); err != nil {
			return nil, err
		}
		if f == nil && run > 0 {
			t.tests.flake(r.c.command, run+1)
		}
		if f == nil {
			break
		}
	}
	t.tests.learn(key, f)
	return f, nil
}

func (t *tests) flake(command string, runs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flaky = append(t.flaky, flake{command, runs})
}

// recordFlaky records tests that failed and then passed on the same commit: no task is to blame.
func (t *train) recordFlaky(ctx context.Context) error {
	for _, f := range t.tests.flaky {
		p := &board.LogAnomaly{Type: board.FlakyTest, Details: map[string]board.Scalar{
			"test": board.Scalar(text.Line(f.command, 200)), "runs": board.Scalar(strconv.Itoa(f.runs)),
		}}
		if _, err := t.b.Do(ctx, gitboard.Request{Actor: t.r.Actor}, gitboard.Just(p)); err != nil {
			return err
		}
	}
	t.tests.flaky = nil
	return nil
}

// ahead is a test of a later train, running next to the current one, or of this one.
type ahead struct {
	tree plumbing.OID // that it tests
	end  context.CancelFunc
	done chan struct{}
}

// stop ends the test, because the train it was started for is not the next one.
func (a *ahead) stop() {
	if a != nil {
		a.end()
		<-a.done
	}
}

// testAhead starts testing the trains after this one, each on top of the previous one, as many as
// the board allows to run in parallel. A result is used when the train's round comes.
func (t *train) testAhead(ctx context.Context, v *gitboard.View, tip *candidate, waiting []string) {
	for n := 2; n <= v.State.Config().IntegrationWorkers && tip.command != "" && len(waiting) > 0; n++ {
		c, err := t.assemble(ctx, v, tip.commit, waiting)
		if err != nil || len(c.candidates) == 0 {
			return // its own round reports why
		}
		tip, waiting = c.candidates[len(c.candidates)-1], without(waiting, idsOf(c.candidates)...)
		t.start(ctx, c.candidates, fmt.Sprintf("%s-%d", testPlace, n), io.Discard)
	}
}

// testEarly starts testing the train as it will be once a remote has taken its approvals.
func (t *train) testEarly(ctx context.Context, v *gitboard.View) {
	tip, err := v.Integration(ctx)
	if err != nil {
		return // its own round reports why
	}
	c, err := t.assemble(ctx, v, tip, t.r.Tasks)
	if err != nil || len(c.candidates) == 0 {
		return
	}
	t.start(ctx, c.candidates, testPlace, t.r.Out)
}

// start starts the test of a train ahead, if it has one, and replaces the one running at that place.
func (t *train) start(ctx context.Context, candidates []*candidate, place string, out io.Writer) {
	r := &testRun{c: candidates[len(candidates)-1], held: t.held, tasks: idsOf(candidates), place: place, out: out}
	if r.c.command == "" {
		return
	}
	tree, err := r.c.treeOf(ctx, t.b)
	if err != nil {
		return // its own round reports it
	}
	t.ahead[r.place].stop()
	ctx, end := context.WithCancel(ctx)
	a := &ahead{tree: tree, end: end, done: make(chan struct{})}
	t.ahead[r.place] = a
	go func() {
		defer close(a.done)
		defer end()
		_, _ = t.test(ctx, r) // if it can't run, its own round reports why
	}()
}

// endAhead ends all tests ahead, which no process waits for any more.
func (t *train) endAhead() {
	for place, a := range t.ahead {
		a.stop()
		delete(t.ahead, place)
	}
}
