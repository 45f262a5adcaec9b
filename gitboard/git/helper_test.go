package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

var (
	noon = time.Date(2024, 5, 6, 12, 0, 0, 0, time.FixedZone("", 2*60*60))
	ada  = plumbing.Signature{Name: "Ada Lovelace", Email: "ada@example.org", When: noon}
)

// sandbox hides all git settings except the repository's own.
func sandbox(t *testing.T) context.Context {
	t.Helper()
	for _, entry := range os.Environ() {
		if key, _, _ := strings.Cut(entry, "="); strings.HasPrefix(key, "GIT_") {
			t.Setenv(key, "") // restores it after the test
			os.Unsetenv(key)
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_AUTHOR_NAME", ada.Name)
	t.Setenv("GIT_AUTHOR_EMAIL", ada.Email)
	t.Setenv("GIT_COMMITTER_NAME", ada.Name)
	t.Setenv("GIT_COMMITTER_EMAIL", ada.Email)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// scratch makes a repository with one commit, in a path with a space and non-ASCII letters.
func scratch(t *testing.T) (context.Context, *Repo) {
	t.Helper()
	testrun.NotShort(t)
	ctx := sandbox(t)
	if template == "" {
		template = must[string](t)(os.MkdirTemp("", "liza-git-test-"))
		made := filepath.Join(template, "made")
		testrun.InitRepository(t, made, false)
		r := open(t, ctx, made)
		write(t, r, "a.txt", "one\ntwo\nthree\n")
		commitAll(t, r, "first")
	}
	dir := filepath.Join(t.TempDir(), "dépôt à moi")
	check(t, os.CopyFS(dir, os.DirFS(filepath.Join(template, "made"))))
	return ctx, open(t, ctx, dir)
}

// template is a directory with the repository that scratch copies, made at its first use.
var template string

func TestMain(m *testing.M) {
	testrun.Prepare()
	code := m.Run()
	if template != "" {
		os.RemoveAll(template)
	}
	for _, p := range grown {
		os.RemoveAll(filepath.Dir(p.dir))
	}
	os.Exit(code)
}

func open(t *testing.T, ctx context.Context, dir string) *Repo {
	t.Helper()
	r := testrun.Must(Open(ctx, dir))(t)
	t.Cleanup(func() { check(t, r.Close()) })
	return r
}

// hurry makes a repository wait for locks only briefly.
func hurry(r *Repo) *Repo {
	r.patience = Patience{Git: 10 * time.Millisecond, Watch: 50 * time.Millisecond}
	return r
}

var check, writeIn, readIn, exists = testrun.Check, testrun.WriteIn, testrun.ReadIn, testrun.Exists

// must returns a function that unwraps a result: `must[T](t)(f())`.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		check(t, err)
		return value
	}
}

func write(t *testing.T, r *Repo, name, text string) { writeIn(t, r.TopLevel(), name, text) }

func commitAll(t *testing.T, r *Repo, message string) plumbing.OID {
	t.Helper()
	return plumbing.OID(testrun.CommitAll(t, r.TopLevel(), message))
}

// commitFiles writes a commit without git: the files of its first parent, some of them changed.
func commitFiles(t *testing.T, ctx context.Context, r *Repo, files map[string]string, parents ...plumbing.OID) plumbing.OID {
	t.Helper()
	tree := plumbing.EmptyTree
	if len(parents) > 0 {
		tree = must[plumbing.Commit](t)(plumbing.DecodeCommit(must[plumbing.Object](t)(r.Object(ctx, string(parents[0]))))).Tree
	}
	entries := func(oid plumbing.OID) ([]plumbing.TreeEntry, error) {
		o, err := r.Object(ctx, string(oid))
		return must[[]plumbing.TreeEntry](t)(plumbing.DecodeTree(o.Data)), err
	}
	for name, text := range files {
		next, made, err := plumbing.PutFile(tree, name, plumbing.TreeEntry{Mode: filemode.Regular, OID: blob(text).OID}, entries)
		check(t, err)
		check(t, r.WriteObjects(ctx, append(made, blob(text))))
		tree = next
	}
	c := plumbing.Commit{Tree: tree, Parents: parents, Author: ada, Committer: ada, Message: "files\n"}
	o := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
	check(t, r.WriteObjects(ctx, []plumbing.Object{o}))
	return o.OID
}

// native runs git as a user would.
func native(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return testrun.RunGit(t, dir, args...)
}

// global sets a setting of the user's own.
func global(t *testing.T, key, value string) {
	t.Helper()
	file := os.Getenv("GIT_CONFIG_GLOBAL")
	if file == os.DevNull {
		file = filepath.Join(t.TempDir(), "gitconfig")
		t.Setenv("GIT_CONFIG_GLOBAL", file)
	}
	native(t, ".", "config", "--file", file, key, value)
}

func blob(text string) plumbing.Object { return plumbing.NewObject(plumbing.BlobObject, []byte(text)) }

// store writes blobs and returns their ids.
func store(t *testing.T, ctx context.Context, r *Repo, texts ...string) []plumbing.OID {
	t.Helper()
	var objects []plumbing.Object
	var ids []plumbing.OID
	for _, text := range texts {
		objects = append(objects, blob(text))
		ids = append(ids, objects[len(objects)-1].OID)
	}
	check(t, r.WriteObjects(ctx, objects))
	return ids
}

// asGit runs a process in dir, until the test ends, that the system lists as a git with these arguments.
func asGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	testrun.RunNamed(t, dir, "git", args...)
}

// onLook is a context that ends if a function says so when somebody looks whether it has ended.
type onLook struct {
	context.Context
	ended func() bool
}

func (c onLook) Done() <-chan struct{} {
	if !c.ended() {
		return c.Context.Done()
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

func (c onLook) Err() error {
	if c.ended() {
		return context.Canceled
	}
	return c.Context.Err()
}

// endsWith is a context that ends when a file comes into being.
func endsWith(ctx context.Context, file string) context.Context {
	return onLook{ctx, func() bool { return exists(file) }}
}

// leave makes a lock file as a killed git leaves it.
func leave(t *testing.T, r *Repo, name string) string {
	t.Helper()
	path := filepath.Join(r.CommonDir(), filepath.FromSlash(name))
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, nil, 0o644))
	return path
}

// inFront puts a shell script before git: it acts on some of git's calls, and passes all others on.
func inFront(t *testing.T, script string) {
	t.Helper()
	real, dir := must[string](t)(exec.LookPath("git")), t.TempDir()
	text := "#!/bin/sh\ngit() { '" + real + "' \"$@\"; }\n" + script + "\nexec '" + real + "' \"$@\"\n"
	check(t, os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}
