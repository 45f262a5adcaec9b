package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/specs"
)

var update = flag.Bool("update", false, "write the generated tables of the documents anew")

// tables makes each table that repeats what code says.
var tables = map[string]func() string{
	"transitions": func() string {
		rows := [][]string{{"From", "To", "Operation", "Who", "Condition"}}
		for _, t := range board.Transitions {
			to := string(t.To)
			if t.To == board.None {
				to = "(same)"
			}
			rows = append(rows, []string{joined(t.From, "(new)"), to, t.Op, joined(t.Who, ""), t.Note})
		}
		return table(rows)
	},
	"permissions": func() string {
		who := []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human}
		rows := [][]string{{"Operation", "planner", "coder", "code_reviewer", "human"}}
		for _, p := range roles.Permissions {
			row := []string{p.Op}
			for _, r := range who {
				yes := ""
				if slices.Contains(p.Roles, r) {
					yes = "yes"
				}
				row = append(row, yes)
			}
			rows = append(rows, row)
		}
		return table(rows)
	},
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
			rows = append(rows, []string{a.Type, joined(a.Who, ""), strings.Join(a.Details, ", ")})
		}
		return table(rows)
	},
	"commands": func() string {
		rows := [][]string{{"For", "Command", "What it does"}}
		for _, g := range groups {
			for _, c := range commands() {
				if c.group == g {
					rows = append(rows, []string{g, code(strings.TrimSpace(c.name + " " + c.args)), c.short})
				}
			}
		}
		return table(rows)
	},
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func joined[T ~string](words []T, empty string) string {
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

var generated = regexp.MustCompile(`(?s)<!-- generated: ([a-z-]+) -->\n(.*?)<!-- end -->`)

func TestGeneratedTables(t *testing.T) {
	found := map[string]bool{}
	for _, d := range specs.All() {
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
		if !*update {
			t.Errorf("%s.md repeats what code says, and says it otherwise; run go test ./cmd/internal/cli -run Tables -update", d.Name)
			continue
		}
		if err := os.WriteFile(filepath.Join("../../../specs", d.Name+".md"), []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name := range tables {
		if !found[name] {
			t.Errorf("no document has the table %s", name)
		}
	}
}

// The tables that say more than code does name just what the code has.
func TestStatesAndExitCodesInDocuments(t *testing.T) {
	lifecycle, _ := specs.Text("task-lifecycle")
	states := part(t, lifecycle, "states")
	for _, s := range board.Statuses {
		if strings.Count(states, "\n| "+string(s)+" |") != 1 {
			t.Errorf("the table of states has not one row of %s", s)
		}
	}
	if rows := strings.Count(states, "\n| ") - 1; rows != len(board.Statuses)-1 && rows != len(board.Statuses) {
		t.Errorf("the table of states has %d rows for %d states", rows, len(board.Statuses))
	}
	codes, _ := specs.Text("exit-codes")
	for n := range 6 {
		if !strings.Contains(part(t, codes, "exit-codes"), fmt.Sprintf("\n| %d |", n)) {
			t.Errorf("the table of exit codes has no row of %d", n)
		}
	}
}

func part(t *testing.T, text, name string) string {
	t.Helper()
	for _, m := range generated.FindAllStringSubmatch(text, -1) {
		if m[1] == name {
			return m[2]
		}
	}
	t.Fatalf("the table %s is missing", name)
	return ""
}

// called finds a command where it is written as code: in backquotes, in a command substitution, or at the
// beginning of a line.
var called = regexp.MustCompile("(?m)(?:`|^ *|\\$\\(|[A-Z_]+=\\S+ )git liza ([a-z][a-z-]*(?: [a-z]+)?)")

// Every command that a document or the README names exists.
func TestCommandsInDocumentsExist(t *testing.T) {
	texts := map[string]string{}
	for _, d := range specs.All() {
		texts[d.Name], _ = specs.Text(d.Name)
	}
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	texts["README"] = string(readme)
	seen := 0
	for name, text := range texts {
		for _, m := range called.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			seen++
			if words[0] != "help" && findCommand(words) == nil {
				t.Errorf("%s names `git liza %s`, which is no command", name, m[1])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found in the documents: the search is wrong", seen)
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range commands() {
		var out, errs bytes.Buffer
		app := &App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: t.TempDir()}
		if code := app.Run(context.Background(), append(strings.Fields(c.name), "-h")); code != 0 || errs.Len() > 0 {
			t.Errorf("%s -h: exit %d, %s", c.name, code, errs.String())
		}
		if !strings.HasPrefix(out.String(), "git liza "+c.name) || !strings.Contains(out.String(), "--json") {
			t.Errorf("%s -h prints %q", c.name, out.String())
		}
		if !slices.Contains(groups, c.group) || c.short == "" {
			t.Errorf("%s has no group or no description", c.name)
		}
	}
}
