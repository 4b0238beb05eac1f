package journal

import (
	"encoding/json"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// decodeParts returns the parts that the JSON value b stands for: an array of them,
// one of them, or a text. What is none is left out.
func decodeParts(b []byte) []*genai.Part {
	if len(b) == 0 {
		return nil
	}
	var parts []*genai.Part
	one := func(v []byte) {
		if v[0] == '"' {
			parts = append(parts, &genai.Part{Text: decodeString(v)})
			return
		}
		p, ok := decodeSimple(v)
		if !ok {
			p = &genai.Part{}
			if json.Unmarshal(v, p) != nil {
				return
			}
		}
		parts = append(parts, p)
	}
	if b[0] == '[' {
		eachElement(b, one)
	} else {
		one(b)
	}
	return dropEmpty(parts)
}

// decodeSimple decodes the parts that make up most of a session, a text or an answer
// that is a text, without the general decoder.
func decodeSimple(b []byte) (*genai.Part, bool) {
	p := &genai.Part{}
	ok := true
	whole := eachField(b, func(key string, v []byte) {
		switch key {
		case "text":
			p.Text, ok = unquoteIf(ok, v)
		case "functionResponse":
			fr := &genai.FunctionResponse{}
			p.FunctionResponse = fr
			ok = ok && eachField(v, func(key string, v []byte) {
				switch key {
				case "id":
					fr.ID, ok = unquoteIf(ok, v)
				case "name":
					fr.Name, ok = unquoteIf(ok, v)
				case "response":
					fr.Response = map[string]any{}
					ok = ok && eachField(v, func(key string, v []byte) {
						fr.Response[key], ok = unquoteIf(ok && (key == "output" || key == "error"), v)
					}) && ok
				default:
					ok = false
				}
			}) && ok
		default:
			ok = false
		}
	})
	return p, whole && ok
}

// unquoteIf unquotes b if all went well before.
func unquoteIf(ok bool, b []byte) (string, bool) {
	if !ok {
		return "", false
	}
	return text.Unquote(b)
}

// dropEmpty drops parts with nothing in them, which the API refuses.
func dropEmpty(parts []*genai.Part) []*genai.Part {
	kept := parts[:0]
	for _, p := range parts {
		if p == nil || p.Text == "" && len(p.ThoughtSignature) == 0 && !engine.HasData(p) {
			continue
		}
		if fr := p.FunctionResponse; fr != nil {
			if fr.Response == nil {
				fr.Response = map[string]any{}
			}
			media := fr.Parts[:0]
			for _, m := range fr.Parts {
				if m != nil {
					media = append(media, m)
				}
			}
			fr.Parts = media
			if len(media) == 0 {
				fr.Parts = nil
			}
		}
		kept = append(kept, p)
	}
	return kept
}
