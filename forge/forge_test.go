package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// exchange is a request that a host expects, and its answer.
type exchange struct {
	wants  string // method, path and body
	status int
	answer string
	header http.Header
}

// hostOf is a repository at a host that expects requests in this order.
func hostOf(t *testing.T, kind string, all ...exchange) Host {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		if n >= len(all) || got != all[n].wants {
			t.Errorf("request %d is %s", n, got)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		e := all[n]
		n++
		for k, v := range e.header {
			w.Header()[k] = v
		}
		w.WriteHeader(e.status)
		io.WriteString(w, e.answer)
	}))
	t.Cleanup(func() {
		server.Close()
		if n != len(all) {
			t.Errorf("%d of %d requests", n, len(all))
		}
	})
	at := testrun.Must(PlaceOf(server.URL + "/ann/shop.git"))(t)
	return testrun.Must(At(kind, at, "s3cr3t", nil))(t)
}

// TestOpen opens a pull request at each kind of host, adopts one that is there, and marks it ready.
func TestOpen(t *testing.T) {
	for kind, all := range map[string][]exchange{
		GitHub: {
			{`POST /api/v3/repos/ann/shop/pulls {"base":"main","body":"B","draft":true,"head":"goal/x","title":"T"}`, 422, `{"message":"Validation Failed","errors":[{"message":"A pull request already exists"}]}`, nil},
			{`GET /api/v3/repos/ann/shop/pulls?state=open&head=ann%3Agoal%2Fx`, 200, `[{"number":7,"node_id":"N7","state":"open","draft":true,"title":"T","head":{"ref":"goal/x","sha":"a1"}}]`, nil},
			{`POST /api/graphql {"query":"mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }","variables":{"id":"N7"}}`, 200, `{"data":{}}`, nil},
		},
		GitLab: {
			{`POST /api/v4/projects/ann%2Fshop/merge_requests {"description":"B","source_branch":"goal/x","target_branch":"main","title":"Draft: T"}`, 409, `{"message":["Another open merge request already exists"]}`, nil},
			{`GET /api/v4/projects/ann%2Fshop/merge_requests?state=opened&source_branch=goal%2Fx`, 200, `[{"iid":7,"state":"opened","draft":true,"title":"Draft: T","source_branch":"goal/x","sha":"a1"}]`, nil},
			{`PUT /api/v4/projects/ann%2Fshop/merge_requests/7 {"title":"T"}`, 200, `{}`, nil},
		},
		Gitea: {
			{`POST /api/v1/repos/ann/shop/pulls {"base":"main","body":"B","head":"goal/x","title":"WIP: T"}`, 409, `{"message":"pull request already exists"}`, nil},
			{`GET /api/v1/repos/ann/shop/pulls?state=open&per_page=100&limit=50&page=1`, 200, `[{"number":7,"state":"open","title":"WIP: T","head":{"ref":"goal/x","sha":"a1"}}]`, nil},
			{`PATCH /api/v1/repos/ann/shop/pulls/7 {"title":"T"}`, 201, `{}`, nil},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			h := hostOf(t, kind, all...)
			p := testrun.Must(h.Open(t.Context(), Wanted{Title: "T", Body: "B", Base: "main", Head: "goal/x", Draft: true}))(t)
			if p.Number != 7 || !p.Draft || p.Title != "T" || p.Head != "a1" || p.State != Open {
				t.Errorf("%+v", p)
			}
			ready := false
			testrun.ErrorIs(t, h.Update(t.Context(), p, Change{Draft: &ready}), nil, "it ends")
		})
	}
}

