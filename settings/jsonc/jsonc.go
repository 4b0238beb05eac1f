// Package jsonc reads JSON with comments, and changes one value in it while every
// other byte stays where it is.
//
// # Size and depth are limited
//
// A path may lead to a file of any size and depth, or to something else. [Read] refuses large and
// deep files. A mistake is reported in one line, with its position.
//
// # The rest of the file is preserved
//
// Comments, the order of the keys, blanks, line endings, a byte order mark, trailing commas and a
// missing line end are preserved. New text follows the style of the file.
//
// The package changes and packs hujson's tree. Its Patch would change the first of two equal keys,
// remove the comment above a key with the key, give the comment behind the last value to a new key,
// and format nothing.
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

// Set sets the key at path to a value, which may be anything that [json.Marshal] takes; a
// [json.RawMessage] preserves the order of its keys. Set makes missing objects of the path, and
// adds a new key after the others. It changes nothing if the key has the value already.
func Set(old []byte, path []string, value any) ([]byte, error) {
	raw, err := text.JSON(value, "")
	if err != nil {
		return nil, err
	}
	return edit(old, path, func(d *Document) (bool, error) { return d.set(path, raw) })
}

// Unset removes the key at path, and then objects of the path that become empty, unless they have a
// comment. It changes nothing if the key is missing.
func Unset(old []byte, path []string) ([]byte, error) {
	return edit(old, path, func(d *Document) (bool, error) {
		changed, err := d.unset(path, false)
		for up, more := len(path)-1, changed; more && up > 0; up-- {
			more, _ = d.unset(path[:up], true)
		}
		return changed, err
	})
}

// edit parses old, applies change, and returns the result.
func edit(old []byte, path []string, change func(*Document) (changed bool, err error)) ([]byte, error) {
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
	changed, err := change(d)
	if err != nil || !changed {
		return old, err
	}
	edited := d.root.Pack()
	if d.unended {
		edited = bytes.TrimSuffix(edited, []byte("\n"))
	}
	if d.marked {
		edited = append([]byte(mark), edited...)
	}
	return edited, nil
}

// member returns the member of o whose value counts for a name, nil if there is none.
func member(o *hujson.Object, called string) *hujson.ObjectMember {
	for i := range slices.Backward(o.Members) {
		if name(o.Members[i]) == called {
			return &o.Members[i]
		}
	}
	return nil
}

// reach follows path through existing objects. It returns the last object, its member in the object
// around it (nil for the root), and the rest of the path: at least the last name.
func (d *Document) reach(path []string) (o *hujson.Object, holder *hujson.ObjectMember, left []string, err error) {
	o = d.root.Value.(*hujson.Object)
	for i := range path[:len(path)-1] {
		m := member(o, path[i])
		if m == nil {
			return o, holder, path[i:], nil
		}
		below, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil, nil, nil, fmt.Errorf("%s is %s, not an object", strings.Join(path[:i+1], "."), kinds[m.Value.Value.Kind()])
		}
		o, holder = below, m
	}
	return o, holder, path[len(path)-1:], nil
}

var kinds = map[hujson.Kind]string{'n': "null", 't': "true or false", 'f': "true or false", '0': "a number",
	'"': "a string", '[': "a list"}

// set sets the key at path to a value, and reports whether that changes the document.
func (d *Document) set(path []string, raw []byte) (changed bool, err error) {
	o, holder, left, err := d.reach(path)
	if err != nil {
		return false, err
	}
	if m := member(o, left[0]); m != nil && len(left) == 1 {
		return d.replace(m, raw), nil
	}
	for _, name := range slices.Backward(left[1:]) {
		raw = fmt.Appendf(nil, "{%s:%s}", []byte(hujson.String(name)), raw)
	}
	var m hujson.ObjectMember
	m.Name.Value = hujson.String(left[0])
	if len(o.Members) == 0 {
		d.fill(o, holder, m, raw)
	} else {
		d.add(o, m, raw)
	}
	return true, nil
}

// replace replaces the value of a member, and reports whether it differs.
func (d *Document) replace(m *hujson.ObjectMember, raw []byte) (changed bool) {
	old := d.text[m.Value.StartOffset:m.Value.EndOffset]
	if same(old, raw) {
		return false
	}
	oneLine := len(old) > len("[]") && (old[0] == '[' || old[0] == '{') && !bytes.Contains(old, []byte("\n"))
	flat := oneLine || !startsLine(m.Name.BeforeExtra)
	m.Value.Value = d.style().value(raw, flat, d.indentAt(m.Name.StartOffset))
	return true
}

