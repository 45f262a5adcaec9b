package worktrees_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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

// approved takes a task from claim to approval.
func approved(coder, id, file, text string) step {
	return step{fmt.Sprintf("approved %s %s %s %q", coder, id, file, text), func(s *scene) { s.approved(coder, id, file, text) }}
}

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
