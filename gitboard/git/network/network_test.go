package network

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestPartly checks which output of a push says that the remote has moved a part of the refs.
func TestPartly(t *testing.T) {
	t.Parallel()
	const to, up, made, left, other = "To hub\n", "=\ta:refs/a\t[up to date]\n", "*\tb:refs/b\t[new reference]\n", "!\tc:refs/c\t[remote rejected] (deny updating a hidden ref)\n", "!\t:refs/d\t[rejected]\n"
	for name, c := range map[string]struct {
		out  string
		want []string
	}{
		"nothing":            {"", nil},
		"all":                {to + made, nil},
		"none":               {to + left + other, nil},
		"none, one is there": {to + up + left, nil},
		"one of three":       {to + left + made + other, []string{"refs/c", "refs/d"}},
		"a fast-forward":     {" \tb:refs/b\t1..2\n" + left, []string{"refs/c"}},
		"a forced one":       {"+\tb:refs/b\t1...2\n" + left, []string{"refs/c"}},
		"a deleted one":      {"-\t:refs/b\t[deleted]\n" + left, []string{"refs/c"}},
		"other lines":        {"!\nDone\n* b\n" + left, nil},
	} {
		var got []string
		if part := partly([]byte(c.out)); part != nil {
			got = part.Left
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRejected checks how a refused push is told from one whose outcome is unknown.
func TestRejected(t *testing.T) {
	refused := func(exit int, said string) error {
		return &Error{Remote: "hub", Said: said, Err: &child.CommandError{Op: "push", Exit: exit}}
	}
	line := func(why string) string { return "!\tx:refs/x\t" + why + "\n" }
	all := []error{ErrRejected, ErrNotAtomic, ErrLockedThere, ErrDeclinedThere, ErrHiddenThere}
	for name, c := range map[string]struct {
		out  string
		err  error
		said string
		want []error
	}{
		"another error":      {line("[rejected] (x)"), errors.New("x"), "", nil},
		"killed":             {line("[rejected] (x)"), refused(-1, "s"), "s", nil},
		"nothing said":       {"=\tx\n", refused(1, "s"), "s", nil},
		"part of it":         {"*\tx:refs/y\t[new]\n" + line("[rejected] (x)"), refused(1, "s"), "[rejected] (x)", []error{ErrRejected}},
		"rejected":           {line("[rejected] (stale info)"), refused(1, "s"), "[rejected] (stale info)", []error{ErrRejected}},
		"said by the remote": {line("[rejected] (x)"), refused(1, "remote: s"), "remote: s", []error{ErrRejected}},
		"not atomic":         {"", refused(128, "no --atomic push"), "no --atomic push", []error{ErrNotAtomic}},
		"locked": {line("x"), refused(1, "remote: cannot lock ref 'a': 'b/a.lock'"), "remote: cannot lock ref 'a': 'b/a.lock'",
			[]error{ErrRejected, ErrLockedThere}},
		"in the way": {line("x"), refused(1, "remote: cannot lock ref 'a'"), "remote: cannot lock ref 'a'", []error{ErrRejected}},
		"declined":   {line("(pre-receive hook declined)"), refused(1, "remote: s"), "remote: s", []error{ErrRejected, ErrDeclinedThere}},
		"hidden": {line("(deny updating a hidden ref)"), refused(1, "s"), "(deny updating a hidden ref)",
			[]error{ErrRejected, ErrDeclinedThere, ErrHiddenThere}},
	} {
		err := Rejected([]byte(c.out), c.err)
		for _, kind := range all {
			testrun.Equal(t, errors.Is(err, kind), slices.Contains(c.want, kind), "%s: %v is %v", name, err, kind)
		}
		if part := (*PartError)(nil); errors.As(err, &part) != (name == "part of it") || part != nil && !slices.Equal(part.Left, []string{"refs/x"}) {
			t.Errorf("%s: a part was done: %v", name, part)
		}
		if failed := (*Error)(nil); errors.As(err, &failed) && failed.Said != c.said {
			t.Errorf("%s: it says %q", name, failed.Said)
		}
	}
}

// TestSSHCommand checks which command of ssh is kept from prompting.
func TestSSHCommand(t *testing.T) {
	apart := t.TempDir()
	folder := func(dir string) string {
		own := filepath.Join(apart, dir, "liza")
		check(t, os.MkdirAll(own, 0o755))
		return own
	}
	const quiet = " -o BatchMode=yes"
	for name, c := range map[string]struct {
		given gitenv.List
		set   string
		want  string
	}{
		"of the environment": {gitenv.List{"GIT_SSH_COMMAND=ssh -v"}, "ssh -i x", "ssh -v" + quiet},
		"of the settings":    {nil, "/bin/ssh -i x", "/bin/ssh -i x" + quiet},
		"another":            {nil, "plink -batch", ""},
		"none":               {nil, "", "ssh" + quiet},
	} {
		got := ""
		for _, entry := range SSHEnv(c.given, "hub", map[string][]string{"core.sshcommand": {c.set}}, apart, folder("apart")) {
			if command, is := strings.CutPrefix(entry, "GIT_SSH_COMMAND="); is {
				got = command
			}
		}
		testrun.Equal(t, got, c.want, "%s", name)
	}
	for dir, want := range map[string]bool{"apart": true, "a part": false, "a%part": false, strings.Repeat("long", 10): false} {
		if got := keepConnection(apart, folder(dir)); (got != "") != want {
			t.Errorf("%s: %q", dir, got)
		}
	}
}

// TestKeptConnections: ssh keeps a connection where the address may be one of ssh's and the user
// has chosen no ssh command, and only where its socket has room.
func TestKeptConnections(t *testing.T) {
	base := t.TempDir()
	own, environ := filepath.Join(base, ".git", "liza"), gitenv.List{"PATH=" + os.Getenv("PATH")}
	check(t, os.MkdirAll(own, 0o755))
	keeps := func(address, command string) bool {
		return strings.Contains(strings.Join(SSHEnv(environ, "hub", map[string][]string{"remote.hub.url": {address}, "core.sshcommand": {command}}, base, own), " "), "-o ControlPath=")
	}
	for address, want := range map[string]bool{
		"ssh://git@host/board": true, "git@host:board": true, "host:board": true, "git+ssh://host/board": true,
		"https://host/board": false, "/srv/board.git": false, "../board.git": false, "file:///srv/board": false, "./a:b": false,
	} {
		testrun.Equal(t, keeps(address, ""), want, "%s", address)
	}
	if keeps("host:board", "ssh -i key") {
		t.Error("an own command is changed")
	}
	environ = append(environ, "GIT_SSH=plink")
	if keeps("host:board", "") {
		t.Error("an own program is changed")
	}
	environ = environ[:1]
	base = filepath.Join(base, strings.Repeat("long", 20))
	own = filepath.Join(base, ".git", "liza")
	check(t, os.MkdirAll(own, 0o755))
	if !keeps("host:board", "") {
		t.Error("a long directory above the project matters")
	}
	t.Setenv("TMPDIR", filepath.Join(base, "missing"))
	if holdsSockets(own) {
		t.Error("without a place for temporary files a folder is tried")
	}
	t.Setenv("TMPDIR", "")
	if holdsSockets(filepath.Join(base, "missing")) {
		t.Error("a missing folder holds sockets")
	}
	check(t, os.RemoveAll(own))
	if keeps("host:board", "") {
		t.Error("a socket is made in a missing folder")
	}
}

// TestUnsent checks what the record of a push shows: nothing was sent if git has asked for the
// remote's refs and did not get them.
func TestUnsent(t *testing.T) {
	asked := `{"event":"region_enter","category":"transport_push","label":"get_refs_list"}` + "\n"
	answered := `{"event":"region_leave","category":"transport_push","label":"get_refs_list"}` + "\n"
	other := `{"event":"region_enter","category":"transport_push","label":"push_refs"}` + "\n"
	for text, want := range map[string]bool{
		"": false, asked: true, other: false, asked + other: true, other + asked + answered: false, answered: false,
		strings.ReplaceAll(asked, "get_refs_list", "x") + answered: false,
	} {
		file := filepath.Join(t.TempDir(), "trace")
		check(t, os.WriteFile(file, []byte(text), 0o644))
		trace := &PushTrace{file: file}
		testrun.Equal(t, trace.Unsent(), want, "%q", text)
		trace.Drop()
		if _, err := os.Stat(file); err == nil || trace.Unsent() {
			t.Error("the record is there after all")
		}
	}
	none := &PushTrace{}
	if none.Drop(); none.Unsent() || none.Env() != nil {
		t.Error("there is no record")
	}
}

var check = testrun.Check
