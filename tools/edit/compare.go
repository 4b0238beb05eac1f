package edit

import (
	"slices"
	"sort"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A change replaces the lines a0 to a1 of a by the lines b0 to b1 of b.
type change struct{ a0, a1, b0, b1 int }

// compare returns the changes that turn a into b, in order, with unchanged lines between any
// two.
//
// Lines that occur once in both texts are matched. The ranges between them are compared in
// the same way, and the remainders by the longest common subsequence, which go-udiff limits
// to some fifty differences. So the time is near linear for all texts.
func compare(a, b []string) []change {
	ids := make(map[string]rune, len(a))
	number := func(lines []string) []rune {
		all := make([]rune, len(lines))
		for i, l := range lines {
			id, ok := ids[l]
			if !ok {
				id = rune(len(ids))
				ids[l] = id
			}
			all[i] = id
		}
		return all
	}
	d := differ{a: number(a), b: number(b)}
	d.seen = make([]sighting, len(ids))
	d.between(0, len(a), 0, len(b), 8)
	return d.changes
}

type differ struct {
	a, b    []rune
	seen    []sighting // by line, all zero between uses
	changes []change
}

// A sighting counts the occurrences of a line.
type sighting struct{ a, b, at int }

// between compares the lines from a0 to a1 with those from b0 to b1.
func (d *differ) between(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	const few = 40 // lines of a range that is compared exactly
	if a0 == a1 || b0 == b1 {
		d.add(change{a0, a1, b0, b1})
		return
	}
	if depth > 0 && a1-a0+b1-b0 > few {
		if anchors := d.anchors(a0, a1, b0, b1); len(anchors) > 0 {
			for _, at := range anchors {
				d.between(a0, at.a, b0, at.b, depth-1)
				a0, b0 = at.a+1, at.b+1
			}
			d.between(a0, a1, b0, b1, depth-1)
			return
		}
	}
	for _, c := range lcs.DiffRunes(d.a[a0:a1:a1], d.b[b0:b1:b1]) {
		d.add(change{a0 + c.Start, a0 + c.End, b0 + c.ReplStart, b0 + c.ReplEnd})
	}
}

// add appends c, joined with the last change if nothing lies between them.
func (d *differ) add(c change) {
	if c.a0 == c.a1 && c.b0 == c.b1 {
		return
	}
	if n := len(d.changes); n > 0 && d.changes[n-1].a1 == c.a0 && d.changes[n-1].b1 == c.b0 {
		d.changes[n-1].a1, d.changes[n-1].b1 = c.a1, c.b1
		return
	}
	d.changes = append(d.changes, c)
}

// A pair is a line of a and a line of b.
type pair struct{ a, b int }

// anchors returns the largest set of pairs, ascending in both texts, of lines that occur
// once in each range.
func (d *differ) anchors(a0, a1, b0, b1 int) []pair {
	for _, id := range d.a[a0:a1] {
		d.seen[id].a++
	}
	for j, id := range d.b[b0:b1] {
		d.seen[id].b++
		d.seen[id].at = b0 + j
	}
	var pairs []pair
	for i, id := range d.a[a0:a1] {
		if s := d.seen[id]; s.a == 1 && s.b == 1 {
			pairs = append(pairs, pair{a0 + i, s.at})
		}
	}
	for _, id := range d.a[a0:a1] {
		d.seen[id] = sighting{}
	}
	for _, id := range d.b[b0:b1] {
		d.seen[id] = sighting{}
	}
	return ascending(pairs)
}

// ascending returns the longest subsequence of pairs, sorted by a, that ascends in b, too.
func ascending(pairs []pair) []pair {
	var tops []int                    // by length: the pair, lowest in b, that ends an ascending subsequence
	before := make([]int, len(pairs)) // the predecessor of each pair in its subsequence
	for i, p := range pairs {
		k := sort.Search(len(tops), func(k int) bool { return pairs[tops[k]].b >= p.b })
		before[i] = -1
		if k > 0 {
			before[i] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, i)
		} else {
			tops[k] = i
		}
	}
	if len(tops) == 0 {
		return nil
	}
	longest := make([]pair, 0, len(tops))
	for i := tops[len(tops)-1]; i >= 0; i = before[i] {
		longest = append(longest, pairs[i])
	}
	slices.Reverse(longest)
	return longest
}
