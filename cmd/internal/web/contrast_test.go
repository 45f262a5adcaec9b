package web

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestContrast: every colour of text is readable on every background it is used on. WCAG AA
// requires 4.5:1, and 3:1 for the borders of fields and for bars.
func TestContrast(t *testing.T) {
	data := testrun.Must(assetFiles.ReadFile("assets/style.css"))(t)
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllSubmatch(data, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d colour schemes", len(schemes))
	}
	for i, scheme := range schemes {
		colour := map[string]string{}
		for _, m := range regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{6})`).FindAllSubmatch(scheme[1], -1) {
			colour[string(m[1])] = string(m[2])
		}
		check := func(least float64, ink string, grounds ...string) {
			t.Helper()
			for _, ground := range grounds {
				if got := contrast(t, colour[ink], colour[ground]); got < least {
					t.Errorf("scheme %d: %s on %s has %.2f : 1, less than %.1f", i, ink, ground, got, least)
				}
			}
		}
		for _, ink := range []string{"ink", "soft", "accent", "hot"} {
			check(4.5, ink, "bg", "raised", "faint", "hot-bg")
		}
		check(4.5, "good", "bg", "raised", "faint")
		for _, ink := range []string{"ink", "comment", "string", "keyword", "number"} {
			check(4.5, ink, "raised", "add", "del")
		}
		check(4.5, "soft", "add", "del")
		check(4.5, "ink", "add-word", "del-word")
		check(4.5, "raised", "hot")
		for _, bar := range []string{"work", "review", "merge", "blocked"} {
			check(3, bar, "bg", "faint")
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("no colour: %q", colour)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n := testrun.Must(strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8))(t)
		c := float64(n) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
