package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one small mistake.
type mutant struct {
	file     string // its name within the package
	line     int
	function string
	what     string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.file, m.line, m.function, m.what)
}

// name is what stays when lines move.
func (m mutant) name() string { return fmt.Sprintf("%s: %s: %s", m.file, m.function, m.what) }

// mutated is a file with all its mutants in it.
type mutated struct {
	name  string
	text  []byte
	edits []edit
	set   *token.FileSet
	all   *[]mutant
	in    string // the function
}

// edit puts text before what is at an offset.
type edit struct {
	at   int
	text string
}

// mutate reads a package's files and returns them with their mutants, by their names.
func mutate(dir string, names []string) (map[string][]byte, []mutant, error) {
	var all []mutant
	files := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, nil, err
		}
		m := &mutated{name: name, text: text, set: token.NewFileSet(), all: &all}
		tree, err := parser.ParseFile(m.set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		ast.Inspect(tree, m.visit)
		files[name] = m.apply()
	}
	return files, all, nil
}

// visit finds what can go wrong in a node.
func (m *mutated) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		m.in = m.function(n)
	case *ast.GenDecl:
		return n.Tok != token.CONST && n.Tok != token.IMPORT && n.Tok != token.TYPE
	case *ast.IfStmt:
		m.condition(n.Cond, true)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.condition(n.Cond, false) // one that always holds would only take its time
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					m.condition(e, true)
				}
			}
		}
	case *ast.ReturnStmt:
		for _, e := range n.Results {
			if b, is := e.(*ast.BinaryExpr); is && (b.Op == token.LAND || b.Op == token.LOR) {
				m.condition(e, true)
			}
		}
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.CommClause:
		m.statements(n.Body)
	}
	return true
}

// condition has each part of a condition hold always, and never.
func (m *mutated) condition(e ast.Expr, always bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		m.condition(e.X, always)
		return
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			m.condition(e.X, always)
			m.condition(e.Y, always)
			return
		}
	}
	on := ""
	if always {
		on = fmt.Sprintf(" || mutantIsOn(%d)", m.add(e, "always: "+m.source(e)))
	}
	off := m.add(e, "never: "+m.source(e))
	m.insert(e.Pos(), "(((")
	m.insert(e.End(), fmt.Sprintf(")%s) && !mutantIsOn(%d))", on, off))
}

// statements leaves out what is done for its effect alone.
func (m *mutated) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, is := s.X.(*ast.CallExpr); is && m.source(call.Fun) == "panic" {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || m.source(s.Lhs[0]) == "_" {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		n := m.add(s, "without: "+m.source(s))
		m.insert(s.Pos(), fmt.Sprintf("if !mutantIsOn(%d) { ", n))
		m.insert(s.End(), " }")
	}
}

// add counts a mutant from 1.
func (m *mutated) add(n ast.Node, what string) int {
	*m.all = append(*m.all, mutant{m.name, m.set.Position(n.Pos()).Line, m.in, what})
	return len(*m.all)
}

// function is a function's name, with the type that it is a method of.
func (m *mutated) function(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return strings.TrimPrefix(m.source(f.Recv.List[0].Type), "*") + "." + f.Name.Name
}

func (m *mutated) source(n ast.Node) string {
	text := string(m.text[m.offset(n.Pos()):m.offset(n.End())])
	return strings.Join(strings.Fields(text), " ")
}

func (m *mutated) offset(p token.Pos) int { return m.set.Position(p).Offset }

func (m *mutated) insert(p token.Pos, text string) {
	m.edits = append(m.edits, edit{m.offset(p), text})
}

// apply makes the edits. An edit that ends at a place goes before an edit that begins at it: an
// outer node is visited first.
func (m *mutated) apply() []byte {
	slices.SortStableFunc(m.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var out []byte
	from := 0
	for _, e := range m.edits {
		out = append(append(out, m.text[from:e.at]...), e.text...)
		from = e.at
	}
	return append(out, m.text[from:]...)
}
