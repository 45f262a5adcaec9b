package call

// Version is the program's version; a release build sets it.
var Version = "0.1.0"
