package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

type gitLab struct {
	*client
	at   Place
	repo string
	may  map[int]bool // whether a user may push
	me   string       // the account of the token, once it was asked for
}

const gitLabDraft = "Draft: "

// developer is GitLab's level of access from which a member may push.
const developer = 30

func newGitLab(c *client, at Place) *gitLab {
	c.base = at.Web + "/api/v4"
	c.auth = func(h http.Header, token string) { h.Set("PRIVATE-TOKEN", token) }
	return &gitLab{client: c, at: at, repo: "/projects/" + url.PathEscape(at.Repo), may: map[int]bool{}}
}

type gitLabUser struct {
	ID       int    `json:"id"`
	Username string `json:"username"`
	Bot      bool   `json:"bot"`
}

type gitLabPull struct {
	IID             int        `json:"iid"`
	WebURL          string     `json:"web_url"`
	Title           string     `json:"title"`
	Description     string     `json:"description"`
	State           string     `json:"state"`
	Draft           bool       `json:"draft"`
	SourceBranch    string     `json:"source_branch"`
	TargetBranch    string     `json:"target_branch"`
	SHA             string     `json:"sha"`
	MergeCommitSHA  string     `json:"merge_commit_sha"`
	SquashCommitSHA string     `json:"squash_commit_sha"`
	UpdatedAt       string     `json:"updated_at"`
	Author          gitLabUser `json:"author"`

	Reviewers []gitLabUser `json:"reviewers"`
}

func (p gitLabPull) value() *PullRequest {
	v := &PullRequest{Number: p.IID, URL: p.WebURL, Body: p.Description, State: Open, Draft: p.Draft,
		Base: p.TargetBranch, Branch: p.SourceBranch, Head: p.SHA, Author: p.Author.Username, Updated: p.UpdatedAt}
	v.Title, _ = undrafted(p.Title)
	for _, u := range p.Reviewers {
		v.reviewers = append(v.reviewers, u.ID)
	}
	switch p.State {
	case "closed", "locked":
		v.State = Closed
	case "merged":
		v.State, v.MergedAs = Merged, p.MergeCommitSHA
		if v.MergedAs == "" {
			v.MergedAs = p.SquashCommitSHA
		}
	}
	return v
}

func (g *gitLab) Find(ctx context.Context, head string) (*PullRequest, error) {
	if _, branch, fork := strings.Cut(head, ":"); fork {
		head = branch
	}
	var found []gitLabPull
	_, err := g.send(ctx, "list merge requests", http.MethodGet, g.repo+"/merge_requests?state=opened&source_branch="+url.QueryEscape(head), nil, &found)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].value(), nil
}

func (g *gitLab) Get(ctx context.Context, number int) (*PullRequest, error) {
	var p gitLabPull
	if _, err := g.send(ctx, fmt.Sprintf("show merge request %d", number), http.MethodGet, fmt.Sprintf("%s/merge_requests/%d", g.repo, number), nil, &p); err != nil {
		return nil, err
	}
	return p.value(), nil
}

