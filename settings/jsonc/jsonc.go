// Package jsonc reads JSON with comments, and changes one value in it while every
// other byte stays where it is.
//
// # Bounded
//
// A file may be of any size and depth, and may be no file at all. [Read] refuses
// what would cost too much, and a mistake is told in one line, with its place.
//
// # What is kept
//
// Comments, the order of the keys, blanks, line endings, a byte order mark,
// trailing commas and a missing line end stay. New text follows the style of
// its surroundings.
//
// # Duplicate keys
//
// If an object holds a key twice, the last value counts, as for every reader of
// JSON.
package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"gemline/engine/text"
)

// Set gives the key at path a value, which may be anything that
// [json.Marshal] takes; a [json.RawMessage] keeps the order of its keys.
// Objects that are missing on the way are made, and a new key goes behind the
// others. A value that is there already changes nothing.
func Set(old []byte, path []string, value any) ([]byte, error) {
	raw, err := text.JSON(value, "")
	if err != nil {
		return nil, err
	}
	return edit(old, path, func(d *Document) ([]patch, error) { return d.set(path, raw) })
}

// Unset removes the key at path, and then the objects on the way that hold
// nothing any more, not even a comment. A key that is not there changes
// nothing.
func Unset(text []byte, path []string) ([]byte, error) {
	out, err := edit(text, path, func(d *Document) ([]patch, error) { return d.unset(path, false) })
	if err != nil || bytes.Equal(out, text) {
		return out, err
	}
	for up := path[:len(path)-1]; len(up) > 0; up = up[:len(up)-1] {
		before := out
		if out, err = edit(out, up, func(d *Document) ([]patch, error) {
			return d.unset(up,
				true)
		}); err != nil || bytes.Equal(before, out) {
			return out, err
		}
	}
	return out, nil
}

// edit parses old, and returns it with the patches of change applied.
func edit(old []byte, path []string, change func(*Document) ([]patch, error)) ([]byte, error) {
	if len(path) == 0 {
		return nil, errors.New("a key is missing")
	}
	for _, name := range path {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("the key %q is not UTF-8", name)
		}
	}
	d, err := Parse("", old)
	if err != nil {
		return nil, err
	}
	patches, err := change(d)
	if err != nil || len(patches) == 0 {
		return old, err
	}
	edited := apply(d.text, patches)
	if d.unended {
		edited = bytes.TrimSuffix(edited, []byte("\n"))
	}
	if d.marked {
		edited = append([]byte(mark), edited...)
	}
	return edited, nil
}

// A patch puts text in the place of the bytes from start to end.
type patch struct {
	start, end int
	text       string
}

// apply carries out patches. Where two overlap, they take the same blanks away.
func apply(text []byte, patches []patch) []byte {
	slices.SortStableFunc(patches, func(a, b patch) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, p := range patches {
		out = append(append(out, text[at:max(at, p.start)]...), p.text...)
		at = max(at, p.end)
	}
	return append(out, text[at:]...)
}

// An object is an object in a document, with the member that holds it.
type object struct {
	*hujson.Object
	value  *hujson.Value
	member *hujson.ObjectMember // nil for the root
}

// all returns the indices of the members with a name.
func (o object) all(name string) []int {
	var found []int
	for i := range o.Members {
		if literal, ok := o.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			found = append(found, i)
		}
	}
	return found
}

// reach follows path through the objects that are there. It returns the last
// of them, and what of the path is left: at least the last name.
func (d *Document) reach(path []string) (object, []string, error) {
	o := object{Object: d.root.Value.(*hujson.Object), value: &d.root}
	for i := range path[:len(path)-1] {
		found := o.all(path[i])
		if len(found) == 0 {
			return o, path[i:], nil
		}
		m := &o.Members[found[len(found)-1]]
		below, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return object{}, nil, fmt.Errorf("%s is %s, not an object", strings.Join(path[:i+1], "."), kind(&m.Value))
		}
		o = object{Object: below, value: &m.Value, member: m}
	}
	return o, path[len(path)-1:], nil
}

func kind(v *hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '[':
		return "a list"
	}
	return "a number"
}

// set returns the patches that give the key at path a value.
func (d *Document) set(path []string, raw []byte) ([]patch, error) {
	o, left, err := d.reach(path)
	if err != nil {
		return nil, err
	}
	if found := o.all(left[0]); len(left) == 1 && len(found) > 0 {
		return d.replace(&o.Members[found[len(found)-1]], raw), nil
	}
	for _, name := range slices.Backward(left[1:]) {
		quoted, err := text.JSON(name, "")
		if err != nil {
			return nil, err
		}
		raw = fmt.Appendf(nil, "{%s:%s}", quoted, raw)
	}
	name, err := text.JSON(left[0], "")
	if err != nil {
		return nil, err
	}
	if len(o.Members) == 0 {
		return d.fill(o, name, raw), nil
	}
	return d.add(o, name, raw), nil
}

// replace gives a member another value.
func (d *Document) replace(m *hujson.ObjectMember, raw []byte) []patch {
	start, end := m.Value.StartOffset, m.Value.EndOffset
	old := d.text[start:end]
	if same(old, raw) {
		return nil
	}
	s := d.styleAt(start)
	s.indent = d.indentAt(m.Name.StartOffset)
	s.colon = blanks(m.Value.BeforeExtra, " ")
	oneline := len(old) > len("[]") && (old[0] == '[' || old[0] == '{') && !bytes.Contains(old, []byte("\n"))
	s.flat = oneline || !startsLine(m.Name.BeforeExtra)
	return []patch{{start, end, s.print(raw)}}
}

