//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// faultCase is a scene in which one call of git fails.
type faultCase struct {
	scene
	at       int
	how      string
	same     bool // the retry reuses the request id of the first try
	repaired bool // doctor --fix runs before the retry
	// amid runs the first try where the fault isn't one of git.
	amid func(try func())
}

func (c faultCase) String() string {
	return fmt.Sprintf("%s, %s same=%v repaired=%v", c.name, c.how, c.same, c.repaired)
}

// TestFaults fails each call of git, in each way, of the commands that change worktrees, branches
// or the board. A caller that retries gets its result exactly once, nothing acknowledged or written
// is lost, and doctor repairs everything. Most scenes run with -long only.
func TestFaults(t *testing.T) {
	t.Parallel()
	for i, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			if !testrun.OneIn(7, i) {
				testrun.LongOnly(t)
			}
			t.Parallel()
			stage := newStage(t, s)
			calls := stage.rehearse()
			tried, cases := 0, stage.cases(calls)
			for _, c := range cases {
				if !timeLeft(t) {
					break
				}
				tried++
				for _, fault := range stage.play(c) {
					t.Error(fault)
				}
			}
			t.Logf("%d calls of git, %d of %d faults", len(calls), tried, len(cases))
		})
	}
}

// stage plays a scene repeatedly.
type stage struct {
	*project
	scene scene
	noon  time.Time // the scene's start: later than any file's time, as if all were long ago
	saved string
	sab   *saboteur
}

func newStage(t *testing.T, s scene) *stage {
	t.Helper()
	return newStageIn(t, t.TempDir(), s)
}

// newStageIn is newStage in a given directory.
func newStageIn(t *testing.T, dir string, s scene) *stage {
	t.Helper()
	p := newProjectIn(t, dir)
	noon := time.Now().UTC().Truncate(time.Second)
	p.at(noon)
	p.write(".gitignore", ".ready\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "ignore")
	p.must("", "land", "main")
	s.make(p)
	stage := &stage{project: p, scene: s, noon: noon, saved: filepath.Join(dir, "saved"), sab: newSaboteur(t)}
	stage.twin(p.dir, stage.saved)
	return stage
}

// twin copies a project's directory.
func (s *stage) twin(from, to string) {
	s.t.Helper()
	if err := copyTree(from, to, func(_ string, data []byte) []byte { return data }); err != nil {
		s.t.Fatal(err)
	}
}

// reset restores the project to the scene's start.
func (s *stage) reset() {
	s.t.Helper()
	// A child of a killed process may still be writing.
	s.eventually("the project is removed", func() bool { return os.RemoveAll(s.dir) == nil })
	s.twin(s.saved, s.dir)
	s.at(s.noon.Add(s.scene.after))
}

// rehearse plays the scene without a fault and returns its calls of git.
func (s *stage) rehearse() []string {
	s.t.Helper()
	s.reset()
	env, calls := s.sab.arm(0, "")
	sound := *s.project
	sound.env = append(slices.Clip(s.env), env...)
	sound.must(s.scene.agent, s.scene.args...)
	if got := len(calls()); got < 3 {
		s.t.Fatalf("only %d calls of git were seen", got)
	}
	for _, fault := range s.lasting("rehearsal") {
		s.t.Fatal(fault)
	}
	return calls()
}

var changing = regexp.MustCompile(`^(update-ref|symbolic-ref -m|worktree (add|move|remove|lock|unlock|prune)|merge |read-tree -m|checkout|reset|write-tree|add |commit)`)

// cases returns the faults to try. In the long form each call fails in each way and is retried in
// each way. The short form does that for one call that changes something and for one of all calls,
// chosen anew in each run.
func (s *stage) cases(calls []string) []faultCase {
	var changes, reads []faultCase
	for i, call := range calls {
		for n := range 3 * len(mishaps) { // four ways to fail times three ways to retry
			c := faultCase{scene: s.scene, at: i + 1, how: mishaps[n%len(mishaps)], same: n%3 == 1, repaired: n%3 == 2}
			if changing.MatchString(call) {
				changes = append(changes, c)
			} else {
				reads = append(reads, c)
			}
		}
	}
	random := seeded(s.t)
	if *testrun.Long {
		return drawn(random, append(changes, reads...), len(changes)+len(reads))
	}
	one := drawn(random, changes, 1)
	return append(one, drawn(random, append(changes[len(one):], reads...), 1)...)
}

func drawn[T any](random *rand.Rand, all []T, most int) []T {
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(most, len(all))]
}

