//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/cli"
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTortureDamage deletes, truncates and replaces each object and each ref of a small board in
// turn. Every command then ends with a documented exit code and without a panic, doctor --fix
// restores what the objects allow and reports what is lost, and verify agrees with it. After a
// damaged ref of git liza's, everybody can work again.
func TestTortureDamage(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	full(t)
	for name, prepare := range map[string]func(*testing.T) *broken{
		"the latest objects are kept": func(t *testing.T) *broken { return newBroken(t, true) },
		"nothing is kept":             func(t *testing.T) *broken { return newBroken(t, false) },
		"the board is shared":         newBrokenClone,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t)
			cases := b.cases()
			if only := os.Getenv("LIZA_TEST_DAMAGE"); only != "" { // a regular expression that selects cases
				cases = slices.DeleteFunc(cases, func(d damage) bool { return !regexp.MustCompile(only).MatchString(d.String()) })
			}
			random := seeded(t)
			made := 0
			for _, d := range drawn(random, slices.Clone(cases), len(cases)) {
				if !timeLeft(t) {
					break
				}
				made++
				b.try(d)
			}
			t.Logf("%d of %d cases, %d commands", made, len(cases), b.commands)
			for _, line := range slices.Sorted(maps.Keys(b.ends)) {
				t.Logf("%5d %s", b.ends[line], line)
			}
		})
	}
}

// damage is one way to damage one file of a repository.
type damage struct {
	path string // of the file, below .git
	what string // a description of the file: "commit of the board", "ref refs/heads/liza/state"
	how  string
	text []byte // the file's new content; nil: the file is deleted
}

func (d damage) String() string { return fmt.Sprintf("%s (%s) %s", d.what, d.path, d.how) }

// ofBoard reports whether the damage is to the board's own history or branch.
func (d damage) ofBoard() bool {
	return strings.HasSuffix(d.what, " of the board") || d.what == "the tip" || d.what == "ref "+git.BoardRef
}

// ofOwnRef reports whether the damage takes a ref away that git liza owns or moves.
func (d damage) ofOwnRef() bool {
	return !d.ofBoard() && d.how != "is replaced" &&
		regexp.MustCompile(`^refs/(liza/|remotes/origin/integration$|heads/(integration$|task/))`).MatchString(d.path)
}

// broken is a project that is damaged again and again.
type broken struct {
	*stage
	hub      string // the repository that the board is shared by; "" for none
	commands int
	ends     map[string]int // how often a command ended in a way, by damage, command and exit code
	board    map[string]bool
	tip      string
}

// newBroken prepares a board with work in every state. Without kept, the backup copies of the
// newest objects are missing, as they are ten minutes later.
func newBroken(t *testing.T, kept bool) *broken {
	t.Helper()
	s := newStage(t, scene{name: "damage", make: inEveryState})
	if !kept {
		if err := os.RemoveAll(filepath.Join(s.saved, ".git", "liza", "kept")); err != nil {
			t.Fatal(err)
		}
	}
	return s.toBreak("")
}

// newBrokenClone is newBroken for a clone of a shared board.
func newBrokenClone(t *testing.T) *broken {
	t.Helper()
	hub := ""
	s := newStage(t, scene{name: "damage", make: func(p *project) {
		hub = filepath.Join(t.TempDir(), "hub.git")
		p.git("init", "-q", "--bare", "-b", "main", hub)
		newFleetAt(p, 1, hub, hub)
		inEveryState(p)
	}})
	s.twin(hub, hub+".saved")
	return s.toBreak(hub)
}

// inEveryState adds work in every state.
func inEveryState(p *project) {
	p.approved("approved", map[string]string{"approved.txt": "approved\n"})
	p.approved("landed", map[string]string{"landed.txt": "landed\n"})
	p.must("code-reviewer-1", "merge", "landed")
	p.begun("begun")
	p.must("", "release", "begun", "--force", "--reason", "enough")
	p.must("coder-2", "claim", "begun")
	p.addTask("waiting")
	p.must("", "note", "for everybody")
	p.must("", "discover", "--during", "begun", "--desc", "a leak", "--severity", "low")
}

func (s *stage) toBreak(hub string) *broken {
	s.t.Helper()
	s.reset()
	b := &broken{stage: s, hub: hub, ends: map[string]int{}, board: map[string]bool{}}
	for line := range strings.Lines(s.git("rev-list", "--objects", "--no-object-names", "liza/state")) {
		b.board[strings.TrimSpace(line)] = true
	}
	b.tip = strings.TrimSpace(s.git("rev-parse", "liza/state"))
	return b
}

