package model

import (
	"slices"

	"google.golang.org/genai"

	"gemline/engine/redact/wrap"
)

// redacted returns contents as they may leave: without the secrets that are
// known, whoever said them. A message without any is the one that was given.
func (g *Genai) redacted(contents ...*genai.Content) []*genai.Content {
	var out []*genai.Content
	for i, c := range contents {
		d := wrap.Content(c, g.redact.Known)
		if d == c {
			continue
		}
		if out == nil {
			out = slices.Clone(contents)
		}
		out[i] = d
	}
	if out == nil {
		return contents
	}
	return out
}
