package team

import "testing"

// TestFitting checks that a narrow status line keeps the tally and those who come first, and says
// how many it leaves out.
func TestFitting(t *testing.T) {
	agents := []string{"coder-1 login 3m", "coder-2 shop 1m", "planner-1 idle 9m"}
	for width, want := range map[int]string{
		80: "2 CLAIMED | coder-1 login 3m | coder-2 shop 1m | planner-1 idle 9m",
		64: "2 CLAIMED | coder-1 login 3m | coder-2 shop 1m | +1",
		44: "2 CLAIMED | coder-1 login 3m | +2",
		20: "2 CLAIMED | +3",
	} {
		if got := fitting("2 CLAIMED", agents, width); got != want {
			t.Errorf("%d columns: %q, not %q", width, got, want)
		}
	}
}
