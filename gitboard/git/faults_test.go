package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// A place is a repository in which calls are tried, with another one that it fetches from and pushes to.
type place struct {
	t    *testing.T
	ctx  context.Context
	dir  string // has repo, one (a linked worktree) and hub.git
	like string // what dir is reset to
	git  *testrun.Git
	r    *Repo
	ids  map[string]plumbing.OID
	hub  *Remote
	used bool // differs from like
}

// A try is a call of the package, in a place that is new.
type try struct {
	name   string
	before func(p *place) // nil for nothing
	call   func(p *place) (any, error)
	fails  string // how git fails, see testrun.Git; "" for a code that is no command's answer
}

// checkTries makes each call once, and then again for each child of git that it starts, which fails. It
// writes down what the call returns and which files differ afterwards: a call reports a failure, or
// does as well without the child.
func checkTries(t *testing.T, file string, like func(t *testing.T) *place, all []try) {
	testrun.NotShort(t)
	tries := map[string]try{}
	names := make([]string, len(all))
	for i, c := range all {
		names[i], tries[c.name] = c.name, c
	}
	var p *place
	due := func(i int) bool { return testrun.OneIn(5, i) }
	golden.Sections(t, filepath.Join("testdata", file), names, due, func(name string) string {
		if p == nil {
			p = like(t)
		}
		c := tries[name]
		text := testrun.Faults(name, func(fails string) ([]string, string) { return p.try(c, fails) })
		if _, failed := p.try(c, closed); !strings.HasPrefix(text, name+"\n\t"+failed+"\n") {
			text += fmt.Sprintf("\t\treading fails: %s\n", failed)
		}
		return text
	})
}

// closed, in place of a call of git, makes reading objects fail.
const closed = "closed"

// grown are the places that were made, by the name of what made them.
var grown = map[string]*place{}

// placeLike returns a place as grow makes it. Worktrees know their absolute path, so it always has
// the same one.
func placeLike(t *testing.T, name string, grow func(p *place)) *place {
	ctx := sandbox(t)
	t.Setenv("GIT_TEMPLATE_DIR", t.TempDir()) // no samples of hooks
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_DATE", gitDate(noon))
	}
	p := grown[name]
	if p == nil {
		dir := must[string](t)(filepath.EvalSymlinks(must[string](t)(os.MkdirTemp("", "liza-git-place-"))))
		p = &place{t: t, dir: filepath.Join(dir, "place"), like: filepath.Join(dir, "like"), ids: map[string]plumbing.OID{}}
		testrun.InitRepository(t, p.path("repo"), false)
		p.r = must[*Repo](t)(Open(ctx, p.path("repo")))
		grow(p)
		check(t, p.r.Close())
		check(t, os.CopyFS(p.like, os.DirFS(p.dir)))
		grown[name] = p
	}
	p.t, p.git, p.used = t, testrun.NewGit(t), true
	t.Cleanup(func() { check(t, p.r.Close()) })
	return p
}

// try makes a call in a place like new, in which a call of git fails, or reading objects.
func (p *place) try(c try, fails string) (calls []string, result string) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.ctx = ctx
	p.renew()
	must[[]plumbing.Object](p.t)(p.r.batch.Ask(ctx, []string{"HEAD"})) // has its child started
	if c.before != nil {
		c.before(p)
		p.used = true
	}
	was := p.files()
	p.r.known = &known{}
	if fails == closed {
		fails = ""
		check(p.t, p.r.Close())
		p.used = true
	}
	how := c.fails
	if how == "" {
		how = "3"
	}
	p.git.Watch(fails, how)
	got, err := c.call(p)
	calls = p.git.Calls()
	result = p.plain(fmt.Sprintf("%+v", got))
	if err != nil {
		result = "error: " + p.plain(err.Error())
		for _, known := range []error{ErrNotFound, ErrNotRepository, ErrRefMoved, ErrBusy, ErrRejected, ErrLockedThere,
			ErrDeclinedThere, ErrHiddenThere, ErrNotAtomic, ErrNotOffered, ErrUnsent, ErrSilent, fs.ErrNotExist} {
			if errors.Is(err, known) {
				result += " [" + known.Error() + "]"
			}
		}
	}
	if changed := testrun.Changes(was, p.files()); len(changed) > 0 {
		if more := len(changed) - maxChanges; more > 0 {
			changed = append(changed[:maxChanges], fmt.Sprint("and ", more, " more"))
		}
		result += "; changed: " + strings.Join(changed, " ")
		p.used = true
	}
	return calls, result
}

// renew makes a place as it was at first, if it has been used.
func (p *place) renew() {
	if !p.used {
		return
	}
	_ = p.r.Close()
	check(p.t, os.RemoveAll(p.dir))
	check(p.t, os.CopyFS(p.dir, os.DirFS(p.like)))
	p.r = hurry(must[*Repo](p.t)(Open(p.ctx, p.path("repo"))))
	p.hub = p.r.remote("hub", map[string][]string{"remote.hub.url": {p.path("hub.git")}})
	p.used = false
}

// maxChanges is how many files are named that a call has changed.
const maxChanges = 8

func (p *place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

var (
	ofGit  = regexp.MustCompile(`( failed \(exit \d+\)): [^\n()]*`)
	digits = regexp.MustCompile(`(liza-index-|liza-probe-|objects-|push-trace-)\d+`)
	oneID  = regexp.MustCompile(`\b([0-9a-f]{40}|[0-9a-f]{10})\b`)
)

// plain takes out of a text what differs from run to run, and gives ids their names.
func (p *place) plain(text string) string {
	if !strings.Contains(text, testrun.Said) {
		text = ofGit.ReplaceAllString(text, "$1") // other versions of git have other words
	}
	text = strings.ReplaceAll(text, "\nwrite |1: broken pipe", "") // if it was still asked for more
	text = digits.ReplaceAllString(strings.ReplaceAll(text, p.dir, "DIR"), "${1}N")
	text = oneID.ReplaceAllStringFunc(text, func(id string) string {
		for _, name := range slices.Sorted(maps.Keys(p.ids)) {
			if id == string(p.ids[name]) || id == p.ids[name].Short() {
				return "<" + name + ">"
			}
		}
		return "<" + id[:7] + ">"
	})
	return strings.NewReplacer("\n", `\n`, "\x00", `\0`).Replace(strings.TrimRight(text, "\n"))
}

// files are all files but those of git's that have times in them.
func (p *place) files() map[string]string {
	all := map[string]string{}
	check(p.t, filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, p.dir+"/")
		if err != nil || !e.Type().IsRegular() || strings.Contains(name, "/objects/") || strings.Contains(name, "/logs/") {
			return err
		}
		text, err := os.ReadFile(path)
		switch filepath.Base(path) {
		case "AUTO_MERGE", "MERGE_MODE", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG":
			// Not every version of git writes it.
			return err
		case "index", "looked-after":
			text = nil
		}
		all[p.plain(name)] = string(text)
		return err
	}))
	return all
}
