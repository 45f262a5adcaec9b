// Package architecture tests who may import whom, and that git has one door.
package architecture

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

const module = "github.com/git-liza/git-liza/"

// pure are the packages without I/O.
var pure = []string{
	"gitboard/alarm", "gitboard/board", "gitboard/cmdline", "gitboard/git/plumbing", "gitboard/log/codec", "gitboard/onefile", "gitboard/parcel",
	"gitboard/report", "gitboard/report/breaker", "gitboard/report/sprint", "gitboard/roles", "gitboard/sshsig", "gitboard/text", "hooks", "roles",
	"roles/clis", "roles/prompt",
}

// TestGitboardImportsNothingAbove: a board can be used without roles, worktrees, hooks and
// commands.
func TestGitboardImportsNothingAbove(t *testing.T) {
	for _, p := range packages(t) {
		name := p.name()
		if name != "gitboard" && !strings.HasPrefix(name, "gitboard/") {
			continue
		}
		for _, may := range p.may(t) {
			if may != "gitboard" && !strings.HasPrefix(may, "gitboard/") {
				t.Errorf("%s may import %s, which is above it", name, may)
			}
		}
	}
}

// impure lists the packages that a pure one may not import: I/O, clock, randomness, environment.
var impure = []string{"os", "os/exec", "io/fs", "net", "net/http", "path/filepath", "math/rand", "math/rand/v2", "crypto/rand", "syscall", "log", "context"}

// starters may start processes other than git: a test command, an agent's long command, the demo's agents, a human's editor, the exporter, GitHub's program for its token,
// cp and sync to another disk, the processes whose bare cost the bench measures.
var starters = []string{"cmd/internal/acp", "cmd/internal/team", "cmd/internal/prime", "cmd/internal/pullrequest", "gitboard/git", "gitboard/git/child", "gitboard/git/disk", "gitboard/proc", "gitboard/testrun", "worktrees", "worktrees/merge", "gitboard/notify", "roles/supervisor", "roles/process", "roles/rig", "cmd/internal/demo", "cmd/internal/editor", "cmd/liza-bench", "cmd/liza-mutate"}

type pkg struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

// name is a package's path within the module.
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// listed are our packages, as go list shows them.
var listed = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", module+"...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
	return all, nil
})

func packages(t *testing.T) []pkg {
	t.Helper()
	return testrun.Must(listed())(t)
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name, may := p.name(), p.may(t)
		for _, imp := range p.Imports {
			ours, isOurs := strings.CutPrefix(imp, module)
			if isOurs && !slices.Contains(may, ours) && !slices.Contains(may, everything) {
				t.Errorf("%s may not import %s", name, ours)
			}
			if slices.Contains(pure, name) && slices.Contains(impure, imp) {
				t.Errorf("%s is pure and may not import %s", name, imp)
			}
			if imp == "os/exec" && !slices.Contains(starters, name) {
				t.Errorf("%s may not start processes", name)
			}
		}
	}
}

// TestOneDoorToGit: only package git names git as a program to start, except for the demo, which shows
// commands for a reader to type, the bench, which measures the bare cost of git, liza-mutate, which
// asks for a developer's changes, and tests.
func TestOneDoorToGit(t *testing.T) {
	doors := []string{"gitboard/git", "gitboard/git/child", "cmd/internal/demo", "cmd/liza-bench", "cmd/liza-mutate", "gitboard/testrun"}
	inspect(t, doors, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Command", "CommandContext", "LookPath", "StartProcess"}, sel.Sel.Name) {
			return
		}
		for _, arg := range call.Args {
			if text := literal(arg); text == "git" || strings.HasPrefix(text, "git ") {
				t.Errorf("%s starts git: package git is the one door", fset.Position(n.Pos()))
			}
		}
	})
}

// TestErrorCodesAreConstants: error codes are declared once, so that the documents can list them,
// and never spelled out where they are used.
func TestErrorCodesAreConstants(t *testing.T) {
	code := regexp.MustCompile(`^[a-z-]+$`)
	text := func(e ast.Expr) bool { return code.MatchString(literal(e)) }
	named := func(e ast.Expr, names ...string) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return slices.Contains(names, e.Name)
		case *ast.SelectorExpr:
			return slices.Contains(names, e.Sel.Name)
		}
		return false
	}
	inspect(t, nil, func(n ast.Node) {
		bad := false
		switch n := n.(type) {
		case *ast.CallExpr:
			bad = len(n.Args) > 1 && named(n.Fun, "Refuse", "refuse", "refusal") && text(n.Args[0])
		case *ast.BinaryExpr:
			bad = named(n.X, "Code", "code") && text(n.Y)
		case *ast.KeyValueExpr:
			bad = named(n.Key, "Code") && text(n.Value)
		case *ast.CompositeLit:
			bad = named(n.Type, "Outcome", "Class", "Finding") && len(n.Elts) > 2 && (text(n.Elts[1]) || text(n.Elts[2]) && named(n.Type, "Finding"))
		}
		if bad {
			t.Errorf("%s spells an error code: declare it, with its meaning", fset.Position(n.Pos()))
		}
	})
}

