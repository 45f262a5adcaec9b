// A browser is another process, and the packages that drive it take long to compile.

//go:build !race

package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestConducted: in a run with a question, a rejection with comments on two lines
// and a trip of the circuit breaker, the human does everything in a browser.
func TestConducted(t *testing.T) {
	ctx := browser(t, 1)
	s := newRun(t)
	w := s.serve(options{})
	b := w.tab(ctx)
	b.do(chromedp.Navigate(w.url + "/?token=" + w.token))

	// The plan is approved.
	b.until("the drafts wait", text("#p-inbox .finalize", "t12-docs")+" && "+followed)
	b.do(chromedp.Click("#p-inbox .finalize form > button", chromedp.ByQuery))
	b.until("they are open", text(".flash", "finalize")+" && !"+text("#p-inbox", "t12-docs")+" && "+text(".tasks li", "t12-docs"))

	s.lands("coder-1", "t01-schema", 14)
	s.lands("coder-2", "t04-cart", 9)
	s.lands("coder-1", "t02-catalogue", 11)
	s.must("coder-1", "claim", "t03-search")
	s.clock.Pass(5 * time.Minute)
	s.must("coder-1", "block", "t03-search", "--reason", "The vision names no language: stemming differs between German and English", "--question", "Which languages do customers search in?", "--question", "Is a full scan good enough for 10 000 products?", "--attempted", "read specs/vision.md")
	s.submitted("coder-2", "t05-checkout", map[string]string{"t05-checkout.go": source("checkout", "price"), "t05-checkout_test.go": "package checkout\n"})

	// A submission is read, commented on in two places, and rejected.
	b.do(chromedp.Navigate(w.url + "/task/t05-checkout"))
	b.until("its diff is shown", text("#p-diff", "t05-checkout.go"))
	b.says("t05-checkout.go", 8, "An empty cart becomes an order: refuse it.")
	b.says("t05-checkout.go", 1, "Say which part.")
	b.do(chromedp.SendKeys("#p-verdict textarea[name=reason]", "Nearly there: see the comments.", chromedp.ByQuery))
	b.do(chromedp.Click("#p-verdict button[value=REJECTED]", chromedp.ByQuery))
	b.until("it is rejected", text("h1 .state", "rejected")+" && "+text(".flash", "claim-review"))
	s.must("coder-2", "claim", "t05-checkout")
	s.worked("coder-2", "t05-checkout", map[string]string{"t05-checkout.go": strings.Replace(source("checkout", "price"), "\treturn", "\tif len(items) == 0 {\n\t\treturn 0\n\t}\n\treturn", 1)})
	b.until("the page shows what became of the comments", text("#p-comments", "submission 2 changed it there")+" && "+text("#p-comments", "submission 2 changed the file, but not there"))

	// The breaker trips while a question is open and work continues.
	s.submitted("coder-1", "t08-login", map[string]string{"t08-login.go": source("login", "hash")})
	s.must("code-reviewer-1", "claim-review", "t08-login")
	s.must("planner-1", "note", "--for", "human", "May orders be exported with the customers' names, or is that against the privacy rules?")
	s.write(".git/liza/logs/coder-1.log", "[liza 2026-01-31T09:00:00Z] coder-1 begins\nReading specs/vision.md\n$ go test ./...\nok  \tshop/search\t0.4s\nThe vision names no language; I ask.\n")
	s.write(".git/liza/logs/coder-2.log", "$ go vet ./t05-checkout\nAll tests pass. Submitting.\n")
	for coder, id := range map[string]string{"coder-1": "t08-login", "coder-2": "t05-checkout"} {
		s.must(coder, "anomaly", "external_blocker", "--task", id, "blocker_service=payments.example")
	}
	if code, out, errs := s.run("planner-1", "analyze"); code != 1 {
		t.Fatalf("the breaker does not trip: %d %s%s", code, out, errs)
	}
	b.everyPage(w)
	b.do(chromedp.Navigate(w.url + "/"))
	b.until("the trip waits", text("#p-inbox .resolve", "payments.example")+" && "+followed)
	b.do(chromedp.SendKeys("#p-inbox .resolve textarea", "The provider was down; it is up again.", chromedp.ByQuery), chromedp.Click("#p-inbox .resolve form > button", chromedp.ByQuery))
	b.until("it is resolved", text(".flash", "resolve")+" && "+followed)
	b.until("the board stands", `document.querySelector("#p-inbox .resume form > button") !== null || document.querySelector(".mode-running") !== null`)
	b.do(chromedp.Evaluate(`{ const go = document.querySelector("#p-inbox .resume form > button"); if (go) go.click(); }`, nil))
	b.until("the board runs", `document.querySelector(".mode-running") !== null && `+followed)

	// Both questions are answered.
	b.do(chromedp.SendKeys("#p-inbox .blocked textarea", "German and English. A scan will do.", chromedp.ByQuery), chromedp.Click("#p-inbox .blocked form > button", chromedp.ByQuery))
	b.until("the task is answered", text(".flash", "t03-search")+" && !"+text("#p-inbox h3", "t03-search")+" && "+followed)
	b.do(chromedp.SendKeys("#p-inbox .question textarea", "Without names.", chromedp.ByQuery), chromedp.Click("#p-inbox .question form button", chromedp.ByQuery))
	b.until("the note is answered", text(".flash", "answer")+" && !"+text("#p-inbox", "privacy rules")+" && "+followed)

	// The second submission is approved, and the rest of the run needs no human.
	b.do(chromedp.Navigate(w.url + "/task/t05-checkout"))
	b.until("the second submission is shown", text("#p-diff h2", "Submission 2 of 2"))
	b.do(chromedp.Click("#p-verdict button[value=APPROVED]", chromedp.ByQuery))
	b.until("it is approved", text("h1 .state", "approved"))
	s.must("code-reviewer-1", "verdict", "t08-login", "APPROVED", "--checked", "tests", "--commit", "task/t08-login")
	s.must("code-reviewer-1", "merge", "t08-login")
	s.must("code-reviewer-1", "merge", "t05-checkout")
	s.must("coder-1", "claim", "t03-search")
	s.worked("coder-1", "t03-search", map[string]string{"t03-search.go": source("shop", "search")})
	s.judged("t03-search", 4)
	for i, p := range planOf() {
		if slices.Contains(onlyDone, p.id) || p.id == "t12-docs" {
			s.lands(fmt.Sprint("coder-", 1+i%2), p.id, 6)
		}
	}
	b.do(chromedp.Navigate(w.url + "/"))
	b.until("the goal waits", `document.querySelector("#p-inbox .goal-complete form > button") !== null && `+followed)
	b.do(chromedp.Click("#p-inbox .goal-complete form > button", chromedp.ByQuery))
	b.until("it is reached", text(".flash", "goal"))
	b.well("run")

	read := s.must("", "read")
	if n := strings.Count(read, "status: MERGED"); n != len(planOf()) || !strings.Contains(read, "German and English") {
		t.Errorf("%d of %d tasks are merged", n, len(planOf()))
	}
	s.must("", "verify")
}

