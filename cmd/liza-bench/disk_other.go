//go:build !unix

package main

import "os"

// diskBytes is a file's size, where nothing better is known.
func diskBytes(info os.FileInfo) int64 { return info.Size() }
