package settings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestOwnSettings checks which settings are clearly absent from a config file, so that no child is
// needed. About all others git is asked.
func TestOwnSettings(t *testing.T) {
	for _, c := range []struct {
		name, text                    string
		share, remotes, mirror, lacks bool
	}{
		{"plain", "[core]\n\tbare = false\n", false, false, false, false},
		{"shared", "[liza]\n\tremote = origin\n", true, false, false, false},
		{"another section's", "[alias]\n\tremote = liza\n", false, false, false, false},
		{"other letters", "[LIZA]\n\tRemote = origin\n", true, false, false, false},
		{"a remote", "[remote \"origin\"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", false, true, false, false},
		{"a mirror", "[remote \"o\"]\n\tfetch = +refs/*:refs/*\n", false, true, true, false},
		{"a partial clone", "[remote \"o\"]\n\tpromisor = true\n", false, true, false, true},
		{"our hooks", "[includeIf \"gitdir:**\"]\n\tpath = liza/hooks/pushes\n[include]\n\tpath = liza/hooks/gitconfig\n", false, false, false, false},
		{"another file", "[include]\n\tpath = ../team\n", true, true, true, true},
		{"another file by condition", "[includeIf \"onbranch:x\"]\n\tpath = ../team\n", true, true, true, true},
		{"unreadable", "", true, true, true, true},
	} {
		dir := t.TempDir()
		if c.text != "" {
			testrun.Check(t, os.WriteFile(filepath.Join(dir, "config"), []byte(c.text), 0o644))
		}
		s := ReadOwn(dir)
		if s.MayShare() != c.share || s.MayHaveRemotes() != c.remotes || s.MayMirror() != c.mirror || s.MayLack() != c.lacks {
			t.Errorf("%s: may share %v, have remotes %v, mirror %v, lack objects %v", c.name, s.MayShare(), s.MayHaveRemotes(), s.MayMirror(), s.MayLack())
		}
	}
}

// TestValue checks that plain values are read as git writes them.
func TestValue(t *testing.T) {
	s := Own{text: "[core]\n\tbare = true\n[liza \"x\"]\n\tremote = no\n[liza]\n\tremote = a\n\tremote = \"b\"\n[user] email = x@y\n"}
	for key, want := range map[[2]string]string{{"core", "bare"}: "true", {"liza", "remote"}: "b", {"user", "email"}: "x@y", {"user", "name"}: "", {"core", "remote"}: ""} {
		testrun.Equal(t, s.Value(key[0], key[1]), want, "%v", key)
	}
}
