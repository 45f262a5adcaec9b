package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// gitea has the interface of Gitea and Forgejo.
type gitea struct {
	repository
	may map[string]bool // whether an account may push
}

const giteaDraft = "WIP: "

func newGitea(c *client, at Place) *gitea {
	c.base = at.Web + "/api/v1"
	c.auth = func(h http.Header, token string) { h.Set("Authorization", "token "+token) }
	return &gitea{repository: repository{client: c, at: at, repo: "/repos/" + segments(at.Repo)}, may: map[string]bool{}}
}

type giteaPull struct {
	Number         int     `json:"number"`
	HTMLURL        string  `json:"html_url"`
	Title          string  `json:"title"`
	Body           string  `json:"body"`
	State          string  `json:"state"`
	Merged         bool    `json:"merged"`
	MergeCommitSHA string  `json:"merge_commit_sha"`
	UpdatedAt      string  `json:"updated_at"`
	User           account `json:"user"`
	Base           end     `json:"base"`
	Head           struct {
		end
		Repo *struct {
			Owner account `json:"owner"`
		} `json:"repo"`
	} `json:"head"`
}

func (p giteaPull) value() *PullRequest {
	v := &PullRequest{Number: p.Number, URL: p.HTMLURL, Body: p.Body, State: p.State,
		Base: p.Base.Ref, Branch: p.Head.Ref, Head: p.Head.SHA, Author: p.User.Login, Updated: p.UpdatedAt}
	v.Title, v.Draft = undrafted(p.Title)
	if p.Head.Repo != nil {
		v.fromForkOf = p.Head.Repo.Owner.Login
	}
	if p.Merged {
		v.State, v.MergedAs = Merged, p.MergeCommitSHA
	}
	return v
}

func (g *gitea) Find(ctx context.Context, head string) (*PullRequest, error) {
	owner, branch, fork := strings.Cut(head, ":")
	if !fork {
		owner, branch = ownerOf(g.at.Repo), head
	}
	open, err := list[giteaPull](ctx, g.client, "list pull requests", g.repo+"/pulls?state=open")
	if err != nil {
		return nil, err
	}
	for _, p := range open {
		if v := p.value(); v.Branch == branch && (v.fromForkOf == "" || strings.EqualFold(v.fromForkOf, owner)) {
			return v, nil
		}
	}
	return nil, nil
}

func (g *gitea) Get(ctx context.Context, number int) (*PullRequest, error) {
	var p giteaPull
	if _, err := g.send(ctx, fmt.Sprintf("show pull request %d", number), http.MethodGet, fmt.Sprintf("%s/pulls/%d", g.repo, number), nil, &p); err != nil {
		return nil, err
	}
	return p.value(), nil
}

