package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

// What is known of the files is in a file beside the states, so that the next
// session does not read all of them again. It is worth nothing by itself: without it,
// or if it is damaged, they are read.
const indexMagic = "gemline index 3\n"

// mostIndex is how many bytes are read of it.
const mostIndex = 512 << 20

func (k *Keeper) indexPath() string { return filepath.Join(k.cfg.Dir, "index.gemline") }

// save writes what is known of the files.
func (k *Keeper) save() {
	b := encodeText([]byte(indexMagic), k.rules)
	b = encodeText(b, strings.Join(k.repo.states(), " "))
	b = encodeNode(b, k.top)
	sum := sha256.Sum256(b)
	f, err := disk.Create(k.indexPath(), nil)
	if err != nil {
		return
	}
	defer f.Discard()
	if f.Chmod(0o600) != nil {
		return
	}
	if _, err := f.Write(append(b, sum[:]...)); err == nil {
		k.saved = f.Commit(k.indexPath()) == nil
	}
}

func encodeText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func encodeNode(b []byte, n *node) []byte {
	b = encodeText(b, n.name)
	b = append(b, byte(n.cover), 0)
	if n.settled {
		b[len(b)-1] = 1
	}
	for _, v := range []uint64{uint64(n.look.Mode), uint64(n.look.Size), n.look.Dev, n.look.Ino,
		uint64(n.look.Modified), uint64(n.look.Changed)} {
		b = binary.AppendUvarint(b, v)
	}
	b = encodeText(b, string(n.sum))
	b = binary.AppendUvarint(b, uint64(len(n.kids)))
	for _, k := range n.kids {
		b = encodeNode(b, k)
	}
	return b
}

// load reads what was known of the files, nil if nothing is. Where a state is gone
// that was there, nothing is.
func (k *Keeper) load() *node {
	b, err := disk.Read(k.indexPath(), mostIndex)
	if err != nil || len(b) < len(indexMagic)+sha256.Size || !bytes.HasPrefix(b, []byte(indexMagic)) {
		return nil
	}
	b, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if is := sha256.Sum256(b); !bytes.Equal(is[:], sum) {
		return nil
	}
	d := &decoder{b: b[len(indexMagic):]}
	rules, states := d.text(), k.repo.states()
	for _, name := range strings.Fields(d.text()) {
		if _, there := slices.BinarySearch(states, name); !there {
			return nil
		}
	}
	top := d.node(nil, 0)
	if d.err != nil {
		return nil
	}
	k.rules = rules
	return top
}

// A decoder reads an index. Its error is the first one.
type decoder struct {
	b   []byte
	err error
}

var errIndex = errors.New("the index is damaged")

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.err = errIndex
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.err = errIndex
		return ""
	}
	text := string(d.b[:n])
	d.b = d.b[n:]
	return text
}

func (d *decoder) node(up *node, depth int) *node {
	n := &node{name: d.text(), up: up}
	if len(d.b) < 2 || depth > 4096 || depth > 0 && (n.name != filepath.Base(n.name) || n.name == "." || n.name == "..") {
		d.err = errIndex
		return n
	}
	n.cover, n.settled = cover(d.b[0]), d.b[1] == 1
	d.b = d.b[2:]
	n.look = disk.Look{Mode: fs.FileMode(d.number()), Size: int64(d.number()), Dev: d.number(), Ino: d.number(),
		Modified: int64(d.number()), Changed: int64(d.number())}
	n.sum = Sum(d.text())
	for range d.number() {
		if d.err != nil {
			return n
		}
		n.kids = append(n.kids, d.node(n, depth+1))
	}
	return n
}
