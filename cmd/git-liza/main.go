// Command git-liza is `git liza`: a blackboard for teams of coding agents that is a git branch.
//
// It may import cmd/internal/call and cmd/internal/cli.
package main

import (
	"os"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/cli"
)

func main() { os.Exit(cli.Main(call.OS(), os.Args[1:])) }
