// Package golden holds what tests produce against files that are kept. It is for tests alone, and may import the
// standard library only. `go test PACKAGE -update` writes the files anew.
package golden

import (
	"flag"
	"os"
	"testing"
)

// Update says that files are to be written anew: -update.
var Update = flag.Bool("update", false, "write the files that tests hold their results against anew")

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
		t.Errorf("%s differs (-update writes it anew; git diff shows how):\n%s", path, got)
	}
}
