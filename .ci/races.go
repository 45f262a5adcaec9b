// Races prints the names of a package's tests that start goroutines, by themselves or through
// functions of test files, as the pattern for go test -run, or nothing: the tests to run under the
// race detector. Nobody has to list them.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*_test.go"))
	if err != nil {
		log.Fatal(err)
	}
	calls, starts := map[string][]string{}, map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			log.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
				called, goes := inside(f.Body)
				calls[f.Name.Name] = append(calls[f.Name.Name], called...)
				starts[f.Name.Name] = starts[f.Name.Name] || goes
			}
		}
	}
	for more := true; more; {
		more = false
		for name, called := range calls {
			if !starts[name] && slices.ContainsFunc(called, func(c string) bool { return starts[c] }) {
				starts[name], more = true, true
			}
		}
	}
	var tests []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if starts[name] && strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	if len(tests) > 0 {
		fmt.Printf("^(%s)$\n", strings.Join(tests, "|"))
	}
}

// inside returns the names of the functions that a body calls, and whether it starts a goroutine.
func inside(body ast.Node) (called []string, goes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			goes = true
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				called = append(called, f.Name)
			case *ast.SelectorExpr:
				called, goes = append(called, f.Sel.Name), goes || f.Sel.Name == "Go"
			}
		}
		return true
	})
	return called, goes
}
