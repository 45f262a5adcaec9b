//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// retry is how a command is repeated after a mishap.
type retry string

const (
	asItIs      retry = "as it is"
	sameRequest retry = "under the same request id"
	repaired    retry = "after doctor --fix"
)

var retries = []retry{asItIs, sameRequest, repaired}

// mishap makes the first try of a scene's command fail, or not.
type mishap struct {
	how   string
	retry retry
	first func(args []string) (out, errs string, code int)
}

// stage plays a scene repeatedly.
type stage struct {
	*project
	scene scene
	noon  time.Time // the scene's start: later than any file's time, as if all were long ago
	saved string
	// caches is where merges are tested.
	caches string
}

// newStage makes a scene in a directory.
func newStage(t *testing.T, dir string, s scene) *stage {
	t.Helper()
	p := newProjectIn(t, dir)
	noon := time.Now().UTC().Truncate(time.Second)
	p.at(noon)
	p.write(".gitignore", ".ready\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "ignore")
	p.must("", "land", "main")
	s.make(p)
	stage := &stage{project: p, scene: s, noon: noon, saved: filepath.Join(dir, "saved"), caches: filepath.Join(dir, "caches")}
	p.env = append(p.env, "XDG_CACHE_HOME="+stage.caches)
	stage.twin(p.dir, stage.saved)
	return stage
}

// twin copies a project's directory.
func (s *stage) twin(from, to string) {
	s.t.Helper()
	testrun.Check(s.t, copyTree(from, to, func(_ string, data []byte) []byte { return data }))
}

// reset restores the project to the scene's start.
func (s *stage) reset() {
	s.t.Helper()
	// A child of a killed process may still be writing.
	s.eventually("the project is removed", func() bool { return errors.Join(os.RemoveAll(s.dir), os.RemoveAll(s.caches)) == nil })
	s.twin(s.saved, s.dir)
	s.passed(0)
}

// passed sets the clock to a while after the command may run.
func (s *stage) passed(d time.Duration) { s.at(s.noon.Add(s.scene.after + d)) }

// play plays the scene with a mishap, repeats its command, and returns everything that is wrong
// afterwards.
func (s *stage) play(m mishap) (faults []string) {
	s.t.Helper()
	s.reset()
	before := s.history()
	args := append(slices.Clip(s.scene.args), "--json", "--retries", "3")
	if m.retry == sameRequest {
		args = append(args, "--request", "the-same")
	}
	where := fmt.Sprintf("%s, %s, repeated %s", s.scene.name, m.how, m.retry)
	out, errs, code := m.first(args)
	story := fmt.Sprintf("\n  first: exit %d %s%s", code, out, errs)
	wrong := func(format string, args ...any) {
		faults = append(faults, where+": "+fmt.Sprintf(format, args...)+story)
	}
	stood, whole := s.count(before), s.scene.together()
	switch {
	case stood != 0 && stood != whole:
		wrong("%d of %d operations were written", stood, whole)
	case code == 0 && stood != whole:
		wrong("it was acknowledged, and stands %d times", stood)
	case (code == 1 || code == 2) && stood != 0:
		wrong("exit %d says that nothing was done, and it stands", code)
	}
	if commit := acknowledged(out); commit != "" && !slices.Contains(s.history(), commit) {
		wrong("%s was acknowledged and is not in the history", commit)
	}
	killed := code < 0
	if m.retry == repaired {
		s.liza("", "doctor", "--fix")
	}
	done := func() bool {
		out, errs, code = s.liza(s.scene.agent, args...)
		story += fmt.Sprintf("\n  again: exit %d %s%s", code, out, errs)
		return code == 0 || code == 1 && m.retry != sameRequest && s.count(before) == whole // it was done before
	}
	if !done() {
		if !killed && !strings.Contains(errs, `"busy"`) {
			wrong("asked again, it fails")
		}
		s.passed(leaseOver)
		s.liza("", "doctor", "--fix")
		if !done() {
			wrong("asked again after its lease, it fails")
		}
	}
	if n := s.count(before); n != whole && !(s.scene.twice && m.retry != sameRequest && n == 2*whole) {
		wrong("it stands %d times", n)
	}
	stand := s.history()
	for _, commit := range before {
		if !slices.Contains(stand, commit) {
			wrong("%s has gone from the history", commit)
		}
	}
	s.locks()
	s.passed(leaseOver)
	for _, fault := range s.lasting(where) {
		faults = append(faults, fault+story)
	}
	if locks := s.locks(); locks != "" {
		wrong("locks are left: %s", locks)
	}
	return faults
}

// leaseOver is when the lease of a merge, and a lock without a holder, have surely expired.
const leaseOver = 15 * time.Minute

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
func (s *stage) count(before []string) int {
	s.t.Helper()
	n := 0
	for _, line := range strings.Split(s.git("log", "--first-parent", "--format=%(trailers:key=Liza-Op,valueonly,separator=)", before[0]+"..liza/state"), "\n") {
		if slices.Contains(s.scene.ops, line) {
			n++
		}
	}
	return n
}
