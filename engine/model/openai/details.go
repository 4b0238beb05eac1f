package openai

import (
	"bytes"
	"encoding/json"
)

// wording are the fields of the words in a detail of a thought, by its type.
var wording = map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}

// A detail is a part of a thought, or a piece of one.
type detail map[string]json.RawMessage

// words returns the name of the field with the words, "" if d has none, and the words.
func (d detail) words() (field, said string) {
	kind := ""
	json.Unmarshal(d["type"], &kind) // a value that is no text is no type
	if field = wording[kind]; field != "" {
		json.Unmarshal(d[field], &said)
	}
	return field, said
}

// begins reports whether next is no further piece of d: of another type or place, or words
// behind the signature of others.
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

// worded returns what pieces of details say.
func worded(pieces []json.RawMessage) (all string) {
	for _, d := range read(pieces) {
		_, said := d.words()
		all += said
	}
	return all
}

// joined makes whole details of the pieces that they came in: a signature is for the whole
// text, and is refused beside a piece of it.
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
		all[n-1][field], _ = json.Marshal(before + said) // a text has a form in JSON
	}
	return all
}
