package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type gitHub struct {
	repository
	graphQL string
}

func newGitHub(c *client, at Place) *gitHub {
	g := &gitHub{repository: repository{client: c, at: at, repo: "/repos/" + segments(at.Repo)}}
	c.base, g.graphQL = at.Web+"/api/v3", at.Web+"/api/graphql"
	if at.Name == "github.com" {
		c.base, g.graphQL = "https://api.github.com", "https://api.github.com/graphql"
	}
	c.auth = func(h http.Header, token string) {
		h.Set("Authorization", "Bearer "+token)
		h.Set("Accept", "application/vnd.github+json")
		h.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	return g
}

type gitHubPull struct {
	Number         int        `json:"number"`
	NodeID         string     `json:"node_id"`
	HTMLURL        string     `json:"html_url"`
	Title          string     `json:"title"`
	Body           string     `json:"body"`
	State          string     `json:"state"`
	Draft          bool       `json:"draft"`
	MergedAt       *time.Time `json:"merged_at"`
	UpdatedAt      string     `json:"updated_at"`
	MergeCommitSHA string     `json:"merge_commit_sha"`
	User           account    `json:"user"`
	Base           end        `json:"base"`
	Head           end        `json:"head"`
}

// account is a user of GitHub or Gitea.
type account struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (a account) bot() bool { return a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]") }

// end is one end of a pull request of GitHub or Gitea.
type end struct {
	Ref string `json:"ref"`
	SHA string `json:"sha"`
}

func (p gitHubPull) value() *PullRequest {
	v := &PullRequest{Number: p.Number, URL: p.HTMLURL, Title: p.Title, Body: p.Body, State: p.State, Draft: p.Draft,
		Base: p.Base.Ref, Branch: p.Head.Ref, Head: p.Head.SHA, Author: p.User.Login, Updated: p.UpdatedAt, node: p.NodeID}
	if p.MergedAt != nil {
		v.State, v.MergedAs = Merged, p.MergeCommitSHA
	}
	return v
}

func (g *gitHub) Find(ctx context.Context, head string) (*PullRequest, error) {
	if !strings.Contains(head, ":") {
		head = ownerOf(g.at.Repo) + ":" + head
	}
	var found []gitHubPull
	_, err := g.send(ctx, "list pull requests", http.MethodGet, g.repo+"/pulls?state=open&head="+url.QueryEscape(head), nil, &found)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].value(), nil
}

func (g *gitHub) Get(ctx context.Context, number int) (*PullRequest, error) {
	var p gitHubPull
	_, err := g.send(ctx, fmt.Sprintf("show pull request %d", number), http.MethodGet, fmt.Sprintf("%s/pulls/%d", g.repo, number), nil, &p)
	if err != nil {
		return nil, err
	}
	return p.value(), nil
}

