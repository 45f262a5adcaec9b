package main

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrepo"
)

// long makes tests try every case, and more of each.
var long = flag.Bool("long", false, "tests in their long form, as far as -timeout lets them")

// timeLeft reports whether a long form may begin another case: it stops by itself before -timeout
// kills it.
func timeLeft(t *testing.T) bool {
	end, given := t.Deadline()
	return !*long || !given || time.Until(end) > 40*time.Second
}

// turns are groups of tests that start many programs. A run of all tests runs a part of each group,
// another part each day: all of a group have run after that many days.
var turns = []struct {
	days  int
	tests []string
}{
	{5, []string{"TestTeam", "TestTeamOfGoals", "TestTeamKilled", "TestTeamReviewsPlan", "TestTeamSizesItself"}},
	{4, []string{"TestClones", "TestClonesWithTroubles", "TestPlainFetches", "TestTrainsOfTwoClones"}},
	{5, []string{"TestTortureClones", "TestTortureDamage", "TestTortureWriters", "TestKilled", "TestTortureClocks"}},
	{4, []string{"TestNewOperation", "TestScreenConductsARun", "TestSupervisedAncestors", "TestTelemetry"}},
	{3, []string{
		"TestServersThatRefuse", "TestUnfitRemotes", "TestJoinsToRead", "TestPushesIntoAClone", "TestServedClone", "TestPushWithoutAnswer",
		"TestProjectsHooks", "TestProjectsCommands", "TestOverwrittenHooks", "TestCommitsWithoutTrailers", "TestHooksWithoutProgram",
	}},
	{3, []string{
		"TestForgedMerges", "TestForgedFinish", "TestFinishProves", "TestForgedSubmissions", "TestHiddenIntegration", "TestForgedApproval",
		"TestSettingsOfManyLines", "TestFastClocks", "TestMissingIntegration", "TestUnhookedServer", "TestLargeImportIsShared", "TestForgedBoardIsNoticed",
		"TestForgedTrailers", "TestUnrecordedWork", "TestUnrecordedWorkInAnothersName", "TestWorkBroughtBeside", "TestAliasesAndGrafts",
		"TestFutureDates", "TestPushWithoutAtomic", "TestServersHooks",
	}},
}

// takesTurn skips a test of a group on the days of the others.
func takesTurn(t *testing.T) {
	t.Helper()
	for _, group := range turns {
		if i := slices.Index(group.tests, t.Name()); i >= 0 {
			onDay(t, i, group.days)
			return
		}
	}
	t.Fatalf("%s is not among the tests that take turns", t.Name())
}

// onDay skips the case with number i of a test whose cases take turns over that many days.
func onDay(t *testing.T, i, days int) {
	t.Helper()
	if !testrepo.Due(t, i, days, time.Now()) {
		t.Skipf("its turn is another day (every %d days); LIZA_TEST_DAY=all, -run or -long runs it today", days)
	}
}
