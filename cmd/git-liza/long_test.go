package main

import (
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// timeLeft reports whether a long form may begin another case: it stops by itself before -timeout
// kills it.
func timeLeft(t *testing.T) bool {
	end, given := t.Deadline()
	return !*testrun.Long || !given || time.Until(end) > 40*time.Second
}
