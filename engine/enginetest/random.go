package enginetest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Soak reports whether random tests are to run in full, as make soak has it.
func Soak() bool { return os.Getenv("SOAK") != "" }

// Rounds returns how much of something a random test tries: usually, or in a soak.
func Rounds(usual, soak int) int {
	if Soak() {
		return soak
	}
	return usual
}

// Random returns a source of randomness for a test: the same one each time, and another one in
// every soak. The variable SEED repeats a run with the seed that its log names. Each stream gives
// other numbers.
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
