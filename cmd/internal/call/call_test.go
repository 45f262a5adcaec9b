package call

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

func TestTerminal(t *testing.T) {
	host, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal can be had: ", err)
	}
	defer host.Close()
	defer tty.Close()
	env := map[string]string{}
	c := &Call{App: &App{Stdin: tty, Getenv: func(name string) string { return env[name] }}}
	if _, err := os.Stat("/proc/self/fd"); err == nil && c.App.Process().Terminal != tty.Name() {
		t.Errorf("at %s: %q", tty.Name(), c.App.Process().Terminal)
	}
	env["TTY"] = "/dev/console"
	testrun.Equal(t, c.App.Process().Terminal, "/dev/console", "TTY says /dev/console")
	delete(env, "TTY")
	file := testrun.Must(os.Open(os.DevNull))(t)
	defer file.Close()
	c.App.Stdin = file
	testrun.Equal(t, c.App.Process().Terminal, "", "without a terminal")
}

// TestNullIsNotATerminal: the null device is a character device but not a terminal: nothing is
// asked or coloured there.
func TestNullIsNotATerminal(t *testing.T) {
	null := testrun.Must(os.OpenFile(os.DevNull, os.O_RDWR, 0))(t)
	defer null.Close()
	if IsTerminal(null) {
		t.Error("the null device passes for a terminal")
	}
}

// TestNoTextBeginsALine: a text of the board with line breaks of any kind stays behind its name, or
// within its line, so that it can't be taken for git liza's own words.
func TestNoTextBeginsALine(t *testing.T) {
	var b strings.Builder
	c := &Call{App: &App{Stdout: &b, Getenv: func(string) string { return "" }}}
	var lines Labelled
	lines.Add("intent", "do\rnext: one\r\nnext: two\u2028next: three\u2029next: four")
	lines.AddEach("files", []string{"a.go", "b.go\ntests         c_test.go\rnext: five"})
	testrun.Check(t, c.Say(append(lines, "said by coder-1: x\rnext: six\u2028next: seven")...))
	want := "intent        do\n              next: one\n              next: two\n              next: three\n              next: four\n" +
		"files         a.go\n              b.go^Jtests         c_test.go^Mnext: five\nsaid by coder-1: x next: six next: seven\n"
	testrun.Equal(t, b.String(), want, "it says")
}

// TestWriteFile: only a file of the same command is replaced, and nothing is written through a link.
func TestWriteFile(t *testing.T) {
	ours := func(old []byte) bool { return bytes.HasPrefix(old, []byte("ours ")) }
	for _, tc := range []struct {
		name, old string
		link      bool
		done      bool
	}{
		{name: "no file", done: true},
		{name: "an earlier one", old: "ours 1", done: true},
		{name: "another file", old: "mine"},
		{name: "a link to an earlier one", old: "ours 1", link: true},
		{name: "a dangling link", link: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			behind := path
			if tc.link {
				behind += "-behind"
				testrun.Check(t, os.Symlink(behind, path))
			}
			if tc.old != "" {
				testrun.Check(t, os.WriteFile(behind, []byte(tc.old), 0o644))
			}
			want := tc.old
			if tc.done {
				want = "ours 2"
			}
			err := WriteFile(path, []byte("ours 2"), ours)
			if got, _ := os.ReadFile(behind); (err == nil) != tc.done || string(got) != want {
				t.Errorf("WriteFile: %v, and the file is %q", err, got)
			}
		})
	}
}

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
