package journal

import (
	"encoding/json"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// decode returns the parts that the JSON value b stands for: an array of them,
// one of them, or a text. What is none is left out.
func decode(b []byte) []*genai.Part {
	if len(b) == 0 {
		return nil
	}
	var parts []*genai.Part
	one := func(v []byte) {
		if v[0] == '"' {
			parts = append(parts, &genai.Part{Text: word(v)})
			return
		}
		p, ok := simple(v)
		if !ok {
			p = &genai.Part{}
			if json.Unmarshal(v, p) != nil {
				return
			}
		}
		parts = append(parts, p)
	}
	if b[0] == '[' {
		elements(b, one)
	} else {
		one(b)
	}
	return clean(parts)
}

// simple decodes the parts that make up most of a session, a text or an answer
// that is a text, without the general decoder.
func simple(b []byte) (*genai.Part, bool) {
	p := &genai.Part{}
	ok := true
	whole := fields(b, func(key string, v []byte) {
		switch key {
		case "text":
			p.Text, ok = also(ok, v)
		case "functionResponse":
			fr := &genai.FunctionResponse{}
			p.FunctionResponse = fr
			ok = ok && fields(v, func(key string, v []byte) {
				switch key {
				case "id":
					fr.ID, ok = also(ok, v)
				case "name":
					fr.Name, ok = also(ok, v)
				case "response":
					fr.Response = map[string]any{}
					ok = ok && fields(v, func(key string, v []byte) {
						fr.Response[key], ok = also(ok && (key == "output" || key == "error"), v)
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

// also unquotes b if all went well before.
func also(ok bool, b []byte) (string, bool) {
	if !ok {
		return "", false
	}
	return text.Unquote(b)
}

// clean drops parts with nothing in them, which the API refuses.
func clean(parts []*genai.Part) []*genai.Part {
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
