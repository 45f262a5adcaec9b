package gitboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
)

// ann is a human who asks for operations.
var ann = gitboard.Request{Actor: board.HumanActor("Ann", "ann@example.org")}

// A program opens the board of a repository, carries out operations, and reads the board.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := exec.Command("git", "init", "--quiet", dir).Run(); err != nil {
		panic(err)
	}
	b, err := gitboard.Open(ctx, dir, gitboard.Options{Writes: true})
	if err != nil {
		panic(err)
	}
	defer b.Close()
	greet := &board.AddTask{About: board.About{Task: "greet"}, Definition: board.Definition{Description: "Say hello", Kind: board.Doc, Priority: 3}}
	for _, operation := range []board.Payload{&board.Init{Goal: "A greeter", IntegrationBranch: "integration"}, greet} {
		done, err := b.Do(ctx, ann, gitboard.Just(operation))
		if err != nil {
			panic(err)
		}
		fmt.Println(done.Subject)
	}
	view, err := b.View(ctx)
	if err != nil {
		panic(err)
	}
	for _, task := range view.State.Tasks() {
		fmt.Println(task.ID, "is", task.Status)
	}
	// Output:
	// init: A greeter
	// add-task(greet): Say hello
	// greet is DRAFT
}

// An intent is decided on the newest board, and again after a lost race. A refusal is a sentence
// for its reader.
func ExampleBoard_Do() {
	ctx := context.Background()
	b := gitboard.OpenStore(testrepo.NewMemory(), "", gitboard.Options{})
	if _, err := b.Do(ctx, ann, gitboard.Just(&board.Init{Goal: "A greeter", IntegrationBranch: "integration"})); err != nil {
		panic(err)
	}
	next := func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		id := fmt.Sprint("task-", len(v.State.Tasks())+1)
		return &board.AddTask{About: board.About{Task: id}, Definition: board.Definition{Description: "Say hello", Kind: board.Doc, Priority: 3}}, nil, nil
	}
	for range 2 {
		done, err := b.Do(ctx, ann, next)
		if err != nil {
			panic(err)
		}
		fmt.Println(done.Subject)
	}
	_, err := b.Do(ctx, ann, gitboard.Just(&board.Finalize{About: board.About{Task: "task-2"}}))
	var refused *board.Refusal
	fmt.Println(errors.As(err, &refused), err)
	// Output:
	// add-task(task-1): Say hello
	// add-task(task-2): Say hello
	// true task-2 has no done_when
}
