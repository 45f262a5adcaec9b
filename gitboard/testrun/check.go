package testrun

// T is a part of testing.TB that rapid's tests have, too.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Check ends a test on an error.
func Check(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
