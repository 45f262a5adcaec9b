package forge

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Kinds of hosts. Forgejo has Gitea's interface.
const (
	GitHub = "github"
	GitLab = "gitlab"
	Gitea  = "gitea"
)

// States of a pull request.
const (
	Open   = "open"
	Closed = "closed"
	Merged = "merged"
)

// States of a check.
const (
	Pending = "pending"
	Passed  = "passed"
	Failed  = "failed"
)

// PullRequest is a pull request or merge request.
type PullRequest struct {
	Number     int    `json:"number"`
	URL        string `json:"url"`
	Title      string `json:"title"`
	Body       string `json:"-"`
	State      string `json:"state"`
	Draft      bool   `json:"draft"`
	Base       string `json:"base"`   // a branch
	Branch     string `json:"branch"` // of the head
	Head       string `json:"head"`   // a commit
	MergedAs   string `json:"merged_as,omitempty"`
	Author     string `json:"author"`
	Updated    string `json:"updated"` // when the host last saw a change
	node       string // GitHub's id for GraphQL
	fromForkOf string
	reviewers  []int // GitLab's numbers of them
}

// Change is what Update changes of a pull request; nil leaves a field alone.
type Change struct {
	Title, Body *string
	Draft       *bool
}

// Wanted is a pull request to be opened. Head is a branch, with "OWNER:" in front for a fork.
type Wanted struct {
	Title, Body, Base, Head string
	Draft                   bool
}

// Review is a person's judgement of a pull request: a submitted review with its comments.
type Review struct {
	ID       string
	Author   string
	Bot      bool
	Writer   bool // may push to the repository
	Approves bool
	Rejects  bool
	Commit   string // the head that it is about, "" if unknown
	At       time.Time
	Text     string
	Comments []LineComment
}

// LineComment is a comment on a line of the changes.
type LineComment struct {
	Path, Text string
	Line       int  // 0 for the whole file
	Over       bool // it is resolved, or its line is no longer there
}

// Check is a result of the host's CI for a commit.
type Check struct {
	Name, State, Text, URL string

	commit string
	run    string // the host's number of it, "" if it has none
	job    bool   // the host's own CI ran it, and has its log
}

// Issue is an issue.
type Issue struct {
	Number              int
	URL, Title, Body    string
	Author, Association string
	Writer, Open        bool
}

// Host is one repository at a host.
type Host interface {
	// Find returns the open pull request of a branch, nil if there is none.
	Find(ctx context.Context, head string) (*PullRequest, error)
	Get(ctx context.Context, number int) (*PullRequest, error)
	// Open opens a pull request, or adopts the open one of the same head.
	Open(ctx context.Context, w Wanted) (*PullRequest, error)
	Update(ctx context.Context, p *PullRequest, c Change) error
	// Ask adds labels to a pull request, and asks people for a review.
	Ask(ctx context.Context, p *PullRequest, labels, reviewers []string) error
	Reviews(ctx context.Context, p *PullRequest) ([]Review, error)
	Checks(ctx context.Context, commit string) ([]Check, error)
	// Detail is what the host knows of a failed check beyond its text: failed steps, annotations and the last
	// hundred lines of its log; "" if it has nothing that the token may see.
	Detail(ctx context.Context, k Check) (string, error)
	Issue(ctx context.Context, number int) (*Issue, error)
	// Comment writes the comment of an issue that holds marker, in place of an earlier one of ours.
	// Without one it writes a first one only if begin is set.
	Comment(ctx context.Context, issue int, marker, body string, begin bool) error
	Label(ctx context.Context, issue int, labels []string) error
	// Me is the account of the token.
	Me(ctx context.Context) (string, error)
	// PageOf is the address where a person opens a pull request.
	PageOf(base, head string) string
}

// Place names a repository at a host, as the address of a remote does.
type Place struct {
	Name string // of the host, with its port if the address has one
	Repo string // its path, like "owner/name"
	Web  string // the address of the host for browsers: "https://HOST"
}