// add adds a member after the last.
func (d *Document) add(o *hujson.Object, m hujson.ObjectMember, raw []byte) {
	last := &o.Members[len(o.Members)-1]
	comma := last.Value.AfterExtra != nil // the last member also has a trailing comma
	past, slashes := trivia(o.AfterExtra)
	line := o.AfterExtra[:past:past]
	o.AfterExtra = o.AfterExtra[past:]
	s, indent := d.style(), d.indentAt(last.Name.StartOffset)
	flat := !startsLine(last.Name.BeforeExtra) && !slashes
	if flat {
		between := s.colon
		if len(o.Members) > 1 {
			between = blanks(last.Name.BeforeExtra, between)
		}
		if !comma { // the comma follows the comments
			last.Value.AfterExtra, line = line, nil
		}
		m.Name.BeforeExtra = append(line, between...)
	} else {
		if !startsLine(last.Name.BeforeExtra) {
			indent += s.unit
		}
		m.Name.BeforeExtra = append(line, s.newline+indent...)
	}
	m.Value = hujson.Value{BeforeExtra: []byte(s.colon), Value: s.value(raw, flat, indent)}
	if comma {
		m.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, m)
}

// fill adds a member to an empty object.
func (d *Document) fill(o *hujson.Object, holder *hujson.ObjectMember, m hujson.ObjectMember, raw []byte) {
	s, flat, start := d.style(), false, d.root.StartOffset
	if holder != nil {
		flat, start = !startsLine(holder.Name.BeforeExtra), holder.Value.StartOffset
	}
	base := d.indentAt(start)
	indent := base + s.unit
	inside := o.AfterExtra
	if end := bytes.LastIndexByte(inside, '\n'); end >= 0 {
		flat = false
		if end > 0 && inside[end-1] == '\r' {
			end--
		}
		if tail := inside[end:]; len(bytes.TrimSpace(tail)) > 0 { // the end of a comment before the brace
			end = len(bytes.TrimRight(inside, " \t\r\n"))
		}
		m.Name.BeforeExtra = append(inside[:end:end], s.newline+indent...)
		o.AfterExtra = inside[end:]
	} else if comments := bytes.TrimRight(inside, " \t\r"); flat || len(comments) > 0 {
		flat = true
		o.AfterExtra = inside[len(comments):]
		if len(comments) > 0 {
			m.Name.BeforeExtra = append(comments[:len(comments):len(comments)], ' ')
		}
	} else {
		m.Name.BeforeExtra = []byte(s.newline + indent)
		o.AfterExtra = []byte(s.newline + base)
	}
	m.Value = hujson.Value{BeforeExtra: []byte(s.colon), Value: s.value(raw, flat, indent)}
	o.Members = append(o.Members, m)
}

// unset removes each occurrence of the key at path, and reports whether there was one. With hollow
// it removes the key only if its value is an empty object.
func (d *Document) unset(path []string, hollow bool) (changed bool, err error) {
	o, _, left, err := d.reach(path)
	if err != nil || len(left) > 1 {
		return false, err
	}
	var found []int
	for i := range o.Members {
		if name(o.Members[i]) == left[0] {
			found = append(found, i)
		}
	}
	if hollow && (len(found) > 1 || !empty(o.Members[found[0]].Value)) {
		return false, nil
	}
	for n, i := range found {
		remove(o, i-n)
	}
	return len(found) > 0, nil
}

// empty reports whether v is an object without members and comments.
func empty(v hujson.Value) bool {
	o, ok := v.Value.(*hujson.Object)
	return ok && len(o.Members) == 0 && len(bytes.TrimSpace(o.AfterExtra)) == 0
}

// remove removes a member from o, with the comment after it, and its line if the line becomes
// empty.
func remove(o *hujson.Object, i int) {
	final := len(o.Members) - 1
	comma := o.Members[final].Value.AfterExtra != nil
	before, behind := o.Members[i].Name.BeforeExtra, &o.AfterExtra
	if i < final {
		behind = &o.Members[i+1].Name.BeforeExtra
	}
	lead := bytes.TrimRight(before, " \t")
	past, _ := trivia(*behind)
	rest := (*behind)[past:]
	ending, ends := bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("\n"))
	switch {
	case i < final && !ends: // the next member is on the same line
		lead, rest = before, bytes.TrimLeft(*behind, " \t")
	case ends && bytes.HasSuffix(lead, []byte("\n")):
		rest = ending
	}
	*behind = slices.Concat(lead, rest)
	o.Members = slices.Delete(o.Members, i, i+1)
	if i < final || i == 0 {
		return
	}
	if last := &o.Members[i-1].Value; !comma { // text before the removed comma is now before the brace
		o.AfterExtra, last.AfterExtra = append(last.AfterExtra, o.AfterExtra...), nil
	} else if last.AfterExtra == nil {
		last.AfterExtra = hujson.Extra{}
	}
}

// same reports whether two texts have the same value. Numbers that readers can't distinguish are
// the same, except integers from 2^53 on, which are compared by their text.
func same(old, raw []byte) bool {
	a, err := Value(old)
	b, err2 := Value(raw)
	return err == nil && err2 == nil && reflect.DeepEqual(Map(a, canonicalNumber), Map(b, canonicalNumber))
}

// canonicalNumber converts a number to the number that readers get.
func canonicalNumber(v any) any {
	n, _ := v.(json.Number)
	if f, err := n.Float64(); err == nil && (f != float64(int64(f)) || int64(f) < 1<<53 && int64(f) > -1<<53) {
		return f
	}
	return v
}
