// Command git-liza is `git liza`: a blackboard for teams of coding agents that is a git branch.
package main

import (
	"os"

	"github.com/git-liza/git-liza/cmd/internal/cli"
)

func main() { os.Exit(cli.OS().Main(os.Args[1:])) }
