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

// ThisProcess can't identify a process for good here.
func ThisProcess() string { return "" }

// ProcessSpace: there is but one here.
func ProcessSpace() string { return "" }

// Ended knows of no process here.
func Ended(string) bool { return false }

func uptime() time.Duration { return 0 }

func userOf(os.FileInfo) int { return -1 }
