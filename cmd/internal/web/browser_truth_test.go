//go:build !race

package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserTruth: what surrounds a page is as new as the page, and what somebody types in stays
// when it is no longer asked for.
func TestBrowserTruth(t *testing.T) {
	ctx := browser(t, 1)
	s := newShop(t)
	w := s.serve(options{})
	b := w.tab(ctx)
	b.do(chromedp.Navigate(w.url + "/?token=" + w.token))
	w.token = <-w.tokens
	b.until("the first page is followed", followed)

	// The mode, the count and the title, on a page that does not list what waits.
	b.do(chromedp.Navigate(w.url + "/graph"))
	b.until("the graph is followed", followed)
	s.must("", "pause", "--reason", "lunch")
	b.until("it says that the board is paused", text("#mode", "paused"))
	b.until("one more thing waits", `document.getElementById("waiting").textContent === "3" && document.title.startsWith("(3) Graph")`)
	s.must("", "resume")
	b.until("it says that the board runs", text("#mode", "running")+` && document.title.startsWith("(2)")`)
	b.do(chromedp.Navigate(w.url + "/task/pay"))
	b.until("a task is followed", followed)
	s.must("", "note", "--for", "pay", "one more")
	b.until("the note is there, and as much waits as before", text("dd", "one more")+` && document.getElementById("waiting").textContent === "2"`)

	// Somebody else answers what is being answered here.
	b.do(chromedp.Navigate(w.url + "/"))
	b.until("the inbox is followed", followed)
	const typed = `document.querySelector("#p-inbox .blocked textarea")`
	b.do(chromedp.SendKeys("#p-inbox .blocked textarea", "A long answer", chromedp.ByQuery))
	s.must("", "answer", "cart", "Euro")
	b.until("the answer is seen", text("#p-events", "answer(cart)"))
	b.until("the typed text is kept, with the news", typed+`.value === "A long answer" && `+text("#p-inbox li", "no longer waits"))
	s.must("", "finalize", "draft-one") // nothing is left
	b.until("all that waits is gone", `document.querySelectorAll("#p-inbox [data-rows] > li").length === 1`)
	b.until("the typed text is still kept", typed+`.value === "A long answer"`)
	b.leave(true) // the browser logs the refusal
	b.do(chromedp.Click("#p-inbox .blocked form button", chromedp.ByQuery))
	b.until("it is refused, and kept", text(".refused", "cart is UNCLAIMED")+` && document.querySelector("[name=text]").value === "A long answer"`)
	b.leave(false)

	// A verdict is being written on a submission that is taken back, and replaced by another.
	b.do(chromedp.Navigate(w.url + "/task/login"))
	b.until("a submission is followed", followed)
	b.do(chromedp.SendKeys("#p-verdict textarea", "Not yet", chromedp.ByQuery))
	s.must("coder-1", "withdraw", "login", "--reason", "a typo")
	b.until("no verdict is asked for", text("#p-verdict", "no longer waits"))
	s.worked("coder-1", "login", map[string]string{"login.go": "package login\n\nfunc Do() string { return \"all done\" }\n"})
	b.until("the next submission is seen", text("#p-story", "submission 3"))
	b.until("the typed text is kept, and a verdict is asked for", `document.querySelector("#p-verdict textarea").value === "Not yet" && !`+text("#p-verdict", "no longer waits"))
	s.must("", "claim-review", "login")
	b.until("the review is seen", text("#p-story", "review"))
	b.do(chromedp.Evaluate(`{ const t = document.querySelector("#p-verdict textarea"); t.value = ""; t.blur(); }`, nil))
	b.until("the verdict is on the submission that is there, as it is now", text("#p-verdict h2", "submission 3")+" && "+text("#p-verdict", "In review by"))

	// A page that comes back from the browser's memory asks for something new.
	b.do(chromedp.Navigate(w.url + "/"))
	b.until("the page is followed", followed)
	const request = `document.querySelector("form[action='/act/note'] [name=request]").value`
	var before, after string
	b.do(chromedp.Evaluate(request, &before), chromedp.Evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}))`, nil), chromedp.Evaluate(request, &after))
	if before == "" || before == after {
		t.Errorf("a form asks under %q, and under %q when its page is shown again", before, after)
	}
	b.well("truth")
}