// TestNoRefsThroughGoGit: go-git is for the hashes and modes of objects; its storage of repositories
// on disk writes refs in ways that lose updates, and its decoders cost every start too much.
func TestNoRefsThroughGoGit(t *testing.T) {
	const goGit = "github.com/go-git/go-git/v5"
	allowed := []string{"plumbing", "plumbing/filemode"}
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			if sub, ok := strings.CutPrefix(imp, goGit); ok && !slices.Contains(allowed, strings.TrimPrefix(sub, "/")) {
				t.Errorf("%s imports %s; of go-git only hashes and modes are used", p.ImportPath, imp)
			}
		}
	}
	inspect(t, nil, func(n ast.Node) {
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"SetReference", "CheckAndSetReference", "RemoveReference", "NewHashReference"}, sel.Sel.Name) {
			t.Errorf("%s: refs move through git update-ref alone", fset.Position(n.Pos()))
		}
	})
}

// TestNothingCompiledAtStart: thousands of short processes would each compile a regular expression
// or a template that none of them needs.
func TestNothingCompiledAtStart(t *testing.T) {
	each(t, func(p pkg, _ string, f *ast.File) {
		if strings.HasPrefix(p.ImportPath, module+"cmd/liza-") {
			return
		}
		for _, decl := range f.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl, *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					if id, ok := n.X.(*ast.Ident); ok && (id.Name == "regexp" || id.Name == "template") && strings.HasPrefix(n.Sel.Name, "Must") {
						t.Errorf("%s is compiled at each start: use sync.OnceValue", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	})
}

// TestLibrariesOfOpenTelemetry: only liza-otel imports them, because they cost every start.
func TestLibrariesOfOpenTelemetry(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "go.opentelemetry.io/") && p.name() != "cmd/liza-otel" {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

// TestOneSpellingOfRefs: only gitboard/git spells the names of refs, except for the demo, which
// shows what a reader would type, and the bench, which has its own refs.
func TestOneSpellingOfRefs(t *testing.T) {
	inspect(t, []string{"gitboard/git/plumbing", "cmd/internal/demo", "cmd/liza-bench", "gitboard/testrun"}, func(n ast.Node) {
		if refSpelled(literal(n)) {
			t.Errorf("%s spells a ref's name: use the names of gitboard/git", fset.Position(n.Pos()))
		}
	})
}

func refSpelled(text string) bool {
	return strings.HasPrefix(text, "refs/") || slices.ContainsFunc([]string{"refs/heads", "refs/liza", "refs/tags", "refs/remotes"},
		func(part string) bool { return strings.Contains(text, part) })
}

// TestClockAtTheEdge: only the edge reads the clock; elsewhere `now` is passed in as a value.
func TestClockAtTheEdge(t *testing.T) {
	edge := []string{"cmd/internal/cli", "cmd/internal/call", "cmd/internal/demo", "cmd/liza-bench", "cmd/liza-mutate", "cmd/liza-otel", "gitboard/board.go", "gitboard/git", "gitboard/git/locks", "gitboard/git/loose", "gitboard/trace"}
	inspect(t, edge, func(n ast.Node) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" && (sel.Sel.Name == "Now" || sel.Sel.Name == "Since") {
			t.Errorf("%s reads the clock", fset.Position(n.Pos()))
		}
		if sel.Sel.Name == "Sleep" {
			t.Errorf("%s sleeps: wait for an event", fset.Position(n.Pos()))
		}
	})
}

// files are the parsed files of our packages, by path.
var files = map[string]*ast.File{}

var fset = token.NewFileSet()

func each(t *testing.T, visit func(p pkg, file string, f *ast.File)) {
	t.Helper()
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			file := filepath.Join(p.Dir, name)
			if files[file] == nil {
				f := testrun.Must(parser.ParseFile(fset, file, nil, parser.SkipObjectResolution))(t)
				files[file] = f
			}
			visit(p, file, files[file])
		}
	}
}

// inspect visits each node of our packages, except for some packages or files.
func inspect(t *testing.T, except []string, visit func(n ast.Node)) {
	t.Helper()
	each(t, func(p pkg, file string, f *ast.File) {
		if slices.Contains(except, p.name()) || slices.Contains(except, p.name()+"/"+filepath.Base(file)) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			visit(n)
			return true
		})
	})
}

// literal is the text of a string in the source, "" for anything else.
func literal(n ast.Node) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}
