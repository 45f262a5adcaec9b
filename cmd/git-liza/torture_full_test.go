//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestTortureFull lets the disk, or its inodes, run out at each write of a command: after none,
// after one, after two and so on, until the command needs no more. The command fails or succeeds;
// once there is room again, a retry has it done exactly once, and nothing acknowledged or written
// is lost. The test needs the right to mount a file system.
func TestTortureFull(t *testing.T) {
	t.Parallel()
	testrun.LongOnly(t)
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t)
			stage := newStage(t, d.dir, s)
			var cases []mishap
			for _, inodes := range []bool{false, true} {
				for free := range d.needs(stage, inodes) {
					for _, how := range retries {
						cases = append(cases, d.leaves(stage, free, inodes, how))
					}
				}
			}
			seeded(t).Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
			tried := 0
			for ; tried < len(cases) && timeLeft(t); tried++ {
				for _, fault := range stage.play(cases[tried]) {
					t.Error(fault)
				}
			}
			t.Logf("%d of %d cases", tried, len(cases))
		})
	}
}

// disk is a small file system.
type disk struct {
	t   *testing.T
	dir string
}

// The size of a disk with room for everything.
const (
	roomyPages  = 16384
	roomyInodes = 20000
)

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{t, t.TempDir()}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", d.size(roomyPages, roomyInodes), "tmpfs", d.dir).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", d.dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return d
}

func (d *disk) size(pages, inodes uint64) string {
	return fmt.Sprintf("size=%d,nr_inodes=%d", pages*uint64(pageSize), inodes)
}

var pageSize = syscall.Getpagesize()

// used returns the pages and inodes in use.
func (d *disk) used() (pages, inodes uint64) {
	d.t.Helper()
	var s syscall.Statfs_t
	testrun.Check(d.t, syscall.Statfs(d.dir, &s))
	return s.Blocks - s.Bfree, s.Files - s.Ffree
}

// resize sets the disk's size.
func (d *disk) resize(pages, inodes uint64) {
	d.t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,"+d.size(pages, inodes), d.dir).CombinedOutput(); err != nil {
		d.t.Fatalf("remount: %v: %s", err, out)
	}
}

// only runs a function while exactly that many pages or inodes are free.
func (d *disk) only(free int, inodes bool, run func()) {
	d.t.Helper()
	pages, nodes := d.used()
	if inodes {
		d.resize(roomyPages, nodes+uint64(free))
	} else {
		d.resize(pages+uint64(free), roomyInodes)
	}
	defer d.resize(roomyPages, roomyInodes)
	run()
}

// needs returns how many free pages or inodes the scene's command needs.
func (d *disk) needs(s *stage, inodes bool) int {
	d.t.Helper()
	const most = 1 << 10
	enough := func(free int) bool {
		s.reset()
		code := 0
		d.only(free, inodes, func() { _, _, code = s.liza(s.scene.agent, s.scene.args...) })
		return code == 0
	}
	few, many := 0, most
	if !enough(most) {
		d.t.Fatalf("%s needs more than %d", s.scene.name, most)
	}
	for few < many {
		if at := (few + many) / 2; enough(at) {
			many = at
		} else {
			few = at + 1
		}
	}
	return many + 2 // a command that succeeds may still have skipped an optional write
}

// leaves is the case with that much free space.
func (d *disk) leaves(s *stage, free int, inodes bool, how retry) mishap {
	what := "pages"
	if inodes {
		what = "inodes"
	}
	return mishap{how: fmt.Sprintf("with %d %s free", free, what), retry: how, first: func(args []string) (out, errs string, code int) {
		d.only(free, inodes, func() { out, errs, code = s.liza(s.scene.agent, args...) })
		return out, errs, code
	}}
}
