// Package testrun owns how the tests of all packages run: which cases only run with -long, where
// tests keep their files, how often they collect garbage, and how they run git or what stands in
// for it. It is for tests alone.
//
// It may import nothing of ours.
package testrun

import (
	"flag"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

// Long is the flag -long.
var Long = flag.Bool("long", false, "run every case of every table, and the long form of tests that have one, until -timeout ends them")

// A TestMain calls Prepare first: tests keep their files in memory and out of the user's caches, and
// collect garbage less often, as the command does.
func Prepare() {
	inMemory()
	ownCaches()
	debug.SetGCPercent(400)
}

// Caches is the name of the directory, among the temporary files, that stands in for the user's
// caches.
const Caches = "liza-caches"

// ownCaches moves the worktrees in which merges are tested from the user's caches to the temporary
// files. Go keeps its build cache.
func ownCaches() {
	caches, err := os.UserCacheDir()
	if err != nil {
		return
	}
	if os.Getenv("GOCACHE") == "" {
		os.Setenv("GOCACHE", filepath.Join(caches, "go-build"))
	}
	os.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), Caches))
}

// AllVariable is the environment variable with which every case of every table runs, without the
// long forms: a mutation run sets it.
const AllVariable = "LIZA_TEST_ALL"

var all = os.Getenv(AllVariable) != ""

// OneIn reports whether case i of a table runs: every n-th case does, and every case with -long.
func OneIn(n, i int) bool {
	return *Long || all || i%n == 0
}

// Some returns every n-th case of a table, in the order of their names, and every case with -long.
func Some[Case any](n int, table map[string]Case) iter.Seq2[string, Case] {
	return func(yield func(string, Case) bool) {
		for i, name := range slices.Sorted(maps.Keys(table)) {
			if OneIn(n, i) && !yield(name, table[name]) {
				return
			}
		}
	}
}

// LongOnly skips a test without -long.
func LongOnly(t testing.TB) {
	t.Helper()
	if !*Long {
		t.Skip("runs with -long only")
	}
}

// NotShort skips a test with -short.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() && !all {
		t.Skip("left out with -short")
	}
}
