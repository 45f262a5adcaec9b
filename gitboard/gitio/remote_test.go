package gitio

import (
	"os"
	"path/filepath"
	"testing"
)

// TestShared checks that the board's remote is found in every form in which git accepts the
// setting.
func TestShared(t *testing.T) {
	ctx, r := scratch(t)
	config := filepath.Join(r.CommonDir(), "config")
	plain, err := os.ReadFile(config)
	check(t, err)
	beside := filepath.Join(filepath.Dir(config), "beside")
	check(t, os.WriteFile(beside, []byte("[liza]\n\tremote = hub\n"), 0o644))
	for text, want := range map[string]string{
		"": "",
		"[remote \"hub\"]\n\turl = x\n[liza]\n\tsigningkey = k\n":            "",
		"[liza]\n\tsigningkey = k\n[remote \"hub\"]\n\turl = x\n":            "",
		"[liza]\n\tremote = hub\n":                                           "hub",
		"[Liza] Remote = hub\n":                                              "hub",
		"[liza]\n\tsigningkey = \"k[1]\"\n\tremote = hub\n":                  "hub",
		"[liza]\n\tnotify = x\n[core]\n\tbare = false\n[liza]\nremote=hub\n": "hub",
		"[include]\n\tpath = beside\n":                                       "hub",
	} {
		check(t, os.WriteFile(config, append(plain[:len(plain):len(plain)], text...), 0o644))
		got := ""
		m, err := r.Shared(ctx)
		check(t, err)
		if m != nil {
			got = m.Name
		}
		if got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