// TestReviews reads what people said on the present lines, and who of them may push.
func TestReviews(t *testing.T) {
	for kind, all := range map[string][]exchange{
		GitHub: {
			{`GET /api/v3/repos/ann/shop/pulls/7/reviews?per_page=100&limit=50&page=1`, 200, `[{"id":1,"user":{"login":"bob"},"state":"CHANGES_REQUESTED","body":"louder","author_association":"MEMBER"},{"id":2,"user":{"login":"eve"},"state":"PENDING"}]`, nil},
			{`GET /api/v3/repos/ann/shop/pulls/7/comments?per_page=100&limit=50&page=1`, 200, `[{"pull_request_review_id":1,"path":"a.sh","line":3,"position":2,"body":"here"},{"pull_request_review_id":1,"path":"a.sh","position":null,"body":"outdated"}]`, nil},
		},
		GitLab: {
			{`GET /api/v4/projects/ann%2Fshop/merge_requests/7/discussions?per_page=100&limit=50&page=1`, 200,
				`[{"id":"1","notes":[{"id":1,"author":{"id":5,"username":"bob"},"body":"here","resolvable":true,"position":{"new_path":"a.sh","new_line":3}}]},{"id":"2","notes":[{"author":{"id":5},"body":"done","resolvable":true,"resolved":true}]},{"id":"3","notes":[{"system":true}]}]`, nil},
			{`GET /api/v4/projects/ann%2Fshop/members/all/5`, 200, `{"access_level":30}`, nil},
		},
		Gitea: {
			{`GET /api/v1/repos/ann/shop/pulls/7/reviews?per_page=100&limit=50&page=1`, 200, `[{"id":1,"user":{"login":"bob"},"state":"REQUEST_CHANGES","body":"louder","comments_count":2},{"id":2,"user":{"login":"eve"},"state":"COMMENT","dismissed":true}]`, nil},
			{`GET /api/v1/repos/ann/shop/collaborators/bob/permission`, 200, `{"permission":"write"}`, nil},
			{`GET /api/v1/repos/ann/shop/pulls/7/reviews/1/comments?per_page=100&limit=50&page=1`, 200, `[{"path":"a.sh","position":3,"body":"here"},{"path":"a.sh","position":4,"body":"resolved","resolver":{"login":"bob"}}]`, nil},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			got, err := hostOf(t, kind, all...).Reviews(t.Context(), &PullRequest{Number: 7})
			if err != nil || len(got) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			var open []LineComment
			for _, c := range got[0].Comments {
				if !c.Over {
					open = append(open, c)
				}
			}
			if got[0].ID != "1" || got[0].Author != "bob" || !got[0].Writer || !got[0].Rejects || fmt.Sprint(open) != "[{a.sh here 3 false}]" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestFaults reads each failure of a host as one sentence without the token.
func TestFaults(t *testing.T) {
	get := "GET /api/v3/repos/ann/shop/pulls/7"
	for name, e := range map[string]struct {
		exchange
		away bool
		says string
	}{
		"no right":       {exchange{get, 403, `{"message":"Resource not accessible by s3cr3t"}`, nil}, false, "refused to show pull request 7: Resource not accessible by (token) (403)"},
		"expired":        {exchange{get, 401, `{"message":"Bad credentials"}`, nil}, false, "Bad credentials (401)"},
		"a page":         {exchange{get, 200, `<html>sign in</html>`, nil}, true, "something else than the interface of a host"},
		"a failing page": {exchange{get, 502, `<html>s3cr3t</html>`, nil}, true, "it failed (502)"},
		"limit":          {exchange{get, 403, `{"message":"API rate limit exceeded"}`, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1893456000"}}}, true, "no more requests for now; again from 2030-01-01T00:00:00Z"},
		"too many":       {exchange{get, 429, ``, http.Header{"Retry-After": {"60"}, "Date": {"Sat, 28 Nov 2026 08:00:00 GMT"}}}, true, "again from 2026-11-28T08:01:00Z"},
		"another host":   {exchange{get, 302, ``, http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}}}, false, "has moved to http://127.0.0.1:1/elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hostOf(t, GitHub, e.exchange).Get(t.Context(), 7)
			var away *UnreachableError
			if err == nil || errors.As(err, &away) != e.away || !strings.Contains(err.Error(), e.says) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%v", err)
			}
		})
	}
	moved := hostOf(t, GitHub, exchange{`POST /api/v3/repos/ann/shop/issues/7/labels {"labels":["x"]}`, 301, ``, http.Header{"Location": {"/api/v3/repositories/1/issues/7/labels"}}})
	if err := moved.Label(t.Context(), 7, []string{"x"}); !is(err, http.StatusMovedPermanently) || !strings.Contains(err.Error(), "has moved") {
		t.Errorf("a renamed repository: %v", err)
	}
}

// TestChecks tells checks that failed from those that run or pass.
func TestChecks(t *testing.T) {
	h := hostOf(t, GitHub,
		exchange{`GET /api/v3/repos/ann/shop/commits/a1/check-runs?per_page=100`, 200, `{"check_runs":[{"name":"lint","status":"completed","conclusion":"failure","output":{"title":"2 errors"}},{"name":"unit","status":"in_progress"}]}`, nil},
		exchange{`GET /api/v3/repos/ann/shop/commits/a1/status?per_page=100`, 200, `{"statuses":[{"context":"ci","state":"success"}]}`, nil})
	got := testrun.Must(h.Checks(t.Context(), "a1"))(t)
	text, _ := json.Marshal(got)
	if want := `[{"Name":"lint","State":"failed","Text":"2 errors","URL":""},{"Name":"unit","State":"pending","Text":"","URL":""},{"Name":"ci","State":"passed","Text":"","URL":""}]`; string(text) != want {
		t.Errorf("%s", text)
	}
}

// TestAsk adds labels, and asks people for a review; at GitLab, where that replaces a list, next to others.
func TestAsk(t *testing.T) {
	for kind, all := range map[string][]exchange{
		GitHub: {
			{`POST /api/v3/repos/ann/shop/issues/7/labels {"labels":["agents"]}`, 200, `[]`, nil},
			{`POST /api/v3/repos/ann/shop/pulls/7/requested_reviewers {"reviewers":["bob"]}`, 201, `{}`, nil},
		},
		GitLab: {
			{`GET /api/v4/users?username=bob`, 200, `[{"id":5}]`, nil},
			{`PUT /api/v4/projects/ann%2Fshop/merge_requests/7 {"add_labels":"agents","reviewer_ids":[3,5]}`, 200, `{}`, nil},
		},
		Gitea: {
			{`GET /api/v1/repos/ann/shop/labels?per_page=100&limit=50&page=1`, 200, `[{"id":4,"name":"agents"}]`, nil},
			{`POST /api/v1/repos/ann/shop/issues/7/labels {"labels":[4]}`, 200, `[]`, nil},
			{`POST /api/v1/repos/ann/shop/pulls/7/requested_reviewers {"reviewers":["bob"]}`, 201, `{}`, nil},
		},
	} {
		h, p := hostOf(t, kind, all...), &PullRequest{Number: 7, reviewers: []int{3}}
		testrun.ErrorIs(t, errors.Join(h.Ask(t.Context(), p, []string{"agents"}, []string{"bob"}), h.Ask(t.Context(), p, nil, nil)), nil, "%s", kind)
	}
}

// TestDetail reads what a host has about a failed check, and the end of its log, which a store without the token
// has. What the token may not see is left out.
func TestDetail(t *testing.T) {
	var log strings.Builder
	log.WriteString("\ufeff2026-11-28T08:00:00.1234567Z ##[group]Run\n")
	for i := range 150 {
		fmt.Fprintf(&log, "2026-11-28T08:00:01.0000000Z \x1b[31mline %d\x1b[0m\r\n", i)
	}
	log.WriteString("10 %\r100 %\n" + strings.Repeat("x", 9000) + "\nexit 2\n")
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "s3cr3t") {
				t.Errorf("the store of logs gets the token in %s", name)
			}
		}
		io.WriteString(w, log.String())
	}))
	defer store.Close()
	elsewhere := http.Header{"Location": {store.URL + "/signed"}}
	job := `{"head_sha":"a1","steps":[{"name":"Set up","conclusion":"success"},{"name":"Run tests","conclusion":"failure"}]}`
	for name, c := range map[string]struct {
		kind   string
		checks []exchange
		detail []exchange
		begins string
		log    bool
	}{
		"GitHub's own CI": {GitHub, []exchange{
			{`GET /api/v3/repos/ann/shop/commits/a1/check-runs?per_page=100`, 200, `{"check_runs":[{"id":9,"name":"unit","status":"completed","conclusion":"failure","app":{"slug":"github-actions"}}]}`, nil},
			{`GET /api/v3/repos/ann/shop/commits/a1/status?per_page=100`, 200, `{}`, nil},
		}, []exchange{
			{`GET /api/v3/repos/ann/shop/check-runs/9/annotations?per_page=30`, 200, `[{"path":"a.go","start_line":3,"annotation_level":"failure","title":"vet","message":"a\nb"},{"path":"b.go","annotation_level":"notice"}]`, nil},
			{`GET /api/v3/repos/ann/shop/actions/jobs/9`, 200, job, nil},
			{`GET /api/v3/repos/ann/shop/actions/jobs/9/logs`, 302, ``, elsewhere},
		}, "a.go:3: failure: vet a b\nfailed step: Run tests\nthe end of its log:\nline 53\n", true},
		"another check at GitHub": {GitHub, []exchange{
			{`GET /api/v3/repos/ann/shop/commits/a1/check-runs?per_page=100`, 200, `{"check_runs":[{"id":9,"name":"unit","status":"completed","conclusion":"failure"}]}`, nil},
			{`GET /api/v3/repos/ann/shop/commits/a1/status?per_page=100`, 200, `{}`, nil},
		}, []exchange{{`GET /api/v3/repos/ann/shop/check-runs/9/annotations?per_page=30`, 403, `{"message":"Resource not accessible"}`, nil}}, "", false},
		"GitLab": {GitLab, []exchange{
			{`GET /api/v4/projects/ann%2Fshop/repository/commits/a1/statuses?per_page=100&limit=50&page=1`, 200, `[{"id":9,"name":"unit","status":"failed"}]`, nil},
		}, []exchange{{`GET /api/v4/projects/ann%2Fshop/jobs/9/trace`, 302, ``, elsewhere}}, "the end of its log:\nline 53\n", true},
		"a status at GitLab": {GitLab, []exchange{
			{`GET /api/v4/projects/ann%2Fshop/repository/commits/a1/statuses?per_page=100&limit=50&page=1`, 200, `[{"id":9,"name":"unit","status":"failed"}]`, nil},
		}, []exchange{{`GET /api/v4/projects/ann%2Fshop/jobs/9/trace`, 404, `{"message":"404 Not found"}`, nil}}, "", false},
		"Gitea's own CI": {Gitea, []exchange{
			{`GET /api/v1/repos/ann/shop/commits/a1/status?limit=50`, 200, `{"statuses":[{"context":"unit","status":"failure","target_url":"http://gitea/ann/shop/actions/runs/4/jobs/9"}]}`, nil},
		}, []exchange{
			{`GET /api/v1/repos/ann/shop/actions/jobs/9`, 200, job, nil},
			{`GET /api/v1/repos/ann/shop/actions/jobs/9/logs`, 302, ``, elsewhere},
		}, "failed step: Run tests\nthe end of its log:\nline 53\n", true},
		"an older Gitea": {Gitea, []exchange{
			{`GET /api/v1/repos/ann/shop/commits/a1/status?limit=50`, 200, `{"statuses":[{"context":"unit","status":"failure","target_url":"http://gitea/ann/shop/actions/runs/4/jobs/0"}]}`, nil},
		}, []exchange{{`GET /api/v1/repos/ann/shop/actions/jobs/0`, 200, strings.Replace(job, "a1", "b2", 1), nil}}, "", false},
		"another status at Gitea": {Gitea, []exchange{
			{`GET /api/v1/repos/ann/shop/commits/a1/status?limit=50`, 200, `{"statuses":[{"context":"unit","status":"failure","target_url":"https://ci.example/jobs/9"}]}`, nil},
		}, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := hostOf(t, c.kind, append(c.checks, c.detail...)...)
			checks := testrun.Must(h.Checks(t.Context(), "a1"))(t)
			got, err := h.Detail(t.Context(), checks[0])
			ends := "line 149\n100 %\n" + strings.Repeat("x", maxLine) + "…\nexit 2"
			if err != nil || !strings.HasPrefix(got, c.begins) || c.log && !strings.HasSuffix(got, ends) || c.begins == "" && got != "" {
				t.Errorf("%v: %q", err, got)
			}
		})
	}
}

