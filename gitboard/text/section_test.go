package text

import "testing"

func TestSection(t *testing.T) {
	const spec = "# Sums\n\n## Plus, minus\n\n```\n# no heading\n```\n### Signs\n\n## Rest\n"
	for _, c := range []struct {
		anchor     string
		first, end int
		found      bool
	}{{"plus-minus", 3, 10, true}, {"signs", 8, 10, true}, {"rest", 10, 11, true}, {"sums", 1, 11, true}, {"no-heading", 0, 11, false}, {"", 0, 11, false}} {
		if first, end, found := Section(spec, c.anchor); first != c.first || end != c.end || found != c.found {
			t.Errorf("%q: %d to %d, %v", c.anchor, first, end, found)
		}
	}
}
