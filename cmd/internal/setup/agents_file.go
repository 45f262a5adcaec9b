package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// agentsSection is what a coding agent's CLI reads in AGENTS.md or CLAUDE.md when it starts in the
// project.
const agentsSection = `<!-- git liza -->
## git liza

A team of agents works on this repository. It shares a board, the branch ` + "`liza/state`" + `.

- If ` + "`LIZA_AGENT_ID`" + ` is set, run ` + "`git liza prime`" + ` first: it prints who you are, what is yours and what comes next.
- Work only in the worktree that it names. Change the board only with ` + "`git liza`" + ` commands.
- Never commit to, move or push ` + "`liza/state`" + `, the integration branch or the branch of another task.
- A refusal says what to do instead. Do that, or block the task with a question; do not work around it.
- If ` + "`LIZA_AGENT_ID`" + ` is not set, you are not part of the team: ask before you run a ` + "`git liza`" + ` command that writes.
<!-- end of git liza -->
`

var agentsSectionAt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<!-- git liza -->\n.*?<!-- end of git liza -->\n`)
})

// WriteAgentsFiles writes the section to AGENTS.md, and to CLAUDE.md if the project has a separate
// one. It replaces an existing section and keeps all other text. It returns the changed files.
func WriteAgentsFiles(root string) ([]string, error) {
	changed := []string{}
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		path := filepath.Join(root, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == "CLAUDE.md":
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return changed, err
		case err == nil && !info.Mode().IsRegular():
			continue // usually a link to the other file
		}
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return changed, err
		}
		fresh := withAgentsSection(string(old))
		if fresh == string(old) {
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, name)
	}
	return changed, nil
}

func withAgentsSection(text string) string {
	if at := agentsSectionAt().FindStringIndex(text); at != nil {
		return text[:at[0]] + agentsSection + text[at[1]:]
	}
	if text == "" {
		return agentsSection
	}
	for len(text) < 2 || text[len(text)-2:] != "\n\n" {
		text += "\n"
	}
	return text + agentsSection
}
