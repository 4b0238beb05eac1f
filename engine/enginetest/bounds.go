package enginetest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Limits for reading a hostile text.
const (
	boundInput = 64 << 10               // bytes of the text
	boundBytes = 64 << 20               // allocated bytes in total
	boundTime  = 100 * time.Millisecond // checked only in a soak, since machines differ
)

// Bounds checks the cost of read, a reader of untrusted text, for 64 KiB of text: at most 64 MiB
// of allocations, and in a soak 100 ms. The texts are built from the seeds: each seed repeated,
// its beginning repeated, its opening and closing marks on different sides, and long words, lines
// and rows of empty lines after it. It must not run in parallel to other tests.
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
