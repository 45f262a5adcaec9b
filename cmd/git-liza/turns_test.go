package main

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
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
// tests runs a part of each group, another part each day, so that all of a group have run after
// that many days. The parts of a group take about the same processor time.
var turns = [][][]string{
	{ // the tests that take longest: more than three seconds of processor time each
		{
			"TestTeamKilled", "TestLinearizable/racing", "TestPlainFetches", "TestClonesWithTroubles/the_server_decides",
		},
		{
			"TestTeam", "TestTrains", "TestSessions/sharing.md", "TestLinearizable/shared_without_hooks",
		},
		{
			"TestLinearizable/shared", "TestNetworkRemotes/https", "TestHosts/nginx_and_http-backend",
			"TestAttacksOnAClone", "TestUnfitRemotes",
		},
		{
			"TestClones", "TestNetworkRemotes/ssh", "TestKilled", "TestForgedMerges", "TestScreenConductsARun",
			"TestTortureClones/the_server_decides",
		},
		{
			"TestHosts/gitolite", "TestHosts/sshd_and_git-shell", "TestTrainsOfTwoClones",
			"TestOnlyBranches/an_update_hook", "TestNewOperation",
		},
		{
			"TestClonesWithTroubles/no_hooks", "TestTortureDamage", "TestForgedFinish", "TestLinearizable/in_turn",
			"TestTeamOfGoals",
		},
		{
			"TestOnlyBranches/gitolite's_RW", "TestAttacksOnAServer", "TestTeamSizesItself", "TestTortureClones/no_hooks",
			"TestTeamReviewsPlan",
		},
	},
	{ // the others
		{
			"TestLargeImportIsShared", "TestTelemetry", "TestForgedApproval", "TestPushWithoutAtomic", "TestMovedTwice", "TestShallowPush", "TestLostServer",
			"TestAgentEndsCleanly", "TestContinuedReviewer", "TestLeftToItsLease", "TestForgedTrailers",
			"TestLiveScreen", "TestWatchEscalates",
		},
		{
			"TestTortureWriters", "TestHiddenIntegration", "TestSessions/walkthrough.md", "TestFinishProves",
			"TestOverwrittenHooks", "TestMissingIntegration", "TestBudgets", "TestSprintBudget", "TestHumansKey",
			"TestNoContainers", "TestWatchShowsOnTheDesktop",
		},
		{
			"TestAgentsWork", "TestServersThatRefuse", "TestRejectedWorkIsItsAuthors", "TestPushesIntoAClone",
			"TestFutureDates", "TestContainer", "TestGraceBehindAShell", "TestWorkBroughtBeside",
			"TestPlannerIsNotWokenAgain", "TestWatchOnATerminal", "TestHiddenRefs",
		},
		{
			"TestSupervisorStopsByItself", "TestSettingsOfManyLines", "TestProjectsCommands",
			"TestEightWritersAndAHousekeeper/racing", "TestCommitsWithoutTrailers", "TestPushWithoutAnswer",
			"TestKilledSupervisorIsSucceeded", "TestContainerIsEnded", "TestColoursOfSupervisors",
			"TestLiveScreenPlain", "TestAbortAsks",
		},
		{
			"TestSupervisedAncestors", "TestFastClocks", "TestForgedBoardIsNoticed", "TestServersHooks", "TestHosts/git_daemon",
			"TestUnhookedServer", "TestUnrecordedWork", "TestUnrecordedWorkInAnothersName", "TestWatchHaltsTheBoard",
			"TestAgentsAreAuthors", "TestLiveScreenStops", "TestLiveScreenStale", "TestLiveScreenOfASharedBoard", "TestWatchOutlivesGit",
		},
		{
			"TestReadmeInstalls", "TestTeamOfTheGuide", "TestProjectsHooks", "TestCompletionInShells",
			"TestServedClone", "TestJoinsToRead", "TestAliasesAndGrafts", "TestHooksWithoutProgram", "TestWatchPosts",
			"TestBranchesAreKept", "TestWatchIsAlive", "TestWatchTakesATerminal", "TestTortureNotes",
		},
		{
			"TestRoundTrips", "TestForgedSubmissions", "TestTortureClocks", "TestEightWritersAndAHousekeeper/in_turn",
			"TestLeftLockIsTakenAway", "TestTrainFlakyTest", "TestIdleTeam", "TestRunMaxTime",
			"TestWatchPausesABrokenClone", "TestLiveScreenGivesTheTerminalBack",
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
	if !testrun.Due(t, i, days, time.Now()) {
		t.Skipf("its turn is another day (every %d days); LIZA_TEST_DAY=all, -run or -long runs it today", days)
	}
}