// TestPlaceOf reads addresses of remotes.
func TestPlaceOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/ann/shop.git":        "github.com ann/shop https://github.com",
		"https://ann:s3cr3t@GitHub.com/ann/shop": "github.com ann/shop https://GitHub.com",
		"git@gitlab.com:group/sub/shop.git":      "gitlab.com group/sub/shop https://gitlab.com",
		"ssh://git@host.example:2222/ann/shop":   "host.example ann/shop https://host.example",
		"http://127.0.0.1:3000/ann/shop.git":     "127.0.0.1:3000 ann/shop http://127.0.0.1:3000",
	} {
		p, err := PlaceOf(address)
		if got := p.Name + " " + p.Repo + " " + p.Web; err != nil || got != want {
			t.Errorf("%s: %s, %v", address, got, err)
		}
	}
	for _, address := range []string{"/srv/shop.git", "../shop", "file:///srv/a/shop.git", `C:\shop`, "https://ann:s3cr3t@host/"} {
		if p, err := PlaceOf(address); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %+v, %v", address, p, err)
		}
	}
}

// TestUnchanged asks under a condition for what is known, and leaves a host alone that is near its limit.
func TestUnchanged(t *testing.T) {
	reset := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	left := 4000
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", fmt.Sprint(left))
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(reset.Unix()))
		w.Header().Set("ETag", `W/"1"`)
		if left == 4000 {
			io.WriteString(w, `{"number":7,"state":"open","updated_at":"2029-12-31T22:00:00Z"}`)
			return
		}
		testrun.Equal(t, r.Header.Get("If-None-Match"), `W/"1"`, "a known answer is asked for without its tag: %v", r.Header)
		w.WriteHeader(http.StatusNotModified)
	}))
	defer server.Close()
	at := testrun.Must(PlaceOf(server.URL + "/ann/shop.git"))(t)
	now := reset.Add(-90 * time.Minute)
	m := &Meter{Now: func() time.Time { return now }}
	h := testrun.Must(At(GitHub, at, "s3cr3t", m))(t)
	for _, left = range []int{4000, 500, 499} {
		p, err := h.Get(t.Context(), 7)
		if err != nil || p.Number != 7 || p.Updated != "2029-12-31T22:00:00Z" {
			t.Errorf("with %d requests left: %+v, %v", left, p, err)
		}
		if free, limited := m.Free(1, 120), left < 500; free.Equal(reset) != limited {
			t.Errorf("with %d requests left, the next is free at %s", left, free)
		}
	}
	m.until = time.Time{}
	if free := m.Free(1, 3); m.Sent() != 3 || !free.Equal(now.Add(time.Hour)) {
		t.Errorf("%d requests were sent, and a fourth of three is free at %s", m.Sent(), free)
	}
	now = now.Add(time.Hour)
	if m.Sent() != 0 {
		t.Errorf("after an hour, %d requests count", m.Sent())
	}
}
