package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The tasks of a run, each with what it waits for.
var runTasks = []struct{ id, depends, desc string }{
	{"t01-schema", "", "Lay out the tables for products, carts and orders"},
	{"t02-catalogue", "t01-schema", "List products by category, with prices and stock"},
	{"t03-search", "t02-catalogue", "Find products by words, the best match first"},
	{"t04-cart", "t01-schema", "Keep a cart for each visitor"},
	{"t05-checkout", "t04-cart", "Turn a cart into an order, with address and payment"},
	{"t06-payment", "t05-checkout", "Charge a card by the provider that the spec names"},
	{"t07-mail", "t05-checkout", "Send a confirmation for each order"},
	{"t08-login", "t01-schema", "Let customers log in with a password"},
	{"t09-profile", "t08-login", "Show a customer their orders"},
	{"t10-admin", "t02-catalogue,t08-login", "Let staff change prices and stock"},
	{"t11-export", "t05-checkout", "Export the orders of a month as CSV"},
	{"t12-docs", "", "Describe how to install and run the shop"},
}

// newRun is a run of twelve tasks and four agents, amid its work.
func newRun(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.must("", "config", "set", "require_tests", "off")
	for _, r := range runTasks {
		args := []string{"--depends", r.depends}
		if r.id != "t12-docs" {
			args = append(args, "--ready")
		}
		s.must("planner-1", append([]string{"add-task", "--id", r.id, "--desc", r.desc, "--done", "go test ./" + r.id + " prints ok", "--scope", "IN: " + r.id, "--spec", "specs/vision.md"}, args...)...)
		s.passes(20 * time.Second)
	}
	s.lands("coder-1", "t01-schema", 14)
	s.lands("coder-2", "t04-cart", 9)
	s.lands("coder-1", "t02-catalogue", 11)
	s.submitted("coder-2", "t05-checkout", map[string]string{"t05-checkout.go": source("checkout", "price"), "t05-checkout_test.go": "package checkout\n"})
	s.passes(4 * time.Minute)
	s.must("code-reviewer-1", "claim-review", "t05-checkout")
	s.passes(6 * time.Minute)
	s.must("code-reviewer-1", "verdict", "t05-checkout", "REJECTED", "--commit", "task/t05-checkout", "--blocker", "t05-checkout.go:9|an empty cart becomes an order|customers pay nothing|refuse an empty cart", "--overall", "Nearly there.")
	s.submitted("coder-1", "t08-login", map[string]string{"t08-login.go": source("login", "hash")})
	s.must("coder-2", "claim", "t05-checkout")
	s.worked("coder-2", "t05-checkout", map[string]string{"t05-checkout.go": strings.Replace(source("checkout", "price"), "\treturn", "\tif len(items) == 0 {\n\t\treturn 0\n\t}\n\treturn", 1)})
	s.must("coder-1", "claim", "t03-search")
	s.passes(5 * time.Minute)
	s.must("coder-1", "block", "t03-search", "--reason", "The vision names no language: stemming differs between German and English", "--question", "Which languages do customers search in?", "--question", "Is a full scan good enough for 10 000 products?", "--attempted", "read specs/vision.md")
	s.must("", "unblock", "t03-search")
	s.must("coder-1", "claim", "t03-search")
	s.passes(2 * time.Minute)
	s.must("coder-1", "block", "t03-search", "--reason", "The vision names no language: stemming differs between German and English", "--question", "Which languages do customers search in?", "--question", "Is a full scan good enough for 10 000 products?", "--attempted", "read specs/vision.md")
	s.must("planner-1", "note", "--for", "human", "May orders be exported with the customers' names, or is that against the privacy rules?")
	s.must("code-reviewer-1", "claim-review", "t08-login")
	s.write(".git/liza/logs/coder-1.log", "[liza 2026-01-31T09:00:00Z] coder-1 begins\nReading specs/vision.md\n$ go test ./...\nok  \tshop/search\t0.4s\nThe vision names no language; I ask.\n")
	s.write(".git/liza/logs/coder-2.log", "$ go vet ./t05-checkout\nAll tests pass. Submitting.\n")
	return s
}

// lands takes a task from its claim to its merge, within minutes.
func (s *scene) lands(coder, id string, minutes int) {
	s.t.Helper()
	s.submitted(coder, id, map[string]string{id + ".go": source("shop", id[4:])})
	s.passes(time.Duration(minutes) * time.Minute / 2)
	s.must("code-reviewer-1", "claim-review", id)
	s.passes(time.Duration(minutes) * time.Minute / 2)
	s.must("code-reviewer-1", "verdict", id, "APPROVED", "--commit", "task/"+id)
	s.must("code-reviewer-1", "merge", id)
}

func source(pkg, name string) string {
	return fmt.Sprintf("// Package %s is a part of the shop.\npackage %s\n\nimport \"strings\"\n\n// %s adds up what was asked for; 0 for nothing.\nfunc %s(items []string) int {\n\ttotal := 0\n\treturn total + len(strings.Join(items, \", \"))\n}\n", pkg, pkg, "Of"+name, "Of"+name)
}
