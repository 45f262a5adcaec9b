package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// long makes the proofs of faults and of linearizability try everything.
var long = flag.Bool("long", false, "faults and linearizability in their long form")

// scene is a command in a project that it has something to do in.
type scene struct {
	name  string
	make  func(p *project)
	agent string
	args  []string
	ops   []string      // one of these operations is what the command brings about
	task  string        // whose operation it is, "" for none
	after time.Duration // since the scene was made
	twice bool          // asked for again it is done again
	idle  bool          // no operation need be brought about
	// next is a command that must work once this one has: the agent, and the arguments.
	next []string
	work map[string]string // files that may not be lost, with what they hold
	then func(p *project) error
}

var scenes = []scene{
	{
		name: "note", args: []string{"note", "a word"}, ops: []string{"note"}, twice: true,
		make: func(p *project) {}, next: []string{"", "note", "another"},
	},
	{
		name: "register", agent: "coder-1", args: []string{"register"}, ops: []string{"register"},
		make: func(p *project) { p.addTask("alpha") }, next: []string{"coder-1", "claim", "alpha"},
	},
	{
		name: "claim", agent: "coder-1", args: []string{"claim", "alpha"}, ops: []string{"claim"}, task: "alpha",
		make: func(p *project) {
			p.must("", "config", "set", "worktree_setup", "echo 1 >.ready")
			p.addTask("alpha")
			p.must("coder-1", "register")
		},
		next: preExec("coder-1"), then: isSetUp,
	},
	{
		name: "claim after expiry", agent: "coder-2", args: []string{"claim", "alpha"}, ops: []string{"claim"}, task: "alpha",
		make: func(p *project) {
			p.begun("alpha")
			p.must("coder-2", "register")
			p.must("", "config", "set", "worktree_setup", "echo 1 >.ready")
		},
		after: 10 * time.Minute, next: preExec("coder-2"), work: halfDone, then: isSetUp,
	},
	{
		name: "claim of an integration fix", agent: "coder-2", args: []string{"claim", "alpha"}, ops: []string{"claim"}, task: "alpha",
		make: func(p *project) {
			p.approved("alpha", map[string]string{"vision.txt": "mine\n"})
			p.lands("vision.txt", "theirs\n")
			if _, errs, code := p.liza("code-reviewer-1", "merge", "alpha"); code != 3 {
				p.t.Fatalf("the merge does not conflict: exit %d\n%s", code, errs)
			}
			p.must("coder-2", "register")
		},
		next: preExec("coder-2"), work: map[string]string{"vision.txt": "mine\n"}, then: isAmidMerge,
	},
	{
		name: "submit", agent: "coder-1", args: []string{"submit", "alpha"}, ops: []string{"submit"}, task: "alpha",
		make: func(p *project) { p.committed("alpha", map[string]string{"alpha.txt": "alpha\n"}) },
		next: []string{"code-reviewer-1", "claim-review", "alpha"}, work: map[string]string{"alpha.txt": "alpha\n"},
	},
	{
		name: "verdict", agent: "code-reviewer-1", args: []string{"verdict", "alpha", "APPROVED", "--commit", "task/alpha"}, ops: []string{"verdict"}, task: "alpha",
		make: func(p *project) {
			p.committed("alpha", map[string]string{"alpha.txt": "alpha\n"})
			p.must("coder-1", "submit", "alpha")
			p.must("code-reviewer-1", "claim-review", "alpha")
		},
		next: []string{"code-reviewer-1", "merge", "alpha"}, work: map[string]string{"alpha.txt": "alpha\n"},
	},
	{
		name: "merge by fast-forward", agent: "code-reviewer-1", args: []string{"merge", "alpha"}, ops: []string{"merge", "finish-merge"}, task: "alpha",
		make: func(p *project) {
			p.git("checkout", "-q", "integration")
			p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
			p.addTask("beta")
		},
		next: []string{"coder-1", "claim", "beta"}, work: map[string]string{"alpha.txt": "alpha\n"}, then: hasLanded,
	},
	{
		name: "merge by a merge commit, tested", agent: "code-reviewer-1", args: []string{"merge", "alpha"}, ops: []string{"merge", "finish-merge"}, task: "alpha",
		make: func(p *project) {
			p.must("", "config", "set", "integration_test", "test -f alpha.txt && test -f theirs.txt")
			p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
			p.lands("theirs.txt", "theirs\n")
			p.git("checkout", "-q", "integration")
			p.addTask("beta")
		},
		next: []string{"coder-1", "claim", "beta"}, work: map[string]string{"alpha.txt": "alpha\n"}, then: hasLanded,
	},
	{
		name: "release by force", args: []string{"release", "alpha", "--force", "--reason", "enough"}, ops: []string{"release"}, task: "alpha",
		make: func(p *project) {
			p.begun("alpha")
			p.must("coder-2", "register")
		},
		next: []string{"coder-2", "claim", "alpha"}, work: halfDone,
	},
	{
		name: "unblock", args: []string{"unblock", "alpha"}, ops: []string{"unblock"}, task: "alpha",
		make: func(p *project) {
			p.begun("alpha")
			p.must("coder-1", "block", "alpha", "--reason", "the spec says two things", "--question", "Which one?")
			p.must("coder-2", "register")
		},
		next: []string{"coder-2", "claim", "alpha"}, work: halfDone,
	},
	{
		name: "doctor", args: []string{"doctor", "--fix"}, ops: []string{"finish-merge"}, task: "alpha", idle: true,
		make: func(p *project) {
			p.approved("alpha", map[string]string{"alpha.txt": "alpha\n"})
			p.git("checkout", "-q", "integration")
			p.git("update-ref", "refs/heads/integration", "task/alpha")
			p.addTask("beta")
			p.must("coder-2", "claim", "beta")
			p.write(".worktrees/beta/beta.txt", "beta\n")
			p.git("-C", ".worktrees/beta", "add", "-A")
			p.git("-C", ".worktrees/beta", "commit", "-q", "-m", "beta")
			if err := os.RemoveAll(filepath.Join(p.dir, ".worktrees", "beta")); err != nil {
				p.t.Fatal(err)
			}
		},
		next: []string{"coder-2", "pre-exec", "beta", "--intent", "go on", "--validation", "it prints y", "--file", "y"},
		work: map[string]string{"alpha.txt": "alpha\n", "beta.txt": "beta\n"}, then: hasLanded,
	},
}

