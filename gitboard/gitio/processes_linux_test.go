package gitio

import (
	"os"
	"testing"
)

// TestUptimeIsExact checks that the time since the boot has the unit of start times, without an
// error of rounding: a process that has just started did not start later than now.
func TestUptimeIsExact(t *testing.T) {
	own, ok := readStat("/proc/self")
	if !ok || own.pid != os.Getpid() {
		t.Fatalf("own process: %+v", own)
	}
	for range 500 {
		now := uptime()
		if now%tick != 0 || now < own.started {
			t.Fatalf("uptime %v, in units of %v; started at %v", now, tick, own.started)
		}
	}
}
