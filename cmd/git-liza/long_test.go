package main

import (
	"fmt"
	"math/rand/v2"
	"os"
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

// seeded returns randomness: the same in every run, except with -long. The seed is logged;
// LIZA_TEST_SEED repeats a run.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if *testrun.Long {
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("LIZA_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("LIZA_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
