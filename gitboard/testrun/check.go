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

// Must returns a function that ends a test on an error, and returns the value without one:
// testrun.Must(os.ReadFile(name))(t).
func Must[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
