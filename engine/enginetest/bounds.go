package enginetest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// What reading a hostile text may cost.
const (
	boundInput = 64 << 10               // bytes of the text
	boundBytes = 64 << 20               // bytes that are asked for, all in all
	boundTime  = 100 * time.Millisecond // only looked at in a soak: machines differ
)

// Bounds holds read, which takes text from outside, to what 64 KiB of it may
// cost: 64 MiB of memory asked for, and in a soak 100 ms. The texts are made of
// the seeds: each of them over and over, each begun over and over, what opens
// and what closes in them on different sides, and long words, lines and rows of
// empty lines behind them. It must not be run beside other tests.
func Bounds(t *testing.T, read func(text string), seeds ...string) {
	t.Helper()
	if Raced {
		t.Skip("the race detector asks for memory of its own")
	}
	fill := func(s string) string {
		if s == "" {
			return ""
		}
		return strings.Repeat(s, boundInput/len(s))
	}
	nest := func(open, close string) string {
		n := boundInput / (len(open) + len(close))
		return strings.Repeat(open, n) + strings.Repeat(close, n)
	}
	var texts []string
	for _, s := range seeds {
		texts = append(texts, fill(s), fill(s+"\n"))
		for _, n := range []int{1, 2, len(s) / 2} {
			if n > 0 && n <= len(s) {
				texts = append(texts, fill(s[:n]), fill(s[len(s)-n:]), nest(s[:n], s[len(s)-n:]))
			}
		}
		for _, long := range []string{"a", " ", "\n", "\\", "\"", "1", "\xff", "é"} {
			texts = append(texts, (s + fill(long))[:boundInput])
		}
	}
	for _, s := range []string{"(", "[", "{", "<", "'", "`", "$(", "*", "_", "- ", "> ", "|", "#",
		":", "=", "[{", "{\"a\":", "a=", "/", "../", ".", "%", "&", "\x00", "\r", "\t", "\x1b[", "0"} {
		texts = append(texts, fill(s))
	}
	texts = append(texts, nest("(", ")"), nest("[", "]"), nest("{", "}"), nest("{\"a\":", "}"), nest("<a>", "</a>"))
	most := uint64(0)
	for _, text := range texts {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		read(text)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		n := after.TotalAlloc - before.TotalAlloc
		most = max(most, n)
		if n > boundBytes {
			t.Errorf("%.40q and so on, %d bytes: %d MiB are asked for", text, len(text), n>>20)
		}
		if !Soak() || took <= boundTime {
			continue
		}
		for range 3 { // the machine may have been busy
			start = time.Now()
			read(text)
			took = min(took, time.Since(start))
		}
		if took > boundTime {
			t.Errorf("%.40q and so on, %d bytes: it takes %s", text, len(text), took)
		}
	}
	t.Logf("bounds: %d hostile texts of %d KiB, of which none asked for more than %d MiB",
		len(texts), boundInput>>10, (most+1<<20-1)>>20)
}