// says comments on a line of the displayed diff.
func (b *tab) says(file string, line int, comment string) {
	b.t.Helper()
	number := fmt.Sprintf(`document.querySelector('form[data-say] input[value="%s"]').form.parentElement.querySelector("button[name=line][value='%d']")`, file, line)
	b.until("the line can be commented on", number+" !== null && "+followed)
	b.do(chromedp.Evaluate(number+".click()", nil), chromedp.WaitVisible(".saying textarea", chromedp.ByQuery))
	b.do(chromedp.SendKeys(".saying textarea", comment, chromedp.ByQuery), chromedp.Click(".saying button", chromedp.ByQuery))
	b.until("the comment is beside its line", text("tr.said .remark", comment)+" && "+followed)
}

// pictures lists the pages of which specs has a picture.
var pictures = map[string]string{"/": "now", "/task/t05-checkout?to=1&view=split": "task", "/graph?over=1": "graph", "/timeline": "timeline", "/sprint": "sprint"}

// everyPage opens every page at every width: none may scroll sideways. With LIZA_SHOTS=DIR it saves
// pictures there; with -update it renews those in specs.
func (b *tab) everyPage(w *site) {
	b.t.Helper()
	shots := os.Getenv("LIZA_SHOTS")
	at := ""
	for _, path := range []string{"/", "/task/t05-checkout", "/task/t05-checkout?to=1&view=split", "/task/t03-search", "/graph?over=1", "/timeline", "/history", "/agents", "/agent/coder-1", "/sprint", "/?at=" + w.git("rev-parse", "liza/state~20")} {
		for _, width := range []int64{390, 1280, 2560} {
			for _, scheme := range []string{"light", "dark"} {
				if scheme == "dark" && shots == "" {
					continue
				}
				features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
				var wide int64
				b.do(emulation.SetEmulatedMedia().WithFeatures(features), chromedp.EmulateViewport(width, 900))
				if path != at { // the same page is resized
					b.do(chromedp.Navigate(w.url + path))
					at = path
				}
				b.until(path+" is whole", `document.querySelector("footer") !== null`)
				b.do(chromedp.Evaluate("document.documentElement.scrollWidth", &wide))
				if wide > width {
					var who string
					b.do(chromedp.Evaluate(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, .graph, .file")).slice(0, 5).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 30)).join("; ")`, &who))
					b.t.Errorf("%s at %d is %d wide: %s", path, width, wide, who)
				}
				if name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-", "&", "-").Replace(path), "-"); shots != "" {
					b.picture(filepath.Join(shots, fmt.Sprintf("%.24s-%d-%s.png", name, width, scheme)), false)
				}
				if name := pictures[path]; name != "" && width == 1280 && scheme == "light" && *golden.Update {
					b.picture(filepath.Join("..", "..", "..", "specs", "pictures", "web-"+name+".webp"), true)
				}
			}
		}
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	b.well("pages")
}

// picture saves the visible part of a page if small, else the whole page.
func (b *tab) picture(file string, small bool) {
	b.t.Helper()
	var data []byte
	if small {
		b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			data, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(60).Do(ctx)
			return err
		}))
	} else {
		b.do(chromedp.FullScreenshot(&data, 100))
	}
	testrun.Check(b.t, os.MkdirAll(filepath.Dir(file), 0o755))
	testrun.Check(b.t, os.WriteFile(file, data, 0o644))
}