func preExec(agent string) []string {
	return []string{agent, "pre-exec", "alpha", "--intent", "write it", "--validation", "it prints y", "--file", "y"}
}

// halfDone is what begun leaves in a worktree.
var halfDone = map[string]string{"committed.txt": "committed\n", "staged.txt": "staged\n", "untracked.txt": "untracked\n"}

func (p *project) write(path, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, filepath.FromSlash(path)), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// begun has a task claimed by coder-1, who has committed some of its work and not the rest.
func (p *project) begun(id string) {
	p.t.Helper()
	p.addTask(id)
	p.must("coder-1", "claim", id)
	for _, name := range []string{"committed", "staged", "untracked"} {
		p.write(".worktrees/"+id+"/"+name+".txt", name+"\n")
		if name != "untracked" {
			p.git("-C", ".worktrees/"+id, "add", "-A")
		}
		if name == "committed" {
			p.git("-C", ".worktrees/"+id, "commit", "-q", "-m", "half of it")
		}
	}
}

// committed has a task's work committed by coder-1, ready to be submitted.
func (p *project) committed(id string, files map[string]string) {
	p.t.Helper()
	p.addTask(id)
	p.must("coder-1", "claim", id)
	p.must("coder-1", "pre-exec", id, "--intent", "write it", "--validation", "it prints y", "--file", "y")
	p.write(".worktrees/"+id+"/x_test.go", "package x\n")
	for name, text := range files {
		p.write(".worktrees/"+id+"/"+name, text)
	}
	p.git("-C", ".worktrees/"+id, "add", "-A")
	p.git("-C", ".worktrees/"+id, "commit", "-q", "-m", "do "+id)
}

