package oracle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/git-liza/git-liza/forge"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// object is an object of JSON.
type object = map[string]any

// gitHub is a repository at a host that keeps pull requests and comments. Its requests and answers have to be
// valid by GitHub's description.
type gitHub struct {
	t        *testing.T
	router   routers.Router
	pulls    []object
	reviews  []object
	comments []object
	labels   []any
	asked    []any
	seen     map[string]bool // operations, as METHOD PATH
	store    string          // the address of a log
}

func newGitHub(t *testing.T) (*gitHub, forge.Host) {
	file := testrun.Must(os.Open("testdata/github.json.gz"))(t)
	defer file.Close()
	plain := testrun.Must(gzip.NewReader(file))(t)
	doc := testrun.Must(openapi3.NewLoader().LoadFromIoReader(plain))(t)
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "exit 2\n") }))
	t.Cleanup(store.Close)
	g := &gitHub{t: t, seen: map[string]bool{}, store: store.URL}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	doc.Servers = openapi3.Servers{{URL: server.URL + "/api/v3"}}
	g.router = testrun.Must(gorillamux.NewRouter(doc))(t)
	t.Cleanup(func() {
		for path, item := range doc.Paths.Map() {
			for method := range item.Operations() {
				if !g.seen[method+" "+path] {
					t.Errorf("%s %s is not used", method, path)
				}
			}
		}
	})
	at := testrun.Must(forge.PlaceOf(server.URL + "/ann/shop.git"))(t)
	h := testrun.Must(forge.At(forge.GitHub, at, "s3cr3t", nil))(t)
	return g, h
}

