package install

import (
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// provenDir is where a server's pre-receive stores what it has proven, for the transaction that
// follows: a file named after the new commit of the board, or the new object of another ref where
// the board stays, with the lines that git passed.
const provenDir = "proven"

// provenFor is how long such a file is used. Moves that begin later are proven again.
const provenFor = time.Minute

// KeepProven stores the moves of a push that was proven as a whole, each a line "old new ref" as
// git wrote it, with old being the current value of the ref. The shim allows exactly these moves as
// one transaction without asking again: by then git has locked each ref at its old value. If they
// can't be stored, the shim asks. It does not create the directory, so that a repository that was
// moved away does not reappear at its old path.
func KeepProven(repo *git.Repo, now time.Time, key plumbing.OID, moves string) {
	dir := filepath.Join(Dir(repo), provenDir)
	tidyProven(dir, now)
	_ = disk.Replace(filepath.Join(dir, string(key)), []byte(moves))
}

// integrationFile is where a server records which branch is integration: the id of the board's
// settings, and the ref.
const integrationFile = "integration"

// KeepIntegration records for the shim which ref is the integration branch according to the
// settings with that id. If it can't be stored, the shim asks.
func KeepIntegration(repo *git.Repo, settings plumbing.OID, ref string) {
	file := filepath.Join(Dir(repo), integrationFile)
	note := string(settings) + "\n" + ref + "\n"
	if was, err := os.ReadFile(file); err == nil && string(was) == note {
		return
	}
	_ = disk.Replace(file, []byte(note))
}

func tidyProven(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > provenFor {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