func (p *project) approved(id string, files map[string]string) {
	p.t.Helper()
	p.committed(id, files)
	p.must("coder-1", "submit", id)
	p.must("code-reviewer-1", "claim-review", id)
	p.must("code-reviewer-1", "verdict", id, "APPROVED", "--commit", "task/"+id)
}

// lands brings a file to integration as a human does.
func (p *project) lands(name, text string) {
	p.t.Helper()
	p.git("checkout", "-q", "-b", "theirs", "integration")
	p.write(name, text)
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "a human's")
	p.must("", "land", "theirs")
	p.git("checkout", "-q", "main")
}

func isSetUp(p *project) error {
	_, err := os.Stat(filepath.Join(p.dir, ".worktrees", "alpha", ".ready"))
	return err
}

// isAmidMerge wants the conflict with integration in the worktree of an integration fix.
func isAmidMerge(p *project) error {
	if out := p.git("-C", ".worktrees/alpha", "status", "--porcelain"); !strings.Contains(out, "AA vision.txt") {
		return fmt.Errorf("the conflict is not in the worktree, but %q", out)
	}
	return nil
}

// hasLanded wants a checkout of integration that is as integration is, with the work in it.
func hasLanded(p *project) error {
	if out := p.git("status", "--porcelain"); out != "" {
		return fmt.Errorf("the checkout of integration is not brought forward:\n%s", out)
	}
	_, err := os.Stat(filepath.Join(p.dir, "alpha.txt"))
	return err
}

// faultCase is a scene in which one call of git goes wrong.
type faultCase struct {
	scene
	at     int
	how    string
	same   bool // the retry has the first try's request id
	mended bool // doctor --fix comes before the retry
}

// TestFaults lets each call of git go wrong, in each way, that the commands which change worktrees, branches
// or the board make. Whoever asks again gets what they wanted, once; nothing acknowledged or written is lost;
// and doctor brings everything in order.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			stage := newStage(t, s)
			calls := stage.rehearse()
			tried := 0
			for _, c := range stage.cases(calls) {
				tried++
				for _, fault := range stage.play(c) {
					t.Error(fault)
				}
			}
			t.Logf("%d calls of git, %d faults", len(calls), tried)
		})
	}
}

// stage plays a scene again and again.
type stage struct {
	*project
	scene scene
	noon  time.Time // when the scene begins: ahead of every file's time, as if all had happened long ago
	saved string
	sab   *saboteur
}

