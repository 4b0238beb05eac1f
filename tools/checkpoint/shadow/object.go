package shadow

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Sum is the name of an object, in bytes. It is empty for none.
type Sum string

// String returns the name as git writes it.
func (s Sum) String() string { return hex.EncodeToString([]byte(s)) }

// ParseSum reads the name of an object.
func ParseSum(text string) (Sum, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != sha256.Size && len(b) != sha1.Size {
		return "", fmt.Errorf("%.80q is no name of an object", text)
	}
	return Sum(b), nil
}

// newHash returns what names of that length are made by.
func newHash(size int) hash.Hash {
	if size == sha1.Size {
		return sha1.New() // of git's repositories
	}
	return sha256.New()
}

// A Kind is what an object is.
type Kind string

// The kinds of objects.
const (
	Blob   Kind = "blob"
	Tree   Kind = "tree"
	Commit Kind = "commit"
)

// kinds are their numbers in a pack.
var kinds = []Kind{1: Commit, 2: Tree, 3: Blob}

// sumOf returns the name that an object has.
func sumOf(size int, kind Kind, content []byte) Sum {
	h := newHash(size)
	fmt.Fprintf(h, "%s %d\x00", kind, len(content))
	h.Write(content)
	return Sum(h.Sum(nil))
}

// SumOf returns the name that an object has in a repository of ours.
func SumOf(kind Kind, content []byte) Sum { return sumOf(sha256.Size, kind, content) }

// An Entry is one of a tree.
type Entry struct {
	Name string
	Mode fs.FileMode // a regular file's, a directory's or a link's
	Sum  Sum
}

const typeDir, typeFile, typeLink, typeGit = 0o040000, 0o100000, 0o120000, 0o160000

// special are the bits of modes that are no permissions.
var special = [...]struct {
	flag fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}

// bits returns the mode of e as it stands in a tree.
func (e Entry) bits() uint32 {
	bits := uint32(e.Mode.Perm())
	for _, s := range special {
		if e.Mode&s.flag != 0 {
			bits |= s.bit
		}
	}
	switch {
	case e.Mode.IsDir():
		return typeDir | bits
	case e.Mode&fs.ModeSymlink != 0:
		return typeLink
	}
	return typeFile | bits
}

// modeOf reads the mode of an entry. git writes some without permissions.
func modeOf(bits uint32) (fs.FileMode, error) {
	mode := fs.FileMode(bits & 0o777)
	for _, s := range special {
		if bits&s.bit != 0 {
			mode |= s.flag
		}
	}
	switch bits & 0o170000 {
	case typeFile:
		return mode, nil
	case typeLink:
		return fs.ModeSymlink | 0o777, nil
	case typeDir:
		if bits == typeDir {
			mode = 0o755
		}
		return mode | fs.ModeDir, nil
	case typeGit:
		return 0, errSubmodule
	}
	return 0, fmt.Errorf("mode %o is none of a file", bits)
}

var errSubmodule = errors.New("a submodule")

// order compares names as git sorts those of a tree.
func order(a, b Entry) int {
	return cmp.Compare(a.key(), b.key())
}

func (e Entry) key() string {
	if e.Mode.IsDir() {
		return e.Name + "/"
	}
	return e.Name
}

// EncodeTree returns the tree of entries, which it sorts.
func EncodeTree(entries []Entry) []byte {
	slices.SortFunc(entries, order)
	var b []byte
	for _, e := range entries {
		b = strconv.AppendUint(b, uint64(e.bits()), 8)
		b = append(b, ' ')
		b = append(b, e.Name...)
		b = append(b, 0)
		b = append(b, e.Sum...)
	}
	return b
}

// decodeTree reads a tree. Submodules are left out.
func decodeTree(b []byte, size int) (entries []Entry, err error) {
	seen := map[string]bool{}
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte{0})
		octal, name, blank := strings.Cut(string(head), " ")
		bits, nerr := strconv.ParseUint(octal, 8, 32)
		if !ok || !blank || nerr != nil || len(rest) < size {
			return nil, errors.New("the tree can't be read")
		}
		if err := CheckName(name); err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("a tree has two entries called %.80q", name)
		}
		seen[name] = true
		mode, merr := modeOf(uint32(bits))
		if merr != nil && merr != errSubmodule {
			return nil, merr
		}
		if merr == nil {
			entries = append(entries, Entry{Name: name, Mode: mode, Sum: Sum(rest[:size])})
		}
		b = rest[size:]
	}
	return entries, nil
}

// CheckName refuses what no entry of a directory is called, and what a repository
// is kept in.
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 4096:
		return fmt.Errorf("%.80q can't be the name of a file", name)
	case isGit(name):
		return fmt.Errorf("%.80q is the name of a repository", name)
	}
	return nil
}

// A CommitObject is a state, and what is said of it.
type CommitObject struct {
	Tree    Sum
	Parent  Sum // "" if it is the first one
	Time    time.Time
	Message string
}

// author is who has made all commits.
const author = "gemline <gemline@localhost>"

// EncodeCommit returns c as an object.
func EncodeCommit(c CommitObject) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	if c.Parent != "" {
		fmt.Fprintf(&b, "parent %s\n", c.Parent)
	}
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %[1]s %[2]d +0000\n\n%s", author, c.Time.Unix(), c.Message)
	return b.Bytes()
}

// decodeCommit reads a commit, of which only the first parent counts.
func decodeCommit(b []byte) (c CommitObject, err error) {
	head, message, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		return c, errors.New("the commit can't be read")
	}
	c.Message = message
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "tree" && c.Tree == "":
			c.Tree, err = ParseSum(value)
		case key == "parent" && c.Parent == "":
			c.Parent, err = ParseSum(value)
		case key == "committer":
			if words := strings.Fields(value); len(words) > 1 {
				seconds, _ := strconv.ParseInt(words[len(words)-2], 10, 64)
				c.Time = time.Unix(seconds, 0)
			}
		}
		if err != nil {
			return c, err
		}
	}
	if c.Tree == "" {
		return c, errors.New("the commit can't be read")
	}
	return c, nil
}
