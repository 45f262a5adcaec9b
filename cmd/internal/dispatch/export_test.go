package dispatch

// Exported for the tests of the commands' pages.
var (
	Capital = capital
	Options = options
	Parse   = parse
	Roff    = roff
)
