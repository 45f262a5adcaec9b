package git

import (
	"slices"
	"testing"
)

// TestPartly checks which output of a push says that the remote has moved a part of the refs.
func TestPartly(t *testing.T) {
	t.Parallel()
	const to, up, made, left, other = "To hub\n", "=\ta:refs/a\t[up to date]\n", "*\tb:refs/b\t[new reference]\n", "!\tc:refs/c\t[remote rejected] (deny updating a hidden ref)\n", "!\t:refs/d\t[rejected]\n"
	for name, c := range map[string]struct {
		out  string
		want []string
	}{
		"nothing":            {"", nil},
		"all":                {to + made, nil},
		"none":               {to + left + other, nil},
		"none, one is there": {to + up + left, nil},
		"one of three":       {to + left + made + other, []string{"refs/c", "refs/d"}},
		"a fast-forward":     {" \tb:refs/b\t1..2\n" + left, []string{"refs/c"}},
		"a forced one":       {"+\tb:refs/b\t1...2\n" + left, []string{"refs/c"}},
		"a deleted one":      {"-\t:refs/b\t[deleted]\n" + left, []string{"refs/c"}},
		"other lines":        {"!\nDone\n* b\n" + left, nil},
	} {
		var got []string
		if part := partly([]byte(c.out)); part != nil {
			got = part.Left
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
