package wrap

import (
	"maps"
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
)

// Content returns c with all its texts cleaned: words, arguments of calls, and results. Data
// and signatures stay unchanged. Clean parts are not copied, and c itself is never changed.
func Content(c *genai.Content, clean func(string) string) *genai.Content {
	if c == nil {
		return nil
	}
	parts := cleanParts(c.Parts, clean)
	if len(parts) == 0 || &parts[0] == &c.Parts[0] {
		return c
	}
	out := *c
	out.Parts = parts
	return &out
}

// cleanParts returns parts with all their texts cleaned, as [Content] does.
func cleanParts(parts []*genai.Part, clean func(string) string) []*genai.Part {
	out := parts
	for i, p := range parts {
		d := Part(p, clean)
		if d == p {
			continue
		}
		if &out[0] == &parts[0] {
			out = slices.Clone(parts)
		}
		out[i] = d
	}
	return out
}

// Part returns p with all its texts cleaned, as [Content] does.
func Part(p *genai.Part, clean func(string) string) *genai.Part {
	if p == nil {
		return nil
	}
	d, changed := *p, false
	text := func(s *string) {
		if c := clean(*s); c != *s {
			*s, changed = c, true
		}
	}
	text(&d.Text)
	if p.FunctionCall != nil {
		if args, other := Args(p.FunctionCall.Args, clean); other {
			fc := *p.FunctionCall
			fc.Args = args
			d.FunctionCall, changed = &fc, true
		}
	}
	if p.FunctionResponse != nil {
		if response, other := Args(p.FunctionResponse.Response, clean); other {
			fr := *p.FunctionResponse
			fr.Response = response
			d.FunctionResponse, changed = &fr, true
		}
	}
	if x := p.ExecutableCode; x != nil {
		code := *x
		text(&code.Code)
		d.ExecutableCode = &code
	}
	if x := p.CodeExecutionResult; x != nil {
		result := *x
		text(&result.Output)
		d.CodeExecutionResult = &result
	}
	if !changed {
		return p
	}
	return &d
}

// Args returns m with all texts in it cleaned, at any depth, and whether that changed anything.
func Args(m map[string]any, clean func(string) string) (map[string]any, bool) {
	var out map[string]any
	for name, v := range m {
		d, changed := cleanValue(v, clean)
		if !changed {
			continue
		}
		if out == nil {
			out = maps.Clone(m)
		}
		out[name] = d
	}
	if out == nil {
		return m, false
	}
	return out, true
}

func cleanValue(v any, clean func(string) string) (any, bool) {
	switch v := v.(type) {
	case string:
		d := clean(v)
		return d, d != v
	case map[string]any:
		return Args(v, clean)
	case []any:
		var out []any
		for i, item := range v {
			d, changed := cleanValue(item, clean)
			if !changed {
				continue
			}
			if out == nil {
				out = slices.Clone(v)
			}
			out[i] = d
		}
		if out == nil {
			return v, false
		}
		return out, true
	}
	return v, false
}

// cleanError returns the error of a call with its texts cleaned, in the same class. It returns a
// clean error unchanged.
func cleanError(err error, clean func(string) string) error {
	if err == nil || engine.Outcome(err) == engine.Cancelled { // its words are the program's own
		return err
	}
	message, display := err.Error(), engine.DisplayError(err)
	if clean(message) == message && clean(display) == display {
		return err
	}
	return &engine.CallError{Type: engine.ErrorType(err), Message: clean(message), Display: clean(display)}
}