func (g *gitHub) Open(ctx context.Context, w Wanted) (*PullRequest, error) {
	var p gitHubPull
	_, err := g.send(ctx, "open a pull request", http.MethodPost, g.repo+"/pulls",
		map[string]any{"title": w.Title, "body": w.Body, "base": w.Base, "head": w.Head, "draft": w.Draft}, &p)
	if is(err, http.StatusUnprocessableEntity) { // there may be one already
		if found, also := g.Find(ctx, w.Head); also == nil && found != nil {
			return found, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return p.value(), nil
}

func (g *gitHub) Ask(ctx context.Context, p *PullRequest, labels, reviewers []string) error {
	if len(labels) > 0 {
		if err := g.Label(ctx, p.Number, labels); err != nil {
			return err
		}
	}
	return g.review(ctx, p, reviewers)
}

// review asks people for a review.
func (g *repository) review(ctx context.Context, p *PullRequest, people []string) error {
	if len(people) == 0 {
		return nil
	}
	_, err := g.send(ctx, "ask for reviews", http.MethodPost, fmt.Sprintf("%s/pulls/%d/requested_reviewers", g.repo, p.Number), map[string]any{"reviewers": people}, nil)
	return err
}

func (g *gitHub) Update(ctx context.Context, p *PullRequest, c Change) error {
	change := map[string]any{}
	if c.Title != nil {
		change["title"] = *c.Title
	}
	if c.Body != nil {
		change["body"] = *c.Body
	}
	if len(change) > 0 {
		if _, err := g.send(ctx, "change the pull request", http.MethodPatch, fmt.Sprintf("%s/pulls/%d", g.repo, p.Number), change, nil); err != nil {
			return err
		}
	}
	if c.Draft == nil || *c.Draft == p.Draft {
		return nil
	}
	mutation := "markPullRequestReadyForReview"
	if *c.Draft {
		mutation = "convertPullRequestToDraft"
	}
	var answer struct{ Errors []struct{ Message string } }
	query := "mutation($id: ID!) { " + mutation + "(input: {pullRequestId: $id}) { clientMutationId } }"
	_, err := g.send(ctx, "mark the pull request ready", http.MethodPost, g.graphQL, map[string]any{"query": query, "variables": map[string]string{"id": p.node}}, &answer)
	if err == nil && len(answer.Errors) > 0 {
		err = &RefusedError{Host: g.host, Status: http.StatusOK, Said: line(g.without(answer.Errors[0].Message)), What: "mark the pull request ready"}
	}
	return err
}

// mayWrite lists GitHub's associations of an author who may push.
var mayWrite = map[string]bool{"OWNER": true, "MEMBER": true, "COLLABORATOR": true}

func (g *gitHub) Reviews(ctx context.Context, p *PullRequest) ([]Review, error) {
	type review struct {
		ID                int       `json:"id"`
		User              account   `json:"user"`
		State             string    `json:"state"`
		Body              string    `json:"body"`
		CommitID          string    `json:"commit_id"`
		AuthorAssociation string    `json:"author_association"`
		SubmittedAt       time.Time `json:"submitted_at"`
	}
	type comment struct {
		PullRequestReviewID int    `json:"pull_request_review_id"`
		Path                string `json:"path"`
		Line                int    `json:"line"`
		Position            *int   `json:"position"`
		Body                string `json:"body"`
	}
	of := fmt.Sprintf("%s/pulls/%d", g.repo, p.Number)
	reviews, err := list[review](ctx, g.client, "list reviews", of+"/reviews")
	if err != nil {
		return nil, err
	}
	comments, err := list[comment](ctx, g.client, "list comments", of+"/comments")
	if err != nil {
		return nil, err
	}
	on := map[int][]LineComment{}
	for _, c := range comments {
		on[c.PullRequestReviewID] = append(on[c.PullRequestReviewID], LineComment{Path: c.Path, Line: c.Line, Text: c.Body, Over: c.Position == nil})
	}
	var all []Review
	for _, r := range reviews {
		if r.State == "PENDING" || r.State == "DISMISSED" {
			continue
		}
		all = append(all, Review{ID: strconv.Itoa(r.ID), Author: r.User.Login, Bot: r.User.bot(), Writer: mayWrite[r.AuthorAssociation],
			Approves: r.State == "APPROVED", Rejects: r.State == "CHANGES_REQUESTED", Commit: r.CommitID, At: r.SubmittedAt, Text: r.Body, Comments: on[r.ID]})
	}
	return all, nil
}

func (g *gitHub) Checks(ctx context.Context, commit string) ([]Check, error) {
	var runs struct {
		CheckRuns []struct {
			ID         int    `json:"id"`
			Name       string `json:"name"`
			Status     string `json:"status"`
			Conclusion string `json:"conclusion"`
			HTMLURL    string `json:"html_url"`
			Output     struct {
				Title, Summary, Text string
			} `json:"output"`
			App struct {
				Slug string `json:"slug"`
			} `json:"app"`
		} `json:"check_runs"`
	}
	of := g.repo + "/commits/" + url.PathEscape(commit)
	if _, err := g.send(ctx, "list checks", http.MethodGet, of+"/check-runs?per_page=100", nil, &runs); err != nil {
		return nil, err
	}
	var all []Check
	for _, r := range runs.CheckRuns {
		state := Pending
		if r.Status == "completed" {
			state = Failed
			if r.Conclusion == "success" || r.Conclusion == "neutral" || r.Conclusion == "skipped" {
				state = Passed
			}
		}
		all = append(all, Check{Name: r.Name, State: state, URL: r.HTMLURL, Text: strings.TrimSpace(strings.Join([]string{r.Output.Title, r.Output.Summary, r.Output.Text}, "\n")),
			commit: commit, run: strconv.Itoa(r.ID), job: r.App.Slug == "github-actions"})
	}
	statuses, err := statusesOf(ctx, g.client, commit, of+"/status?per_page=100")
	return append(all, statuses...), err
}

// Detail reads a check run's annotations and, of GitHub's own CI, the job with the same number.
func (g *gitHub) Detail(ctx context.Context, k Check) (string, error) {
	if k.run == "" {
		return "", nil
	}
	var all []struct {
		Path      string `json:"path"`
		StartLine int    `json:"start_line"`
		Level     string `json:"annotation_level"`
		Title     string `json:"title"`
		Message   string `json:"message"`
	}
	_, err := g.send(ctx, "list annotations", http.MethodGet, fmt.Sprintf("%s/check-runs/%s/annotations?per_page=%d", g.repo, k.run, maxAnnotations), nil, &all)
	if err != nil && !is(err, http.StatusForbidden, http.StatusNotFound) {
		return "", err
	}
	var lines []string
	for _, a := range all {
		if a.Level != "notice" {
			lines = append(lines, line(fmt.Sprintf("%s:%d: %s: %s %s", a.Path, a.StartLine, a.Level, a.Title, a.Message)))
		}
	}
	job, err := g.jobOf(ctx, k)
	return strings.TrimSpace(strings.Join(append(lines, job), "\n")), err
}

// maxAnnotations is how many annotations of a check are read.
const maxAnnotations = 30

// jobOf returns the failed steps of a job of GitHub's or Gitea's own CI, and the end of its log.
func (g *repository) jobOf(ctx context.Context, k Check) (string, error) {
	if !k.job {
		return "", nil
	}
	var job struct {
		HeadSHA string `json:"head_sha"`
		Steps   []struct {
			Name       string `json:"name"`
			Conclusion string `json:"conclusion"`
		} `json:"steps"`
	}
	at := g.repo + "/actions/jobs/" + k.run
	_, err := g.send(ctx, "show a job", http.MethodGet, at, nil, &job)
	switch {
	case is(err, http.StatusForbidden, http.StatusNotFound):
		return "", nil
	case err != nil, job.HeadSHA != k.commit: // an older Gitea has the job's place in its run for its number
		return "", err
	}
	var lines []string
	for _, s := range job.Steps {
		if s.Conclusion == "failure" {
			lines = append(lines, "failed step: "+line(s.Name))
		}
	}
	log, err := g.log(ctx, at+"/logs")
	if log != "" {
		lines = append(lines, "the end of its log:", log)
	}
	return strings.Join(lines, "\n"), err
}

// statusesOf reads the combined status of a commit, of GitHub or Gitea.
func statusesOf(ctx context.Context, c *client, commit, path string) ([]Check, error) {
	var combined struct {
		Statuses []struct {
			Context, Description string
			State, Status        string // GitHub and Gitea
			TargetURL            string `json:"target_url"`
		} `json:"statuses"`
	}
	if _, err := c.send(ctx, "list statuses", http.MethodGet, path, nil, &combined); err != nil {
		return nil, err
	}
	var all []Check
	for _, s := range combined.Statuses {
		state := Failed
		switch cmp.Or(s.State, s.Status) {
		case "success", "warning":
			state = Passed
		case "pending":
			state = Pending
		}
		all = append(all, Check{Name: s.Context, State: state, Text: s.Description, URL: s.TargetURL, commit: commit})
	}
	return all, nil
}

type gitHubIssue struct {
	Number            int       `json:"number"`
	HTMLURL           string    `json:"html_url"`
	Title             string    `json:"title"`
	Body              string    `json:"body"`
	State             string    `json:"state"`
	User              account   `json:"user"`
	AuthorAssociation string    `json:"author_association"`
	PullRequest       *struct{} `json:"pull_request"`
}

func (i gitHubIssue) value() *Issue {
	return &Issue{Number: i.Number, URL: i.HTMLURL, Title: i.Title, Body: i.Body, Author: i.User.Login,
		Association: i.AuthorAssociation, Writer: mayWrite[i.AuthorAssociation], Open: i.State == Open}
}

// repository is one of GitHub or Gitea, whose interfaces are alike where it serves both.
type repository struct {
	*client
	at   Place
	repo string // its path in the interface
	me   string // the account of the token, once it was asked for
}

// Issue returns an issue, and refuses a pull request, which has a number among them.
func (g *repository) Issue(ctx context.Context, number int) (*Issue, error) {
	var i gitHubIssue
	what := fmt.Sprintf("show issue %d", number)
	if _, err := g.send(ctx, what, http.MethodGet, fmt.Sprintf("%s/issues/%d", g.repo, number), nil, &i); err != nil {
		return nil, err
	}
	if i.PullRequest != nil {
		return nil, &RefusedError{Host: g.host, Status: http.StatusOK, What: what, Said: "it is a pull request"}
	}
	return i.value(), nil
}

func (g *repository) Comment(ctx context.Context, issue int, marker, body string, begin bool) error {
	me, err := g.Me(ctx)
	if err != nil {
		return err
	}
	return writeComment(ctx, g.client, fmt.Sprintf("%s/issues/%d/comments", g.repo, issue), g.repo+"/issues/comments/", me, marker, body, http.MethodPatch, begin)
}

// Me returns the account of the token.
func (g *repository) Me(ctx context.Context) (string, error) {
	if g.me != "" {
		return g.me, nil
	}
	var me account
	_, err := g.send(ctx, "name the owner of the token", http.MethodGet, "/user", nil, &me)
	g.me = me.Login
	return g.me, err
}

// comment is a comment on an issue of any host.
type comment struct {
	ID     int     `json:"id"`
	Body   string  `json:"body"`
	User   account `json:"user"`
	Author struct {
		Username string `json:"username"` // GitLab's
	} `json:"author"`
}

// writeComment edits our comment with the marker or, to begin, writes a first one.
func writeComment(ctx context.Context, c *client, all, one, me, marker, body, edit string, begin bool) error {
	known, err := list[comment](ctx, c, "list comments", all)
	if err != nil {
		return err
	}
	text := map[string]string{"body": body}
	for _, k := range known {
		if cmp.Or(k.User.Login, k.Author.Username) == me && strings.Contains(k.Body, marker) {
			if k.Body == body {
				return nil
			}
			_, err := c.send(ctx, "edit the comment", edit, one+strconv.Itoa(k.ID), text, nil)
			return err
		}
	}
	if begin {
		_, err = c.send(ctx, "write a comment", http.MethodPost, all, text, nil)
	}
	return err
}

func (g *gitHub) Label(ctx context.Context, issue int, labels []string) error {
	_, err := g.send(ctx, "set labels", http.MethodPost, fmt.Sprintf("%s/issues/%d/labels", g.repo, issue), map[string]any{"labels": labels}, nil)
	return err
}

func (g *gitHub) PageOf(base, head string) string {
	return fmt.Sprintf("%s/%s/compare/%s...%s?expand=1", g.at.Web, g.at.Repo, base, head)
}
