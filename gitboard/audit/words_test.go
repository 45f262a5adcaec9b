package audit

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// TestCommitFaults checks what is found in the head of a commit that differs from a board's in one
// thing.
func TestCommitFaults(t *testing.T) {
	const last, before = plumbing.OID("1111111111111111111111111111111111111111"), plumbing.OID("2222222222222222222222222222222222222222")
	for name, c := range map[string]struct {
		change func(l *entry)
		last   plumbing.OID
		want   string
	}{
		"nothing":                 {func(*entry) {}, last, ""},
		"two parents":             {func(l *entry) { l.commit.Parents = append(l.commit.Parents, before) }, last, "it has 2 parents: a board's history is one line"},
		"a parent of the first":   {func(*entry) {}, plumbing.ZeroOID, "the history is cut off here (a shallow clone?): what came before 1111111111 can't be proven"},
		"another parent":          {func(l *entry) { l.commit.Parents = []plumbing.OID{before} }, last, "it does not follow from 1111111111, which git lists before it"},
		"no parent":               {func(l *entry) { l.commit.Parents = nil }, last, "it does not follow from 1111111111, which git lists before it"},
		"the first":               {func(l *entry) { l.commit.Parents = nil }, plumbing.ZeroOID, ""},
		"the author's name":       {func(l *entry) { l.commit.Author.Name = "Eve" }, last, "the author is Eve <coder-1@liza>, and should be coder-1 <coder-1@liza>"},
		"the author's address":    {func(l *entry) { l.commit.Author.Email = "eve@example.org" }, last, "the author is coder-1 <eve@example.org>, and should be coder-1 <coder-1@liza>"},
		"no operation":            {func(l *entry) { l.opErr, l.commit.Author.Name = errors.New("none"), "Eve" }, last, ""},
		"a human without name":    {func(l *entry) { l.acted("", "ada@example.org") }, last, "the human who acted has no name or no address"},
		"a human without address": {func(l *entry) { l.acted("Ada", "") }, last, "the human who acted has no name or no address"},
		"a human":                 {func(l *entry) { l.acted("Ada", "ada@example.org") }, last, ""},
		"no committer's name":     {func(l *entry) { l.commit.Committer.Name = "" }, last, "the committer has no name or no address"},
		"no committer's address":  {func(l *entry) { l.commit.Committer.Email = "" }, last, "the committer has no name or no address"},
		"a bell in the name":      {func(l *entry) { l.commit.Committer.Name = "A\a" }, last, "the committer's name or address holds a control character"},
		"a bell in the address":   {func(l *entry) { l.commit.Committer.Email = "a\a" }, last, "the committer's name or address holds a control character"},
		"the author's zone": {func(l *entry) { l.commit.Author.When = l.commit.Author.When.In(time.FixedZone("", 3600)) },
			last, "the times of author and committer are not UTC"},
		"the committer's zone": {func(l *entry) { l.commit.Committer.When = l.commit.Committer.When.In(time.FixedZone("", 3600)) },
			last, "the times of author and committer are not UTC"},
		"the time": {func(l *entry) { l.commit.Committer.When = l.commit.Committer.When.Add(time.Second) },
			last, "the author's time is 2026-02-03T08:00:00Z, the committer's 2026-02-03T08:00:01Z"},
	} {
		at := time.Date(2026, 2, 3, 8, 0, 0, 0, time.UTC)
		l := &entry{
			op: board.Operation{Actor: board.Actor{ID: "coder-1", Role: roles.Coder}},
			commit: plumbing.Commit{Parents: []plumbing.OID{last}, Author: plumbing.Signature{Name: "coder-1", Email: "coder-1@liza", When: at},
				Committer: plumbing.Signature{Name: "Ada", Email: "ada@example.org", When: at}},
		}
		c.change(l)
		var found faults
		found.parents(l.commit, c.last)
		found.signatures(l)
		var texts []string
		for _, f := range found {
			texts = append(texts, f.Text)
		}
		if want := []string{c.want}; c.want == "" && len(texts) > 0 || c.want != "" && !slices.Equal(texts, want) {
			t.Errorf("%s: %q, not %q", name, texts, c.want)
		}
	}
}

// acted makes a human the author.
func (l *entry) acted(name, email string) {
	l.op.Actor = board.HumanActor(name, email)
	l.commit.Author.Name, l.commit.Author.Email = name, email
}