// play plays the scene with a fault and returns everything that is wrong afterwards.
func (s *stage) play(c faultCase) (faults []string) {
	s.t.Helper()
	s.reset()
	before := s.history()
	args := append(slices.Clip(c.args), "--json")
	if c.same && !c.idle {
		args = append(args, "--request", "the-same")
	}
	env, calls := s.sab.arm(c.at, c.how)
	sabotaged := *s.project
	sabotaged.env = append(slices.Clip(s.env), env...)
	var out, errs string
	var code int
	first := func() { out, errs, code = sabotaged.liza(c.agent, args...) }
	if c.amid == nil {
		first()
	} else {
		c.amid(first)
	}
	where := c.String()
	if made := calls(); c.at > 0 && len(made) >= c.at {
		where = fmt.Sprintf("%s, at call %d (%s)", where, c.at, made[c.at-1])
	}
	story := fmt.Sprintf("\n  first: exit %d %s%s", code, out, errs)
	wrong := func(format string, args ...any) {
		faults = append(faults, where+": "+fmt.Sprintf(format, args...)+story)
	}
	stood, whole := s.count(before, c), c.together()
	switch {
	case c.idle:
	case stood != 0 && stood != whole && !(c.twice && stood%whole == 0):
		wrong("%d of %d operations were written", stood, whole)
	case code == 0 && stood != whole:
		wrong("it was acknowledged, and stands %d times", stood)
	case (code == 1 || code == 2) && stood != 0:
		wrong("exit %d says that nothing was done, and it stands", code)
	}
	if commit := acknowledged(out); commit != "" && !slices.Contains(s.history(), commit) {
		wrong("%s was acknowledged and is not in the history", commit)
	}
	if c.repaired {
		s.liza("", "doctor", "--fix")
	}
	out, errs, code = s.liza(c.agent, args...)
	story += fmt.Sprintf("\n  again: exit %d %s%s", code, out, errs)
	if strings.Contains(errs, `"busy"`) { // because of the lease of the killed merge
		s.at(s.noon.Add(s.scene.after + 61*time.Second))
		out, errs, code = s.liza(c.agent, args...)
		story += fmt.Sprintf("\n  and again: exit %d %s%s", code, out, errs)
	}
	standsNow := s.count(before, c)
	switch {
	case code == 0, c.idle:
	case code == 1 && stood == whole && !c.same: // the first try did it
	case code == 1 && c.repaired && standsNow == whole: // doctor finished it
	default:
		wrong("asked again, it fails")
	}
	if !c.idle && standsNow != whole && !(c.twice && !c.same && standsNow == 2*whole) {
		wrong("it stands %d times", standsNow)
	}
	stand := s.history()
	for _, commit := range before {
		if !slices.Contains(stand, commit) {
			wrong("%s has gone from the history", commit)
		}
	}
	s.at(s.noon.Add(s.scene.after + 2*time.Minute)) // the lease of a killed merge has expired
	for _, fault := range s.lasting(where) {
		faults = append(faults, fault+story)
	}
	return faults
}

// acknowledged returns the commit named in a command's JSON.
func acknowledged(out string) string {
	var done struct{ Commit string }
	if json.Unmarshal([]byte(out), &done) != nil {
		return ""
	}
	return done.Commit
}

func (p *project) history() []string {
	p.t.Helper()
	return strings.Fields(p.git("rev-list", "--first-parent", "liza/state"))
}

// count returns how many of the scene's operations were recorded after before.
func (s *stage) count(before []string, c faultCase) int {
	s.t.Helper()
	n := 0
	for _, line := range strings.Split(s.git("log", "--first-parent", "--format=%(trailers:key=Liza-Op,valueonly,separator=)", before[0]+"..liza/state"), "\n") {
		if slices.Contains(c.ops, line) {
			n++
		}
	}
	return n
}