func (g *gitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/api/graphql" {
		g.draft(w, body)
		return
	}
	route, params, err := g.router.FindRoute(r)
	if err != nil {
		g.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	g.seen[r.Method+" "+route.Path] = true
	r.Body = io.NopCloser(bytes.NewReader(body))
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		g.t.Errorf("%s %s %s: %v", r.Method, r.URL, body, err)
	}
	var data object
	json.Unmarshal(body, &data)
	code, answer := g.answer(r.Method+" "+route.Path, params, data)
	if code == http.StatusFound {
		if route.Operation.Responses.Status(code) == nil {
			g.t.Errorf("%s %s sends nobody on", r.Method, r.URL)
		}
		http.Redirect(w, r, answer.(string), code)
		return
	}
	text, err := json.Marshal(complete(route.Operation.Responses.Status(code).Value.Content.Get("application/json").Schema.Value, answer))
	if err != nil {
		g.t.Error(err)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: code, Header: http.Header{"Content-Type": {"application/json"}}}
	if err := openapi3filter.ValidateResponse(r.Context(), out.SetBodyBytes(text)); err != nil {
		g.t.Errorf("the answer %s to %s %s: %v", text, r.Method, r.URL, err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(text)
}

// answer does what a request asks for.
func (g *gitHub) answer(request string, params map[string]string, in object) (code int, answer any) {
	const repo = "/repos/{owner}/{repo}"
	switch request {
	case "GET /user":
		return 200, object{"login": "ann", "user_view_type": "private"}
	case "GET " + repo + "/pulls":
		open := []any{}
		for _, p := range g.pulls {
			if p["state"] == "open" {
				open = append(open, p)
			}
		}
		return 200, open
	case "POST " + repo + "/pulls":
		for _, p := range g.pulls {
			if p["state"] == "open" {
				return 422, object{"message": "Validation Failed", "errors": []any{object{"code": "custom", "message": "A pull request already exists"}}}
			}
		}
		number := len(g.pulls) + 1
		g.pulls = append(g.pulls, object{"number": number, "node_id": fmt.Sprint("N", number), "state": "open", "title": in["title"], "body": in["body"], "draft": in["draft"],
			"base": object{"ref": in["base"]}, "head": object{"ref": in["head"], "sha": "a1"}, "user": object{"login": "ann"}})
		return 201, g.pulls[number-1]
	case "GET " + repo + "/pulls/{pull_number}", "PATCH " + repo + "/pulls/{pull_number}":
		p := g.pulls[len(g.pulls)-1]
		for k, v := range in {
			p[k] = v
		}
		return 200, p
	case "GET " + repo + "/pulls/{pull_number}/reviews":
		return 200, g.reviews
	case "GET " + repo + "/pulls/{pull_number}/comments":
		return 200, []any{object{"pull_request_review_id": 1, "path": "a.sh", "line": 3, "position": 2, "body": "here"}}
	case "POST " + repo + "/pulls/{pull_number}/requested_reviewers":
		g.asked = in["reviewers"].([]any)
		return 201, g.pulls[len(g.pulls)-1]
	case "GET " + repo + "/commits/{ref}/check-runs":
		return 200, object{"total_count": 1, "check_runs": []any{object{"id": 9, "name": "lint", "status": "completed", "conclusion": "failure", "app": object{"slug": "github-actions"}, "output": object{"title": "2 errors"}}}}
	case "GET " + repo + "/check-runs/{check_run_id}/annotations":
		return 200, []any{object{"path": "a.sh", "start_line": 3, "annotation_level": "failure", "title": "lint", "message": "no quotes"}}
	case "GET " + repo + "/actions/jobs/{job_id}":
		return 200, object{"id": 9, "head_sha": "a1", "steps": []any{object{"name": "Run lint", "conclusion": "failure"}}}
	case "GET " + repo + "/actions/jobs/{job_id}/logs":
		return http.StatusFound, g.store
	case "GET " + repo + "/commits/{ref}/status":
		return 200, object{"statuses": []any{object{"context": "ci", "state": "pending"}}}
	case "GET " + repo + "/issues/{issue_number}":
		return 200, object{"number": 12, "title": "Say goodbye", "body": "Guests leave, too.", "state": "open", "user": object{"login": "eve"}, "author_association": "NONE"}
	case "GET " + repo + "/issues/{issue_number}/comments":
		return 200, g.comments
	case "POST " + repo + "/issues/{issue_number}/comments":
		g.comments = append(g.comments, object{"id": len(g.comments) + 1, "body": in["body"], "user": object{"login": "ann"}})
		return 201, g.comments[len(g.comments)-1]
	case "PATCH " + repo + "/issues/comments/{comment_id}":
		g.comments[0]["body"] = in["body"]
		return 200, g.comments[0]
	case "POST " + repo + "/issues/{issue_number}/labels":
		g.labels = in["labels"].([]any)
		return 200, []any{object{"name": g.labels[0]}}
	}
	g.t.Errorf("%s is not answered", request)
	return 404, object{"message": "Not Found"}
}

// draft is the part of the interface that GitHub has in GraphQL alone.
func (g *gitHub) draft(w http.ResponseWriter, body []byte) {
	p := g.pulls[len(g.pulls)-1]
	switch text := string(body); {
	case !strings.Contains(text, `"id":"`+p["node_id"].(string)+`"`):
		g.t.Errorf("another pull request: %s", text)
	case strings.Contains(text, "markPullRequestReadyForReview(input: {pullRequestId: $id})"):
		p["draft"] = false
	case strings.Contains(text, "convertPullRequestToDraft(input: {pullRequestId: $id})"):
		p["draft"] = true
	default:
		g.t.Errorf("graphql: %s", text)
	}
	io.WriteString(w, `{"data":{}}`)
}

// complete adds to a value all that a schema requires.
func complete(s *openapi3.Schema, v any) any {
	for _, alternatives := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		for _, a := range alternatives {
			if v == nil || fits(a.Value, v) {
				return complete(a.Value, v)
			}
		}
	}
	for _, part := range s.AllOf {
		v = complete(part.Value, v)
	}
	switch {
	case s.Type.Is("array"):
		list := []any{}
		switch given := v.(type) {
		case []any:
			list = given
		case []object:
			for _, e := range given {
				list = append(list, e)
			}
		}
		for i := range list {
			list[i] = complete(s.Items.Value, list[i])
		}
		return list
	case s.Type.Is("object"):
		given, _ := v.(object)
		if v == nil && s.Nullable {
			return nil
		}
		all := object{}
		for k, e := range given {
			if all[k] = e; s.Properties[k] != nil {
				all[k] = complete(s.Properties[k].Value, e)
			}
		}
		for _, k := range s.Required {
			if _, is := all[k]; !is && s.Properties[k] != nil {
				all[k] = complete(s.Properties[k].Value, nil)
			}
		}
		return all
	case v != nil || s.Nullable:
		return v
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is("string"):
		return map[string]string{"date-time": "2026-11-28T08:00:00Z", "uri": "https://host.example/x", "email": "a@host.example"}[s.Format]
	case s.Type.Is("integer"), s.Type.Is("number"):
		return 1
	case s.Type.Is("boolean"):
		return false
	}
	return v
}

