// Package architecture tests who may import whom, and that git has one door.
package architecture

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/git-liza/git-liza/"

// rooms is the table of packages: what each may import of ours, and whether it is pure. "*" is everything.
var rooms = map[string]struct {
	pure bool
	may  []string
}{
	"roles":               {true, nil},
	"gitboard/board":      {true, []string{"roles"}},
	"gitboard/codec":      {true, []string{"gitboard/board", "roles"}},
	"gitboard/alarm":      {true, []string{"gitboard/board", "roles"}},
	"gitboard/breaker":    {true, []string{"gitboard/board"}},
	"gitboard/onefile":    {true, []string{"gitboard/board", "gitboard/codec", "roles"}},
	"gitboard/sprint":     {true, []string{"gitboard/board"}},
	"gitboard/notify":     {false, []string{"gitboard/alarm", "gitboard/board"}},
	"gitboard/gitio":      {false, nil},
	"gitboard/sshsig":     {true, nil},
	"gitboard/oplog":      {false, []string{"gitboard/board", "gitboard/codec", "gitboard/gitio", "gitboard/sshsig", "roles"}},
	"gitboard/lease":      {false, []string{"gitboard/gitio"}},
	"gitboard/audit":      {false, []string{"gitboard/board", "gitboard/codec", "gitboard/oplog", "gitboard/gitio", "roles"}},
	"gitboard/remote":     {false, []string{"gitboard/board", "gitboard/oplog", "gitboard/lease", "gitboard/gitio"}},
	"gitboard":            {false, []string{"gitboard/board", "gitboard/codec", "gitboard/oplog", "gitboard/lease", "gitboard/gitio", "gitboard/remote", "gitboard/sshsig", "roles"}},
	"worktrees":           {false, []string{"gitboard", "gitboard/board", "gitboard/oplog", "gitboard/lease", "gitboard/gitio", "roles"}},
	"worktrees/merge":     {false, []string{"worktrees", "gitboard", "gitboard/board", "gitboard/oplog", "gitboard/lease", "gitboard/gitio", "roles"}},
	"roles/prompt":        {true, []string{"roles", "gitboard/board"}},
	"roles/clis":          {true, []string{"gitboard/board"}},
	"roles/transcript":    {false, []string{"roles"}},
	"roles/supervisor":    {false, []string{"roles", "roles/prompt", "roles/clis", "roles/transcript", "gitboard", "gitboard/board", "gitboard/gitio", "gitboard/lease", "gitboard/oplog"}},
	"hooks":               {true, []string{"roles", "gitboard/board"}},
	"hooks/install":       {false, []string{"gitboard/gitio"}},
	"specs":               {false, nil},
	"cmd/internal/cli":    {false, []string{"*"}},
	"cmd/internal/demo":   {false, []string{"*"}},
	"cmd/internal/editor": {false, nil},
	"cmd/internal/tty":    {false, nil},
	"cmd/git-liza":        {false, []string{"cmd/internal/cli"}},
	"cmd/liza-bench":      {false, []string{"*"}},
	"internal/golden":     {false, nil}, // for tests
}

// impure are packages that a pure one must do without: I/O, clock, randomness, environment.
var impure = []string{"os", "os/exec", "io/fs", "net", "net/http", "path/filepath", "math/rand", "math/rand/v2", "crypto/rand", "syscall", "log", "context"}

// starters may start processes that are not git: a test command, the demo's agents, a human's editor, the bench's floors.
var starters = []string{"gitboard/gitio", "worktrees", "worktrees/merge", "gitboard/notify", "roles/supervisor", "cmd/internal/demo", "cmd/internal/editor", "cmd/liza-bench"}

type pkg struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", module+"...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		room, known := rooms[name]
		if !known {
			t.Errorf("%s stands in no row of the table of packages", name)
			continue
		}
		for _, imp := range p.Imports {
			ours, isOurs := strings.CutPrefix(imp, module)
			if isOurs && !slices.Contains(room.may, ours) && !slices.Contains(room.may, "*") {
				t.Errorf("%s may not import %s", name, ours)
			}
			if room.pure && slices.Contains(impure, imp) {
				t.Errorf("%s is pure and may not import %s", name, imp)
			}
			if imp == "os/exec" && !slices.Contains(starters, name) {
				t.Errorf("%s may not start processes", name)
			}
		}
	}
}

// No package but gitio names git as a program to start; the demo shows what a reader would type and the bench
// measures floors.
func TestOneDoorToGit(t *testing.T) {
	each(t, func(p pkg, file string, f *ast.File, fset *token.FileSet) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "gitboard/gitio" || name == "cmd/internal/demo" || name == "cmd/liza-bench" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Command" && sel.Sel.Name != "CommandContext" && sel.Sel.Name != "LookPath" && sel.Sel.Name != "StartProcess" {
				return true
			}
			for _, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && (text == "git" || strings.HasPrefix(text, "git ")) {
						t.Errorf("%s starts git: gitio is the one door", fset.Position(n.Pos()))
					}
				}
			}
			return true
		})
	})
}

// go-git is for object formats; its storage writes refs in ways that lose updates.
func TestNoRefsThroughGoGit(t *testing.T) {
	const goGit = "github.com/go-git/go-git/v5"
	allowed := []string{"plumbing", "plumbing/object", "plumbing/filemode", "plumbing/format/diff", "utils/merkletrie", "plumbing/hash"}
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			if sub, ok := strings.CutPrefix(imp, goGit); ok && !slices.Contains(allowed, strings.TrimPrefix(sub, "/")) {
				t.Errorf("%s imports %s; of go-git only object formats are used", p.ImportPath, imp)
			}
		}
	}
	each(t, func(_ pkg, _ string, f *ast.File, fset *token.FileSet) {
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"SetReference", "CheckAndSetReference", "RemoveReference", "NewHashReference"}, sel.Sel.Name) {
				t.Errorf("%s: refs move through git update-ref alone", fset.Position(n.Pos()))
			}
			return true
		})
	})
}

// The clock is read at the edge: elsewhere `now` comes in as a value.
func TestClockAtTheEdge(t *testing.T) {
	each(t, func(p pkg, file string, f *ast.File, fset *token.FileSet) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains([]string{"cmd/internal/cli", "cmd/internal/demo", "cmd/liza-bench", "gitboard/gitio"}, name) || filepath.Base(file) == "board.go" && name == "gitboard" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Now" || sel.Sel.Name == "Since") {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" {
					t.Errorf("%s reads the clock", fset.Position(n.Pos()))
				}
			}
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				t.Errorf("%s sleeps: wait for an event", fset.Position(n.Pos()))
			}
			return true
		})
	})
}

func each(t *testing.T, visit func(p pkg, file string, f *ast.File, fset *token.FileSet)) {
	t.Helper()
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			file := filepath.Join(p.Dir, name)
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			visit(p, file, f, fset)
		}
	}
}
