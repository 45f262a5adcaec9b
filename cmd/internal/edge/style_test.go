package edge

import (
	"os"
	"testing"
)

// The null device is a device, but nobody sits at it: nothing is asked or coloured there.
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
