package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

func TestTitle(t *testing.T) {
	for description, want := range map[string]string{
		"Add POST /login":                     "Add POST /login",
		"\nGreet by name. Say it aloud.":      "Greet by name",
		"Greet.":                              "Greet",
		"Read e.g. a CSV file\nwith a header": "Read e.g. a CSV file",
		strings.Repeat("word ", 20):           strings.TrimSpace(strings.Repeat("word ", 11)) + " wo...",
	} {
		task := &board.Task{Description: description}
		equal(t, "heading", task.Heading(), want)
		equal(t, "in the brief", task.Brief().Title, want)
	}
	s := begun(t)
	add := add("login")
	add.Title = strings.Repeat("x", board.MaxTitle+1)
	s.refused("invalid", planner, add, "title must be one line of at most 60 characters; it has 61")
	add.Title = "Log in"
	s.do(planner, add)
	equal(t, "own title", s.task("login").Heading(), "Log in")
	s.do(planner, &board.AmendTask{About: about("login"), Definition: board.Definition{Title: "Sign in"}, Set: []string{"title"}})
	equals(t, "amended", []any{s.task("login").Title, s.task("login").Last("amended").Was.Title}, []any{"Sign in", "Log in"})
}