// TestWrongLines checks a comment against its file before and after a submission.
func TestWrongLines(t *testing.T) {
	file := func(text string) plumbing.Object { return plumbing.NewObject(plumbing.BlobObject, []byte(text)) }
	none, dir := plumbing.Object{}, plumbing.NewObject(plumbing.TreeObject, nil)
	for _, c := range []struct {
		deleted   bool
		lines     int
		now, base plumbing.Object
		want      string
	}{
		{false, 2, file("a\nb\n"), none, ""},
		{false, 2, file("a\n"), file("a\nb\n"), `it says that "a.go" has 2 lines, and it has 1`},
		{false, 2, none, file("a\nb\n"), `it is about "a.go", and there is no such file`},
		{false, 0, dir, none, `it is about "a.go", and there is no such file`},
		{true, 2, none, file("a\nb\n"), ""},
		{true, 2, dir, file("a\nb\n"), ""},
		{true, 2, file("a\nb\n"), file("a\nb\n"), `it says that the submission deletes "a.go", and it does not`},
		{true, 2, none, none, `it is about "a.go", and there is no such file`},
	} {
		says := &board.Comment{Path: "a.go", Lines: c.lines, Deleted: c.deleted}
		if got := wrongLines(says, c.now, c.base); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestWrongTests checks a submission's tests against those that it deletes.
func TestWrongTests(t *testing.T) {
	for _, c := range []struct {
		tests, deleted, gone []string
		want                 string
	}{
		{[]string{"a"}, nil, nil, ""},
		{[]string{"a"}, []string{"b"}, []string{"b", "c"}, ""},
		{[]string{"a", "b"}, []string{"b"}, []string{"b"}, `it names the test "b", which it deletes or empties`},
		{nil, []string{"b", "c"}, []string{"b"}, `it says that it deletes or empties the test "c", and does not`},
		{nil, nil, []string{"b"}, `it deletes or empties the test "b", and does not say so`},
	} {
		if got := wrongTests(&board.Submit{Tests: c.tests, DeletedTests: c.deleted}, c.gone); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestDifference checks how the first difference of two texts is shown.
func TestDifference(t *testing.T) {
	for _, c := range []struct{ got, want, says string }{
		{"a\nb", "a\nb", "nothing"},
		{"a\nc", "a\nb", `line 2 is "c", and should be "b"`},
		{"a", "a\nb", `line 2, "b", is missing`},
		{"a\nb", "a", `line 2, "b", should not be there`},
	} {
		if got := difference(c.got, c.want); got != c.says {
			t.Errorf("%s, not %s", got, c.says)
		}
	}
}

// TestAgentOf checks the marks of an agent's commit.
func TestAgentOf(t *testing.T) {
	for _, c := range []struct{ author, committer, message, want string }{
		{"ada@example.org", "ada@example.org", "change\n", ""},
		{"coder-1@liza", "ada@example.org", "change\n", "Somebody"},
		{"ada@example.org", "coder-1@liza", "change\n", "Somebody"},
		{"ada@example.org", "ada@example.org", "change\n\nLiza-Agent: coder-2\n", "coder-2"},
		{"ada@example.org", "ada@example.org", "change\n\nLiza-Agent: the kitchen\n", ""},
	} {
		who := plumbing.Signature{Name: "Somebody", Email: c.author}
		if got := agentOf(plumbing.Commit{Author: who, Committer: plumbing.Signature{Email: c.committer}, Message: c.message}); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestLandingEvidence checks which move of integration an operation records.
func TestLandingEvidence(t *testing.T) {
	s := board.NewState(board.NewMemory(), "")
	s.Changes()["tasks/alpha.yaml"] = &board.Task{ID: "alpha", ReviewBase: "base"}
	alpha, other := board.About{Task: "alpha"}, board.About{Task: "other"}
	for _, c := range []struct {
		p    board.Payload
		want string
	}{
		{&board.Merge{About: alpha, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: "t"}, "&{b m r false [ ] base t <nil> []}"},
		{&board.Merge{About: alpha, Before: "b", Failure: board.FailTest}, "<nil>"},
		{&board.FinishMerge{About: alpha, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: board.FastForward}, "&{base m r false [ ] base fast-forward <nil> []}"},
		{&board.FinishMerge{About: alpha, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: board.MergeCommitType}, "&{b m r false [ ] base merge-commit <nil> []}"},
		{&board.FinishMerge{About: other, Before: "b", MergeCommit: "m", ReviewCommit: "r", MergeType: board.FastForward}, "&{b m r false [ ]  fast-forward <nil> []}"},
		{&board.Land{Before: "b", Commit: "c", Files: []string{"f"}}, "&{b c  true [ ]   <nil> [f]}"},
		{&board.AddNote{}, "<nil>"},
	} {
		if got := fmt.Sprint(landingEvidenceOf(board.Operation{Payload: c.p}, s)); got != c.want {
			t.Errorf("%T: %s, not %s", c.p, got, c.want)
		}
	}
}
