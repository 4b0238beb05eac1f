package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"

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
		if p, ok := decodePart(v); ok {
			parts = append(parts, p)
		}
	}
	if b[0] == '[' {
		eachElement(b, one)
	} else {
		one(b)
	}
	return dropEmpty(parts)
}

// decodePart decodes a part, and returns false if b is none.
func decodePart(b []byte) (*genai.Part, bool) {
	if b[0] == '"' {
		return &genai.Part{Text: decodeString(b)}, true
	}
	if p, ok := decodeSimple(b); ok {
		return p, true
	}
	p := &genai.Part{}
	return p, json.Unmarshal(b, p) == nil
}

// decodeSimple decodes the parts that make up most of a session, a text or an answer
// that is a text, without the general decoder.
func decodeSimple(b []byte) (*genai.Part, bool) {
	p, end := walkPart(b, skipSpace(b, 0))
	return p, isEnd(b, end)
}

// walkParts decodes the array of parts that begins at b[at], and returns the index behind
// it, or -1 if it is anything else.
func walkParts(b []byte, at int) (parts []*genai.Part, end int) {
	end = walkElements(b, at, func(at int) int {
		p, end := walkPart(b, at)
		ok := end >= 0
		if !ok {
			if end = skipValue(b, at); end < 0 {
				return -1
			}
			p, ok = decodePart(b[at:end])
		}
		if ok {
			parts = append(parts, p)
		}
		return end
	})
	if end < 0 {
		return nil, -1
	}
	return dropEmpty(parts), end
}

// walkPart decodes the simple part that begins at b[at], and returns the index behind it,
// or -1 if it is anything else.
func walkPart(b []byte, at int) (*genai.Part, int) {
	p := &genai.Part{}
	end := walkFields(b, at, func(key []byte, at int) (end int) {
		switch string(key) {
		case "text":
			p.Text, end = walkString(b, at)
		case "functionResponse":
			p.FunctionResponse, end = walkResponse(b, at)
		case "functionCall":
			p.FunctionCall, end = walkFunctionCall(b, at)
		case "thoughtSignature":
			var signature string
			signature, end = walkString(b, at)
			sig, err := base64.StdEncoding.DecodeString(signature)
			if p.ThoughtSignature = sig; err != nil {
				end = -1
			}
		default:
			end = -1
		}
		return end
	})
	return p, end
}

func walkFunctionCall(b []byte, at int) (*genai.FunctionCall, int) {
	fc := &genai.FunctionCall{}
	end := walkFields(b, at, func(key []byte, at int) (end int) {
		switch string(key) {
		case "id":
			fc.ID, end = walkString(b, at)
		case "name":
			fc.Name, end = walkString(b, at)
		case "args":
			fc.Args, end = walkArgs(b, at)
		default:
			end = -1
		}
		return end
	})
	return fc, end
}

// walkArgs decodes the object that begins at b[at], and returns the index behind it, or -1
// if it is anything else.
func walkArgs(b []byte, at int) (map[string]any, int) {
	args := map[string]any{}
	if end := walkFields(b, at, func(key []byte, at int) int {
		s, end := walkString(b, at)
		name := string(key)
		if bytes.IndexByte(key, '\\') >= 0 || !utf8.Valid(key) {
			return -1
		}
		args[name] = s
		return end
	}); end >= 0 {
		return args, end
	}
	end := skipValue(b, at)
	if end < 0 || b[at] != '{' {
		return nil, -1
	}
	args = nil
	if json.Unmarshal(b[at:end], &args) != nil {
		return nil, -1
	}
	return args, end
}

func walkResponse(b []byte, at int) (*genai.FunctionResponse, int) {
	fr := &genai.FunctionResponse{}
	end := walkFields(b, at, func(key []byte, at int) (end int) {
		switch string(key) {
		case "id":
			fr.ID, end = walkString(b, at)
		case "name":
			fr.Name, end = walkString(b, at)
		case "response":
			fr.Response = map[string]any{}
			end = walkFields(b, at, func(key []byte, at int) int {
				s, end := walkString(b, at)
				switch string(key) {
				case "output":
					fr.Response["output"] = s
				case "error":
					fr.Response["error"] = s
				default:
					end = -1
				}
				return end
			})
		default:
			end = -1
		}
		return end
	})
	return fr, end
}

// walkString decodes the string that begins at b[at], and returns the index behind it, or
// -1 if it is anything unusual.
func walkString(b []byte, at int) (string, int) {
	n := text.Quoted(b[at:])
	if n < 0 {
		return "", -1
	}
	s, ok := text.Unquote(b[at : at+n])
	if !ok {
		return "", -1
	}
	return s, at + n
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
