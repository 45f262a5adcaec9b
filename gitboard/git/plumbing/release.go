package plumbing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// IsRelease reports whether a text is the version of a release: three numbers.
func IsRelease(version string) bool { return release(version) != nil }

// OlderRelease reports whether a version is older than a release. What follows three numbers, as in
// 0.2.0-rc1, is older than 0.2.0; a version without numbers is of unknown age, and never older.
func OlderRelease(version, newest string) bool {
	numbers, _, candidate := strings.Cut(version, "-")
	a, b := release(numbers), release(newest)
	if a == nil || b == nil {
		return false
	}
	order := slices.Compare(a, b)
	return order < 0 || order == 0 && candidate
}

// release returns the three numbers of a release's version, nil for another text.
func release(version string) (numbers []int) {
	if !regexp.MustCompile(`^\d{1,9}\.\d{1,9}\.\d{1,9}$`).MatchString(version) {
		return nil
	}
	for _, part := range strings.Split(version, ".") {
		n, _ := strconv.Atoi(part) // all digits
		numbers = append(numbers, n)
	}
	return numbers
}
