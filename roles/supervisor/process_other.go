//go:build !unix

package supervisor

import (
	"os"
	"os/exec"
)

// There are no process groups here: the process alone is ended.
func isolate(*exec.Cmd) {}

func signalProcess(p *os.Process, _, _ bool) { _ = p.Kill() }

func groupLives(int) bool { return false }

func signalOf(*exec.ExitError) int { return 0 }

// birth can't tell processes of one number apart here.
func birth(int) string { return "" }