// add puts a member behind the last one.
func (d *Document) add(o object, name, raw []byte) []patch {
	last := &o.Members[len(o.Members)-1]
	end := last.Value.EndOffset
	comma := last.Value.AfterExtra != nil // behind the last member, too
	from := end
	if comma {
		from += len(last.Value.AfterExtra) + len(",")
	}
	past, slashes := trivia(d.text, from)
	s := d.styleAt(end)
	s.colon = blanks(last.Value.BeforeExtra, " ")
	if s.flat = !startsLine(last.Name.BeforeExtra) && !slashes; s.flat {
		between := s.colon
		if len(o.Members) > 1 {
			between = blanks(last.Name.BeforeExtra, between)
		}
		member := between + s.member(name, raw)
		if comma {
			return []patch{{past, past, member + ","}}
		}
		return []patch{{past, past, "," + member}}
	}
	s.indent = d.indentAt(last.Name.StartOffset)
	if !startsLine(last.Name.BeforeExtra) {
		s.indent += s.unit
	}
	member := s.newline + s.indent + s.member(name, raw)
	if comma {
		return []patch{{past, past, member + ","}}
	}
	return []patch{{end, end, ","}, {past, past, member}}
}

// fill puts a member into an object that has none.
func (d *Document) fill(o object, name, raw []byte) []patch {
	start, end := o.value.StartOffset+len("{"), o.value.EndOffset-len("}")
	inside := d.text[start:end]
	s := d.styleAt(start)
	base := d.indentAt(o.value.StartOffset)
	s.indent = base + s.unit
	if i := bytes.LastIndexByte(inside, '\n'); i >= 0 {
		if i > 0 && inside[i-1] == '\r' {
			i--
		}
		if tail := inside[i:]; len(bytes.TrimSpace(tail)) > 0 { // the end of a comment, before the brace
			i = len(bytes.TrimRight(inside, " \t\r\n"))
		}
		return []patch{{start + i, start + i, s.newline + s.indent + s.member(name, raw)}}
	}
	if o.member != nil {
		s.colon = blanks(o.member.Value.BeforeExtra, " ")
	}
	if s.flat = o.member != nil && !startsLine(o.member.Name.BeforeExtra); s.flat || len(bytes.TrimSpace(inside)) > 0 {
		s.flat = true
		at := start + len(bytes.TrimRight(inside, " \t\r"))
		gap := ""
		if at > start {
			gap = " "
		}
		return []patch{{at, at, gap + s.member(name, raw)}}
	}
	return []patch{{start, end, s.newline + s.indent + s.member(name, raw) + s.newline + base}}
}

// unset returns the patches that remove the key at path. With hollow they remove
// it only if its value is an empty object.
func (d *Document) unset(path []string, hollow bool) ([]patch, error) {
	o, left, err := d.reach(path)
	if err != nil || len(left) > 1 {
		return nil, err
	}
	found := o.all(left[0])
	if len(found) == 0 {
		return nil, nil
	}
	if hollow {
		below, ok := o.Members[found[0]].Value.Value.(*hujson.Object)
		if len(found) > 1 || !ok || len(below.Members) > 0 || len(bytes.TrimSpace(below.AfterExtra)) > 0 {
			return nil, nil
		}
	}
	final := len(o.Members) - 1
	var patches []patch
	for n, i := range found {
		start, end := d.extent(o, i, final-i == len(found)-1-n)
		patches = append(patches, patch{start, end, ""})
	}
	if !slices.Contains(found, final) || o.Members[final].Value.AfterExtra != nil {
		return patches, nil
	}
	for i := final; i >= 0; i-- { // whoever is the last one now has a comma too many
		if !slices.Contains(found, i) {
			v := o.Members[i].Value
			at := v.EndOffset + len(v.AfterExtra)
			return append(patches, patch{at, at + len(","), ""}), nil
		}
	}
	return patches, nil
}

// extent returns the bytes that belong to a member: its comma, what is said
// about it behind it, and its line if it has one for itself. With tail all
// members behind it are removed, too.
func (d *Document) extent(o object, i int, tail bool) (start, end int) {
	m := &o.Members[i]
	start, end = m.Name.StartOffset, m.Value.EndOffset
	if m.Value.AfterExtra != nil || i < len(o.Members)-1 {
		end += len(m.Value.AfterExtra) + len(",")
	}
	past, _ := trivia(d.text, end)
	rest := d.text[past:]
	gap := len(rest) - len(bytes.TrimLeft(rest, " \t\r"))
	line := len(bytes.TrimRight(d.text[:start], " \t"))
	if i < len(o.Members)-1 && !bytes.HasPrefix(rest[gap:], []byte("\n")) { // the next one is on the same line
		if tail {
			return line, end
		}
		blank := d.text[end:]
		return start, end + len(blank) - len(bytes.TrimLeft(blank, " \t"))
	}
	if line > 0 && d.text[line-1] == '\n' && bytes.HasPrefix(rest[gap:], []byte("\n")) {
		return line, past + gap + len("\n")
	}
	return line, past
}

// same reports whether two texts say the same. Numbers that a reader can't
// tell apart are the same, unless they are whole and written out.
func same(old, raw []byte) bool {
	a, err := Value(old)
	b, err2 := Value(raw)
	return err == nil && err2 == nil && reflect.DeepEqual(settle(a), settle(b))
}

// settle turns the numbers in v into those that readers see.
func settle(v any) any {
	switch x := v.(type) {
	case json.Number:
		if f, err := x.Float64(); err == nil && (f != float64(int64(f)) || int64(f) < 1<<53 && int64(f) > -1<<53) {
			return f
		}
	case []any:
		for i := range x {
			x[i] = settle(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = settle(x[k])
		}
	}
	return v
}
