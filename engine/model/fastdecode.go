package model

import (
	"bytes"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// A decoder decodes the chunks of one stream. The many that hold a piece of
// text and the usual numbers it reads itself, several times as fast as
// encoding/json, which reads all others and decides what is right: where the
// two would differ, the decoder leaves a chunk alone.
type decoder struct {
	b       []byte
	i       int
	wrapped bool   // chunks come in the envelope of Code Assist
	version string // what most chunks repeat
	id      string
}

// A textChunk is a chunk with what most chunks consist of, in one piece.
type textChunk struct {
	response   genai.GenerateContentResponse
	candidate  genai.Candidate
	content    genai.Content
	candidates [1]*genai.Candidate
	parts      [1]*genai.Part
}

// fastDecode returns the chunk that b is, or nil if it holds anything unusual.
func (d *decoder) fastDecode(b []byte) *genai.GenerateContentResponse {
	d.b, d.i = b, 0
	s := &textChunk{}
	r := &s.response
	ok := d.object(func(key []byte) bool {
		switch string(key) {
		case "candidates":
			return r.Candidates == nil && d.one(func() bool { return d.candidate(s) })
		case "usageMetadata":
			if r.UsageMetadata != nil {
				return false
			}
			r.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{}
			return d.usage(r.UsageMetadata)
		case "modelVersion":
			return d.repeated(&d.version, &r.ModelVersion)
		case "responseId":
			return d.repeated(&d.id, &r.ResponseID)
		}
		return false
	})
	d.space()
	if !ok || d.i != len(b) {
		return nil
	}
	return r
}

func (d *decoder) candidate(s *textChunk) bool {
	s.candidates[0] = &s.candidate
	s.response.Candidates = s.candidates[:]
	c := &s.candidate
	return d.object(func(key []byte) bool {
		switch string(key) {
		case "content":
			if c.Content != nil {
				return false
			}
			c.Content = &s.content
			return d.content(s)
		case "finishReason":
			var reason string
			ok := d.text(&reason)
			c.FinishReason = genai.FinishReason(reason)
			return ok
		case "index":
			return d.number(&c.Index)
		}
		return false
	})
}

func (d *decoder) content(s *textChunk) bool {
	c := &s.content
	return d.object(func(key []byte) bool {
		switch string(key) {
		case "role":
			if d.literal(`"model"`) {
				c.Role = genai.RoleModel
				return true
			}
			return d.text(&c.Role)
		case "parts":
			return c.Parts == nil && d.one(func() bool {
				s.parts[0] = &genai.Part{}
				c.Parts = s.parts[:]
				return d.part(s.parts[0])
			})
		}
		return false
	})
}

func (d *decoder) part(p *genai.Part) bool {
	return d.object(func(key []byte) bool {
		switch string(key) {
		case "text":
			return d.text(&p.Text)
		case "thought":
			p.Thought = d.literal("true")
			return p.Thought
		}
		return false
	})
}

func (d *decoder) usage(u *genai.GenerateContentResponseUsageMetadata) bool {
	return d.object(func(key []byte) bool {
		switch string(key) {
		case "promptTokenCount":
			return d.number(&u.PromptTokenCount)
		case "candidatesTokenCount":
			return d.number(&u.CandidatesTokenCount)
		case "totalTokenCount":
			return d.number(&u.TotalTokenCount)
		case "thoughtsTokenCount":
			return d.number(&u.ThoughtsTokenCount)
		case "cachedContentTokenCount":
			return d.number(&u.CachedContentTokenCount)
		case "promptTokensDetails":
			if u.PromptTokensDetails != nil {
				return false
			}
			m := &genai.ModalityTokenCount{}
			u.PromptTokensDetails = []*genai.ModalityTokenCount{m}
			return d.one(func() bool { return d.modality(m) })
		}
		return false
	})
}

func (d *decoder) modality(m *genai.ModalityTokenCount) bool {
	return d.object(func(key []byte) bool {
		switch string(key) {
		case "modality":
			m.Modality = genai.MediaModalityText
			return d.literal(`"TEXT"`)
		case "tokenCount":
			return d.number(&m.TokenCount)
		}
		return false
	})
}

// object reads an object, and has field read the value of each key. It
// reports whether all is as expected.
func (d *decoder) object(field func(key []byte) bool) bool {
	if !d.take('{') {
		return false
	}
	if d.take('}') {
		return true
	}
	for {
		key, plain := d.quoted()
		if !plain || !d.take(':') {
			return false
		}
		d.space()
		if !field(key) {
			return false
		}
		if d.take('}') {
			return true
		}
		if !d.take(',') {
			return false
		}
	}
}

// one reads a list with exactly one element by the function element.
func (d *decoder) one(element func() bool) bool { return d.take('[') && element() && d.take(']') }

func (d *decoder) space() {
	for d.i < len(d.b) {
		switch d.b[d.i] {
		case ' ', '\t', '\r', '\n':
			d.i++
		default:
			return
		}
	}
}

// take reads c, if it is next after white space.
func (d *decoder) take(c byte) bool {
	d.space()
	if d.i < len(d.b) && d.b[d.i] == c {
		d.i++
		return true
	}
	return false
}

func (d *decoder) literal(s string) bool {
	if bytes.HasPrefix(d.b[d.i:], []byte(s)) {
		d.i += len(s)
		return true
	}
	return false
}

// number reads a whole number that is not negative.
func (d *decoder) number(n *int32) bool {
	start := d.i
	v := int32(0)
	for d.i < len(d.b) && '0' <= d.b[d.i] && d.b[d.i] <= '9' {
		v = 10*v + int32(d.b[d.i]-'0')
		d.i++
	}
	digits := d.i - start
	if digits == 0 || digits > 9 || digits > 1 && d.b[start] == '0' {
		return false
	}
	if d.i < len(d.b) && (d.b[d.i] == '.' || d.b[d.i] == 'e' || d.b[d.i] == 'E') {
		return false
	}
	*n = v
	return true
}

// quoted reads a string and returns what is between the quotes, and whether
// it stands for itself.
func (d *decoder) quoted() (s []byte, plain bool) {
	if !d.take('"') {
		return nil, false
	}
	start := d.i
	for ; d.i < len(d.b); d.i++ {
		switch c := d.b[d.i]; {
		case c == '"':
			d.i++
			return d.b[start : d.i-1], true
		case c == '\\' || c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// repeated reads a string that is likely to be the last one again.
func (d *decoder) repeated(last, s *string) bool {
	b, plain := d.quoted()
	if !plain || !utf8.Valid(b) {
		return false
	}
	if string(b) != *last {
		*last = string(b)
	}
	*s = *last
	return true
}

// text reads a string.
func (d *decoder) text(s *string) (ok bool) {
	d.space()
	n := text.Quoted(d.b[d.i:])
	if n < 0 {
		return false
	}
	*s, ok = text.Unquote(d.b[d.i : d.i+n])
	d.i += n
	return ok
}

// A Shape is what the usual piece of a stream looks like: by the keys of an object the value of
// each, which is a Shape, a Shape in a list of one, a [Rule], or a string that is the JSON of
// the value.
type Shape map[string]any

// A Rule says what a value in a [Shape] is.
type Rule int

// The rules.
const (
	Scalar  Rule = iota // a simple value that says nothing
	Content             // the text
)

// Text returns the text of a piece of a stream that has no other keys than s has, several
// times as fast as encoding/json. It reports whether b is such a piece.
func (s Shape) Text(b []byte) (said string, ok bool) {
	d, found := decoder{b: b}, false
	ok = d.shaped(s, &said, &found)
	d.space()
	return said, ok && found && d.i == len(b)
}

func (d *decoder) shaped(s Shape, said *string, found *bool) bool {
	return d.object(func(key []byte) bool {
		switch is := s[string(key)].(type) {
		case Rule:
			if is == Scalar {
				return d.scalar()
			}
			twice := *found
			*found = true
			return !twice && d.text(said)
		case string:
			return d.literal(is)
		case Shape:
			return d.shaped(is, said, found)
		case []Shape:
			return d.one(func() bool { return d.shaped(is[0], said, found) })
		}
		return false
	})
}

// scalar reads a text that stands for itself, a whole number, or a name.
func (d *decoder) scalar() bool {
	if d.i < len(d.b) && d.b[d.i] == '"' {
		s, plain := d.quoted()
		return plain && utf8.Valid(s)
	}
	start := d.i
	for d.i < len(d.b) && '0' <= d.b[d.i] && d.b[d.i] <= '9' {
		d.i++
	}
	if d.i > start {
		return d.b[start] != '0' || d.i == start+1 // what follows is looked at by object
	}
	return d.literal("null") || d.literal("true") || d.literal("false")
}
