package gitio

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestConfigFile compares the parser with git's own.
func TestConfigFile(t *testing.T) {
	odd := []string{"[a.B]\n x = 1\n", "[a]\n x = 1\\", "x = 1\n"} // git reads them, we don't
	for _, text := range append(odd,
		"",
		"[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://x/y.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
		"# a comment\n; another\n[a]x=1#2\n y = \" # ; \" ; z\n\tz\n[a] w = a  b\t c  \r\n",
		"[Core]\r\n\tBare = True\r\n\tKey-2 =\r\n[s \"Sub\\\"x\\\\y\\z\"] k = v\n[s\t\"t\"]k\n",
		"[a]\n\tx = \"a\\n\\t\\b\\\\\\\"\" 'b' \\\n  c\\\n\n y = \"open\\\nclosed\"\n",
		"[a] # b\n[b];c\n x = 1",
		"[a]\n x = \"  \"  \" y \"\n z = \"\"  w\n",
		"[a\n x = 1\n", "[a]\n x = \"1\n", "[a]\n x = \\q\n", "[a]\n 1x = 1\n", "[a]\n x y\n", "[a \"b\n\"]\n", "[a \"b\" ]\n",
		"[]\n x = 1\n", "[a]\n -x = 1\n", "[a]\n x # y\n", "[a \"b\\", "[a b]\n",
	) {
		all, ok := parseConfigFile(text)
		var ours []string
		for _, s := range all {
			key := s.section + "." + s.key
			if s.subsection != "" {
				key = s.section + "." + s.subsection + "." + s.key
			}
			ours = append(ours, key+"\n"+s.value)
		}
		git := exec.Command("git", "config", "--file", "-", "--null", "--list")
		git.Stdin = strings.NewReader(text)
		out, err := git.Output()
		theirs := splitNUL(out)
		for i, entry := range theirs {
			if !strings.Contains(entry, "\n") {
				theirs[i] += "\ntrue"
			}
		}
		if ok != (err == nil && !slices.Contains(odd, text)) || ok && !slices.Equal(ours, theirs) {
			t.Errorf("%q: git reads %q (%v), we %q (%v)", text, theirs, err, ours, ok)
		}
	}
}
