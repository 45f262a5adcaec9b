package testrun

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Git is a program that tests find in place of git. It notes what git is called for, and fails
// where a test wants it to.
type Git struct {
	t         testing.TB
	dir, path string
}

// Said is the message of a git that fails.
const Said = "no more of it"

// shim counts the calls of each of git's commands, and passes all but the chosen one on.
const shim = `#!/bin/sh
for word; do
	if [ -n "$value" ]; then value=; continue; fi
	case $word in -c|-C) value=1 ;; -*) ;; *) break ;; esac
done
n=0
[ -e "%[1]s/$word" ] && read n <"%[1]s/$word"
n=$((n + 1))
echo $n >"%[1]s/$word"
which=
[ -e "%[1]s/fails" ] && read which nth how on <"%[1]s/fails"
if [ "$which" = $word ] && [ $n = $nth -o $n -gt $nth -a -n "$on" ]; then
	echo 1 >"%[1]s/failed"
	[ $how = killed ] && kill -9 $$
	echo "error: %[3]s" >&2
	exit $how
fi
exec "%[2]s" "$@"
`

// NewGit makes such a program.
func NewGit(t testing.TB) *Git {
	t.Helper()
	g := &Git{t: t, dir: t.TempDir(), path: os.Getenv("PATH")}
	dirs := filepath.SplitList(g.path)
	at := slices.IndexFunc(dirs, func(dir string) bool { _, err := os.Stat(filepath.Join(dir, "git")); return err == nil })
	if at < 0 {
		t.Fatal("there is no git")
	}
	real := filepath.Join(dirs[at], "git")
	t.Setenv("PATH", g.path) // restores it after the test
	g.check(os.Mkdir(g.bin(), 0o755))
	g.check(os.WriteFile(filepath.Join(g.bin(), "git"), fmt.Appendf(nil, shim, g.dir, real, Said), 0o755))
	return g
}

func (g *Git) bin() string { return filepath.Join(g.dir, "bin") }

// Watch puts the program in front of git until Calls. One call fails, unless it is "": with an exit
// code, or "killed"; with "on" after it, all later ones as well. "rev-list 2" is the second call of
// git rev-list.
func (g *Git) Watch(call, how string) {
	if call != "" {
		g.check(os.WriteFile(filepath.Join(g.dir, "fails"), []byte(call+" "+how+"\n"), 0o644))
	}
	g.check(os.Setenv("PATH", g.bin()+string(os.PathListSeparator)+g.path))
}

// Beside has other programs found as well, in a directory.
func (g *Git) Beside(dir string) { g.path = dir + string(os.PathListSeparator) + g.path }

// Calls takes the program away, and returns the calls of git since Watch.
func (g *Git) Calls() (calls []string) {
	g.check(os.Setenv("PATH", g.path))
	wanted, failed := false, false
	files, err := os.ReadDir(g.dir)
	g.check(err)
	for _, file := range files {
		if file.IsDir() {
			continue
		}
		path := filepath.Join(g.dir, file.Name())
		text, err := os.ReadFile(path)
		g.check(err)
		g.check(os.Remove(path))
		switch file.Name() {
		case "fails":
			wanted = true
			continue
		case "failed":
			failed = true
			continue
		}
		most := 0
		fmt.Sscan(string(text), &most)
		for n := 1; n <= most; n++ {
			calls = append(calls, fmt.Sprint(file.Name(), " ", n))
		}
	}
	if wanted != failed {
		g.t.Error("the call that was to fail was not made")
	}
	slices.Sort(calls)
	return calls
}

// Faults is a text about a call: what comes of it, and what if one of git's commands fails that it
// starts, each in turn. try makes the call between Watch and Calls, in a place like new.
func Faults(name string, try func(fails string) (calls []string, result string)) string {
	calls, result := try("")
	text := fmt.Sprintf("%s\n\t%s\n", name, result)
	for _, call := range calls {
		_, failed := try(call)
		if failed == result {
			failed = "the same"
		}
		text += fmt.Sprintf("\t\t%s fails: %s\n", call, failed)
	}
	return text
}

func (g *Git) check(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// Changes lists the files that came (+), went (-) or changed, given their contents before and
// after.
func Changes(was, is map[string]string) (names []string) {
	for name, text := range is {
		if old, had := was[name]; !had {
			names = append(names, "+"+name)
		} else if old != text {
			names = append(names, name)
		}
	}
	for name := range was {
		if _, has := is[name]; !has {
			names = append(names, "-"+name)
		}
	}
	slices.Sort(names)
	return names
}
