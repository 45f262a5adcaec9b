// Command git-liza is `git liza`: a blackboard for teams of coding agents that is a git branch.
package main

import (
	"os"
	"runtime/debug"

	"github.com/git-liza/git-liza/cmd/internal/cli"
)

func main() {
	// A command lives for milliseconds: collecting garbage less often costs it nothing but memory.
	debug.SetGCPercent(400)
	os.Exit(cli.OS().Main(os.Args[1:]))
}