// anew restores the project, and the hub with it.
func (b *broken) anew() {
	b.t.Helper()
	b.reset()
	if b.hub == "" {
		return
	}
	if err := os.RemoveAll(b.hub); err != nil {
		b.t.Fatal(err)
	}
	b.twin(b.hub+".saved", b.hub)
}

// cases returns all damages of every object and every ref; of a shared board, those of the refs.
func (b *broken) cases() []damage {
	b.t.Helper()
	var all []damage
	other := b.object(strings.TrimSpace(b.git("rev-parse", "main^{tree}")))
	kinds := map[string]string{}
	for line := range strings.Lines(b.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
		oid, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		kinds[oid] = kind
	}
	if b.hub != "" {
		clear(kinds)
	}
	for oid, kind := range kinds {
		path, data := filepath.Join("objects", oid[:2], oid[2:]), b.object(oid)
		if data == nil {
			continue // in a pack
		}
		what := kind + " of the project"
		if b.board[oid] {
			what = kind + " of the board"
		}
		if oid == b.tip {
			what = "the tip"
		}
		all = append(all, damage{path, what, "is gone", nil}, damage{path, what, "is empty", []byte{}},
			damage{path, what, "is cut", data[:len(data)/2]}, damage{path, what, "is replaced", other})
	}
	main := b.git("rev-parse", "main")
	for ref := range strings.FieldsSeq(b.git("for-each-ref", "--format=%(refname)")) {
		what := "ref " + regexp.MustCompile(`[0-9a-f]{40}|[0-9]+$`).ReplaceAllString(ref, "N")
		all = append(all, damage{ref, what, "is gone", nil}, damage{ref, what, "is empty", []byte{}},
			damage{ref, what, "is garbage", []byte("garbage\n")},
			damage{ref, what, "is cut", []byte(b.git("rev-parse", ref)[:17])},
			damage{ref, what, "is replaced", []byte(main)},
			damage{ref, what, "is dangling", []byte(strings.Repeat("ab", 20) + "\n")},
			damage{ref, what, "is zero", bytes.Repeat([]byte{0}, 41)})
	}
	slices.SortFunc(all, func(a, b damage) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// object is the file of a loose object, nil if there is none.
func (b *broken) object(oid string) []byte {
	data, _ := os.ReadFile(filepath.Join(b.saved, ".git", "objects", oid[:2], oid[2:]))
	return data
}

// do damages the project.
func (b *broken) do(d damage) {
	b.t.Helper()
	path := filepath.Join(b.dir, ".git", d.path)
	err := os.Remove(path) // the file may be a link to the prepared one
	if err == nil && d.text != nil {
		err = os.WriteFile(path, d.text, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// readers are commands that only read.
var readers = [][]string{
	{"status"}, {"read"}, {"show", "approved"}, {"log"}, {"review", "approved"}, {"validate"}, {"verify"},
	{"graph"}, {"metrics"}, {"watch", "--once", "--no-breaker"}, {"prime"}, {"plan"}, {"worktree", "list"}, {"hooks", "status"}, {"diff", "liza/state~3", "liza/state"},
}

// try damages the project and runs every command on it.
func (b *broken) try(d damage) {
	b.t.Helper()
	b.anew()
	b.do(d)
	for _, args := range readers {
		b.ask(d, args...)
	}
	_, wrote := b.ask(d, "note", "written to a damaged board", "--request", "the-note")
	b.ask(d, "doctor")
	said, code := b.ask(d, "doctor", "--fix")
	again, left := b.ask(d, "doctor")
	proof, verified := b.ask(d, "verify")
	if d.ofOwnRef() {
		b.works(d, said, code)
	}
	if !d.ofBoard() { // the project's own objects are up to git fsck and backups
		return
	}
	switch {
	case code == 0 && left != 0:
		b.t.Errorf("%s: doctor --fix found nothing left to do, and doctor ends with %d:\n%s%s", d, left, said, again)
	case code == 0 && verified != 0, code == 1 && verified == 4 && strings.Contains(proof, "damaged"):
		b.t.Errorf("%s: doctor --fix ended with %d, and verify does not agree: exit %d\n%s%s", d, code, verified, said, proof)
	case code == 4 && verified != 4:
		b.t.Errorf("%s: doctor --fix could not repair the board, and verify ends with %d\n%s%s", d, verified, said, proof)
	}
	if code == 4 {
		return
	}
	b.keeps(d, said, wrote == 0)
	if _, code := b.ask(d, "status"); code != 0 {
		b.t.Errorf("%s: after doctor --fix status ends with %d", d, code)
	}
	if out, code := b.ask(d, "note", "written afterwards", "--request", "the-last-note"); code != 0 {
		b.t.Errorf("%s: after doctor --fix nobody can write: exit %d\n%s\n%s", d, code, said, out)
	}
}

// works checks that doctor --fix has found a way out of a damaged ref: everybody can write and
// verify again, and git can pack.
func (b *broken) works(d damage, said string, code int) {
	b.t.Helper()
	if code > 1 || strings.Contains(said, "git liza doctor") {
		b.t.Errorf("%s: doctor --fix ends with %d:\n%s", d, code, said)
	}
	if hint := regexp.MustCompile(`git (branch integration [0-9a-f]{40})`).FindStringSubmatch(said); hint != nil {
		b.git(strings.Fields(hint[1])...) // who has deleted it is asked
	}
	orders := [][]string{{"status"}, {"note", "written afterwards", "--request", "the-last-note"}, {"verify"}}
	if b.hub != "" {
		orders = append(orders, []string{"sync"}, []string{"verify"})
	}
	for _, args := range orders {
		if out, ended := b.ask(d, args...); ended != 0 {
			b.t.Errorf("%s: after doctor --fix git liza %s ends with %d:\n%s\nDoctor had printed:\n%s", d, args[0], ended, out, said)
		}
	}
	if _, errs, ended := b.run("", "git", "gc", "--quiet"); ended != 0 {
		b.t.Errorf("%s: after doctor --fix git gc ends with %d:\n%s\nDoctor had printed:\n%s", d, ended, errs, said)
	}
}

// keeps checks that every operation is still on the board, unless doctor has reported what is lost.
func (b *broken) keeps(d damage, said string, wrote bool) {
	b.t.Helper()
	history := b.git("log", "--first-parent", "--format=%H %(trailers:key=Liza-Request,valueonly,separator=)", "liza/state")
	lost := regexp.MustCompile(`it lacks \d+ operation|lost`).MatchString(said)
	if !strings.Contains(history, b.tip) && !lost {
		b.t.Errorf("%s: operations are lost, and doctor does not say so:\n%s", d, said)
	}
	if n := strings.Count(history, " the-note\n"); wrote && n != 1 && !lost {
		b.t.Errorf("%s: a note was acknowledged, and is on the board %d times:\n%s", d, n, said)
	}
}

// mayEnd lists, by a command's first word, the exit codes allowed on a damaged board besides 0 and
// 4: 1 for commands that report findings or take a revision.
var mayEnd = map[string][]int{
	"doctor": {1}, "verify": {1}, "validate": {1}, "watch": {1}, "review": {1}, "worktree": {1}, "diff": {1},
}

// ends reports whether a command may end with that code. 3 means that something other than the
// board can't be read.
func (d damage) ends(args []string, code int) bool {
	return code == 0 || code == 4 || slices.Contains(mayEnd[args[0]], code) || code == 3 && !d.ofBoard()
}

// ask runs a command within this process and checks that it ends properly.
func (b *broken) ask(d damage, args ...string) (said string, code int) {
	b.t.Helper()
	b.commands++
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	now := b.noon
	app := edge.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: b.getenv, Dir: b.dir, Now: func() time.Time { return now }}
	line := strings.Join(args, " ")
	func() {
		defer func() {
			if r := recover(); r != nil {
				b.t.Errorf("%s: git liza %s panics: %v\n%s", d, line, r, debug.Stack())
				code = 99
			}
		}()
		code = cli.Run(ctx, &app, args)
	}()
	b.ends[fmt.Sprintf("%-28s %-12s %-22s %d", d.what, d.how, strings.Join(args[:min(2, len(args))], " "), code)]++
	if ctx.Err() != nil || !d.ends(args, code) {
		b.t.Errorf("%s: git liza %s: exit %d (%v)\n%s", d, line, code, ctx.Err(), out.String())
	}
	if strings.Contains(out.String(), "goroutine ") {
		b.t.Errorf("%s: git liza %s prints a stack:\n%s", d, line, out.String())
	}
	return out.String(), code
}
