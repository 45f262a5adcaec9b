package git

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Requested returns the given requests that appear among the first depth commits of tip and its
// chain of first parents, each with the newest commit that carries it as a trailer Liza-Request. It
// starts one child, and one more for each candidate. A bare repository, a server that is asked at
// each push, remembers the requests of the commits that it has looked at, and needs the first child
// only once.
func (h History) Requested(ctx context.Context, tip plumbing.OID, requests []string, depth int) (map[string]plumbing.OID, error) {
	found := map[string]plumbing.OID{}
	if len(requests) == 0 || depth <= 0 || tip.IsZero() {
		return found, nil
	}
	if err := checkOIDs(tip); err != nil {
		return nil, err
	}
	wanted := make(map[string]string, len(requests))
	for _, request := range requests {
		wanted[url.PathEscape(request)] = request
	}
	all, err := h.repo.asking(ctx, tip, depth)
	if err != nil {
		return nil, h.repo.damaged(ctx, tip, err)
	}
	for _, a := range slices.Backward(all[max(0, len(all)-depth):]) {
		for _, escaped := range a.requests {
			request, is := wanted[escaped]
			if !is || found[request] != "" {
				continue
			}
			has, err := h.repo.hasRequest(ctx, a.commit, request)
			if err != nil {
				return nil, err
			}
			if has {
				found[request] = a.commit
			}
		}
	}
	return found, nil
}

// RequestCommit returns the commit that Requested finds for one request, or ErrNotFound.
func (r *Repo) RequestCommit(ctx context.Context, tip plumbing.OID, request string, depth int) (plumbing.OID, error) {
	found, err := r.History().Requested(ctx, tip, []string{request}, depth)
	if err == nil && found[request] == "" {
		err = fmt.Errorf("a commit of request %q: %w", request, ErrNotFound)
	}
	return found[request], err
}

// asking is the part of a commit's message that may be a trailer Liza-Request, in escaped form.
type asking struct {
	commit, parent plumbing.OID // the first parent, zero if there is none
	requests       []string
}

// line returns the form in which it is kept.
func (a asking) line() string {
	return strings.Join(append([]string{string(a.commit), string(a.parent)}, a.requests...), " ") + "\n"
}

func newAsking(commit, parent plumbing.OID, message string) asking {
	a := asking{commit: commit, parent: parent.OrZero()}
	for line := range strings.SplitSeq(message, "\n") {
		if request, is := strings.CutPrefix(line, plumbing.RequestTrailer+": "); is {
			a.requests = append(a.requests, url.PathEscape(request))
		}
	}
	return a
}

// asking returns what the commits up to tip ask for, oldest first: depth of them or more, if there
// are so many.
func (r *Repo) asking(ctx context.Context, tip plumbing.OID, depth int) ([]asking, error) {
	if !r.bare {
		return r.askingOf(ctx, tip, depth)
	}
	known := r.keptAsking()
	if at := slices.IndexFunc(known, func(a asking) bool { return a.commit == tip }); at >= 0 {
		known = known[:at+1]
	} else if len(known) > 0 {
		later, err := r.askingSince(ctx, known[len(known)-1].commit, tip)
		if err != nil {
			return nil, err
		}
		if len(later) == 0 {
			known = nil
		} else {
			r.addAsking(later)
			known = append(known, later...)
		}
	}
	if len(known) >= depth && len(known) <= askingMost || len(known) > 0 && known[0].parent == plumbing.ZeroOID {
		return known, nil
	}
	all, err := r.askingOf(ctx, tip, max(depth, askingMost/2))
	if err == nil {
		_ = disk.Replace(r.askingFile(), []byte(lines(all))) // if it fails, git is asked again
	}
	return all, err
}

// askingOf asks git.
func (r *Repo) askingOf(ctx context.Context, tip plumbing.OID, depth int) (all []asking, err error) {
	out, err := r.command("rev-list",
		"rev-list", "--first-parent", "--max-count="+strconv.Itoa(depth),
		"--encoding=UTF-8", "--no-commit-header", "--format=%x00%H %P%n%B",
		string(tip), "--").Output(ctx)
	if err != nil {
		return nil, err
	}
	for message := range strings.SplitSeq(string(out), "\x00") { // no message has a NUL
		names, message, _ := strings.Cut(message, "\n")
		oids := strings.Fields(names)
		if len(oids) == 0 {
			continue // before the first
		}
		oids = append(oids, "")
		all = append(all, newAsking(plumbing.OID(oids[0]), plumbing.OID(oids[1]), message))
	}
	slices.Reverse(all)
	return all, nil
}

// askingSince reads the commits after one, if they are few; otherwise it returns none.
func (r *Repo) askingSince(ctx context.Context, from, tip plumbing.OID) (all []asking, err error) {
	chain, _, err := r.near(ctx, from, tip)
	if len(chain) == 0 {
		return nil, err
	}
	for i, commit := range chain[:len(chain)-1] {
		o, err := r.Object(ctx, string(commit))
		if err != nil {
			return nil, err
		}
		c, err := plumbing.DecodeCommit(o)
		if err != nil {
			return nil, err
		}
		all = append(all, newAsking(commit, chain[i+1], c.Message))
	}
	slices.Reverse(all)
	return all, nil
}

// askingMost is how many commits the file has at most; then the older half is left out.
const askingMost = 10_000

func (r *Repo) askingFile() string { return filepath.Join(r.common, "liza", "requests") }

// keptAsking reads the file, which has a line for each commit: its id, its parent's, and requests.
// It returns nil if they do not follow from each other.
func (r *Repo) keptAsking() (all []asking) {
	text, err := os.ReadFile(r.askingFile())
	if err != nil {
		return nil
	}
	seen := map[plumbing.OID]bool{}
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(line, "\n")
		fields := strings.Split(line, " ")
		if !whole || len(fields) < 2 || !plumbing.OID(fields[0]).Valid() || !plumbing.OID(fields[1]).Valid() {
			return nil
		}
		a := asking{plumbing.OID(fields[0]), plumbing.OID(fields[1]), fields[2:]}
		switch {
		case seen[a.commit]: // two processes have added it
			continue
		case len(all) > 0 && all[len(all)-1].commit != a.parent:
			return nil
		}
		seen[a.commit] = true
		all = append(all, a)
	}
	return all
}

// addAsking adds lines to the file. If it fails, git is asked again.
func (r *Repo) addAsking(later []asking) {
	file, err := os.OpenFile(r.askingFile(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	_, _ = fmt.Fprint(file, lines(later))
	file.Close()
}

func lines(all []asking) string {
	var text strings.Builder
	for _, a := range all {
		text.WriteString(a.line())
	}
	return text.String()
}

// hasRequest reports whether a commit has the trailer with that request.
func (r *Repo) hasRequest(ctx context.Context, oid plumbing.OID, request string) (bool, error) {
	const separator = "\x1f"
	out, err := r.command("rev-list",
		"-c", "trailer.separators=:", // a user's setting must not hide ours
		"rev-list", "--max-count=1", "--encoding=UTF-8", "--no-commit-header",
		"--format=%(trailers:key="+plumbing.RequestTrailer+",valueonly,unfold,separator=%x1f)",
		string(oid), "--").Output(ctx)
	if err != nil {
		return false, err
	}
	return slices.Contains(strings.Split(strings.TrimSuffix(string(out), "\n"), separator), request), nil
}
