package audit_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/crypto/ssh"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestMain collects garbage less often: tests have memory enough.
func TestMain(m *testing.M) {
	testrun.Prepare()
	m.Run()
}

const integrationRef = "refs/heads/integration"

// step is an operation of a world's history and the commit that it was decided on.
type step struct {
	parent, commit plumbing.OID
	op             board.Operation
}

// world is a project with a board. A test writes the history operation by operation.
type world struct {
	t     testing.TB
	ctx   context.Context
	store log.Store
	log   *log.Reader
	now   board.Time
	steps []step

	allowSecret bool              // text that looks like a credential is allowed
	keys        map[string]string // by agent id: the key used instead of the first one

	files       map[plumbing.OID]map[string]string // by commit of the project
	integration plumbing.OID
}

func newWorld(t testing.TB, store log.Store) *world {
	w := &world{t: t, ctx: context.Background(), store: store, log: log.NewReader(store, ""), now: "2026-02-03T08:00:00Z", files: map[plumbing.OID]map[string]string{}}
	first := w.project(nil, ada, map[string]string{"specs/vision.md": "# Vision\n", "main.go": "package main\n"})
	w.move(first)
	return w
}

// memoryWorld makes a world without a repository.
func memoryWorld(t testing.TB) *world {
	testrun.NotShort(t)
	return newWorld(t, testrepo.NewMemory())
}

// gitWorld makes a world in a bare repository.
func gitWorld(t testing.TB) (*world, *git.Repo) {
	testrun.NotShort(t)
	repo := testrepo.Bare(t)
	return newWorld(t, alone{repo}), repo
}

// alone is a repository that only one test writes to: it moves refs without starting git.
type alone struct{ *git.Repo }

func (a alone) UpdateRefs(_ context.Context, updates []plumbing.RefUpdate, _ string) error {
	path := func(ref string) string { return filepath.Join(a.CommonDir(), filepath.FromSlash(ref)) }
	for _, u := range updates {
		at, _ := os.ReadFile(path(u.Ref)) // no file is no ref
		if plumbing.OID(strings.TrimSpace(string(at))).OrZero() != u.Old.OrZero() {
			return git.ErrRefMoved
		}
	}
	for _, u := range updates {
		err := os.MkdirAll(filepath.Dir(path(u.Ref)), 0o755)
		switch {
		case u.New.IsZero():
			err = os.Remove(path(u.Ref))
		case err == nil:
			err = os.WriteFile(path(u.Ref), []byte(u.New+"\n"), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var check = testrun.Check

var (
	ada     = board.HumanActor("Ada", "ada@example.org")
	planner = agent("planner-1")
	coder1  = agent("coder-1")
	coder2  = agent("coder-2")
	judge1  = agent("code-reviewer-1")
	judge2  = agent("code-reviewer-2")
)

func agent(id string) board.Actor {
	role, err := roles.Of(id)
	if err != nil {
		panic(err)
	}
	return board.Actor{ID: id, Role: role, Session: "session-of-" + id}
}

// do appends an operation, a second after the last one.
func (w *world) do(a board.Actor, p board.Payload, side ...plumbing.RefUpdate) plumbing.OID {
	w.t.Helper()
	tip := testrun.Must(w.log.Tip(w.ctx))(w.t)
	w.now = max(w.now, tip.State.Time()).Add(time.Second)
	op := board.Operation{Actor: a, Time: w.now, Request: fmt.Sprintf("r-%d", len(w.steps)+1), AllowSecret: w.allowSecret, Payload: p}
	if a.Role != roles.Human && board.HandsOver(p.Op()) {
		for _, n := range board.Unread(tip.State, a.ID, op.TaskID()) {
			op.Read = append(op.Read, n.ID)
		}
	}
	prepared, err := log.Prepare(tip, op)
	if err != nil {
		w.t.Fatalf("%s by %s: %v", op.Name(), a.ID, err)
	}
	built := testrun.Must(prepared.Build(log.Committer{Name: "Ada", Email: "ada@example.org", Key: w.key(a)}))(w.t)
	check(w.t, log.Local{Store: w.store}.Append(w.ctx, log.Batch{Operations: []*log.Built{built}, Refs: side}).Err)
	w.steps = append(w.steps, step{tip.Commit, built.Commit, op})
	return built.Commit
}

// key returns the key that an actor signs with.
func (w *world) key(a board.Actor) *sshsig.Signer {
	name := a.ID + a.Email
	if other := w.keys[a.ID]; other != "" {
		name = other
	}
	return keyNamed(w.t, name)
}

// keyNamed returns a key that is the same in every run.
func keyNamed(t testing.TB, name string) *sshsig.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	key := testrun.Must(ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed[:])))(t)
	return testrun.Must(sshsig.NewSigner(key, nil))(t)
}

// addKey adds an actor's key to the board.
func (w *world) addKey(a board.Actor, replaces bool) {
	w.t.Helper()
	name := a.ID
	if a.Role == roles.Human {
		name = a.Email
	}
	w.do(ada, &board.KeysAdd{Principal: name, Public: w.key(a).Public(), Replaces: replaces})
}

func (w *world) tip() plumbing.OID {
	return testrun.Must(w.store.Ref(w.ctx, plumbing.BoardRef))(w.t)
}

// rewind sets the board's branch.
func (w *world) rewind(to plumbing.OID) {
	check(w.t, w.store.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: plumbing.BoardRef, Old: w.tip(), New: to}}, ""))
}

