package script

import (
	"slices"
	"strings"
	"testing"

	"gemline/tools/shell/program"
)

// Every example in the book of programs holds, and whatever of an entry the
// arguments of a program are read by has one.
func TestBook(t *testing.T) {
	for _, p := range program.Entries() {
		for _, e := range p.Examples {
			text, want, _ := strings.Cut(e, " => ")
			s := Read(text)
			told := []string{s.Class.String()}
			for _, c := range s.Commands {
				if c.Wrapper != "" {
					told = append(told, "runs "+c.String())
				}
			}
			for _, w := range s.Writes {
				told = append(told, "writes "+w)
			}
			if got := strings.Join(told, ", "); got != want {
				t.Errorf("%s\n%s => %s\nand the book says %s", p.Names[0], text, got, want)
			}
		}
		matters := func(o program.Option) bool { return o.Effect != "" }
		if len(p.Examples) == 0 && (p.Grammar+p.Writes != "" || p.Usage != nil || slices.ContainsFunc(p.Options, matters)) {
			t.Errorf("%s has no example", p.Names[0])
		}
	}
}
