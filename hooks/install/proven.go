package install

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// provenDir is where a server's pre-receive leaves what it has proven, for the transaction that follows: a file named
// after the board's new commit, which holds the lines that git gave it.
const provenDir = "proven"

// provenFor is how long such a file is of use: moves that have not begun by then are proven again.
const provenFor = time.Minute

// KeepProven keeps the moves of a push that was proven as a whole, each a line "old new ref" as git wrote it, and from
// where its ref is at that moment. The shim lets just these pass as one transaction without asking again: git has
// locked each ref at its old value then. Where it can't be kept the shim asks; a repository that was moved away is not
// begun anew in its old place.
func KeepProven(repo *gitio.Repo, now time.Time, board git.OID, moves string) {
	dir := filepath.Join(Dir(repo), provenDir)
	tidyProven(dir, now)
	temp := filepath.Join(dir, "."+string(board))
	if os.WriteFile(temp, []byte(moves), 0o644) != nil {
		return
	}
	_ = os.Rename(temp, filepath.Join(dir, string(board)))
}

// integrationFile is where a server notes which branch is integration: the id of the board's settings, and the ref.
const integrationFile = "integration"

// KeepIntegration notes for the shim which ref is the integration branch by the settings of that id. Where it can't be
// kept the shim asks.
func KeepIntegration(repo *gitio.Repo, settings git.OID, ref string) {
	file := filepath.Join(Dir(repo), integrationFile)
	note := string(settings) + "\n" + ref + "\n"
	if was, err := os.ReadFile(file); err == nil && string(was) == note {
		return
	}
	temp := file + "-" + strconv.Itoa(os.Getpid())
	if os.WriteFile(temp, []byte(note), 0o644) == nil {
		_ = os.Rename(temp, file)
	}
}

func tidyProven(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > provenFor {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