func (g *gitea) Open(ctx context.Context, w Wanted) (*PullRequest, error) {
	title := w.Title
	if w.Draft {
		title = giteaDraft + title
	}
	var p giteaPull
	_, err := g.send(ctx, "open a pull request", http.MethodPost, g.repo+"/pulls",
		map[string]any{"title": title, "body": w.Body, "base": w.Base, "head": w.Head}, &p)
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

func (g *gitea) Ask(ctx context.Context, p *PullRequest, labels, reviewers []string) error {
	if len(labels) > 0 {
		if err := g.Label(ctx, p.Number, labels); err != nil {
			return err
		}
	}
	return g.review(ctx, p, reviewers)
}

// labels finds the numbers of labels by their names.
func (g *gitea) labels(ctx context.Context, names []string) ([]int, error) {
	type label struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	known, err := list[label](ctx, g.client, "list labels", g.repo+"/labels")
	if err != nil {
		return nil, err
	}
	var ids []int
next:
	for _, name := range names {
		for _, l := range known {
			if l.Name == name {
				ids = append(ids, l.ID)
				continue next
			}
		}
		return nil, &RefusedError{Host: g.host, Status: http.StatusNotFound, What: "set labels", Said: "there is no label " + strconv.Quote(name)}
	}
	return ids, nil
}

func (g *gitea) Update(ctx context.Context, p *PullRequest, c Change) error {
	change := map[string]any{}
	if title := titled(p, c, giteaDraft); title != nil {
		change["title"] = *title
	}
	if c.Body != nil {
		change["body"] = *c.Body
	}
	if len(change) == 0 {
		return nil
	}
	_, err := g.send(ctx, "change the pull request", http.MethodPatch, fmt.Sprintf("%s/pulls/%d", g.repo, p.Number), change, nil)
	return err
}

func (g *gitea) Reviews(ctx context.Context, p *PullRequest) ([]Review, error) {
	type review struct {
		ID          int       `json:"id"`
		User        account   `json:"user"`
		State       string    `json:"state"`
		Body        string    `json:"body"`
		CommitID    string    `json:"commit_id"`
		Dismissed   bool      `json:"dismissed"`
		SubmittedAt time.Time `json:"submitted_at"`
		Comments    int       `json:"comments_count"`
	}
	type comment struct {
		Path     string   `json:"path"`
		Position int      `json:"position"`
		Body     string   `json:"body"`
		Resolver *account `json:"resolver"`
	}
	of := fmt.Sprintf("%s/pulls/%d/reviews", g.repo, p.Number)
	reviews, err := list[review](ctx, g.client, "list reviews", of)
	if err != nil {
		return nil, err
	}
	var all []Review
	for _, r := range reviews {
		if r.Dismissed || r.State == "PENDING" || r.State == "REQUEST_REVIEW" {
			continue
		}
		writer, err := g.writes(ctx, r.User.Login)
		if err != nil {
			return nil, err
		}
		v := Review{ID: strconv.Itoa(r.ID), Author: r.User.Login, Bot: r.User.bot(), Writer: writer, Approves: r.State == "APPROVED", Rejects: r.State == "REQUEST_CHANGES",
			Commit: r.CommitID, At: r.SubmittedAt, Text: r.Body}
		if r.Comments > 0 {
			comments, err := list[comment](ctx, g.client, "list comments", fmt.Sprintf("%s/%d/comments", of, r.ID))
			if err != nil {
				return nil, err
			}
			for _, c := range comments {
				v.Comments = append(v.Comments, LineComment{Path: c.Path, Line: c.Position, Text: c.Body, Over: c.Resolver != nil})
			}
		}
		all = append(all, v)
	}
	return all, nil
}

// writes reports whether an account may push. Without the right to ask, the answer is no.
func (g *gitea) writes(ctx context.Context, login string) (bool, error) {
	if may, known := g.may[login]; known {
		return may, nil
	}
	var of struct {
		Permission string `json:"permission"`
	}
	_, err := g.send(ctx, "show a collaborator", http.MethodGet, fmt.Sprintf("%s/collaborators/%s/permission", g.repo, url.PathEscape(login)), nil, &of)
	if err != nil && !is(err, http.StatusForbidden, http.StatusNotFound) {
		return false, err
	}
	g.may[login] = of.Permission == "write" || of.Permission == "admin" || of.Permission == "owner"
	return g.may[login], nil
}

func (g *gitea) Checks(ctx context.Context, commit string) ([]Check, error) {
	all, err := statusesOf(ctx, g.client, commit, g.repo+"/commits/"+url.PathEscape(commit)+"/status?limit=50")
	for i := range all {
		if _, job, is := strings.Cut(all[i].URL, "/jobs/"); is && strings.Contains(all[i].URL, "/"+g.at.Repo+"/actions/runs/") && strings.Trim(job, "0123456789") == "" {
			all[i].run, all[i].job = job, true
		}
	}
	return all, err
}

// Detail reads the log of a job of Gitea's own CI.
func (g *gitea) Detail(ctx context.Context, k Check) (string, error) { return g.jobOf(ctx, k) }

func (g *gitea) Issue(ctx context.Context, number int) (*Issue, error) {
	v, err := g.repository.Issue(ctx, number)
	if err != nil {
		return nil, err
	}
	writer, err := g.writes(ctx, v.Author)
	if writer {
		v.Writer, v.Association = true, "COLLABORATOR"
	}
	return v, err
}

func (g *gitea) Label(ctx context.Context, issue int, labels []string) error {
	ids, err := g.labels(ctx, labels)
	if err != nil {
		return err
	}
	_, err = g.send(ctx, "set labels", http.MethodPost, fmt.Sprintf("%s/issues/%d/labels", g.repo, issue), map[string]any{"labels": ids}, nil)
	return err
}

func (g *gitea) PageOf(base, head string) string {
	return fmt.Sprintf("%s/%s/compare/%s...%s", g.at.Web, g.at.Repo, base, head)
}
