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

// turns are groups of tests that start many programs. Each group is divided by days: a run of all
// tests runs a part of each group, another part each day, so that all of a group have run after that
// many days. The parts of a group take about the same processor time.
var turns = [][][]string{
	{ // the tests that take longest: more than three seconds of processor time each
		{
			"TestTeamKilled", "TestLinearizable/racing", "TestTeamReviewsPlan",
		},
		{
			"TestTeam", "TestTrains", "TestTeamOfGoals", "TestUnfitRemotes",
		},
		{
			"TestNewOperation", "TestNetworkRemotes/https", "TestTeamSizesItself", "TestLinearizable/in_turn",
		},
		{
			"TestLinearizable/shared", "TestNetworkRemotes/ssh", "TestKilled", "TestOnlyBranches/an_update_hook",
		},
		{
			"TestClones", "TestHosts/sshd_and_git-shell", "TestForgedFinish", "TestTortureClones",
		},
		{
			"TestHosts/gitolite", "TestTortureDamage", "TestTrainsOfTwoClones", "TestForgedMerges",
		},
		{
			"TestClonesWithTroubles", "TestOnlyBranches/gitolite's_RW", "TestHosts/nginx_and_http-backend",
			"TestPlainFetches", "TestScreenConductsARun",
		},
	},
	{ // the others
		{
			"TestLargeImportIsShared", "TestFastClocks", "TestEightWritersAndAHousekeeper/in_turn", "TestTelemetry",
			"TestFinishProves", "TestUnhookedServer", "TestOverwrittenHooks", "TestContainer", "TestAliasesAndGrafts",
			"TestUnrecordedWorkInAnothersName", "TestPlannerIsNotWokenAgain", "TestContainerIsEnded", "TestNoContainers",
			"TestWatchOnATerminal",
		},
		{
			"TestTortureWriters", "TestTeamOfTheGuide", "TestServersThatRefuse", "TestTortureClocks",
			"TestPushWithoutAtomic", "TestAgentEndsCleanly", "TestLeftLockIsTakenAway", "TestMissingIntegration",
			"TestGraceBehindAShell", "TestLeftToItsLease", "TestSprintBudget", "TestLiveScreen", "TestWatchIsAlive",
			"TestAbortAsks",
		},
		{
			"TestAgentsWork", "TestForgedSubmissions", "TestSettingsOfManyLines", "TestProjectsCommands",
			"TestForgedApproval", "TestCompletionInShells", "TestUnrecordedWork", "TestContinuedReviewer",
			"TestKilledSupervisorIsSucceeded", "TestWorkBroughtBeside", "TestHooksWithoutProgram", "TestAgentsAreAuthors",
			"TestWatchPosts", "TestWatchEscalates", "TestWatchOutlivesGit",
		},
		{
			"TestSupervisorStopsByItself", "TestRoundTrips", "TestEightWritersAndAHousekeeper/racing",
			"TestForgedBoardIsNoticed", "TestRejectedWorkIsItsAuthors", "TestServersHooks", "TestCommitsWithoutTrailers",
			"TestTrainFlakyTest", "TestJoinsToRead", "TestForgedTrailers", "TestWatchHaltsTheBoard", "TestHumansKey",
			"TestWatchPausesABrokenClone", "TestLiveScreenPlain", "TestWatchTakesATerminal",
		},
		{
			"TestSupervisedAncestors", "TestReadmeInstalls", "TestHiddenIntegration", "TestProjectsHooks",
			"TestPushesIntoAClone", "TestFutureDates", "TestServedClone", "TestPushWithoutAnswer", "TestIdleTeam",
			"TestBudgets", "TestRunMaxTime", "TestColoursOfSupervisors", "TestLiveScreenGivesTheTerminalBack",
			"TestLiveScreenStops", "TestWatchShowsOnTheDesktop",
		},
	},
}

// takesTurn skips a test of a group on the days of the others.
func takesTurn(t *testing.T) {
	t.Helper()
	for _, days := range turns {
		for i, tests := range days {
			if slices.Contains(tests, t.Name()) {
				onDay(t, i, len(days))
				return
			}
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
