package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// FileStat is the number of lines added to and deleted from a file. Binary is set if it is not
// text.
type FileStat struct {
	Path           string
	Added, Deleted int
	Binary         bool
}

// DiffStats counts the changes between the two trees of each pair, per path, with one child for all
// pairs. A moved file is listed under both paths.
func (h History) DiffStats(ctx context.Context, pairs [][2]plumbing.OID) ([][]FileStat, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	var asked strings.Builder
	for _, pair := range pairs {
		if err := checkOIDs(pair[0], pair[1]); err != nil {
			return nil, err
		}
		asked.WriteString(pairLine(pair))
	}
	c := h.repo.comparing("diff-tree", "--stdin", "-r", "-z", "--numstat", "--no-renames", "--ignore-submodules=none")
	out, err := c.Feed([]byte(asked.String())).Output(ctx)
	if err != nil {
		return nil, err
	}
	return parseStats(string(out), pairs)
}

// parseStats parses the output: for each pair its two ids and a line feed, then one NUL-terminated
// line per file.
func parseStats(out string, pairs [][2]plumbing.OID) ([][]FileStat, error) {
	stats := make([][]FileStat, len(pairs))
	for i, pair := range pairs {
		rest, found := strings.CutPrefix(out, pairLine(pair))
		if !found {
			return nil, fmt.Errorf("git diff-tree answered %.80q to %q", out, pairLine(pair))
		}
		out = rest
		for out != "" && !(i+1 < len(pairs) && strings.HasPrefix(out, pairLine(pairs[i+1]))) {
			line, rest, _ := strings.Cut(out, "\x00")
			fields := strings.SplitN(line, "\t", 3)
			if len(fields) != 3 {
				return nil, fmt.Errorf("git diff-tree answered %.80q", out)
			}
			f := FileStat{Path: fields[2], Binary: fields[0] == "-"}
			f.Added, _ = strconv.Atoi(fields[0])
			f.Deleted, _ = strconv.Atoi(fields[1])
			stats[i], out = append(stats[i], f), rest
		}
	}
	return stats, nil
}

func pairLine(pair [2]plumbing.OID) string { return string(pair[0]) + " " + string(pair[1]) + "\n" }
