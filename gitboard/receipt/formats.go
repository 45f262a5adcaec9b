package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/git-liza/git-liza/gitboard/text"
)

// maxAnnotations is how many annotations of one kind GitHub shows of a step.
const maxAnnotations = 10

// maxSummary is how many bytes of a step's summary GitHub takes, with room for other parts of the
// step.
const maxSummary = 900 << 10

// Line is the result in one line.
func (r *Result) Line() string {
	if !r.OK() {
		return fmt.Sprintf("%s does not pass: %s", r.Range, text.Plural(len(r.Failures), "failure"))
	}
	line := fmt.Sprintf("%s passes: %s by %s of %s", r.Range, text.Plural(r.Commits, "commit"), text.Plural(len(r.Moves), "recorded move"), r.Integration)
	return line + fmt.Sprintf("; board %s..%s, %s, %d signed", r.Board.Root.Short(), r.Board.Tip.Short(), text.Plural(r.Counts.Proven, "proven operation"), r.Counts.Signed)
}

// Line is a move in one line.
func (m *Move) Line() string {
	if m.Task == "" {
		return fmt.Sprintf("%s  landed by %s%s", m.Commit.Short(), m.By.ID, m.testLine())
	}
	var by []string
	for _, a := range m.Approvals {
		by = append(by, a.By.ID+" ("+a.By.Class+")")
	}
	return fmt.Sprintf("%s  %s: by %s, approved by %s%s", m.Commit.Short(), m.Task, m.WrittenBy.ID, strings.Join(by, ", "), m.testLine())
}

func (m *Move) testLine() string {
	if m.Test == "" {
		return ", not tested"
	}
	return ", tested"
}

// Escapes of GitHub's workflow commands: of a message, and of a property's value.
var (
	ghMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	ghProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub is the result as annotations of a workflow's step, at most ten, the worst first. Texts of
// the board can't form a command of their own.
func (r *Result) GitHub() string {
	var b strings.Builder
	for i, f := range r.Failures {
		if i == maxAnnotations-1 && len(r.Failures) > maxAnnotations {
			fmt.Fprintf(&b, "::error title=%s::%s\n", ghProperty.Replace("git liza check"), ghMessage.Replace(fmt.Sprintf("and %d more failures: see the summary", len(r.Failures)-i)))
			break
		}
		fmt.Fprintf(&b, "::error title=%s::%s\n", ghProperty.Replace("git liza check: "+string(f.Code)), ghMessage.Replace(f.advice()))
	}
	b.WriteString(ghMessage.Replace(inert(r.Line())) + "\n")
	return b.String()
}

// inert keeps a line from beginning a command of GitHub's.
func inert(line string) string { return strings.ReplaceAll(line, "::", ": :") }

func (f Failure) advice() string {
	if f.Hint == "" {
		return text.Line(f.Text, 2000)
	}
	return text.Line(f.Text, 2000) + " (" + f.Hint + ")"
}

// markdown keeps a text from being read as Markdown or HTML within a table.
var markdown = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "@", "&#64;", "#", "&#35;", "!", "&#33;", "\\", "&#92;", "\n", " ", "\r", " ")

// Summary is the result in Markdown, of bounded size.
func (r *Result) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### git liza check\n\n%s\n\n", markdown.Replace(r.Line()))
	row := func(cells ...string) bool {
		line := "|"
		for _, cell := range cells {
			line += " " + markdown.Replace(text.Line(cell, 500)) + " |"
		}
		if b.Len()+len(line) > maxSummary {
			b.WriteString("\nThe rest is left out: git liza check --format json\n")
			return false
		}
		b.WriteString(line + "\n")
		return true
	}
	if len(r.Failures) > 0 {
		b.WriteString("| Check | Failure |\n|---|---|\n")
		for _, f := range r.Failures {
			if !row(string(f.Code), f.advice()) {
				return b.String()
			}
		}
		b.WriteString("\n")
	}
	if len(r.Moves) > 0 {
		b.WriteString("| Commit | Work | By | Approved by | Test |\n|---|---|---|---|---|\n")
	}
	for _, m := range r.Moves {
		work, by, approvers := m.Task, m.WrittenBy.ID, []string{}
		if work == "" {
			work, by = "landing", m.By.ID
		}
		for _, a := range m.Approvals {
			approvers = append(approvers, a.By.ID+" ("+a.By.Class+")")
		}
		if !row(m.Commit.Short(), work, by, strings.Join(approvers, ", "), m.Test) {
			return b.String()
		}
	}
	return b.String()
}

// GitLab is the result as a code quality report.
func (r *Result) GitLab() ([]byte, error) {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		CheckName   string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	all := []issue{}
	for _, f := range r.Failures {
		sum := sha256.Sum256([]byte(string(f.Code) + "\x00" + string(f.Commit) + "\x00" + f.Task + "\x00" + f.Text))
		severity := "major"
		if f.Exit() == 4 {
			severity = "blocker"
		}
		all = append(all, issue{f.advice(), "git-liza-check/" + string(f.Code), hex.EncodeToString(sum[:]), severity, location{PolicyFile, lines{1}}})
	}
	return json.MarshalIndent(all, "", "  ")
}

// JUnit is the result as a report of tests, one for each check.
func (r *Result) JUnit() []byte {
	var cases bytes.Buffer
	failed := 0
	for _, code := range Checks {
		fmt.Fprintf(&cases, "  <testcase name=\"%s\" classname=\"git-liza-check\">\n", code)
		before := cases.Len()
		for _, f := range r.Failures {
			if f.Code == code {
				fmt.Fprintf(&cases, "    <failure message=\"%s\" type=\"%s\">%s</failure>\n", inXML(text.Line(f.Text, 300)), code, inXML(f.advice()))
			}
		}
		if cases.Len() > before {
			failed++
		}
		cases.WriteString("  </testcase>\n")
	}
	return fmt.Appendf(nil, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"git liza check\" tests=\"%d\" failures=\"%d\">\n%s</testsuite>\n", len(Checks), failed, cases.Bytes())
}

// inXML is a text as text or an attribute of XML, which has no control characters.
func inXML(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// JSON is the result for programs.
func (r *Result) JSON() map[string]any {
	failures, moves := r.Failures, r.Moves
	if failures == nil {
		failures = []Failure{}
	}
	if moves == nil {
		moves = []*Move{}
	}
	notes := r.Notes
	if notes == nil {
		notes = []string{}
	}
	return map[string]any{"ok": r.OK(), "base": r.Base, "head": r.Head, "board": r.Board, "counts": r.Counts, "commits": r.Commits, "moves": moves,
		"failures": failures, "notes": notes, "signed_since": r.SignedSince, "tested_since": r.TestedSince}
}
