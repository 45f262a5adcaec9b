package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// browser is a running git liza web, and a client that it let in.
type browser struct {
	s       *site
	cmd     *exec.Cmd
	address string
	client  *http.Client
	changes chan time.Time // of the page that is followed
}

// benchWeb measures the web board of 1 000 tasks: its first page, how long after an operation was
// acknowledged a page that is open gets it, the cost of an idle open page, and the size of the
// report.
func benchWeb(l *lab) error {
	n := l.pick(20, 1000, 1000)
	s, err := l.site("web", boardSize{tasks: n})
	if err != nil {
		return err
	}
	f, err := s.floorOf(s.noting("note"))
	if err != nil {
		return err
	}
	b, err := s.browse()
	if err != nil {
		return err
	}
	err = b.rows(f, ", "+thousands(n)+" tasks")
	if err := errors.Join(err, b.close()); err != nil {
		return err
	}
	file := filepath.Join(l.dir, "report.html")
	if _, err := s.liza("", "report", file); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err == nil {
		l.size("report of "+thousands(n)+" tasks", info.Size(), 5000)
	}
	return err
}

// size remarks how large something is, and whether that is within its bar.
func (l *lab) size(what string, bytes, most int64) {
	verdict := ""
	if bytes > most*1000 {
		verdict = ": OVER ITS BAR"
	}
	l.remark("%s: %d KB (bar %d)%s", what, (bytes+999)/1000, most, verdict)
}

func (b *browser) rows(f *floor, tasks string) error {
	l, size := b.s.l, int64(0)
	page := arm{"first page", func() (took time.Duration, err error) {
		start := time.Now()
		size, err = b.get("/")
		return time.Since(start), err
	}, nil}
	if err := b.follow(); err != nil {
		return err
	}
	shown := arm{"shown", func() (time.Duration, error) {
		for len(b.changes) > 0 {
			<-b.changes
		}
		if _, err := b.s.liza("", "note", fmt.Sprintf("hello %d", l.next())); err != nil { // not taken back: that would be a change, too
			return 0, err
		}
		acknowledged := time.Now()
		select {
		case at := <-b.changes:
			return max(at.Sub(acknowledged), time.Microsecond), nil
		case <-time.After(10 * time.Second):
			return 0, errors.New("an operation is not on the page after 10 s")
		}
	}, nil}
	got, err := l.measure(l.rounds(), f.arm(), page, shown)
	if err != nil {
		return err
	}
	l.row("web: first page"+tasks, got[1], got[0], "F", 0, 150)
	l.row("web: acknowledged to event"+tasks, got[2], got[0], "F", 0, 500)
	l.size("web: first page"+tasks, size, 300)
	return b.idle(time.Duration(l.pick(200, 10_000, 45_000)) * time.Millisecond)
}

// idle measures the server's cost with one open, idle page. A child that it waited for would show
// in its count of faults.
func (b *browser) idle(d time.Duration) error {
	l := b.s.l
	time.Sleep(d / 10) // the last operation's effects are over
	cpu, children, err := processStat(b.cmd.Process.Pid)
	if err != nil {
		l.remark("web: what an idle page costs can't be measured here: %v", err)
		return nil
	}
	time.Sleep(d)
	after, childrenAfter, err := processStat(b.cmd.Process.Pid)
	if err != nil {
		return err
	}
	used := max(ms(after-cpu), 0.001)
	l.row("web: a page that is open, idle", samples{used / d.Seconds()}, samples{1000}, "a second of a core", 0.001, 0)
	if childrenAfter != children {
		l.remark("web: an idle page has started processes: OVER ITS BAR")
	}
	return nil
}

// processStat is the processor time of a process, and how many page faults the children had that it
// waited for.
func processStat(pid int) (time.Duration, string, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", err
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, "", errors.New("/proc has no such fields")
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, "", err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, fields[8], err
}

// browse starts the server and enters it.
func (s *site) browse() (*browser, error) {
	cmd := s.l.command(s.dir, s.l.liza, "web", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b := &browser{s: s, cmd: cmd, changes: make(chan time.Time, 1000)}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	var first struct{ Address string }
	if err == nil {
		err = json.Unmarshal([]byte(line), &first)
	}
	jar, _ := cookiejar.New(nil)
	b.client = &http.Client{Jar: jar}
	if at := strings.Index(first.Address, "/?"); err == nil && at > 0 {
		b.address = first.Address[:at]
		_, err = b.get(first.Address[at:])
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	go io.Copy(io.Discard, lines)
	return b, nil
}

func (b *browser) get(path string) (int64, error) {
	r, err := b.client.Get(b.address + path)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	n, err := io.Copy(io.Discard, r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = errors.New(r.Status)
	}
	return n, err
}

// follow opens the stream of the first page, and notes when each change comes.
func (b *browser) follow() error {
	r, err := b.client.Get(b.address + "/events?page=/")
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(r.Body, 1<<20)
	go func() {
		defer r.Body.Close()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "event: change") {
				b.changes <- time.Now()
			}
		}
	}()
	select {
	case <-b.changes: // the whole page
		return nil
	case <-time.After(10 * time.Second):
		return errors.New("the stream of a page is empty")
	}
}

func (b *browser) close() error {
	err := b.cmd.Process.Signal(os.Interrupt)
	_ = b.cmd.Wait() // as it was asked to
	return err
}
