package setup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTheAgentsSectionKeepsAllOtherText: whatever a section has around it, and however its file
// ends its lines, the section is there once after any number of runs, and no other text is lost.
func TestTheAgentsSectionKeepsAllOtherText(t *testing.T) {
	windows := strings.ReplaceAll(agentsSection, "\n", "\r\n")
	for _, c := range []struct{ name, old, want, left string }{
		{"no file yet", "", agentsSection, ""},
		{"other text", "Use tabs.", "Use tabs.\n\n" + agentsSection, "Use tabs.\n"},
		{"an older section", "Use tabs.\n<!-- git liza -->\nold\n<!-- end of git liza -->\nNo spaces.\n", "Use tabs.\n" + agentsSection + "No spaces.\n", "Use tabs.\nNo spaces.\n"},
		{"a section whose end was deleted", "<!-- git liza -->\nold\n\nUse tabs.\n", "<!-- git liza -->\nold\n\nUse tabs.\n\n" + agentsSection, "<!-- git liza -->\nold\n\nUse tabs.\n"},
		{"a section at the very end", strings.TrimSuffix(agentsSection, "\n"), agentsSection, ""},
		{"line ends of Windows", "Use tabs.\r\n", "Use tabs.\r\n\r\n" + windows, "Use tabs.\r\n"},
		{"a section checked out on Windows", "Use tabs.\r\n" + windows, "Use tabs.\r\n" + windows, "Use tabs.\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "AGENTS.md")
			testrun.Check(t, os.WriteFile(path, []byte(c.old), 0o644))
			for range 3 {
				testrun.Must(WriteAgentsFiles(filepath.Dir(path)))(t)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
				t.Errorf("AGENTS.md is %q, %v", got, err)
			}
			for _, name := range []string{"CLAUDE.md", "GEMINI.md"} {
				if got, err := os.ReadFile(filepath.Join(filepath.Dir(path), name)); err != nil || !strings.Contains(string(got), "\n@AGENTS.md\n") {
					t.Errorf("%s is %q, %v", name, got, err)
				}
			}
			testrun.Check(t, DropAgentsFiles(filepath.Dir(path)))
			if left, _ := os.ReadDir(filepath.Dir(path)); c.left == "" && len(left) > 0 {
				t.Errorf("these files are left: %v", left)
			}
			if got, _ := os.ReadFile(path); string(got) != c.left {
				t.Errorf("%q is left", got)
			}
		})
	}
}

// TestAnAgentsFileThatIsNotWrittenIsNamed: what is a link to elsewhere, not a file or not plain text
// stays as it is, and is not called up to date.
func TestAnAgentsFileThatIsNotWrittenIsNamed(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "rules.md")
	testrun.Check(t, os.WriteFile(elsewhere, []byte("Use tabs.\n"), 0o644))
	for name, make := range map[string]func(path string) error{
		"a link":      func(path string) error { return os.Symlink(elsewhere, path) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"UTF-16":      func(path string) error { return os.WriteFile(path, []byte("\xff\xfeU\x00s\x00e\x00"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if err := make(filepath.Join(root, "AGENTS.md")); err != nil {
				t.Skip(err)
			}
			changed, err := WriteAgentsFiles(root)
			var refused *board.Refusal
			if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "AGENTS.md") || len(changed) > 0 {
				t.Errorf("changed %v, error %v", changed, err)
			}
			if got, _ := os.ReadFile(elsewhere); string(got) != "Use tabs.\n" {
				t.Errorf("the file elsewhere is %q", got)
			}
		})
	}
	t.Run("a link to the other file", func(t *testing.T) {
		root := t.TempDir()
		testrun.Check(t, os.WriteFile(filepath.Join(root, "CLAUDE.md"), nil, 0o644))
		if err := os.Symlink("CLAUDE.md", filepath.Join(root, "AGENTS.md")); err != nil {
			t.Skip(err)
		}
		if changed, err := WriteAgentsFiles(root); err != nil || len(changed) != 1 || changed[0] != "CLAUDE.md" {
			t.Errorf("changed %v, error %v", changed, err)
		}
	})
}
