// Package golden compares what tests produce with files that are kept. It is for tests alone.
// `go test PACKAGE -update` rewrites the files.
//
// It may import nothing of ours.
package golden

import (
	"flag"
	"os"
	"testing"
)

// Update rewrites the files: -update.
var Update = flag.Bool("update", false, "rewrite the files that tests compare their results with")

// Check wants a text to be what its file holds.
func Check(t *testing.T, path, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs (-update rewrites it; git diff shows how):\n%s", path, got)
	}
}
