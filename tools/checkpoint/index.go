package checkpoint

import (
	"bytes"
	"encoding/gob"
	"path/filepath"
	"slices"

	"gemline/engine/disk"
)

// The known state of the files is in a file beside the states, so that the next
// session does not read all of them again. It is worth nothing by itself: without it,
// or if it is damaged, they are read.
const (
	indexFile = "index.gemline"
	mostIndex = 512 << 20 // bytes
)

// An index is the known state of the files. Its sum stands before it.
type index struct {
	Rules      string
	Generation string   // of the store when the files were looked at, see [store.use]
	States     []string // that were there
	Nodes      []indexedNode
}

// An indexedNode is a node, which belongs to the last one before it that is less deep.
type indexedNode struct {
	Depth    int // 1 for those below the top
	Name     string
	Look     disk.Stat
	Sum      Sum
	Tracking tracking
	Settled  bool
}

// save writes the known state of the files.
func (h *history) save() {
	x := index{Rules: h.rules, Generation: h.store.generation, States: h.store.states()}
	var add func(n *node, depth int)
	add = func(n *node, depth int) {
		for _, k := range n.kids {
			x.Nodes = append(x.Nodes, indexedNode{depth, k.name, k.look, k.sum, k.tracking, k.settled})
			add(k, depth+1)
		}
	}
	add(h.top, 1)
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(x) == nil {
		h.store.write(".", indexFile, slices.Concat([]byte(sumOf(b.Bytes())), []byte("\n"), b.Bytes()))
	}
}

// load reads the known state of the files. Where states were collected since, or one is gone that
// was there, nothing is.
func (h *history) load() {
	b, _ := h.store.read(indexFile, mostIndex)
	sum, nodes, _ := bytes.Cut(b, []byte("\n"))
	var x index
	if sumOf(nodes) != Sum(sum) || gob.NewDecoder(bytes.NewReader(nodes)).Decode(&x) != nil {
		return
	}
	states := h.store.states()
	gone := func(id string) bool { _, there := slices.BinarySearch(states, id); return !there }
	if x.Generation != h.store.generation || slices.ContainsFunc(x.States, gone) {
		return
	}
	path := []*node{{}}
	for _, l := range x.Nodes {
		if l.Depth < 1 || l.Depth > min(len(path), mostDepth) || l.Name != filepath.Base(l.Name) || l.Name == "." || l.Name == ".." {
			return
		}
		n := &node{name: l.Name, up: path[l.Depth-1], look: l.Look, sum: l.Sum, tracking: l.Tracking, settled: l.Settled}
		n.up.kids = append(n.up.kids, n)
		path = append(path[:l.Depth], n)
	}
	h.top, h.rules, h.scanned = path[0], x.Rules, true
}

// mostDepth bounds how many directories are in each other.
const mostDepth = 4096
