package main

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestIdeal pins the makespans against which teams are measured: with merges in a reviewer's time,
// and with a lane for them.
func TestIdeal(t *testing.T) {
	want := [][2]int{{57, 56}, {150, 84}, {48, 48}, {51, 49}, {65, 68}, {57, 56}, {57, 56}, {57, 56}, {36, 35}}
	for i, row := range makespans {
		testrun.Equal(t, [2]int{row.ideal(true), row.ideal(false)}, want[i], "%s", row.name)
	}
}
