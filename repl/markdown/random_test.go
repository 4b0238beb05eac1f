package markdown

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pieces are what random texts are made of: all that has a meaning, and some
// that has none.
var pieces = strings.Split("a|b c|word | |  |    |\t|\n|\n|\n\n|\r\n|*|**|***|_|__|~~|~|`|``|```|```go\n|[|]|](|)|](u)|](<u v> \"t\")|![|<|>|<b>|</b>|<!--|-->|<?|?>|<http://a.b>|<a@b.c>|<div>|"+
	"</div>\n|&amp;|&#35;|&|\\|\\*|\\\\|\\\n|# |### |#|> |>|- |* |+ |1. |2) |10. |-|--|---|===|=|***\n|:|.|!|(|\"|'|é|日本|。|\U0001f600|\xff|\xe6|[ ] |[x] |0|12|\x00|\v|\u00a0", "|")

// bars are what random tables are made of.
var bars = []string{"|", "|", "| a ", "|-", "|---", ":|", "|\n", "\\|", "`|`", "|a|b|\n|-|-|\n"}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(40) {
		if r.IntN(6) == 0 {
			b.WriteString(bars[r.IntN(len(bars))])
		} else {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
	}
	return b.String()
}

// TestAgree reads random texts in pieces and as a whole.
func TestAgree(t *testing.T) {
	n, seed := 3000, uint64(1)
	if s := os.Getenv("MARKDOWN_TEXTS"); s != "" { // for a longer look
		n, _ = strconv.Atoi(s)
		seed = rand.Uint64()
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		src := randomText(r)
		got := shown(src)
		if whole := reference(src); whole != got && !misread(src) {
			t.Fatalf("%q read as a whole:\n%q\nin one pass:\n%q", src, whole, got)
		}
		a, b := 1+r.IntN(9), 1+r.IntN(9)
		if split := shown(src, a, b); split != got {
			t.Fatalf("%q in pieces of %d and %d: %s", src, a, b, cmp.Diff(got, split))
		}
	}
}

// TestLong reads texts in which more is open than is ever held back: where
// they were cut must make no difference.
func TestLong(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for range 40 {
		var b strings.Builder
		opener := pieces[r.IntN(len(pieces))]
		for b.Len() < 4*maxHeld {
			if r.IntN(9) == 0 {
				b.WriteString(opener)
			}
			if p := pieces[r.IntN(len(pieces))]; !strings.Contains(p, "\n") || r.IntN(60) == 0 {
				b.WriteString(p)
			}
		}
		src := b.String()
		got := shown(src)
		for _, sizes := range [][]int{{1}, {7, 1000}, {maxHeld}, {maxHeld + 1, 3}} {
			if split := shown(src, sizes...); split != got {
				t.Fatalf("in pieces of %d: %s", sizes, cmp.Diff(got, split))
			}
		}
	}
}
