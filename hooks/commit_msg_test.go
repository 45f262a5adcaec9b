package hooks

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestCommitMsg(t *testing.T) {
	const ours = "Liza-Task: parse\nLiza-Agent: coder-1\n"
	const scissors = "# ------------------------ >8 ------------------------\n# Do not modify\ndiff --git a b\n"
	for name, c := range map[string]struct{ in, comment, want string }{
		"a subject alone":           {"Add sums\n", "#", "Add sums\n\n" + ours},
		"no line end":               {"Add sums", "#", "Add sums\n\n" + ours},
		"a subject like a trailer":  {"fix: sums\n", "#", "fix: sums\n\n" + ours},
		"a body":                    {"Add sums\n\nThey add.\n", "#", "Add sums\n\nThey add.\n\n" + ours},
		"trailers":                  {"Add sums\n\nSigned-off-by: A <a@b>\n", "#", "Add sums\n\nSigned-off-by: A <a@b>\n" + ours},
		"folded trailers":           {"Add sums\n\nSee: one\n two\n", "#", "Add sums\n\nSee: one\n two\n" + ours},
		"a cherry-pick":             {"Add sums\n\n(cherry picked from commit abc)\n", "#", "Add sums\n\n(cherry picked from commit abc)\n" + ours},
		"ours already":              {"Add sums\n\n" + ours, "#", "Add sums\n\n" + ours},
		"another's":                 {"Add sums\n\nLiza-Task: print\nLiza-Agent: coder-2\nAcked-by: A\n", "#", "Add sums\n\nAcked-by: A\n" + ours},
		"another's in small":        {"Add sums\n\nliza-agent: coder-2\n", "#", "Add sums\n\n" + ours},
		"forged twice":              {"Add sums\n\nLiza-Agent: coder-2\nLiza-Agent: coder-3\n", "#", "Add sums\n\n" + ours},
		"comments behind":           {"Add sums\n\n# Please enter\n# On branch\n", "#", "Add sums\n\n" + ours + "\n# Please enter\n# On branch\n"},
		"a scissors line":           {"Add sums\n" + scissors, "#", "Add sums\n\n" + ours + scissors},
		"another comment character": {"# is a title\n\n; Please enter\n", ";", "# is a title\n\n" + ours + "\n; Please enter\n"},
		"a comment character found": {"#1 is a title\n\n; Please enter\n", "auto", "#1 is a title\n\n" + ours + "\n; Please enter\n"},
		"a merge": {"Merge branch 'integration' into task/parse\n\n# Conflicts:\n#\ta.go\n", "#",
			"Merge branch 'integration' into task/parse\n\n" + ours + "\n# Conflicts:\n#\ta.go\n"},
		"squashed": {"# This is a combination of 2 commits.\n# 1st:\n\none\n\n" + ours + "\n# 2nd:\n\ntwo\n\n" + ours, "#",
			"# This is a combination of 2 commits.\n# 1st:\n\none\n\n\n# 2nd:\n\ntwo\n\n" + ours},
		"another character's":               {"Add sums\n\n; all of them\n", "#", "Add sums\n\n; all of them\n\n" + ours},
		"no scissors line":                  {"Add sums\n\nx" + scissors[1:54] + "\n", "#", "Add sums\n\nx" + scissors[1:54] + "\n\n" + ours},
		"blank lines":                       {"Add sums\n\n\n", "#", "Add sums\n\n" + ours},
		"blank lines, comments":             {"Add sums\n\n\n# Please enter\n", "#", "Add sums\n\n" + ours + "\n# Please enter\n"},
		"a blank line first":                {"\nfix: sums\n", "#", "\nfix: sums\n\n" + ours},
		"a comment first":                   {"# a\n\nfix: sums\n", "#", "# a\n\nfix: sums\n\n" + ours},
		"a comment, forged alone":           {"\n# a\nLiza-Agent: coder-2\n", "#", "\n# a\nLiza-Agent: coder-2\n"},
		"nothing":                           {"", "#", ""},
		"comments alone":                    {"\n# Please enter\n", "#", "\n# Please enter\n"},
		"forged alone":                      {"Liza-Agent: coder-2\n", "#", "Liza-Agent: coder-2\n"},
		"a word begins no comment":          {"Add sums\n\nWords\n", "auto", "Add sums\n\nWords\n\n" + ours},
		"a comment after trailers":          {"Add sums\n\nAcked-by: A\n# note\n", "auto", "Add sums\n\nAcked-by: A\n" + ours + "# note\n"},
		"a comment among trailers":          {"Add sums\n\nAcked-by: A\n# note\nSee: b\n", "#", "Add sums\n\nAcked-by: A\n# note\nSee: b\n" + ours},
		"nothing, and no comment character": {"", "auto", ""},
		"a name without a colon":            {"Add sums\n\nLiza-Task\n", "#", "Add sums\n\nLiza-Task\n\n" + ours},
		"prose with colons":                 {"Add sums\n\nNote: this\nis prose\n", "#", "Add sums\n\nNote: this\nis prose\n\n" + ours},
	} {
		t.Run(name, func(t *testing.T) {
			got := CommitMsg(c.in, c.comment, "parse", "coder-1")
			testrun.Equal(t, got, c.want, "got")
			if again := CommitMsg(got, c.comment, "parse", "coder-1"); again != got && strings.Contains(got, ours) {
				t.Errorf("a second time gives\n%s\nafter\n%s", again, got)
			}
		})
	}
}