// fits reports whether a value has a schema's type.
func fits(s *openapi3.Schema, v any) bool {
	switch v.(type) {
	case object:
		return s.Type.Is("object")
	case []any, []object:
		return s.Type.Is("array")
	case string:
		return s.Type.Is("string")
	case bool:
		return s.Type.Is("boolean")
	}
	return s.Type.Is("integer") || s.Type.Is("number")
}

// TestGitHub leads a pull request from an issue to its end.
func TestGitHub(t *testing.T) {
	g, h := newGitHub(t)
	ctx := t.Context()
	issue := testrun.Must(h.Issue(ctx, 12))(t)
	if issue.Author != "eve" || issue.Writer || !issue.Open || issue.Body != "Guests leave, too." {
		t.Errorf("%+v", issue)
	}
	testrun.Check(t, h.Comment(ctx, 12, "<!-- m -->", "<!-- m -->\none", true))
	testrun.Check(t, h.Comment(ctx, 12, "<!-- m -->", "<!-- m -->\ntwo", false))
	if len(g.comments) != 1 || g.comments[0]["body"] != "<!-- m -->\ntwo" {
		t.Errorf("%v", g.comments)
	}
	if p, err := h.Find(ctx, "goal/x"); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	wanted := forge.Wanted{Title: "T", Body: "B", Base: "main", Head: "goal/x", Draft: true}
	p := testrun.Must(h.Open(ctx, wanted))(t)
	again := testrun.Must(h.Open(ctx, wanted))(t) // adopts it
	testrun.Check(t, h.Ask(ctx, p, []string{"agents"}, []string{"bob"}))
	if !p.Draft || again.Number != p.Number || p.Head != "a1" || p.Base != "main" || fmt.Sprint(g.labels, g.asked) != "[agents] [bob]" {
		t.Errorf("%+v, %+v, %v, %v", p, again, g.labels, g.asked)
	}
	title, body, ready := "T2", "B2", false
	testrun.Check(t, h.Update(ctx, p, forge.Change{Title: &title, Body: &body, Draft: &ready}))
	g.reviews = []object{{"id": 1, "user": object{"login": "bob"}, "state": "CHANGES_REQUESTED", "body": "louder", "commit_id": "a1", "author_association": "MEMBER", "submitted_at": "2026-11-28T08:00:00Z"}}
	reviews := testrun.Must(h.Reviews(ctx, p))(t)
	if len(reviews) != 1 || !reviews[0].Rejects || !reviews[0].Writer || fmt.Sprint(reviews[0].Comments) != "[{a.sh here 3 false}]" {
		t.Errorf("%+v", reviews)
	}
	checks := testrun.Must(h.Checks(ctx, "a1"))(t)
	if len(checks) != 2 || checks[0].Name != "lint" || checks[0].State != forge.Failed || checks[0].Text != "2 errors" || checks[1].State != forge.Pending {
		t.Errorf("%+v", checks)
	}
	detail := testrun.Must(h.Detail(ctx, checks[0]))(t)
	if detail != "a.sh:3: failure: lint no quotes\nfailed step: Run lint\nthe end of its log:\nexit 2" {
		t.Errorf("%q", detail)
	}
	if me, err := h.Me(ctx); me != "ann" || err != nil {
		t.Errorf("%s, %v", me, err)
	}
	g.pulls[0]["state"], g.pulls[0]["merged_at"], g.pulls[0]["merge_commit_sha"] = "closed", "2026-11-28T09:00:00Z", "c1"
	now := testrun.Must(h.Get(ctx, p.Number))(t)
	if now.State != forge.Merged || now.MergedAs != "c1" || now.Title != "T2" || now.Body != "B2" || now.Draft {
		t.Errorf("%+v", now)
	}
}
