//go:build !unix

package gitio

import "os/exec"

// group leaves a child as it is: there are no process groups here.
func group(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
