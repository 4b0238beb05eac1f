package enginetest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Soak reports whether random tests run in full, as by make soak.
func Soak() bool { return os.Getenv("SOAK") != "" }

// Rounds returns the number of rounds of a random test: soak in a soak, otherwise usual.
func Rounds(usual, soak int) int {
	if Soak() {
		return soak
	}
	return usual
}

// Random returns a source of randomness for a test, with a constant seed, or in a soak a new
// seed. The variable SEED repeats a run with the logged seed. Each stream gives different
// numbers.
func Random(t testing.TB, stream uint64) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if Soak() {
		seed = rand.Uint64()
	}
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, stream))
}
