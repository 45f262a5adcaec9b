package call

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// A release's linker sets these; all are "" in another build.
var version, commit, date string

// Build is where a program comes from.
type Build struct {
	Version string `json:"version"` // as in 0.1.0; "devel" for a build of a work tree without a tag
	Commit  string `json:"commit"`  // "" if unknown
	Date    string `json:"date"`    // of the commit, as in RFC 3339; "" if unknown
	Source  string `json:"source"`  // the address of the repository
}

// ThisBuild is where this program comes from: from a release, from `go install` or from a clone.
func ThisBuild() Build {
	b := Build{Version: version, Commit: commit, Date: date, Source: "https://github.com/git-liza/git-liza"}
	info, ok := debug.ReadBuildInfo()
	if !ok || version != "" {
		return b
	}
	b.Version = strings.TrimPrefix(info.Main.Version, "v")
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

// String is a build in one line for people.
func (b Build) String() string {
	from := strings.TrimSpace(fmt.Sprintf("%.10s %s", b.Commit, b.Date))
	if from != "" {
		from = " (" + from + ")"
	}
	return "git-liza " + b.Version + from
}

// Upgrade is the line that upgrades this program, for the way in which it was installed.
func Upgrade() string {
	program, err := os.Executable()
	if err != nil {
		program = "git-liza"
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	return upgradeOf(filepath.ToSlash(program), version != "", exists)
}

// upgradeOf is Upgrade for a file that a release brought, or another build. Package managers are
// known by the places of their files.
func upgradeOf(program string, released bool, exists func(string) bool) string {
	in := func(dir string) bool { return strings.Contains(program, "/"+dir+"/") }
	packaged := strings.HasPrefix(program, "/usr/bin/")
	switch {
	case in("node_modules") && in("_npx"):
		return "npx git-liza@latest"
	case in("node_modules"):
		return "npm install --global git-liza@latest"
	case in("Caskroom"), in("Cellar"):
		return "brew upgrade git-liza"
	case in("scoop/apps"):
		return "scoop update git-liza"
	case packaged && exists("/var/lib/dpkg/info/git-liza.list"):
		return "apt install ./git-liza_VERSION_linux_ARCH.deb, with the file of a newer release"
	case packaged && exists("/lib/apk/db/installed"):
		return "apk add --allow-untrusted git-liza_VERSION_linux_ARCH.apk, with the file of a newer release"
	case packaged && (exists("/var/lib/rpm") || exists("/usr/lib/sysimage/rpm")):
		return "rpm --upgrade git-liza_VERSION_linux_ARCH.rpm, with the file of a newer release"
	case released:
		return "replace " + program + " by that of a newer release"
	}
	return "go install github.com/git-liza/git-liza/cmd/git-liza@latest, or in an updated clone: go install ./cmd/git-liza"
}