func newStage(t *testing.T, s scene) *stage {
	t.Helper()
	p := newProject(t)
	noon := time.Now().UTC().Truncate(time.Second)
	p.at(noon)
	p.write(".gitignore", ".ready\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "ignore")
	p.must("", "land", "main")
	s.make(p)
	stage := &stage{project: p, scene: s, noon: noon, saved: filepath.Join(t.TempDir(), "saved"), sab: newSaboteur(t)}
	stage.twin(p.dir, stage.saved)
	return stage
}

// at sets the clock.
func (p *project) at(now time.Time) {
	p.env = append(slices.Clip(p.env), "LIZA_TEST_NOW="+now.Format(time.RFC3339))
}

// twin makes a project's directory a second time. Both share the files of git's objects, which nobody changes.
func (s *stage) twin(from, to string) {
	s.t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := to + strings.TrimPrefix(path, from)
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(at, info.Mode().Perm())
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory", path)
		case strings.HasPrefix(path, filepath.Join(from, ".git", "objects")):
			return os.Link(path, at)
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(at, data, info.Mode().Perm()), os.Chtimes(at, info.ModTime(), info.ModTime()))
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// reset makes the project what it was when the scene had been made.
func (s *stage) reset() {
	s.t.Helper()
	for try := 1; ; try++ { // a child of what was killed may be writing still
		err := os.RemoveAll(s.dir)
		if err == nil {
			break
		}
		if try == 50 {
			s.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.twin(s.saved, s.dir)
	s.at(s.noon.Add(s.scene.after))
}

// rehearse plays the scene without a fault, and returns the calls of git.
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

// cases are the faults to try: in the long form each call in each way, asked for again in each way; in the short form
// each call that changes something in one way, or in every way where there are few, and some of those that read.
func (s *stage) cases(calls []string) []faultCase {
	var all []faultCase
	add := func(at int, ways ...string) {
		for _, how := range ways {
			n := len(all)
			all = append(all, faultCase{scene: s.scene, at: at, how: how, same: n%3 == 1, mended: n%3 == 2})
		}
	}
	changes := 0
	for _, call := range calls {
		if changing.MatchString(call) {
			changes++
		}
	}
	for i, call := range calls {
		switch at := i + 1; {
		case *long:
			for range 3 {
				add(at, mishaps...) // four ways, three retries: each with each
			}
		case !changing.MatchString(call):
			if i%8 == 3 {
				add(at, refuses)
			}
		case changes <= 2:
			add(at, mishaps...)
		case !testing.Short() || i%3 == 0:
			add(at, []string{crashes, lies, crashes, dies}[len(all)%4])
		}
	}
	return all
}

// play plays the scene with a fault, and returns what is wrong afterwards.
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
	out, errs, code := sabotaged.liza(c.agent, args...)
	where := fmt.Sprintf("%s, call %d %s", c.name, c.at, c.how)
	if made := calls(); len(made) >= c.at {
		where += " (" + made[c.at-1] + ")"
	}
	where += fmt.Sprintf(" same=%v mended=%v", c.same, c.mended)
	story := fmt.Sprintf("\n  first: exit %d %s%s", code, out, errs)
	wrong := func(format string, args ...any) {
		faults = append(faults, where+": "+fmt.Sprintf(format, args...)+story)
	}
	stood := s.count(before, c)
	switch {
	case c.idle:
	case code == 0 && stood != 1:
		wrong("it was acknowledged, and stands %d times", stood)
	case (code == 1 || code == 2) && stood != 0:
		wrong("exit %d says that nothing was done, and it stands", code)
	}
	if commit := acknowledged(out); commit != "" && !slices.Contains(s.history(), commit) {
		wrong("%s was acknowledged and is not in the history", commit)
	}
	if c.mended {
		s.liza("", "doctor", "--fix")
	}
	out, errs, code = s.liza(c.agent, args...)
	story += fmt.Sprintf("\n  again: exit %d %s%s", code, out, errs)
	if strings.Contains(errs, `"busy"`) { // by the lease of the merge that was killed
		s.at(s.noon.Add(s.scene.after + 61*time.Second))
		out, errs, code = s.liza(c.agent, args...)
		story += fmt.Sprintf("\n  and again: exit %d %s%s", code, out, errs)
	}
	standsNow := s.count(before, c)
	switch {
	case code == 0, c.idle:
	case code == 1 && stood == 1 && !c.same: // it had been done
	case code == 1 && c.mended && standsNow == 1: // doctor has finished it
	default:
		wrong("asked again, it fails")
	}
	if max := 1; !c.idle && (standsNow < 1 || standsNow > max && !(c.twice && !c.same && standsNow == 2)) {
		wrong("it stands %d times", standsNow)
	}
	stand := s.history()
	for _, commit := range before {
		if !slices.Contains(stand, commit) {
			wrong("%s has gone from the history", commit)
		}
	}
	s.at(s.noon.Add(s.scene.after + 2*time.Minute)) // the lease of a merge that was killed has run out
	for _, fault := range s.lasting(where) {
		faults = append(faults, fault+story)
	}
	return faults
}

// acknowledged is the commit that a command's JSON names.
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

// count counts how often the scene's operation stands since then.
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

// lasting holds the project against what must be so whatever has happened, once doctor has been there.
func (s *stage) lasting(where string) (faults []string) {
	s.t.Helper()
	faults = s.whole(where, s.scene.work)
	if s.scene.then != nil {
		if err := s.scene.then(s.project); err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", where, err))
		}
	}
	if next := s.scene.next; next != nil {
		if out, errs, code := s.liza(next[0], next[1:]...); code != 0 {
			faults = append(faults, fmt.Sprintf("%s: then git liza %s: exit %d\n%s%s", where, strings.Join(next[1:], " "), code, out, errs))
		}
	}
	return faults
}

// whole lets doctor bring everything in order, and returns what isn't then. work are files that must be
// somewhere, with what they hold.
func (p *project) whole(where string, work map[string]string) (faults []string) {
	p.t.Helper()
	wrong := func(format string, args ...any) {
		faults = append(faults, where+": "+fmt.Sprintf(format, args...))
	}
	sound := func(args ...string) string {
		out, errs, code := p.liza("", args...)
		if code != 0 {
			wrong("git liza %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return out
	}
	if found := sound("doctor", "--fix"); !strings.HasPrefix(found, "nothing is half-done\n") {
		sound("doctor")
	}
	sound("verify")
	sound("validate")
	if out, errs, code := p.run("", "git", "fsck", "--full"); code != 0 || strings.Contains(errs, "error") || strings.Contains(out, "missing") {
		wrong("git fsck: exit %d\n%s%s", code, out, errs)
	}
	for _, fault := range p.worktreesAsOnBoard() {
		wrong("%s", fault)
	}
	for name, text := range work {
		if !p.holds(name, text) {
			wrong("%s with %q is nowhere", name, text)
		}
	}
	return faults
}

// worktreesAsOnBoard holds the worktrees against the board: each CLAIMED task has its own, on its branch, and
// nothing passing is left.
func (p *project) worktreesAsOnBoard() (faults []string) {
	p.t.Helper()
	var board struct {
		Tasks []struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(p.must("", "read", "--json")), &board); err != nil {
		p.t.Fatal(err)
	}
	status := map[string]string{}
	for _, t := range board.Tasks {
		status[t.ID] = t.Status
		if t.Status != "CLAIMED" {
			continue
		}
		out, _, code := p.run("", "git", "-C", ".worktrees/"+t.ID, "branch", "--show-current")
		if code != 0 || out != "task/"+t.ID+"\n" {
			faults = append(faults, fmt.Sprintf("%s is CLAIMED, and its worktree is on %q", t.ID, out))
		}
	}
	entries, err := os.ReadDir(filepath.Join(p.dir, ".worktrees"))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if s := status[e.Name()]; e.Name() != ".integration" && (s == "" || s == "MERGED") {
			faults = append(faults, fmt.Sprintf(".worktrees/%s is left", e.Name()))
		}
	}
	for _, line := range strings.Split(p.git("worktree", "list", "--porcelain"), "\n") {
		if strings.HasPrefix(line, "prunable") || strings.HasPrefix(line, "locked") || strings.Contains(line, "/.claim-") || strings.Contains(line, "/.gone-") {
			faults = append(faults, "git worktree list: "+line)
		}
	}
	records, _ := os.ReadDir(filepath.Join(p.dir, ".git", "liza", "claims"))
	for _, r := range records {
		said, _ := os.ReadFile(filepath.Join(p.dir, ".git", "liza", "claims", r.Name()))
		faults = append(faults, fmt.Sprintf("a record of a worktree in the making is left: %s: %s", r.Name(), said))
	}
	if out := p.git("for-each-ref", "refs/liza/leases/merge"); out != "" {
		faults = append(faults, "the merge lease is left: "+out)
	}
	return faults
}

// holds reports whether a file with that text is in a task's worktree or reachable from a ref.
func (p *project) holds(name, text string) bool {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.dir, ".worktrees", "*", name))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, path := range found {
		if data, _ := os.ReadFile(path); string(data) == text {
			return true
		}
	}
	for _, ref := range strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/liza/attic", "refs/liza/review", "refs/heads/task", "refs/heads/integration")) {
		if out, _, code := p.run("", "git", "cat-file", "blob", ref+":"+name); code == 0 && out == text {
			return true
		}
	}
	return false
}
