//go:build !linux

package gitio

import (
	"os"
	"time"
)

// processes can't see any process here.
func (r *Repo) processes() (found []gitProcess, known bool) { return nil, false }

// Birth is always "": processes with the same pid can't be distinguished here.
func Birth(int) string { return "" }

// ThisProcess is always "": processes can't be identified here.
func ThisProcess() string { return "" }

// ProcessSpace is always "": there is only one here.
func ProcessSpace() string { return "" }

// Ended is always false: nothing is known about processes here.
func Ended(string) bool { return false }

func groupLives(string) bool { return false }

func uptime() time.Duration { return 0 }

func userOf(os.FileInfo) int { return -1 }
