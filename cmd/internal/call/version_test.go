package call

import (
	"slices"
	"strings"
	"testing"
)

// TestUpgrade: the line that upgrades the program is that of the way in which it was installed.
func TestUpgrade(t *testing.T) {
	for _, c := range []struct {
		program  string
		released bool
		there    []string
		want     string
	}{
		{"/home/a/.npm/_npx/1f/node_modules/@git-liza/linux-x64/bin/git-liza", true, nil, "npx git-liza@latest"},
		{"/usr/lib/node_modules/git-liza/node_modules/@git-liza/linux-x64/bin/git-liza", true, nil, "npm install --global git-liza@latest"},
		{"/opt/homebrew/Caskroom/git-liza/0.1.0/git-liza", true, nil, "brew upgrade git-liza"},
		{"C:/Users/a/scoop/apps/git-liza/current/git-liza.exe", true, nil, "scoop update git-liza"},
		{"/usr/bin/git-liza", true, []string{"/var/lib/dpkg/info/git-liza.list", "/var/lib/rpm"}, "apt install ./"},
		{"/usr/bin/git-liza", true, []string{"/var/lib/rpm"}, "rpm --upgrade "},
		{"/usr/bin/git-liza", true, []string{"/lib/apk/db/installed"}, "apk add "},
		{"/usr/bin/git-liza", true, nil, "replace /usr/bin/git-liza by"},
		{"/home/a/bin/git-liza", true, []string{"/var/lib/dpkg/info/git-liza.list"}, "replace /home/a/bin/git-liza by"},
		{"/home/a/go/bin/git-liza", false, nil, "go install "},
	} {
		got := upgradeOf(c.program, c.released, func(path string) bool { return slices.Contains(c.there, path) })
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, not %q", c.program, got, c.want)
		}
	}
}
