package model

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/genai"
)

// A decoder decodes the chunks of one stream. It decodes usual chunks, a piece of text with some
// numbers, several times as fast as encoding/json. All other chunks, and chunks that it might
// decode differently, are decoded by encoding/json.
type decoder struct {
	b       []byte
	i       int
	wrapped bool // chunks are in the envelope of Code Assist
	found   int  // a bit for each rule
	objects int  // the number of objects read
	texts   [rules]string
	last    [rules]string // strings of the previous chunk, which the next chunk may repeat
	numbers [rules]int32
}

// A Shape describes the usual piece of a stream. It maps the keys of an object to their values: a
// Shape, a Shape in a list of one, a [Rule], or a string with the JSON of the value.
type Shape map[string]any

// A Rule is the kind of a value in a [Shape].
type Rule int

// The rules.
const (
	Scalar  Rule = iota // an ignored simple value
	Content             // the text

	ruleRole // texts
	ruleFinish
	ruleVersion
	ruleID
	ruleModality

	rulePrompt // numbers
	ruleCached
	ruleOutput
	ruleThoughts
	ruleTotal
	ruleDetails
	ruleIndex

	ruleThought // true
	rules
)

// usageRules has the bits of the rules of usageMetadata: from rulePrompt up to ruleIndex, and
// ruleModality.
const usageRules = 1<<ruleIndex - 1<<rulePrompt | 1<<ruleModality

// usualChunk is the shape of most of Gemini's chunks.
var usualChunk = Shape{"modelVersion": ruleVersion, "responseId": ruleID,
	"candidates": []Shape{{"index": ruleIndex, "finishReason": ruleFinish, "content": Shape{"role": ruleRole,
		"parts": []Shape{{"text": Content, "thought": ruleThought}}}}},
	"usageMetadata": Shape{"promptTokenCount": rulePrompt, "cachedContentTokenCount": ruleCached, "candidatesTokenCount": ruleOutput,
		"thoughtsTokenCount": ruleThoughts, "totalTokenCount": ruleTotal,
		"promptTokensDetails": []Shape{{"modality": ruleModality, "tokenCount": ruleDetails}}}}

// A textChunk is a chunk with the usual parts, in a single allocation.
type textChunk struct {
	response   genai.GenerateContentResponse
	candidate  genai.Candidate
	content    genai.Content
	candidates [1]*genai.Candidate
	parts      [1]*genai.Part
}

// fastDecode returns the chunk in b, or nil if b has anything unusual.
func (d *decoder) fastDecode(b []byte) *genai.GenerateContentResponse {
	if !d.read(usualChunk, b) {
		return nil
	}
	s := &textChunk{}
	s.parts[0] = &genai.Part{Text: d.texts[Content], Thought: d.has(ruleThought)}
	s.content = genai.Content{Role: d.texts[ruleRole], Parts: s.parts[:]}
	s.candidate = genai.Candidate{Content: &s.content, FinishReason: genai.FinishReason(d.texts[ruleFinish]), Index: d.numbers[ruleIndex]}
	s.candidates[0] = &s.candidate
	s.response = genai.GenerateContentResponse{Candidates: s.candidates[:], ModelVersion: d.texts[ruleVersion], ResponseID: d.texts[ruleID]}
	objects := 4
	if d.found&usageRules != 0 {
		objects++
		u := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: d.numbers[rulePrompt], CachedContentTokenCount: d.numbers[ruleCached],
			CandidatesTokenCount: d.numbers[ruleOutput], ThoughtsTokenCount: d.numbers[ruleThoughts], TotalTokenCount: d.numbers[ruleTotal]}
		s.response.UsageMetadata = u
		if d.has(ruleDetails) || d.has(ruleModality) {
			objects++
			u.PromptTokensDetails = []*genai.ModalityTokenCount{{Modality: genai.MediaModality(d.texts[ruleModality]), TokenCount: d.numbers[ruleDetails]}}
		}
	}
	if d.objects != objects { // a key occurs twice
		return nil
	}
	return &s.response
}

// Text returns the text of a piece of a stream with the shape s, several times as fast as
// encoding/json. It reports whether b has this shape.
func (s Shape) Text(b []byte) (said string, ok bool) {
	var d decoder
	ok = d.read(s, b)
	return d.texts[Content], ok
}

