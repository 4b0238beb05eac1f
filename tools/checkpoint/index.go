package checkpoint

import (
	"bytes"
	"encoding/gob"
	"path/filepath"
	"slices"

	"gemline/engine/disk"
)

// The index caches the known state of the files, so that the next session need not read all
// files again. If it is missing or damaged, the files are read.
const (
	indexFile = "index.gemline"
	mostIndex = 512 << 20 // bytes
)

// An index is the known state of the files. In the file, its checksum precedes it.
type index struct {
	Rules      string
	Generation string   // of the store at the time of the scan, see [store.use]
	States     []string // the states in the store at that time
	Nodes      []indexedNode
}

// An indexedNode is a node. Its parent is the nearest node before it with a lower depth.
type indexedNode struct {
	Depth    int // 1 for children of the top
	Name     string
	Look     disk.Stat
	Sum      Sum
	Tracking tracking
	Settled  bool
	Git      bool
}

// save writes the known state of the files.
func (h *history) save() {
	x := index{Rules: h.rules, Generation: h.store.generation, States: h.store.states()}
	var add func(n *node, depth int)
	add = func(n *node, depth int) {
		for _, k := range n.kids {
			x.Nodes = append(x.Nodes, indexedNode{depth, k.name, k.look, k.sum, k.tracking, k.settled, k.git})
			add(k, depth+1)
		}
	}
	add(h.top, 1)
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(x) == nil {
		h.store.write(".", indexFile, slices.Concat([]byte(sumOf(b.Bytes())), []byte("\n"), b.Bytes()))
	}
}

// load reads the known state of the files. It reads none if states were collected since, or
// if a state is missing.
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
		n := &node{name: l.Name, up: path[l.Depth-1], look: l.Look, sum: l.Sum, tracking: l.Tracking, settled: l.Settled, git: l.Git}
		n.up.kids = append(n.up.kids, n)
		path = append(path[:l.Depth], n)
	}
	h.top, h.rules, h.scanned = path[0], x.Rules, true
}

// mostDepth limits the depth of nested directories.
const mostDepth = 4096
