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

// rooms is the table of packages: which of our packages each may import, and whether it is pure.
// "*" is all of them.
var rooms = map[string]struct {
	pure bool
	may  []string
}{
	"forge":                    {false, nil},
	"cmd/internal/pullrequest": {false, []string{"cmd/internal/call", "cmd/internal/start", "forge", "gitboard", "gitboard/audit", "gitboard/board", "gitboard/git", "gitboard/git/plumbing", "gitboard/landed", "gitboard/lease", "gitboard/proc", "gitboard/text"}},

	"roles":                        {true, nil},
	"gitboard/roles":               {true, nil},
	"gitboard/text":                {true, nil},
	"gitboard/board":               {true, []string{"gitboard/text", "gitboard/roles"}},
	"gitboard/cmdline":             {true, []string{"gitboard/board"}},
	"gitboard/log/codec":           {true, []string{"gitboard/text", "gitboard/board", "gitboard/git/plumbing", "gitboard/report", "gitboard/roles"}},
	"gitboard/alarm":               {true, []string{"gitboard/text", "gitboard/board", "gitboard/report"}},
	"gitboard/report":              {true, []string{"gitboard/text", "gitboard/board", "gitboard/roles"}},
	"gitboard/report/breaker":      {true, []string{"gitboard/text", "gitboard/board"}},
	"gitboard/onefile":             {true, []string{"gitboard/text", "gitboard/board", "gitboard/log/codec", "gitboard/roles"}},
	"gitboard/report/sprint":       {true, []string{"gitboard/text", "gitboard/board", "gitboard/report"}},
	"gitboard/notify":              {false, []string{"gitboard/alarm", "gitboard/board", "gitboard/cmdline"}},
	"gitboard/watch":               {false, []string{"gitboard/text", "gitboard", "gitboard/alarm", "gitboard/audit", "gitboard/board", "gitboard/cmdline", "gitboard/git/plumbing", "gitboard/git", "gitboard/notify", "gitboard/queue", "gitboard/log", "gitboard/report", "gitboard/report/breaker", "gitboard/report/sprint"}},
	"gitboard/git/plumbing":        {true, nil},
	"gitboard/queue":               {false, nil},
	"gitboard/proc":                {false, nil},
	"gitboard/git/disk":            {false, nil},
	"gitboard/git/locks":           {false, []string{"gitboard/git/disk", "gitboard/proc", "gitboard/queue"}},
	"gitboard/git/records":         {false, []string{"gitboard/git/disk", "gitboard/git/plumbing"}},
	"gitboard/commands":            {false, []string{"gitboard/git/disk", "gitboard/git/locks", "gitboard/proc", "gitboard/queue"}},
	"gitboard/git/settings":        {false, nil},
	"gitboard/git/find":            {false, []string{"gitboard/git/gitenv", "gitboard/git/plumbing", "gitboard/git/records"}},
	"gitboard/git/network":         {false, []string{"gitboard/git/child", "gitboard/git/gitenv"}},
	"gitboard/retry":               {false, nil},
	"gitboard/trace":               {false, nil},
	"gitboard/git/gitenv":          {false, nil},
	"gitboard/git/child":           {false, []string{"gitboard/git/gitenv", "gitboard/git/plumbing", "gitboard/proc", "gitboard/trace"}},
	"gitboard/git/loose":           {false, []string{"gitboard/git/disk", "gitboard/git/plumbing"}},
	"gitboard/git/kept":            {false, []string{"gitboard/git/disk", "gitboard/git/locks", "gitboard/git/plumbing", "gitboard/proc"}},
	"gitboard/git":                 {false, []string{"gitboard/git/plumbing", "gitboard/proc", "gitboard/queue", "gitboard/git/find", "gitboard/git/network", "gitboard/git/settings", "gitboard/git/records", "gitboard/git/disk", "gitboard/git/locks", "gitboard/git/gitenv", "gitboard/retry", "gitboard/git/child", "gitboard/git/loose", "gitboard/git/kept"}},
	"gitboard/sshsig":              {true, nil},
	"gitboard/log":                 {false, []string{"gitboard/board", "gitboard/log/codec", "gitboard/git/plumbing", "gitboard/git", "gitboard/sshsig", "gitboard/roles"}},
	"gitboard/lease":               {false, []string{"gitboard/board", "gitboard/git/plumbing", "gitboard/git", "gitboard/proc"}},
	"gitboard/audit":               {false, []string{"gitboard/landed", "gitboard/text", "gitboard/board", "gitboard/log/codec", "gitboard/log", "gitboard/git/plumbing", "gitboard/git", "gitboard/roles"}},
	"gitboard/landed":              {false, []string{"gitboard/git/plumbing", "gitboard/git"}},
	"gitboard/receipt":             {false, []string{"gitboard/audit", "gitboard/text", "gitboard/board", "gitboard/landed", "gitboard/log", "gitboard/git/plumbing", "gitboard/git", "gitboard/roles", "gitboard/sshsig"}},
	"gitboard/parcel":              {true, []string{"gitboard/git/plumbing"}},
	"gitboard/share":               {false, []string{"gitboard/log/codec", "gitboard/parcel", "gitboard/text", "gitboard/board", "gitboard/log", "gitboard/lease", "gitboard/git/plumbing", "gitboard/git", "gitboard/queue", "gitboard/git/disk", "gitboard/retry", "gitboard/trace"}},
	"gitboard":                     {false, []string{"gitboard/landed", "gitboard/text", "gitboard/board", "gitboard/log/codec", "gitboard/report", "gitboard/log", "gitboard/lease", "gitboard/git/plumbing", "gitboard/git", "gitboard/share", "gitboard/sshsig", "gitboard/roles", "gitboard/queue", "gitboard/git/disk", "gitboard/retry", "gitboard/trace"}},
	"worktrees":                    {false, []string{"forge", "gitboard/text", "gitboard", "gitboard/board", "gitboard/log", "gitboard/git/plumbing", "gitboard/git", "gitboard/roles", "hooks/install", "gitboard/commands", "gitboard/proc", "gitboard/git/records", "gitboard/git/disk", "gitboard/git/gitenv"}},
	"worktrees/doctor":             {false, []string{"gitboard/text", "worktrees", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/lease", "gitboard/git/plumbing", "gitboard/git", "gitboard/git/records", "gitboard/git/disk"}},
	"worktrees/merge":              {false, []string{"gitboard/landed", "gitboard/text", "worktrees", "worktrees/doctor", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/log", "gitboard/lease", "gitboard/git/plumbing", "gitboard/git", "gitboard/roles", "gitboard/commands", "gitboard/proc", "gitboard/git/records", "gitboard/git/disk"}},
	"worktrees/executor":           {false, []string{"worktrees", "worktrees/doctor", "worktrees/merge", "gitboard", "gitboard/board", "gitboard/roles", "roles/supervisor"}},
	"roles/prompt":                 {true, []string{"gitboard/text", "gitboard/roles", "gitboard/board", "gitboard/report"}},
	"roles/clis":                   {true, []string{"gitboard/text", "gitboard/board"}},
	"roles/transcript":             {false, []string{"gitboard/roles"}},
	"roles/rig":                    {false, nil}, // for tests
	"roles/process":                {false, []string{"gitboard/proc"}},
	"roles/supervisor":             {false, []string{"roles/process", "forge", "gitboard/queue", "gitboard/text", "gitboard/roles", "roles/prompt", "roles/clis", "roles/transcript", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/report", "gitboard/git/plumbing", "gitboard/git", "gitboard/lease", "gitboard/log", "gitboard/commands", "gitboard/proc", "gitboard/git/records", "gitboard/git/gitenv", "gitboard/watch"}},
	"hooks":                        {true, []string{"gitboard/git/plumbing", "gitboard/roles", "gitboard/board"}},
	"hooks/install":                {false, []string{"gitboard/parcel", "gitboard/git/plumbing", "gitboard/git", "gitboard/git/disk", "gitboard/git/gitenv"}},
	"hooks/server":                 {false, []string{"gitboard/text", "gitboard/log/codec", "gitboard/log", "gitboard/parcel", "gitboard", "gitboard/audit", "gitboard/board", "gitboard/git/plumbing", "gitboard/git", "gitboard/lease", "hooks", "hooks/install", "gitboard/queue", "gitboard/git/gitenv"}},
	"specs":                        {false, nil},
	"cmd/internal/call":            {false, []string{"gitboard/text", "gitboard/report", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/log/codec", "gitboard/git/plumbing", "gitboard/git", "gitboard/lease", "gitboard/log", "gitboard/share", "gitboard/sshsig", "gitboard/roles", "roles/supervisor", "worktrees", "gitboard/git/gitenv", "gitboard/retry"}},
	"cmd/internal/records":         {false, []string{"gitboard/log", "gitboard/onefile", "gitboard/text", "cmd/internal/call", "gitboard", "gitboard/audit", "gitboard/board", "gitboard/log/codec", "gitboard/git/plumbing"}},
	"cmd/internal/signing":         {false, []string{"gitboard/text", "cmd/internal/call", "gitboard", "gitboard/board", "gitboard/git/plumbing", "gitboard/roles", "gitboard/sshsig", "roles/supervisor"}},
	"cmd/internal/prime":           {false, []string{"cmd/internal/call", "cmd/internal/screen", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/git/plumbing", "gitboard/lease", "gitboard/report", "gitboard/roles", "gitboard/text", "roles/prompt", "worktrees"}},
	"cmd/internal/acp":             {false, []string{"cmd/internal/call", "cmd/internal/prime", "gitboard/text", "roles/clis"}},
	"cmd/internal/setup":           {false, []string{"cmd/internal/call", "cmd/internal/signing", "gitboard", "gitboard/audit", "gitboard/board", "gitboard/cmdline", "gitboard/git", "gitboard/git/disk", "gitboard/git/plumbing", "gitboard/log", "gitboard/roles", "gitboard/text", "hooks/install", "roles/supervisor", "worktrees", "worktrees/merge"}},
	"cmd/internal/start":           {false, []string{"cmd/internal/acts", "cmd/internal/call", "cmd/internal/definition", "cmd/internal/dispatch", "cmd/internal/editor", "cmd/internal/screen", "cmd/internal/setup", "cmd/internal/team", "cmd/internal/web", "worktrees/merge", "gitboard", "gitboard/board", "gitboard/git", "gitboard/git/plumbing", "gitboard/report", "gitboard/roles", "gitboard/text", "roles/clis", "roles/supervisor"}},
	"cmd/internal/githooks":        {false, []string{"cmd/internal/call", "cmd/internal/setup", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/git/plumbing", "gitboard/lease", "gitboard/text", "hooks", "hooks/server"}},
	"cmd/internal/history":         {false, []string{"cmd/internal/call", "cmd/internal/records", "cmd/internal/screen", "gitboard", "gitboard/board", "gitboard/git/plumbing", "gitboard/log", "gitboard/log/codec", "gitboard/onefile", "gitboard/roles", "gitboard/text"}},
	"cmd/internal/edit":            {false, []string{"gitboard/text", "cmd/internal/call", "cmd/internal/editor", "cmd/internal/records", "gitboard", "gitboard/board", "gitboard/log/codec", "gitboard/git/plumbing", "specs"}},
	"cmd/internal/screen":          {false, []string{"gitboard/text", "cmd/internal/acts", "cmd/internal/call", "cmd/internal/editor", "cmd/internal/records", "cmd/internal/tty", "gitboard", "gitboard/alarm", "gitboard/board", "gitboard/cmdline", "gitboard/git/plumbing", "gitboard/git", "gitboard/notify", "gitboard/report", "gitboard/roles", "gitboard/watch", "worktrees"}},
	"cmd/internal/recovery":        {false, []string{"cmd/internal/call", "cmd/internal/setup", "gitboard", "gitboard/audit", "gitboard/board", "gitboard/cmdline", "gitboard/git", "gitboard/git/plumbing", "gitboard/lease", "gitboard/log/codec", "gitboard/roles", "gitboard/share", "gitboard/text", "gitboard/watch", "hooks/install", "worktrees", "worktrees/doctor", "worktrees/merge"}},
	"cmd/internal/definition":      {false, []string{"cmd/internal/call", "gitboard", "gitboard/board", "gitboard/git", "gitboard/git/plumbing", "gitboard/report", "gitboard/text"}},
	"cmd/internal/dispatch":        {false, []string{"gitboard/text", "cmd/internal/call", "cmd/internal/records", "cmd/internal/signing", "gitboard", "gitboard/board", "gitboard/roles", "gitboard/sshsig", "roles/clis", "specs"}},
	"cmd/internal/team":            {false, []string{"cmd/internal/call", "cmd/internal/setup", "cmd/internal/signing", "gitboard", "gitboard/alarm", "gitboard/board", "gitboard/proc", "gitboard/roles", "gitboard/text", "gitboard/watch", "hooks/install", "roles/clis", "roles/supervisor", "roles/process", "worktrees/executor", "worktrees/merge"}},
	"cmd/internal/acts":            {false, []string{"gitboard/text", "cmd/internal/call", "cmd/internal/definition", "gitboard", "gitboard/board", "gitboard/git/plumbing", "gitboard/report", "gitboard/roles", "gitboard/watch", "roles/clis", "worktrees"}},
	"cmd/internal/web":             {false, []string{"worktrees", "cmd/internal/acts", "cmd/internal/recovery", "gitboard/text", "cmd/internal/call", "cmd/internal/history", "gitboard", "gitboard/board", "gitboard/cmdline", "gitboard/git/plumbing", "gitboard/report", "gitboard/roles", "roles/transcript"}},
	"cmd/internal/cli":             {false, []string{"*"}},
	"cmd/internal/demo":            {false, []string{"gitboard/proc"}},
	"cmd/internal/editor":          {false, nil},
	"cmd/internal/tty":             {false, nil},
	"cmd/git-liza":                 {false, []string{"cmd/internal/cli", "cmd/internal/call"}},
	"cmd/liza-bench":               {false, []string{"*"}},
	"cmd/liza-mutate":              {false, []string{"gitboard/proc"}},
	"cmd/liza-otel":                {false, []string{"gitboard", "gitboard/board", "gitboard/git/plumbing", "gitboard/roles"}},
	"gitboard/golden":              {false, nil},                                                                                                                                                                                                                   // for tests
	"gitboard/testrepo":            {false, []string{"gitboard/git", "gitboard/git/plumbing", "gitboard/log", "gitboard/log/codec", "gitboard/testrun"}},                                                                                                           // for tests
	"gitboard/testrepo/simulation": {false, []string{"gitboard", "gitboard/board", "gitboard/git", "gitboard/git/plumbing", "gitboard/lease", "gitboard/log", "gitboard/log/codec", "gitboard/report", "gitboard/roles", "gitboard/testrepo", "gitboard/testrun"}}, // for tests
	"gitboard/testrun":             {false, nil},                                                                                                                                                                                                                   // for tests
}

// TestGitboardImportsNothingAbove: a board can be used without roles, worktrees, hooks and
// commands.
func TestGitboardImportsNothingAbove(t *testing.T) {
	for name, room := range rooms {
		if name != "gitboard" && !strings.HasPrefix(name, "gitboard/") {
			continue
		}
		for _, may := range room.may {
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
		name := strings.TrimPrefix(p.ImportPath, module)
		room, known := rooms[name]
		if !known {
			t.Errorf("%s is not in the table of packages", name)
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

// TestOneDoorToGit: only package git names git as a program to start, except for the demo, which shows
// commands for a reader to type, the bench, which measures the bare cost of git, liza-mutate, which
// asks for a developer's changes, and tests.
func TestOneDoorToGit(t *testing.T) {
	each(t, func(p pkg, file string, f *ast.File) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains([]string{"gitboard/git", "gitboard/git/child", "cmd/internal/demo", "cmd/liza-bench", "cmd/liza-mutate", "gitboard/testrun"}, name) {
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
						t.Errorf("%s starts git: package git is the one door", fset.Position(n.Pos()))
					}
				}
			}
			return true
		})
	})
}

// TestErrorCodesAreConstants: error codes are declared once, so that the documents can list them,
// and never spelled out where they are used.
func TestErrorCodesAreConstants(t *testing.T) {
	code := regexp.MustCompile(`^"[a-z-]+"$`)
	text := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && code.MatchString(lit.Value)
	}
	named := func(e ast.Expr, names ...string) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return slices.Contains(names, e.Name)
		case *ast.SelectorExpr:
			return slices.Contains(names, e.Sel.Name)
		}
		return false
	}
	each(t, func(_ pkg, _ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
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
			return true
		})
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
	each(t, func(_ pkg, _ string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"SetReference", "CheckAndSetReference", "RemoveReference", "NewHashReference"}, sel.Sel.Name) {
				t.Errorf("%s: refs move through git update-ref alone", fset.Position(n.Pos()))
			}
			return true
		})
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
	each(t, func(p pkg, _ string, _ *ast.File) {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "go.opentelemetry.io/") && p.ImportPath != module+"cmd/liza-otel" {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	})
}

// TestOneSpellingOfRefs: only gitboard/git spells the names of refs, except for the demo, which
// shows what a reader would type, and the bench, which has its own refs.
func TestOneSpellingOfRefs(t *testing.T) {
	each(t, func(p pkg, _ string, f *ast.File) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "gitboard/git/plumbing" || name == "cmd/internal/demo" || name == "cmd/liza-bench" || name == "gitboard/testrun" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && refSpelled(text) {
					t.Errorf("%s spells a ref's name: use the names of gitboard/git", fset.Position(n.Pos()))
				}
			}
			return true
		})
	})
}

func refSpelled(text string) bool {
	return strings.HasPrefix(text, "refs/") || slices.ContainsFunc([]string{"refs/heads", "refs/liza", "refs/tags", "refs/remotes"},
		func(part string) bool { return strings.Contains(text, part) })
}

// TestClockAtTheEdge: only the edge reads the clock; elsewhere `now` is passed in as a value.
func TestClockAtTheEdge(t *testing.T) {
	each(t, func(p pkg, file string, f *ast.File) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains([]string{"cmd/internal/cli", "cmd/internal/call", "cmd/internal/demo", "cmd/liza-bench", "cmd/liza-mutate", "cmd/liza-otel", "gitboard/git", "gitboard/git/locks", "gitboard/git/loose", "gitboard/trace"}, name) || filepath.Base(file) == "board.go" && name == "gitboard" {
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
