//go:build !linux

package gitio

import (
	"os"
	"time"
)

// processes can't be seen here.
func (r *Repo) processes() (found []gitProcess, known bool) { return nil, false }

// Birth can't tell processes of one number apart here.
func Birth(int) string { return "" }

func uptime() time.Duration { return 0 }

func userOf(os.FileInfo) int { return -1 }