func (w *world) snapshot(at plumbing.OID) *log.Snapshot {
	w.t.Helper()
	return testrun.Must(w.log.At(w.ctx, at))(w.t)
}

// find returns the first step with this operation.
func (w *world) find(op string) step {
	w.t.Helper()
	i := slices.IndexFunc(w.steps, func(s step) bool { return s.op.Name() == op })
	if i < 0 {
		w.t.Fatalf("no %s in this history", op)
	}
	return w.steps[i]
}

// gone is the text of a file that a commit of the project deletes.
const gone = "\x00gone"

// project makes a commit of the project: the files of its parents, the first parent's taking
// precedence, with changes.
func (w *world) project(parents []plumbing.OID, by board.Actor, changes map[string]string) plumbing.OID {
	w.t.Helper()
	files := map[string]string{}
	for _, p := range slices.Backward(parents) {
		maps.Copy(files, w.files[p])
	}
	maps.Copy(files, changes)
	maps.DeleteFunc(files, func(_, text string) bool { return text == gone })
	objects := []plumbing.Object{}
	tree := storeTree(files, &objects)
	name, email := log.Author(by)
	who := plumbing.Signature{Name: name, Email: email, When: w.now.Std()}
	c := plumbing.NewObject("commit", plumbing.EncodeCommit(plumbing.Commit{
		Tree: tree, Parents: parents, Author: who, Committer: who, Message: "change " + strings.Join(slices.Sorted(maps.Keys(changes)), ", ") + "\n",
	}))
	check(w.t, w.store.WriteObjects(w.ctx, append(objects, c)))
	w.files[c.OID] = files
	return c.OID
}

// tree returns the tree of a commit made by project.
func (w *world) tree(commit plumbing.OID) string {
	return string(storeTree(w.files[commit], &[]plumbing.Object{}))
}

func storeTree(files map[string]string, objects *[]plumbing.Object) plumbing.OID {
	dirs := map[string]map[string]string{}
	var entries []plumbing.TreeEntry
	for path, text := range files {
		if dir, rest, nested := strings.Cut(path, "/"); nested {
			if dirs[dir] == nil {
				dirs[dir] = map[string]string{}
			}
			dirs[dir][rest] = text
			continue
		}
		o := plumbing.NewObject("blob", []byte(text))
		*objects = append(*objects, o)
		entries = append(entries, plumbing.TreeEntry{Name: path, Mode: filemode.Regular, OID: o.OID})
	}
	for dir, below := range dirs {
		entries = append(entries, plumbing.TreeEntry{Name: dir, Mode: filemode.Dir, OID: storeTree(below, objects)})
	}
	o := plumbing.NewObject("tree", plumbing.EncodeTree(entries))
	*objects = append(*objects, o)
	return o.OID
}

// lands returns the move of integration to a commit, to be made together with an operation.
func (w *world) lands(to plumbing.OID) plumbing.RefUpdate {
	u := plumbing.RefUpdate{Ref: integrationRef, Old: w.integration, New: to}
	w.integration = to
	return u
}

// move moves integration without an operation.
func (w *world) move(to plumbing.OID) {
	w.t.Helper()
	check(w.t, w.store.UpdateRefs(w.ctx, []plumbing.RefUpdate{w.lands(to)}, ""))
}

func (w *world) specOID() string {
	return string(plumbing.NewObject("blob", []byte(w.files[w.integration]["specs/vision.md"])).OID)
}

func (w *world) verify(r audit.Range) *audit.Report {
	w.t.Helper()
	return testrun.Must(audit.Verify(w.ctx, w.store, w.repository(), r, nil))(w.t)
}

// repository returns the world's repository, nil if it is in memory.
func (w *world) repository() *git.Repo {
	if a, is := w.store.(alone); is {
		return a.Repo
	}
	repo, _ := w.store.(*git.Repo)
	return repo
}

// clean verifies the whole history and fails the test if there are findings.
func (w *world) clean() *audit.Report {
	w.t.Helper()
	report := w.verify(audit.Range{})
	for _, f := range report.Findings {
		w.t.Errorf("finding: %s (%s)", f, f.Code)
	}
	if report.Proven != report.Commits {
		w.t.Errorf("proven %d of %d", report.Proven, report.Commits)
	}
	// A server accepts the same operations, singly and a few at a time. Only the newest hundred are
	// tried.
	last := w.tip()
	for n, tip := 1, last; !tip.IsZero() && n <= 100; n++ {
		parents := w.snapshot(tip).Head.Parents
		if tip = plumbing.ZeroOID; len(parents) > 0 {
			tip = parents[0]
		}
		if n%5 != 0 && n != 1 || tip.IsZero() {
			continue
		}
		near := testrun.Must(audit.Near(w.ctx, w.store, audit.Range{From: tip, To: last}))(w.t)
		if !near.OK() || near.Proven != near.Commits {
			w.t.Errorf("a server finds %v after %s", near.Findings, tip.Short())
		}
		last = tip
	}
	return report
}
