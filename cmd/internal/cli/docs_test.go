package cli

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/specs"
)

// tables generates each table that repeats what code says.
var tables = map[string]func() string{
	"transitions": func() string {
		rows := [][]string{{"From", "To", "Operation", "Condition"}}
		for _, t := range board.Transitions() {
			to := string(t.To)
			if t.To == board.None {
				to = "(same)"
			}
			from := inOneLine(t.From, "(new)")
			if len(t.From) == len(board.Statuses)-3 {
				from = "(any that is not terminal)"
			}
			rows = append(rows, []string{from, to, t.Op, t.Note})
		}
		return table(rows)
	},
	"permissions": func() string {
		groups, order := map[string][]string{}, []string{}
		for _, op := range board.Ops() {
			var who []string
			for _, r := range []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human} {
				if board.May(r, op) {
					who = append(who, string(r))
				}
			}
			by := strings.Join(who, ", ")
			if groups[by] == nil {
				order = append(order, by)
			}
			groups[by] = append(groups[by], op)
		}
		rows := [][]string{{"Who", "Operations"}}
		for _, by := range order {
			rows = append(rows, []string{by, codes(groups[by], ", ")})
		}
		return table(rows)
	},
	"refusal-codes": func() string { return codeTable("../../../gitboard/board/codes.go") },
	"finding-codes": func() string { return codeTable("../../../gitboard/audit/verify.go") },
	"error-codes":   func() string { return codeTable("../call/codes.go") },
	"defaults": func() string {
		rows := [][]string{{"Key", "Default", "Takes", "Meaning"}}
		for _, k := range board.ConfigKeys {
			rows = append(rows, []string{k.Name, code(k.Default), k.Takes, k.Meaning})
		}
		return table(rows)
	},
	"anomaly-types": func() string {
		rows := [][]string{{"Type", "Logged by", "Required details"}}
		for _, a := range board.AnomalyTypes {
			rows = append(rows, []string{a.Type, inOneLine(a.Who, ""), strings.Join(a.Details, ", ")})
		}
		return table(rows)
	},
	"clis": func() string {
		rows := [][]string{{"Name", "Unattended", "Prompt"}}
		var names []string
		for _, c := range clis.Known {
			if c.Prompt == clis.ACP {
				names = append(names, code(c.Name))
				continue
			}
			args, stdin := c.Command(clis.Start{Prompt: "PROMPT", File: "FILE", Folders: []string{"GIT"}})
			prompt := string(c.Prompt)
			if stdin != "" {
				prompt = "stdin"
			}
			rows = append(rows, []string{code(c.Name), code(c.Shell(args)), prompt})
		}
		return table(append(rows, []string{strings.Join(names, ", "), code("git liza acp -- COMMAND"), string(clis.ACP)}))
	},
	"breaker-patterns": func() string {
		rows := [][]string{{"Pattern", "Found when", "Severity"}}
		for _, r := range board.PatternRules {
			with := "with " + map[bool]string{true: "similar ", false: "the same "}[r.Similar] + codes(r.Details, ", else ")
			if r.Value != "" {
				with = "with " + code(r.Details[0]+": "+r.Value)
			}
			rows = append(rows, []string{r.Pattern, fmt.Sprintf("%d or more %s %s", r.Least, codes(r.Types, " / "), with), r.Severity})
		}
		return table(rows)
	},
	"alarms": func() string {
		rows := [][]string{{"Level", "Threshold", "Line"}}
		for _, r := range alarm.Rules {
			var levels, lines []string
			for _, s := range r.Steps {
				levels = append(levels, string(s.Level))
				if line := code(s.Line); !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
			rows = append(rows, []string{strings.Join(levels, " / "), r.Threshold(), strings.Join(lines, " / ")})
		}
		return table(rows)
	},
	"modes": func() string {
		rows := [][]string{{"Mode", "Operations"}, {string(board.Running), "all"}}
		for _, m := range []board.Mode{board.Paused, board.CheckpointMode, board.Aborted} {
			var allowed, refused []string
			for _, op := range board.Ops() {
				if board.AllowedIn(m, op) {
					allowed = append(allowed, op)
				} else {
					refused = append(refused, op)
				}
			}
			if len(refused) <= len(allowed) {
				rows = append(rows, []string{string(m), "all but " + codes(refused, ", ")})
			} else {
				rows = append(rows, []string{string(m), "only " + codes(allowed, ", ")})
			}
		}
		return table(rows)
	},
	"commands": func() string {
		rows := [][]string{{"Command", "What it does"}}
		for _, g := range dispatch.Groups {
			rows = append(rows, []string{"**" + g + "**", ""})
			rows = append(rows, commandRows(g)...)
		}
		return table(rows)
	},
}

