package checkpoint

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

// A batch is a state that is being written. It is safe for concurrent use.
type batch struct {
	r *repo

	mu      sync.Mutex
	draft   *draft
	buffer  *bufio.Writer
	zip     *zip.Writer
	pending map[Sum]bool
}

// newID returns a name for a state. Later ones sort behind earlier ones.
func newID() string { return fmt.Sprintf("%016x-%08x", time.Now().UnixNano(), rand.Uint32()) }

// begin returns a batch. The caller holds [repo.use] until it is committed; what is not is
// discarded then.
func (r *repo) begin() *batch {
	b := &batch{r: r, pending: map[Sum]bool{}}
	r.begun = append(r.begun, b)
	return b
}

var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
	return z
}}

// add keeps a content, unless it is known to be kept.
func (b *batch) add(content []byte) (Sum, error) {
	sum := sumOf(content)
	if b.has(sum) {
		return sum, nil
	}
	packed := deflated(content)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending[sum] {
		return sum, nil
	}
	if err := b.start(); err != nil {
		return "", err
	}
	err := b.write(sum.String(), content, packed)
	b.pending[sum] = err == nil
	return sum, err
}

// deflated returns content compressed.
func deflated(content []byte) []byte {
	var out bytes.Buffer
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	z.Reset(&out)
	z.Write(content)
	z.Close()
	return out.Bytes()
}

// put adds what is said of the state: quickly, since most of it are sums.
func (b *batch) put(name string, content []byte) error {
	var out bytes.Buffer
	z, _ := flate.NewWriter(&out, flate.HuffmanOnly)
	z.Write(content)
	z.Close()
	return b.write(name, content, out.Bytes())
}

// write adds to the file what was compressed.
func (b *batch) write(name string, content, packed []byte) error {
	w, err := b.zip.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(len(packed)), UncompressedSize64: uint64(len(content))})
	if err == nil {
		_, err = w.Write(packed)
	}
	return err
}

func (b *batch) has(sum Sum) bool {
	b.mu.Lock()
	known := b.pending[sum]
	b.mu.Unlock()
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	return known || b.r.where[sum] != ""
}

// start makes the file, if there is none yet.
func (b *batch) start() (err error) {
	if b.draft == nil {
		if b.draft, err = b.r.draft(statesDir); err == nil {
			b.buffer = bufio.NewWriterSize(b.draft.file, 1<<20)
			b.zip = zip.NewWriter(b.buffer)
		}
	}
	return err
}

// commit has the disk keep the contents, and a state with them if there is one. It returns the
// name of the state.
func (b *batch) commit(s *heading, changes []Change) (id string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.draft == nil && s == nil {
		return "", nil
	}
	if err := b.start(); err != nil {
		return "", err
	}
	if s != nil {
		s.FormatVersion = formatVersion
		var about []byte
		lines := make([]byte, 0, 160*len(changes))
		for _, c := range changes {
			lines = c.append(lines)
		}
		if about, err = json.Marshal(s); err == nil {
			err = errors.Join(b.put(manifestName, lines), b.put(saidName, about))
		}
	}
	if err == nil {
		err = b.zip.Close()
	}
	if err == nil {
		err = b.buffer.Flush()
	}
	if err != nil {
		return "", err // whoever ends the use of the store discards it
	}
	id = newID()
	err = b.draft.keep(id + ".zip")
	b.draft = nil
	if err != nil {
		return "", err
	}
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	b.r.listed[id] = true
	for sum := range b.pending {
		b.r.where[sum] = id
	}
	return id, nil
}

// discard removes what was not committed.
func (b *batch) discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.draft != nil {
		b.draft.discard()
		b.draft = nil
	}
}
