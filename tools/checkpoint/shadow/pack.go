package shadow

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sort"
)

// A pack is a file of objects and what its index says of them.
type pack struct {
	name  string // without the ending
	size  int    // of a name of an object
	index []byte
	count int
	file  *os.File // nil until it is read
	bytes int64    // of the file
}

// What a pack and its index begin with.
const (
	packMagic  = "PACK\x00\x00\x00\x02"
	indexMagic = "\xfftOc\x00\x00\x00\x02"
	fanout     = 256 * 4
)

var errPack = errors.New("a pack of the repository is damaged")

// newPack reads an index.
func newPack(name string, index []byte, size int) (*pack, error) {
	p := &pack{name: name, size: size, index: index}
	if len(index) < len(indexMagic)+fanout+2*size || string(index[:len(indexMagic)]) != indexMagic {
		return nil, errPack
	}
	p.count = int(p.below(255))
	if p.count < 0 || len(index) < len(indexMagic)+fanout+p.count*(size+8)+2*size {
		return nil, errPack
	}
	h := newHash(size)
	h.Write(index[:len(index)-size])
	if !bytes.Equal(h.Sum(nil), index[len(index)-size:]) {
		return nil, errPack
	}
	return p, nil
}

// below returns how many objects have names that begin with at most first.
func (p *pack) below(first int) uint32 {
	return binary.BigEndian.Uint32(p.index[len(indexMagic)+4*first:])
}

func (p *pack) names() []byte { return p.index[len(indexMagic)+fanout:] }

// name returns the i-th name.
func (p *pack) sum(i int) Sum { return Sum(p.names()[i*p.size : (i+1)*p.size]) }

// find returns where an object is in the pack.
func (p *pack) find(sum Sum) (offset int64, ok bool) {
	if len(sum) != p.size {
		return 0, false
	}
	from, to := 0, int(p.below(int(sum[0])))
	if sum[0] > 0 {
		from = int(p.below(int(sum[0]) - 1))
	}
	if from > to || to > p.count {
		return 0, false
	}
	i := from + sort.Search(to-from, func(i int) bool { return p.sum(from+i) >= sum })
	if i == to || p.sum(i) != sum {
		return 0, false
	}
	at := p.names()[p.count*(p.size+4)+4*i:]
	offset = int64(binary.BigEndian.Uint32(at))
	if offset&(1<<31) == 0 {
		return offset, true
	}
	far := p.names()[p.count*(p.size+8):]
	n := int(offset &^ (1 << 31))
	if (n+1)*8 > len(far)-2*p.size || n < 0 {
		return 0, false
	}
	offset = int64(binary.BigEndian.Uint64(far[8*n:]))
	return offset, offset > 0
}

// A stored object is one as a pack has it: a kind and its content, or a
// difference from another one.
type stored struct {
	number int
	size   int64
	base   Sum   // of a difference, or
	offset int64 // of its base in the same pack
	at     int64 // where its bytes are
}

const ofsDelta, refDelta = 6, 7

// head reads how an object begins.
func (p *pack) head(offset int64) (s stored, err error) {
	b := make([]byte, 64)
	n, err := p.file.ReadAt(b, offset)
	if n == 0 || err != nil && err != io.EOF {
		return s, errors.Join(errPack, err)
	}
	b = b[:n]
	next := func() (c byte) {
		if len(b) > 0 {
			c, b = b[0], b[1:]
			s.at++
		}
		return c
	}
	c := next()
	s.number, s.size = int(c>>4&7), int64(c&15)
	for shift := 4; c&0x80 != 0 && shift < 60; shift += 7 {
		c = next()
		s.size |= int64(c&0x7f) << shift
	}
	switch s.number {
	case ofsDelta:
		c = next()
		back := int64(c & 0x7f)
		for i := 0; c&0x80 != 0 && i < 8; i++ {
			c = next()
			back = (back+1)<<7 | int64(c&0x7f)
		}
		if s.offset = offset - back; back <= 0 || s.offset <= 0 {
			return s, errPack
		}
	case refDelta:
		if len(b) < p.size {
			return s, errPack
		}
		s.base = Sum(b[:p.size])
		s.at += int64(p.size)
	}
	s.at += offset
	if s.size < 0 {
		return s, errPack
	}
	return s, nil
}

// inflate reads the bytes of s.
func (p *pack) inflate(s stored, most int64) ([]byte, error) {
	return inflate(io.NewSectionReader(p.file, s.at, 1<<62), s.size, most)
}

// inflate reads so many compressed bytes and no more.
func inflate(r io.Reader, size, most int64) ([]byte, error) {
	if size > most {
		return nil, fmt.Errorf("an object of the repository has more than %d bytes", most)
	}
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, errors.Join(errPack, err)
	}
	var b bytes.Buffer
	b.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(z, size+1))
	if err == nil && n != size {
		err = errPack
	}
	return b.Bytes(), err
}

// patch makes of base what a difference says.
func patch(base, delta []byte, most int64) ([]byte, error) {
	length := func() (n int64) {
		for shift := 0; len(delta) > 0 && shift < 60; shift += 7 {
			c := delta[0]
			delta = delta[1:]
			n |= int64(c&0x7f) << shift
			if c&0x80 == 0 {
				return n
			}
		}
		return -1
	}
	from, to := length(), length()
	if from != int64(len(base)) || to < 0 || to > most {
		return nil, errPack
	}
	var out []byte
	for len(delta) > 0 {
		c := delta[0]
		delta = delta[1:]
		if c&0x80 == 0 { // bytes that follow
			if n := int(c); n == 0 || n > len(delta) {
				return nil, errPack
			}
			out, delta = append(out, delta[:c]...), delta[c:]
		} else {
			var v [7]int
			for i := range v {
				if c&(1<<i) != 0 {
					if len(delta) == 0 {
						return nil, errPack
					}
					v[i], delta = int(delta[0]), delta[1:]
				}
			}
			at, n := v[0]|v[1]<<8|v[2]<<16|v[3]<<24, v[4]|v[5]<<8|v[6]<<16
			if n == 0 {
				n = 0x10000
			}
			if at+n > len(base) {
				return nil, errPack
			}
			out = append(out, base[at:at+n]...)
		}
		if int64(len(out)) > to {
			return nil, errPack
		}
	}
	if int64(len(out)) != to {
		return nil, errPack
	}
	return out, nil
}

// A packed object is one that waits to be written.
type packed struct {
	sum    Sum
	offset uint32
	crc    uint32
}

// appendObject adds an object to the bytes of a pack.
func appendObject(b []byte, kind Kind, size int, deflated []byte) []byte {
	c, n := byte(slices.Index(kinds, kind)<<4|size&15), size>>4
	for n > 0 {
		b = append(b, c|0x80)
		c, n = byte(n&0x7f), n>>7
	}
	return append(append(b, c), deflated...)
}

// encodeIndex returns the index of a pack, of which objects are sorted.
func encodeIndex(objects []packed, trailer []byte) []byte {
	b := []byte(indexMagic)
	n := 0
	for first := range 256 {
		for n < len(objects) && int(objects[n].sum[0]) <= first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for _, o := range objects {
		b = append(b, o.sum...)
	}
	for _, o := range objects {
		b = binary.BigEndian.AppendUint32(b, o.crc)
	}
	for _, o := range objects {
		b = binary.BigEndian.AppendUint32(b, o.offset)
	}
	b = append(b, trailer...)
	h := newHash(len(trailer))
	h.Write(b)
	return h.Sum(b)
}

func checksum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
