package batch

import (
	"cmp"
	"io"
	"maps"
	"slices"
)

// A printer writes the records of items, in the order of the items or, if unordered, of their ends.
type printer struct {
	out       io.Writer
	broken    func(error)
	unordered bool
	state     *state
	next      int           // the next item to print
	ready     map[int]entry // ended items behind next
	lost      error         // the error of writing
}

// add adds an ended item, and prints the items that are next.
func (p *printer) add(index int, e entry) {
	if p.unordered {
		p.print(e)
		return
	}
	p.ready[index] = e
	for e, ok := p.ready[p.next]; ok; e, ok = p.ready[p.next] {
		delete(p.ready, p.next)
		p.print(e)
		p.next++
	}
}

// flush prints the remaining items after an interruption, although earlier items are missing.
func (p *printer) flush() {
	for _, i := range slices.Sorted(maps.Keys(p.ready)) {
		p.print(p.ready[i])
	}
}

// print writes the record of e.
func (p *printer) print(e entry) {
	b, err := p.state.record(e)
	if err != nil {
		p.lost = cmp.Or(p.lost, err)
		return
	}
	if p.lost == nil {
		if _, p.lost = p.out.Write(append(slices.Clip(b), '\n')); p.lost != nil && p.broken != nil {
			p.broken(p.lost)
		}
	}
}
