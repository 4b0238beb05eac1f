package enginetest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Port returns an unused port of 127.0.0.1. The port is below the range of ephemeral ports (from
// 32768 on Linux, 49152 elsewhere), so other tests' servers don't take the port.
func Port(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(12_000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
