package edit

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// A File is the old and the new content of a file, or the old and the new target of a link.
type File struct {
	Name             string // relative to the directory where the patch is applied, with slashes
	OldMode, NewMode string // as [GitMode] says; "" if there was or is no file
	Old, New         string // bytes in any encoding
}

// Modes of files in git.
const (
	plainMode      = "100644"
	executableMode = "100755"
	linkMode       = "120000"
)

// GitMode returns the mode of a file or a link in git.
func GitMode(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return linkMode
	case mode&0o100 != 0:
		return executableMode
	}
	return plainMode
}

// Patch returns the change from the old to the new files, in the format of git diff, in the
// order of files. git apply produces exactly the new bytes.
//
// The patch is text. A change is written as a binary patch, safe but unreadable, if its
// lines are no UTF-8, hold control characters, or are not plain. plain is called with
// several lines at once; if it is nil, all lines are plain.
func Patch(files []File, plain func(text string) bool) string {
	var out strings.Builder
	for _, f := range files {
		if f.OldMode != "" && f.NewMode != "" && (f.OldMode == linkMode) != (f.NewMode == linkMode) {
			File{Name: f.Name, OldMode: f.OldMode, Old: f.Old}.write(&out, plain)
			f.OldMode, f.Old = "", ""
		}
		if f.OldMode != f.NewMode || f.Old != f.New {
			f.write(&out, plain)
		}
	}
	return out.String()
}

func (f File) write(out *strings.Builder, plain func(string) bool) {
	a, b := quoteName("a/"+f.Name), quoteName("b/"+f.Name)
	fmt.Fprintf(out, "diff --git %s %s\n", a, b)
	switch {
	case f.OldMode == "":
		fmt.Fprintf(out, "new file mode %s\nindex %040x..%s\n", f.NewMode, 0, object(f.New))
		a = "/dev/null"
	case f.NewMode == "":
		fmt.Fprintf(out, "deleted file mode %s\nindex %s..%040x\n", f.OldMode, object(f.Old), 0)
		b = "/dev/null"
	case f.OldMode != f.NewMode:
		fmt.Fprintf(out, "old mode %s\nnew mode %s\n", f.OldMode, f.NewMode)
		if f.Old != f.New {
			fmt.Fprintf(out, "index %s..%s\n", object(f.Old), object(f.New))
		}
	default:
		fmt.Fprintf(out, "index %s..%s %s\n", object(f.Old), object(f.New), f.NewMode)
	}
	if f.Old == f.New {
		return // an empty file, or only its mode has changed
	}
	var lines strings.Builder
	hunks(&lines, f.Old, f.New, true)
	if text := lines.String(); f.shows(text, plain) {
		fmt.Fprintf(out, "--- %s\n+++ %s\n%s", a, b, text)
		return
	}
	out.WriteString("GIT binary patch\n")
	literal(out, f.New)
	literal(out, f.Old) // so that git apply -R works
}

// shows reports whether the hunks of f can be text. A byte order mark at the beginning is
// allowed.
func (f File) shows(hunks string, plain func(string) bool) bool {
	if !utf8.ValidString(hunks) {
		return false
	}
	const bom = "\ufeff"
	if strings.HasPrefix(f.Old, bom) || strings.HasPrefix(f.New, bom) {
		for _, sign := range []string{" ", "-", "+"} {
			hunks = strings.Replace(hunks, "\n"+sign+bom, "\n"+sign, 1)
		}
	}
	for i, r := range hunks {
		switch {
		case r == '\t', r == '\n', r == '\r' && strings.HasPrefix(hunks[i+1:], "\n"):
		case r < 0x20, r >= 0x7f && r < 0xa0:
			return false
		}
	}
	return plain == nil || plain(strings.ReplaceAll(hunks, "\r\n", "\n"))
}

// quoteName returns name in the notation of a patch: as it is, or quoted as in C if it is
// ambiguous.
func quoteName(name string) string {
	const escaped, letters = "\a\b\t\n\v\f\r\"\\", `abtnvfr"\`
	var out strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case strings.IndexByte(escaped, c) >= 0:
			out.WriteString(`\` + letters[strings.IndexByte(escaped, c):][:1])
		case c < ' ', c >= 0x7f:
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	if out.String() == name && !strings.Contains(name, " ") {
		return name
	}
	return `"` + out.String() + `"`
}

// object returns the object id of content in git.
func object(content string) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00%s", len(content), content)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// literal writes content in the format of git's binary patches: compressed, in base 85, in
// lines of up to 52 bytes that begin with a letter for the length.
func literal(out *strings.Builder, content string) {
	var packed bytes.Buffer
	z, _ := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	z.Write([]byte(content)) // to memory
	z.Close()
	fmt.Fprintf(out, "literal %d\n", len(content))
	for rest := packed.Bytes(); len(rest) > 0; {
		line := rest[:min(52, len(rest))]
		rest = rest[len(line):]
		const lengths = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		out.WriteByte(lengths[len(line)-1])
		for len(line) > 0 {
			var group [4]byte
			line = line[copy(group[:], line):]
			out.WriteString(digits(binary.BigEndian.Uint32(group[:])))
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

// digits returns n in base 85, in five digits.
func digits(n uint32) string {
	const all = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	var s [5]byte
	for i := 4; i >= 0; i-- {
		s[i] = all[n%85]
		n /= 85
	}
	return string(s[:])
}
