package openai

import (
	"bytes"
	"encoding/json"
)

// wording has the field with the text of a detail of a thought, by its type.
var wording = map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}

// A detail is a part of a thought, or a piece of one.
type detail map[string]json.RawMessage

// words returns the name of the field with the text, "" if d has none, and the text.
func (d detail) words() (field, said string) {
	kind := ""
	json.Unmarshal(d["type"], &kind) // another value than a string is no type
	if field = wording[kind]; field != "" {
		json.Unmarshal(d[field], &said)
	}
	return field, said
}

// begins reports whether next begins a new detail: it has another type or index, or is text after
// a signature.
func (d detail) begins(next detail) bool {
	for _, key := range []string{"type", "index"} {
		if !bytes.Equal(d[key], next[key]) {
			return true
		}
	}
	field, said := next.words()
	return field == "" || said != "" && has(d["signature"])
}

func has(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

// read returns the details that are objects.
func read(pieces []json.RawMessage) (all []detail) {
	for _, p := range pieces {
		var d detail
		if json.Unmarshal(p, &d) == nil && d != nil {
			all = append(all, d)
		}
	}
	return all
}

// worded returns the text of pieces of details.
func worded(pieces []json.RawMessage) (all string) {
	for _, d := range read(pieces) {
		_, said := d.words()
		all += said
	}
	return all
}

// joined joins pieces to whole details: a signature is for the whole text, and invalid beside a
// piece.
func joined(pieces []json.RawMessage) (all []detail) {
	for _, next := range read(pieces) {
		n := len(all)
		if n == 0 || all[n-1].begins(next) {
			all = append(all, next)
			continue
		}
		field, said := next.words()
		_, before := all[n-1].words()
		for key, v := range next {
			if has(v) {
				all[n-1][key] = v
			}
		}
		all[n-1][field], _ = json.Marshal(before + said) // no error for a string
	}
	return all
}
