// A browser is another process, and the packages that drive it take long to compile.

//go:build !race

package web_test

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// a tab is a page in a real browser, with the errors that occurred in it.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	bad []string
	// away is set while the server is expected not to answer.
	away bool
}

// browser starts Chromium, or skips the test if it is not installed. The tests in a browser with
// odd numbers run with -long only.
func browser(t *testing.T, number int) context.Context {
	t.Helper()
	if !testrun.OneIn(2, number) {
		testrun.LongOnly(t)
	}
	if testing.Short() {
		t.Skip("left out with -short: it takes a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium here: what a browser does with the pages was not tested")
	}
	if chromium != nil {
		return chromium
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.DisableGPU, chromedp.Flag("process-per-site", true)) // the fewest processes
	alloc, stop := chromedp.NewExecAllocator(context.Background(), o...)
	ctx, end := chromedp.NewContext(alloc)
	endBrowser = func() { end(); stop() }
	testrun.Check(t, chromedp.Run(ctx))
	chromium = ctx
	return ctx
}

// chromium is the browser shared by all tests, nil at first.
var chromium context.Context

// tab opens a page and records errors and requests to other hosts.
func (w *site) tab(ctx context.Context) *tab {
	w.t.Helper()
	ctx, end := chromedp.NewContext(ctx)
	w.t.Cleanup(end)
	ctx, late := context.WithTimeout(ctx, 10*time.Minute)
	w.t.Cleanup(late)
	b := &tab{t: w.t, ctx: ctx}
	home, _ := url.Parse(w.url)
	chromedp.ListenTarget(ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err != nil || u.Host != home.Host && u.Scheme != "data" && u.Scheme != "about" {
				b.bad = append(b.bad, "it asks for "+e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, "exception: "+e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				b.bad = append(b.bad, fmt.Sprint("console: ", e.Type))
			}
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError && !b.away {
				b.bad = append(b.bad, "log: "+e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	// Every tab counts as visible.
	b.do(network.Enable(), runtime.Enable(), cdplog.Enable(), emulation.SetFocusEmulationEnabled(true))
	return b
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	testrun.Check(b.t, chromedp.Run(b.ctx, actions...))
}

// until waits until an expression in the page is true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; {
		var is bool
		// The expression fails while a page is being left.
		if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, &is)); err == nil && is {
			return
		}
		select {
		case <-b.ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	var body string
	_ = chromedp.Run(b.ctx, chromedp.Text("body", &body, chromedp.ByQuery))
	b.t.Fatalf("not yet: %s\n%s", what, body)
}

// text is an expression that is true once an element contains a text.
func text(selector, want string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].some(e => e.textContent.includes(%q))", selector, want)
}

func (b *tab) well(where string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, bad := range b.bad {
		b.t.Errorf("%s: %s", where, bad)
	}
	b.bad = nil
}

func (b *tab) leave(away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

const followed = `document.body.dataset.link === "open"`

func TestBrowser(t *testing.T) {
	ctx := browser(t, 0)
	s := newShop(t)
	var kept sessions
	o := options{kept: &kept, listen: "127.0.0.1:" + testrun.FreePort(t)}
	w := s.serve(o)
	one := w.tab(ctx)
	one.do(chromedp.Navigate(w.url + "/?token=" + w.token))
	w.token = <-w.tokens
	one.until("the first page is shown and followed", followed+" && "+text("h2", "Waits for you"))
	two := w.tab(ctx)
	two.do(chromedp.Navigate(w.url + "/task/pay"))
	two.until("a second tab is followed", followed)

	// An operation appears in both tabs.
	s.must("coder-3", "claim", "pay")
	one.until("the task moves to those in work", text("#p-tasks-working li", "pay"))
	two.until("its page says so", text("h1 .state", "claimed"))
	one.well("live")

	// Text being typed is preserved, whatever else changes.
	one.do(chromedp.SendKeys("#p-inbox textarea", "Euro, of course", chromedp.ByQuery))
	s.must("", "note", "--for", "ship", "something else")
	one.until("the operation is seen", text("#p-events", "note"))
	one.until("the typed text is kept", `document.querySelector("#p-inbox textarea").value === "Euro, of course"`)

	// More pages than a browser's connections to one server are all kept up to date.
	var more []*tab
	for range 5 {
		b := w.tab(ctx)
		b.do(chromedp.Navigate(w.url + "/history"))
		more = append(more, b)
	}
	s.must("", "note", "--for", "ship", "for all of you")
	for i, b := range append(more, one, two) {
		b.until(fmt.Sprint("page ", i, " of seven is followed"), followed)
		if i < len(more) {
			b.until("the operation is seen", text("#p-operations", "for all of you"))
			b.well("one of many")
			b.do(chromedp.Navigate("about:blank"))
		}
	}

	// The answer is on the board.
	one.do(chromedp.Click("#p-inbox form button", chromedp.ByQuery))
	one.until("the page says what was done", text(".flash", "cart")+" && "+followed)
	one.until("the question is gone", "!"+text("#p-inbox h3", "cart"))
	testrun.Contains(t, s.must("", "read"), "Euro, of course", "the answer is not on the board")

	// Keys.
	one.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("j"))
	one.until("a row is marked", `document.querySelectorAll(".rows > li.at").length === 1`)
	one.do(chromedp.KeyEvent("?"))
	one.until("the keys are explained", `document.getElementById("help").open`)
	one.do(chromedp.KeyEvent("?"), chromedp.KeyEvent("/"))
	one.until("the filter has the focus", `document.activeElement.id === "search"`)
	one.do(chromedp.Evaluate(`document.getElementById("search").value = ""`, nil), chromedp.SendKeys("#search", "ship"+kb.Enter, chromedp.ByQuery))
	one.until("the tasks are filtered", `location.search.includes("q=ship") && !`+text(".tasks li", "login"))
	one.well("keys")

	// The slider shows the whole board at an earlier commit, and returns.
	one.do(chromedp.Navigate(w.url + "/?at=" + s.tip()[:12]))
	one.until("the past says so", text(".past", "The board as it was"))
	one.do(chromedp.Evaluate(`const r = document.getElementById("seek"); r.value = 3; r.dispatchEvent(new Event("input"))`, nil))
	one.until("the board after the third operation is shown", text(".past", "operation 3 of")+" && !"+text(".tasks li", "pay")+` && location.search.includes("at=")`)
	one.do(chromedp.Evaluate(`document.getElementById("seek").value = 20; document.getElementById("seek").dispatchEvent(new Event("input"))`, nil))
	one.until("a later one is shown", text(".past", "operation 20 of"))
	one.do(chromedp.Click(".past a", chromedp.ByQuery))
	one.until("and then now", followed)
	one.well("slider")

	// Open tabs follow a restarted server again.
	one.leave(true)
	two.leave(true)
	w.stop()
	one.until("the page says that the server is away", text("#link", "away"))
	s.must("", "note", "--for", "pay", "while nobody looked")
	again := s.serve(o)
	two.until("what happened meanwhile is seen", text("dd", "while nobody looked"))
	one.until("and what happens then", text("#p-events", "note"))
	one.leave(false)
	two.leave(false)
	s.must("", "note", "--for", "pay", "after it came back")
	two.until("the stream is alive", text("dd", "after it came back"))
	one.well("restart")
	two.well("second tab")
	again.stop()
	s.must("", "verify")
}