// read reads b, and reports whether it has the shape s and a text.
func (d *decoder) read(s Shape, b []byte) bool {
	*d = decoder{b: b, wrapped: d.wrapped, last: d.last}
	ok := d.object(s)
	d.space()
	return ok && d.i == len(b) && d.has(Content)
}

// has reports whether a value of the rule was read.
func (d *decoder) has(r Rule) bool { return d.found&(1<<r) != 0 }

// object reads an object that is not empty and has no other keys than s.
func (d *decoder) object(s Shape) bool {
	d.objects++
	for more := d.take('{'); more; more = d.take(',') {
		key, plain := d.quoted()
		if !plain || !d.take(':') {
			return false
		}
		d.space()
		if !d.value(s[string(key)]) {
			return false
		}
		if d.take('}') {
			return true
		}
	}
	return false
}

func (d *decoder) value(shape any) bool {
	switch is := shape.(type) {
	case Rule:
		return d.rule(is)
	case string:
		return d.literal(is)
	case Shape:
		return d.object(is)
	case []Shape:
		return d.take('[') && d.object(is[0]) && d.take(']')
	}
	return false
}

// rule reads the value of a rule, which may occur once.
func (d *decoder) rule(r Rule) bool {
	if r == Scalar {
		return d.scalar()
	}
	if d.has(r) {
		return false
	}
	d.found |= 1 << r
	switch {
	case r == Content:
		var ok bool
		d.texts[r], ok = d.string()
		return ok
	case r < rulePrompt:
		b, plain := d.quoted()
		if string(b) != d.last[r] {
			d.last[r] = string(b)
		}
		d.texts[r] = d.last[r]
		return plain && utf8.Valid(b)
	case r < ruleThought:
		n, err := strconv.ParseUint(string(d.digits()), 10, 31)
		d.numbers[r] = int32(n)
		return err == nil
	}
	return d.literal("true")
}

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

// take consumes c, if it is next after white space.
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

// quoted reads a string and returns the bytes between its quotes. At an escape it stops, and
// plain is false.
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

// string reads the string that begins at d.i, and returns its text with the escapes decoded.
func (d *decoder) string() (said string, ok bool) {
	start := d.i
	s, plain := d.quoted()
	if plain || d.i == start {
		return string(s), plain && utf8.Valid(s)
	}
	near := bytes.IndexByte(d.b[d.i:], '"') // the possible end
	out := append(make([]byte, 0, d.i-start+max(0, near)), d.b[start+1:d.i]...)
	for d.i < len(d.b) {
		c, r, n := d.b[d.i], rune(0), 1
		switch {
		case c == '"':
			d.i++
			return string(out), utf8.Valid(out)
		case c < ' ':
			return "", false
		case c != '\\':
			out = append(out, c)
		default:
			if r, n = escaped(d.b[d.i:]); n == 0 {
				return "", false
			}
			out = utf8.AppendRune(out, r)
		}
		d.i += n
	}
	return "", false
}

// escaped returns the character of the escape at the beginning of b, and the escape's length, 0
// if it is invalid or half of a surrogate pair.
func escaped(b []byte) (r rune, n int) {
	if len(b) > 1 {
		if i := strings.IndexByte(`"\/bfnrt`, b[1]); i >= 0 {
			return rune("\"\\/\b\f\n\r\t"[i]), 2
		}
	}
	if len(b) < 6 || b[1] != 'u' {
		return 0, 0
	}
	code, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil || utf16.IsSurrogate(rune(code)) {
		return 0, 0
	}
	return rune(code), 6
}

// digits reads a whole number that is not negative.
func (d *decoder) digits() []byte {
	start := d.i
	for d.i < len(d.b) && '0' <= d.b[d.i] && d.b[d.i] <= '9' {
		d.i++
	}
	if d.i > start+1 && d.b[start] == '0' {
		return nil
	}
	return d.b[start:d.i] // object checks the rest
}

// scalar reads a string without escapes, an integer, or a literal name.
func (d *decoder) scalar() bool {
	if d.i < len(d.b) && d.b[d.i] == '"' {
		s, plain := d.quoted()
		return plain && utf8.Valid(s)
	}
	return len(d.digits()) > 0 || d.literal("null") || d.literal("true") || d.literal("false")
}
