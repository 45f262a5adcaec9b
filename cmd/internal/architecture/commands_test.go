package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsStandApart: cmd/internal/cli contains only commands, one per file, and no file uses
// what another declares. What two commands need is in a package below.
func TestCommandsStandApart(t *testing.T) {
	const shared = "commands.go" // declares add, by which each command registers itself
	files, err := filepath.Glob("../cli/*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, parsed, declaredIn := token.NewFileSet(), map[string]*ast.File{}, map[string]string{}
	for _, path := range files {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if !strings.HasPrefix(name, "cmd_") && name != shared && name != "doc.go" {
			t.Errorf("%s is not a command: it belongs into a package of its own", name)
		}
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = f
		for id := range f.Scope.Objects {
			declaredIn[id] = name
		}
	}
	if len(parsed) < 50 || declaredIn["add"] != shared {
		t.Fatalf("%d files, and add is declared in %q: the commands are elsewhere", len(parsed), declaredIn["add"])
	}
	for name, f := range parsed {
		for _, id := range f.Unresolved {
			if other := declaredIn[id.Name]; other != "" && other != name && id.Name != "add" {
				t.Errorf("%s uses %s of %s", fset.Position(id.Pos()), id.Name, other)
			}
		}
	}
}
