package dispatch

// For tests of the commands' pages.
var (
	Capital = capital
	Options = options
	Roff    = roff
)
