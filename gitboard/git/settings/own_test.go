package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOwnSettings checks which settings are clearly absent from a config file, so that no child is
// needed. About all others git is asked.
func TestOwnSettings(t *testing.T) {
	const shared = "[liza]\n\tremote = origin\n"
	for _, c := range []struct {
		name, text                    string
		share, remotes, mirror, lacks bool
	}{
		{"plain", "[core]\n\tbare = false\n", false, false, false, false},
		{"shared", shared, true, false, false, false},
		{"another section's", "[alias]\n\tremote = liza\n# [liza] remote\n", false, false, false, false},
		{"other letters", "[LIZA]\n\tRemote = origin\n", true, false, false, false},
		{"a remote", "[remote \"origin\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", false, true, false, false},
		{"a mirror", "[remote \"o\"]\n\tfetch = +refs/*:refs/*\n", false, true, true, false},
		{"a mirror in a comment", "[remote \"o\"]\n\turl = x # +refs/*:refs/*\n", false, true, false, false},
		{"a partial clone", "[remote \"o\"]\n\tpromisor = true\n", false, true, false, true},
		{"our hooks", "[includeIf \"gitdir:**\"]\n\tpath = liza/hooks/pushes\n[include]\n\tpath = liza/hooks/gitconfig\n", false, false, false, false},
		{"another file", "[include]\n\tpath = ../team\n", true, true, true, true},
		{"another file by condition", "[includeIf \"onbranch:x\"]\n\tpath = ../team\n", true, true, true, true},
		{"unreadable", "[core\n", true, true, true, true},
	} {
		s := parseOwn(c.text)
		if s.MayShare() != c.share || s.MayHaveRemotes() != c.remotes || s.MayMirror() != c.mirror || s.MayLack() != c.lacks {
			t.Errorf("%s: may share %v, have remotes %v, mirror %v, lack objects %v", c.name, s.MayShare(), s.MayHaveRemotes(), s.MayMirror(), s.MayLack())
		}
	}
}

// TestConfigAsGit: a config file that is read without git means the same as to git, and files that
// git itself writes are read.
func TestConfigAsGit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	as := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, text string) bool {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		lines, ok := parseConfig(text)
		if !ok {
			return false
		}
		var got []string
		for _, l := range lines {
			key := l.section + "." + l.subsection + "." + l.name
			if l.subsection == "" {
				key = l.section + "." + l.name
			}
			if l.name != "" {
				got = append(got, key+"\n"+l.value)
			}
		}
		out, err := exec.Command("git", "config", "--file", path, "--null", "--list").Output()
		if err != nil {
			t.Fatalf("git rejects %q: %v", text, err)
		}
		var want []string
		for _, field := range strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }) {
			if !strings.Contains(field, "\n") {
				field += "\n" // a setting without a value
			}
			want = append(want, field)
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%q: %q; git: %q", text, got, want)
		}
		return true
	}
	for _, text := range []string{
		"", "# only a comment", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /a b\n",
		"[remote \"a \\\"b\\\\\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/a/*\n[branch \"x.y\"]\n\tmerge = refs/heads/x.y\n",
		"[alias]\n\tl = \"!f() { git log \\\"$@\\\"; }; f\"\n\tlong = a \\\n b ; comment\n", "[a] b = c\n[A]B\n[d]\r\n\te = f  \r\n", "[a]\nb = \" x \" y  # z\nc =\nd",
	} {
		if !as(t, text) {
			t.Errorf("%q is not read", text)
		}
	}
	part := rapid.SampledFrom([]string{"[a]", "[B-1 \"c.D\"]", "[", "]", "\n", "\n", "\n", "k", "key-2", "=", " = ", "v w", "\"", "\\", "\\\n", "\\n", "\\\"", "#", ";", " ", "\t", "\r", "\v", "é", "1", "-", "."})
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		if as(t, "[s]\n"+strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")) {
			read++
		}
	})
	if read == 0 {
		t.Error("no text was read")
	}
}