func (g *gitLab) Open(ctx context.Context, w Wanted) (*PullRequest, error) {
	title := w.Title
	if w.Draft {
		title = gitLabDraft + title
	}
	in := map[string]any{"title": title, "description": w.Body, "target_branch": w.Base, "source_branch": w.Head}
	at := g.repo
	if owner, branch, fork := strings.Cut(w.Head, ":"); fork { // opened in the fork, for the project
		var project struct{ ID int }
		if _, err := g.send(ctx, "show the project", http.MethodGet, g.repo, nil, &project); err != nil {
			return nil, err
		}
		_, name, _ := strings.Cut(g.at.Repo[len(ownerOf(g.at.Repo)):], "/")
		at, in["source_branch"], in["target_project_id"] = "/projects/"+url.PathEscape(owner+"/"+name), branch, project.ID
	}
	var p gitLabPull
	_, err := g.send(ctx, "open a merge request", http.MethodPost, at+"/merge_requests", in, &p)
	if is(err, http.StatusConflict) {
		if found, also := g.Find(ctx, w.Head); also == nil && found != nil {
			return found, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return p.value(), nil
}

// Ask keeps the reviewers that were asked before: GitLab replaces the whole list.
func (g *gitLab) Ask(ctx context.Context, p *PullRequest, labels, reviewers []string) error {
	change := map[string]any{}
	if len(labels) > 0 {
		change["add_labels"] = strings.Join(labels, ",")
	}
	if len(reviewers) > 0 {
		ids, err := g.users(ctx, reviewers)
		if err != nil {
			return err
		}
		change["reviewer_ids"] = append(slices.Clone(p.reviewers), ids...)
	}
	if len(change) == 0 {
		return nil
	}
	_, err := g.send(ctx, "ask for reviews", http.MethodPut, fmt.Sprintf("%s/merge_requests/%d", g.repo, p.Number), change, nil)
	return err
}

// users finds the numbers of users by their names.
func (g *gitLab) users(ctx context.Context, names []string) ([]int, error) {
	var ids []int
	for _, name := range names {
		var found []gitLabUser
		if _, err := g.send(ctx, "find a user", http.MethodGet, "/users?username="+url.QueryEscape(name), nil, &found); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, &RefusedError{Host: g.host, Status: http.StatusNotFound, What: "ask for reviews", Said: "there is no user " + name}
		}
		ids = append(ids, found[0].ID)
	}
	return ids, nil
}

func (g *gitLab) Update(ctx context.Context, p *PullRequest, c Change) error {
	change := map[string]any{}
	if title := titled(p, c, gitLabDraft); title != nil {
		change["title"] = *title
	}
	if c.Body != nil {
		change["description"] = *c.Body
	}
	if len(change) == 0 {
		return nil
	}
	_, err := g.send(ctx, "change the merge request", http.MethodPut, fmt.Sprintf("%s/merge_requests/%d", g.repo, p.Number), change, nil)
	return err
}

// Reviews returns each note of an open discussion as a review: GitLab's reviews have no id that stays.
func (g *gitLab) Reviews(ctx context.Context, p *PullRequest) ([]Review, error) {
	type note struct {
		ID         int        `json:"id"`
		Author     gitLabUser `json:"author"`
		Body       string     `json:"body"`
		System     bool       `json:"system"`
		Resolvable bool       `json:"resolvable"`
		Resolved   bool       `json:"resolved"`
		CreatedAt  time.Time  `json:"created_at"`
		Position   *struct {
			NewPath string `json:"new_path"`
			NewLine int    `json:"new_line"`
			HeadSHA string `json:"head_sha"`
		} `json:"position"`
	}
	type discussion struct {
		Notes []note `json:"notes"`
	}
	all, err := list[discussion](ctx, g.client, "list discussions", fmt.Sprintf("%s/merge_requests/%d/discussions", g.repo, p.Number))
	if err != nil {
		return nil, err
	}
	var reviews []Review
	for _, d := range all {
		for _, n := range d.Notes {
			if n.System || n.Resolved {
				continue
			}
			writer, err := g.writes(ctx, n.Author.ID)
			if err != nil {
				return nil, err
			}
			r := Review{ID: strconv.Itoa(n.ID), Author: n.Author.Username, Bot: n.Author.Bot, Writer: writer, Rejects: n.Resolvable, At: n.CreatedAt, Text: n.Body}
			if at := n.Position; at != nil {
				r.Commit, r.Text, r.Comments = at.HeadSHA, "", []LineComment{{Path: at.NewPath, Line: at.NewLine, Text: n.Body}}
			}
			reviews = append(reviews, r)
		}
	}
	return reviews, nil
}

// writes reports whether a user may push.
func (g *gitLab) writes(ctx context.Context, user int) (bool, error) {
	if may, known := g.may[user]; known {
		return may, nil
	}
	var member struct {
		AccessLevel int `json:"access_level"`
	}
	_, err := g.send(ctx, "show a member", http.MethodGet, fmt.Sprintf("%s/members/all/%d", g.repo, user), nil, &member)
	if err != nil && !is(err, http.StatusForbidden, http.StatusNotFound) {
		return false, err
	}
	g.may[user] = member.AccessLevel >= developer
	return g.may[user], nil
}

func (g *gitLab) Checks(ctx context.Context, commit string) ([]Check, error) {
	type status struct {
		ID           int    `json:"id"`
		Name         string `json:"name"`
		Status       string `json:"status"`
		Description  string `json:"description"`
		TargetURL    string `json:"target_url"`
		AllowFailure bool   `json:"allow_failure"`
	}
	all, err := list[status](ctx, g.client, "list statuses", g.repo+"/repository/commits/"+url.PathEscape(commit)+"/statuses")
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, s := range all {
		state := Pending
		switch s.Status {
		case "success", "skipped", "manual":
			state = Passed
		case "failed", "canceled":
			state = Failed
			if s.AllowFailure {
				state = Passed
			}
		}
		checks = append(checks, Check{Name: s.Name, State: state, Text: s.Description, URL: s.TargetURL, commit: commit, run: strconv.Itoa(s.ID)})
	}
	return checks, nil
}

// Detail reads the end of a job's log. A status that another program reported has none.
func (g *gitLab) Detail(ctx context.Context, k Check) (string, error) {
	log, err := g.log(ctx, g.repo+"/jobs/"+k.run+"/trace")
	if log != "" {
		log = "the end of its log:\n" + log
	}
	return log, err
}

func (g *gitLab) Issue(ctx context.Context, number int) (*Issue, error) {
	var i struct {
		IID         int        `json:"iid"`
		WebURL      string     `json:"web_url"`
		Title       string     `json:"title"`
		Description string     `json:"description"`
		State       string     `json:"state"`
		Author      gitLabUser `json:"author"`
	}
	if _, err := g.send(ctx, fmt.Sprintf("show issue %d", number), http.MethodGet, fmt.Sprintf("%s/issues/%d", g.repo, number), nil, &i); err != nil {
		return nil, err
	}
	v := &Issue{Number: i.IID, URL: i.WebURL, Title: i.Title, Body: i.Description, Author: i.Author.Username, Open: i.State == "opened"}
	writer, err := g.writes(ctx, i.Author.ID)
	if writer {
		v.Writer, v.Association = true, "MEMBER"
	}
	return v, err
}

func (g *gitLab) Comment(ctx context.Context, issue int, marker, body string, begin bool) error {
	notes := fmt.Sprintf("%s/issues/%d/notes", g.repo, issue)
	me, err := g.Me(ctx)
	if err != nil {
		return err
	}
	return writeComment(ctx, g.client, notes, notes+"/", me, marker, body, http.MethodPut, begin)
}

func (g *gitLab) Label(ctx context.Context, issue int, labels []string) error {
	_, err := g.send(ctx, "set labels", http.MethodPut, fmt.Sprintf("%s/issues/%d", g.repo, issue), map[string]any{"add_labels": strings.Join(labels, ",")}, nil)
	return err
}

func (g *gitLab) Me(ctx context.Context) (string, error) {
	if g.me != "" {
		return g.me, nil
	}
	var me gitLabUser
	_, err := g.send(ctx, "name the owner of the token", http.MethodGet, "/user", nil, &me)
	g.me = me.Username
	return g.me, err
}

func (g *gitLab) PageOf(base, head string) string {
	q := url.Values{"merge_request[source_branch]": {head}, "merge_request[target_branch]": {base}}
	return fmt.Sprintf("%s/%s/-/merge_requests/new?%s", g.at.Web, g.at.Repo, q.Encode())
}