func commandRows(group string) (rows [][]string) {
	for _, c := range dispatch.Commands() {
		if c.Group == group {
			rows = append(rows, []string{code(strings.TrimSpace(c.Name + " " + c.Args)), c.Short})
		}
	}
	return rows
}

// codeTable is a table of the error codes that a file declares, with the comments beside them.
func codeTable(file string) string {
	rows := [][]string{{"Code", "Meaning"}}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasSuffix(types.ExprString(spec.Type), "ErrorCode") {
			return true
		}
		word, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		rows = append(rows, []string{code(word), strings.TrimSpace(spec.Comment.Text())})
		return true
	})
	return table(rows)
}

func codes(words []string, sep string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = code(w)
	}
	return strings.Join(quoted, sep)
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func inOneLine[T ~string](words []T, empty string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		if parts[i] = string(w); w == "" {
			parts[i] = empty
		}
	}
	return strings.Join(parts, ", ")
}

func table(rows [][]string) string {
	var b strings.Builder
	for i, r := range rows {
		for j := range r {
			r[j] = strings.ReplaceAll(r[j], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(r)) + "|\n")
		}
	}
	return b.String()
}

// generated is a table of a document: written from the code by -update, or checked against it and
// written by hand.
var generated = regexp.MustCompile(`(?s)<!-- (?:generated|checked): ([a-z-]+) -->\n(.*?)<!-- end -->`)

func TestGeneratedTables(t *testing.T) {
	found := map[string]bool{}
	for _, d := range specs.All() {
		if d.In != "" {
			continue
		}
		text, _ := specs.Text(d.Name)
		fresh := generated.ReplaceAllStringFunc(text, func(part string) string {
			name := generated.FindStringSubmatch(part)[1]
			found[name] = true
			if tables[name] == nil {
				return part
			}
			return "<!-- generated: " + name + " -->\n" + tables[name]() + "<!-- end -->"
		})
		if fresh == text {
			continue
		}
		if !*golden.Update {
			t.Errorf("%s.md repeats what code says, and says it otherwise; run go test ./cmd/internal/cli -run Tables -update", d.Name)
			continue
		}
		testrun.Check(t, os.WriteFile(filepath.Join("../../../specs", d.Name+".md"), []byte(fresh), 0o644))
	}
	for name := range tables {
		if !found[name] {
			t.Errorf("no document has the table %s", name)
		}
	}
}

func section(t *testing.T, text, name string) string {
	t.Helper()
	for _, m := range generated.FindAllStringSubmatch(text, -1) {
		if m[1] == name {
			return m[2]
		}
	}
	t.Fatalf("the table %s is missing", name)
	return ""
}

// TestEveryCommandHasHelp: each command has its help, and the name of a group of commands, alone, with
// -h or after help, prints its commands.
func TestEveryCommandHasHelp(t *testing.T) {
	prints := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		app := &call.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: t.TempDir()}
		if code := Run(t.Context(), app, args); code != 0 || errs.Len() > 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
		return out.String()
	}
	for _, c := range dispatch.Commands() {
		if out := prints(append(strings.Fields(c.Name), "-h")...); !strings.HasPrefix(out, "git liza "+c.Name) || !strings.Contains(out, "--json") {
			t.Errorf("%s -h prints %q", c.Name, out)
		}
		if !slices.Contains(dispatch.Groups, c.Group) || c.Short == "" {
			t.Errorf("%s has no group or no description", c.Name)
		}
		group, _, two := strings.Cut(c.Name, " ")
		for _, args := range [][]string{{group}, {group, "-h"}, {group, "--help"}, {"help", group}} {
			if !two || len(args) == 1 && dispatch.Find(args) != nil {
				continue // the group is a command of its own
			}
			testrun.Contains(t, prints(args...), "  "+c.Name+" ", "%v prints", args)
		}
	}
}