// PlaceOf reads the address of a remote: https://HOST/OWNER/NAME.git, ssh://git@HOST/…, git@HOST:OWNER/NAME.
func PlaceOf(remote string) (Place, error) {
	none := fmt.Errorf("%s is no address of a host for pull requests", clean(remote))
	if !strings.Contains(remote, "://") {
		host, repo, scp := strings.Cut(remote, ":")
		if !scp || strings.ContainsAny(host, "/\\") || len(host) == 1 {
			return Place{}, none
		}
		remote = "ssh://" + host + "/" + strings.TrimPrefix(repo, "/")
	}
	u, err := url.Parse(remote)
	if err != nil || u.Hostname() == "" || u.Scheme == "file" {
		return Place{}, none
	}
	repo := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if !strings.Contains(repo, "/") {
		return Place{}, none
	}
	p := Place{Name: u.Hostname(), Repo: repo, Web: "https://" + u.Hostname()}
	if u.Scheme == "http" || u.Scheme == "https" {
		p.Name, p.Web = u.Host, u.Scheme+"://"+u.Host
	}
	p.Name = strings.ToLower(p.Name)
	return p, nil
}

// clean removes a password from an address.
func clean(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return remote
}

// KindOf guesses the kind of a host by its name; "" for an unknown one.
func KindOf(host string) string {
	name, _, _ := strings.Cut(host, ":")
	switch {
	case name == "github.com", strings.HasPrefix(name, "github."):
		return GitHub
	case name == "gitlab.com", strings.HasPrefix(name, "gitlab."):
		return GitLab
	case name == "codeberg.org", strings.HasPrefix(name, "gitea."), strings.HasPrefix(name, "forgejo."):
		return Gitea
	}
	return ""
}

// Variables lists the environment variables that hold a token of a kind, the first one that is set counts.
func Variables(kind, host string) []string {
	switch {
	case kind == GitHub && host == "github.com":
		return []string{"GH_TOKEN", "GITHUB_TOKEN"}
	case kind == GitHub:
		return []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	case kind == GitLab:
		return []string{"GITLAB_TOKEN"}
	case kind == Gitea:
		return []string{"GITEA_TOKEN", "FORGEJO_TOKEN"}
	}
	return nil
}

// Tokens lists all variables that may hold a token of a host.
func Tokens() []string {
	return slices.Concat(Variables(GitHub, "github.com"), Variables(GitHub, ""), Variables(GitLab, ""), Variables(Gitea, ""))
}

// At returns the repository at a place. meter may be nil.
func At(kind string, at Place, token string, meter *Meter) (Host, error) {
	c := newClient(at, token, meter)
	switch kind {
	case GitHub:
		return newGitHub(c, at), nil
	case GitLab:
		return newGitLab(c, at), nil
	case Gitea:
		return newGitea(c, at), nil
	}
	return nil, fmt.Errorf("%q is no kind of host: %s, %s or %s", kind, GitHub, GitLab, Gitea)
}

// draftPrefixes are what GitLab and Gitea take for a draft's title.
var draftPrefixes = []string{"Draft: ", "WIP: ", "[WIP] ", "[Draft] "}

// undrafted returns a title without what makes it a draft's.
func undrafted(title string) (string, bool) {
	for _, p := range draftPrefixes {
		if len(title) >= len(p) && strings.EqualFold(title[:len(p)], p) {
			return title[len(p):], true
		}
	}
	return title, false
}

// titled returns the title of a change for hosts where the title marks a draft.
func titled(p *PullRequest, c Change, prefix string) *string {
	if c.Title == nil && c.Draft == nil {
		return nil
	}
	title, draft := p.Title, p.Draft
	if c.Title != nil {
		title = *c.Title
	}
	if c.Draft != nil {
		draft = *c.Draft
	}
	if draft {
		title = prefix + title
	}
	return &title
}

// segments escapes a path for the interfaces that take it in pieces.
func segments(repo string) string {
	parts := strings.Split(repo, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return path.Join(parts...)
}

// ownerOf is the part of a repository's path before its name.
func ownerOf(repo string) string {
	owner, _ := path.Split(repo)
	return strings.TrimSuffix(owner, "/")
}
