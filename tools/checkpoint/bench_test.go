package checkpoint

import (
	"fmt"
	"testing"
)

// The first command of a new session in a project of 10,000 files that another session has seen.
func BenchmarkFirstCommand(b *testing.B) {
	p := newPlace(b)
	for i := range 10_000 {
		p.write(fmt.Sprintf("dir-%d/sub-%d/file-%d.txt", i%50, i%500, i), fmt.Sprintf("the content of %d\n", i))
	}
	p.turn("first", func() {})
	n := 0
	for b.Loop() {
		n++
		p.again(fmt.Sprintf("session-%d", n+1))
		p.turn("first", func() { p.write("made", fmt.Sprint(n)) })
	}
}
