package share_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/share"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLostThere checks that a remote which has lost the branch of its board is named as such, by
// everything that asks it, and that nobody joins it.
func TestLostThere(t *testing.T) {
	t.Parallel()
	for name, update := range map[string]string{"any host": "", "only branches": onlyBranches} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldBy(t, update)
			w.ctx, _ = retry.With(w.ctx, 0)
			w.git(w.hub, "update-ref", "-d", plumbing.BoardRef)
			another := filepath.Join(filepath.Dir(w.hub), "third")
			w.git("", "clone", "-q", w.hub, another)
			third := w.open(another)
			_, findErr := third.Find(w.ctx)
			for call, err := range map[string]error{
				"Fetch": w.a.Fetch(w.ctx), "FetchAll": w.a.FetchAll(w.ctx), "CheckThere": w.a.CheckThere(w.ctx),
				"Find": findErr, "Join": third.Join(w.ctx, "origin"), "Share": third.Share(w.ctx, "origin", "probe"),
			} {
				if lost := (*share.LostError)(nil); !errors.As(err, &lost) || lost.Remote != "origin" {
					t.Errorf("%s ends with %v", call, err)
				}
			}
		})
	}
}

// TestCheckThere checks what is reported of a remote that can't be asked: one that is gone for now has
// lost nothing, and one of no name is not the board's any more.
func TestCheckThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(os.RemoveAll(w.hub))
	if err := w.a.CheckThere(w.ctx); !errors.As(err, new(*git.NetworkError)) || errors.Is(err, git.ErrNoRemote) {
		t.Errorf("of one that is gone it ends with %v", err)
	}
	w.git(w.a.Local().TopLevel(), "remote", "remove", "origin")
	if err := w.open(w.a.Local().TopLevel()).CheckThere(w.ctx); !errors.Is(err, git.ErrNoRemote) {
		t.Errorf("without a remote it ends with %v", err)
	}
	w.git(w.a.Local().TopLevel(), "config", "--unset", git.RemoteKey)
	w.check(w.open(w.a.Local().TopLevel()).CheckThere(w.ctx))
}

// TestSequencerSays checks what comes of an operation if the remote that sequences has not taken it
// because others were faster, and if it can't be asked any more.
func TestSequencerSays(t *testing.T) {
	t.Parallel()
	const pkt = `pkt() { printf '%04x%s\n' $((${#1} + 5)) "$1"; }` + "\n"
	overtaken := pkt + fmt.Sprintf(`pkt version=1; printf 0000; pkt "ng %s %s"; printf 0000; cat >/dev/null`, parcel.Ref, parcel.Overtaken)
	for name, c := range map[string]struct {
		hook string
		lost bool
	}{
		"others were faster": {overtaken, true},
		"it dies":            {"rm HEAD; kill -9 $PPID", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.ctx, _ = retry.With(w.ctx, 0)
			for key, value := range map[string]string{"receive.advertisePushOptions": "true", "receive.procReceiveRefs": parcel.Ref} {
				w.git(w.hub, "config", key, value)
			}
			w.git(w.hub, "update-ref", parcel.Ref, "main")
			w.check(w.a.Fetch(w.ctx))
			was := w.there()
			hubHook("proc-receive", c.hook)(w)
			_, err := w.write(w.a, note("mine"))
			if errors.Is(err, git.ErrRefMoved) != c.lost || errors.As(err, new(*log.UnclearError)) == c.lost {
				t.Errorf("it ends with %v", err)
			}
			if !c.lost {
				w.check(os.WriteFile(filepath.Join(w.hub, "HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
			}
			if now := w.there(); now != was {
				t.Errorf("the remote has the board at %s all the same", now.Short())
			}
		})
	}
}

// TestSilentThere checks that a remote that says nothing is asked once, and not what it has lost or
// whether it sequences: each of that would take as long again.
func TestSilentThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	top, asked := w.a.Local().TopLevel(), filepath.Join(t.TempDir(), "asked")
	deaf := filepath.Join(filepath.Dir(asked), "deaf")
	w.check(testrun.WriteProgram(deaf, "#!/bin/sh\necho >>'"+asked+"'\nexec sleep 1000\n"))
	for key, value := range map[string]string{"liza.networkTimeout": "1", "remote.origin.uploadpack": deaf, "remote.origin.receivepack": deaf} {
		w.git(top, "config", key, value)
	}
	retired(w) // it seemed to sequence
	if err := w.open(top).Fetch(w.ctx); !errors.Is(err, git.ErrSilent) {
		t.Errorf("it ends with %v", err)
	}
	// On a slow machine it is given up on before it has said that it was asked.
	if times, _ := os.ReadFile(asked); len(times) > 1 {
		t.Errorf("it was asked %d times", len(times))
	}
}

// TestLooksWhileItPushes checks that a clone that has just lost a race fetches while its next push is
// on its way.
func TestLooksWhileItPushes(t *testing.T) {
	w := newWorld(t)
	w.must(w.b, note("of the other clone"))
	dir := t.TempDir()
	w.check(os.WriteFile(filepath.Join(w.a.Local().CommonDir(), "liza", "last"), []byte(`{"took": 1, "lost": "2100-01-01T00:00:00Z"}`), 0o644))
	for service, before := range map[string]string{
		"upload-pack":  "touch " + dir + "/looked",
		"receive-pack": "for n in $(seq 1000); do [ -e " + dir + "/looked ] && break; sleep 0.01; done; [ -e " + dir + "/looked ] || exit 1",
	} {
		script := filepath.Join(dir, service)
		w.check(testrun.WriteProgram(script, "#!/bin/sh\n"+before+"\nexec git-"+service+" \"$@\"\n"))
		w.git(w.a.Local().TopLevel(), "config", "remote.origin."+strings.ReplaceAll(service, "-", ""), script)
	}
	if _, err := w.write(w.a, note("decided on an old view")); !lost(err) {
		t.Errorf("got %v", err)
	}
	w.end(1)
}
