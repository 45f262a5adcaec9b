//go:build !linux

package testrun

import (
	"net"
	"testing"
)

// FreePort is an unused port of this machine. It may be another process's by the time a server asks
// for it.
func FreePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
