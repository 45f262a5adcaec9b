package pullrequest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/text"
)

// maxBody bounds the part of a pull request's text that is ours, in bytes; hosts take 65 536 characters.
const maxBody = 60_000

// inert makes agents' text harmless in a host's Markdown: it mentions no account, refers to no issue,
// closes none, and is no markup.
func inert(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("@", "@\u200b", "#", "#\u200b", "GH-", "GH\u200b-", "gh-", "gh\u200b-", "://", ":\u200b//", "&", "&amp;", "<", "&lt;", ">", "&gt;",
		"|", `\|`, "`", "\\`", "[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`, "!", `\!`).Replace(s)
}

// ours is the part of a pull request's text that is ours. An issue of the same repository is closed by it. Of other
// goals the merges among the offered commits are named.
func (o *offer) ours(offered map[plumbing.OID]bool) string {
	s, g := o.v.State, o.goal
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", inert(g.Description))
	if g.Vision != "" {
		fmt.Fprintf(&b, "\n%s\n", inert(g.Vision))
	}
	b.WriteString("\n| Task | Done when | Written by | Approved by | Submission | On integration | Test |\n|---|---|---|---|---|---|---|\n")
	var also, open []string
	for _, brief := range s.Tasks() {
		t := s.Task(brief.ID)
		if t == nil {
			continue
		}
		switch {
		case t.Goal != g.ID && t.Status == board.Merged && offered[plumbing.OID(t.MergeCommit)]:
			also = append(also, t.ID)
		case t.Goal == g.ID && !t.Status.Terminal():
			open = append(open, t.ID+" is "+string(t.Status))
		}
		if t.Goal != g.ID || t.Status != board.Merged {
			continue
		}
		fmt.Fprintf(&b, "| %s: %s | %s | %s | %s | `%.10s` | `%.10s` | %s |\n", t.ID, inert(t.Heading()), inert(t.DoneWhen), inert(strings.Join(t.Workers(), ", ")),
			inert(cmp.Or(strings.Join(t.Approvers(), ", "), t.ApprovedBy)), t.ReviewCommit, t.MergeCommit, inert(cmp.Or(o.tested[t.ID], "none")))
	}
	section := func(title string, entries []string) {
		if len(entries) > 0 {
			fmt.Fprintf(&b, "\n%s: %s\n", title, inert(strings.Join(entries, ", ")))
		}
	}
	section("Still open", open)
	section("Also contains", also)
	for _, id := range s.List(board.NoteDir) {
		if n := s.Note(id); n != nil && n.For == "human" && n.Answer == "" && n.AcknowledgedBy == "" && n.Goal == g.ID && n.Source == "" {
			fmt.Fprintf(&b, "\nOpen question: %s\n", inert(n.Message))
		}
	}
	text := bounded(b.String(), g.ID)
	if i, r := g.Issue, o.to.at; i != nil && i.Host == r.Name && i.Repo == r.Repo {
		text += fmt.Sprintf("\nCloses #%d\n", i.Number)
	}
	return text + fmt.Sprintf("\nLiza-Goal: %s\n%s: %s\n", g.ID, landed.HeadTrailer, o.head)
}

// bounded cuts a text after a line, if a host might refuse it.
func bounded(text, goal string) string {
	if len(text) <= maxBody {
		return text
	}
	return text[:strings.LastIndexByte(text[:maxBody], '\n')+1] + "\n(cut: the rest is on the board, `git liza goal show " + goal + "`)\n"
}

// digest names a text on the board.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func marks(goal string) (begin, end string) {
	return "<!-- liza:begin " + goal + " -->", "<!-- liza:end -->"
}

// insert puts our part into a pull request's text, in the place of the former one. The rest is a
// person's, and stays.
func insert(text, ours, goal string) string {
	begin, end := marks(goal)
	ours = begin + "\n" + strings.TrimSpace(ours) + "\n" + end
	before, rest, found := strings.Cut(text, begin)
	if !found {
		if strings.TrimSpace(text) == "" {
			return ours
		}
		return strings.TrimRight(text, "\n") + "\n\n" + ours
	}
	_, after, closed := strings.Cut(rest, end)
	if !closed {
		after = ""
	}
	return before + ours + after
}

// title is a pull request's title.
func title(g *board.Goal, wanted string) string {
	return text.Line(cmp.Or(wanted, g.Description), 120)
}
