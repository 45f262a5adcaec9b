// Package testrun owns how the tests of all packages run: which have their turn today, where they
// keep their files, how often they collect garbage, and how they run git or what stands in for it.
// It is for tests alone.
//
// It may import nothing of ours.
package testrun

import (
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// DayVariable is the environment variable that stands for another day, or for all of them.
const DayVariable = "LIZA_TEST_DAY"

// Prepare is what a TestMain calls first: tests keep their files in memory, and collect garbage
// less often, as the command does.
func Prepare() {
	inMemory()
	debug.SetGCPercent(400)
}

// Due reports whether the case with number i of cases that take turns over so many days runs today.
// All of them do where LIZA_TEST_DAY is all, with -long, and with -run unless -short goes with it.
// A number in LIZA_TEST_DAY stands for another day.
func Due(t testing.TB, i, days int, now time.Time) bool {
	t.Helper()
	text := os.Getenv(DayVariable)
	if text == "all" || given("long", "true") || !given("test.run", "") && !testing.Short() {
		return true
	}
	day := int(now.Unix() / (24 * 60 * 60))
	if text != "" {
		if _, err := fmt.Sscan(text, &day); err != nil {
			t.Fatalf("%s: %v", DayVariable, err)
		}
	}
	return i%days == day%days
}

// given reports whether a flag exists and has a value.
func given(name, value string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() == value
}

// Turn is Due for cases that have a name instead of a number.
func Turn(t testing.TB, name string, days int, now time.Time) bool {
	t.Helper()
	return Due(t, int(crc32.ChecksumIEEE([]byte(name))), days, now)
}

// OneDayIn skips a test except on one day in so many, where Turn says so.
func OneDayIn(t testing.TB, days int, now time.Time) {
	t.Helper()
	if !Turn(t, t.Name(), days, now) {
		t.Skipf("this test has its turn on one day in %d", days)
	}
}

// Sample is OneDayIn fourteen in a short run, which takes a sample of the tests.
func Sample(t testing.TB, now time.Time) {
	t.Helper()
	if testing.Short() {
		OneDayIn(t, 14, now)
	}
}
