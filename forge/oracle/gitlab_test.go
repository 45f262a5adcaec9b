package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	gitlab "gitlab.com/gitlab-org/api/client-go"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// recorder answers as a project of GitLab, and keeps the requests: method, path, body and the wanted parameters.
func recorder(t *testing.T, params ...string) (address string, requests *[]string) {
	requests = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("PRIVATE-TOKEN") != "s3cr3t" {
			t.Errorf("%s has no token: %v", r.URL, r.Header)
		}
		text, _ := io.ReadAll(r.Body)
		var body any
		json.Unmarshal(text, &body)
		line, _ := json.Marshal(body) // sorted
		query := ""
		for _, name := range params {
			if r.URL.Query().Has(name) {
				query += " " + name + "=" + r.URL.Query().Get(name)
			}
		}
		*requests = append(*requests, fmt.Sprint(r.Method, " ", r.URL.EscapedPath(), query, " ", string(line)))
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/users"):
			io.WriteString(w, `[{"id":5,"username":"bob"}]`)
		case strings.HasSuffix(path, "/discussions"):
			io.WriteString(w, `[{"id":"d1","notes":[{"author":{"id":5,"username":"bob"},"body":"here","resolvable":true}]}]`)
		case strings.HasSuffix(path, "/notes") && r.Method == http.MethodGet:
			io.WriteString(w, `[{"id":3,"body":"<!-- m -->","author":{"username":"ann"}}]`)
		case strings.HasSuffix(path, "/user"):
			io.WriteString(w, `{"id":4,"username":"ann"}`)
		case strings.HasSuffix(path, "/merge_requests") && r.Method == http.MethodGet:
			io.WriteString(w, `[]`)
		case strings.HasSuffix(path, "/statuses"):
			io.WriteString(w, `[{"id":9,"name":"unit","status":"failed"}]`)
		default:
			io.WriteString(w, `{"id":70,"iid":7,"labels":[],"state":"opened","title":"Draft: T","draft":true,"sha":"a1"}`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// TestGitLab compares the requests with those of GitLab's own client for the same acts.
func TestGitLab(t *testing.T) {
	params := []string{"state", "source_branch", "username"}
	ctx, pid := context.Background(), "ann/shop"
	address, own := recorder(t, params...)
	at := testrun.Must(forge.PlaceOf(address + "/ann/shop.git"))(t)
	h := testrun.Must(forge.At(forge.GitLab, at, "s3cr3t", nil))(t)
	address, theirs := recorder(t, params...)
	client := testrun.Must(gitlab.NewClient("s3cr3t", gitlab.WithBaseURL(address)))(t)
	title, body, ready := "T2", "B2", false
	p := &forge.PullRequest{Number: 7, Title: "T", Draft: true}
	for name, act := range map[string][2]func() error{
		"find": {func() error { _, err := h.Find(ctx, "goal/x"); return err }, func() error {
			_, _, err := client.MergeRequests.ListProjectMergeRequests(pid, &gitlab.ListProjectMergeRequestsOptions{State: gitlab.Ptr("opened"), SourceBranch: gitlab.Ptr("goal/x")})
			return err
		}},
		"open": {func() error {
			_, err := h.Open(ctx, forge.Wanted{Title: "T", Body: "B", Base: "main", Head: "goal/x", Draft: true})
			return err
		}, func() error {
			_, _, err := client.MergeRequests.CreateMergeRequest(pid, &gitlab.CreateMergeRequestOptions{Title: gitlab.Ptr("Draft: T"), Description: gitlab.Ptr("B"), SourceBranch: gitlab.Ptr("goal/x"),
				TargetBranch: gitlab.Ptr("main")})
			return err
		}},
		"ask": {func() error { return h.Ask(ctx, p, []string{"a", "b"}, []string{"bob"}) }, func() error {
			_, _, found := client.Users.ListUsers(&gitlab.ListUsersOptions{Username: gitlab.Ptr("bob")})
			_, _, err := client.MergeRequests.UpdateMergeRequest(pid, 7, &gitlab.UpdateMergeRequestOptions{AddLabels: &gitlab.LabelOptions{"a", "b"}, ReviewerIDs: &[]int64{5}})
			return errors.Join(found, err)
		}},
		"show": {func() error { _, err := h.Get(ctx, 7); return err }, func() error { _, _, err := client.MergeRequests.GetMergeRequest(pid, 7, nil); return err }},
		"ready": {func() error { return h.Update(ctx, p, forge.Change{Title: &title, Body: &body, Draft: &ready}) }, func() error {
			_, _, err := client.MergeRequests.UpdateMergeRequest(pid, 7, &gitlab.UpdateMergeRequestOptions{Title: &title, Description: &body})
			return err
		}},
		"reviews": {func() error { _, err := h.Reviews(ctx, p); return err }, func() error {
			_, _, err := client.Discussions.ListMergeRequestDiscussions(pid, 7, nil)
			_, _, also := client.ProjectMembers.GetInheritedProjectMember(pid, 5)
			return errors.Join(err, also)
		}},
		"checks": {func() error {
			checks, err := h.Checks(ctx, "a1")
			if err == nil {
				_, err = h.Detail(ctx, checks[0])
			}
			return err
		}, func() error {
			_, _, err := client.Commits.GetCommitStatuses(pid, "a1", nil)
			_, _, also := client.Jobs.GetTraceFile(pid, 9)
			return errors.Join(err, also)
		}},
		"issue": {func() error { _, err := h.Issue(ctx, 12); return err }, func() error {
			_, _, err := client.Issues.GetIssue(pid, 12)
			_, _, also := client.ProjectMembers.GetInheritedProjectMember(pid, 0)
			return errors.Join(err, also)
		}},
		"label": {func() error { return h.Label(ctx, 12, []string{"a", "b"}) }, func() error {
			_, _, err := client.Issues.UpdateIssue(pid, 12, &gitlab.UpdateIssueOptions{AddLabels: &gitlab.LabelOptions{"a", "b"}})
			return err
		}},
		"comment": {func() error {
			return errors.Join(h.Comment(ctx, 12, "<!-- m -->", "<!-- m -->two", true), h.Comment(ctx, 12, "<!-- n -->", "<!-- n -->", true))
		}, func() error {
			_, _, err := client.Users.CurrentUser()
			_, _, listed := client.Notes.ListIssueNotes(pid, 12, nil)
			_, _, edited := client.Notes.UpdateIssueNote(pid, 12, 3, &gitlab.UpdateIssueNoteOptions{Body: gitlab.Ptr("<!-- m -->two")})
			_, _, again := client.Notes.ListIssueNotes(pid, 12, nil)
			_, _, made := client.Notes.CreateIssueNote(pid, 12, &gitlab.CreateIssueNoteOptions{Body: gitlab.Ptr("<!-- n -->")})
			return errors.Join(err, listed, edited, again, made)
		}},
	} {
		*own, *theirs = nil, nil
		testrun.Check(t, errors.Join(act[0](), act[1]()))
		if !slices.Equal(*own, *theirs) || len(*own) == 0 {
			t.Errorf("%s:\n%s\nnot\n%s", name, strings.Join(*own, "\n"), strings.Join(*theirs, "\n"))
		}
	}
}
