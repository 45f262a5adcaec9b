package git

import "testing"

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
		s := parseOwnSettings([]byte(c.text))
		if s.mayShare() != c.share || s.mayHaveRemotes() != c.remotes || s.mayMirror() != c.mirror || s.mayLack() != c.lacks {
			t.Errorf("%s: may share %v, have remotes %v, mirror %v, lack objects %v", c.name, s.mayShare(), s.mayHaveRemotes(), s.mayMirror(), s.mayLack())
		}
	}
}
