package edge

import (
	"os"
	"testing"
)

// TestNullIsNotATerminal: the null device is a character device but not a terminal: nothing is
// asked or coloured there.
func TestNullIsNotATerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if IsTerminal(null) {
		t.Error("the null device passes for a terminal")
	}
}
