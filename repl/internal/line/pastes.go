package line

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// longPaste is how much of a paste is shown as it is.
const longPaste = 800

// pastes are the texts for which a placeholder stands in the line. They come on
// the goroutine that reads keys.
type pastes struct {
	mu     sync.Mutex
	texts  map[string]string // by placeholder
	folded map[string]bool   // placeholders of remembered inputs, which nobody has pasted
	known  []string          // all that was pasted, since a remembered input may contain it
}

// fold returns a remembered input as it stands in the line again.
func (p *pastes) fold(s string) string {
	s = harmless([]byte(s))
	if len(s) > longPaste {
		name := p.add(s)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.folded == nil {
			p.folded = map[string]bool{}
		}
		p.folded[name] = true
		return name
	}
	return strings.ReplaceAll(s, "\n", string(newlineMark))
}

// pasted returns the placeholder of a paste, or the text itself if it is short and has one line,
// with or without line ends around it.
func (p *pastes) pasted(text string) string {
	inner := strings.TrimSpace(text)
	switch {
	case strings.Contains(inner, "\n") || len(inner) > longPaste:
		p.mu.Lock()
		p.known = append(p.known, text)
		p.mu.Unlock()
	case !strings.Contains(text, "\t") && len(text) <= longPaste:
		return strings.ReplaceAll(text, "\n", string(newlineMark))
	}
	return p.add(text)
}

// add keeps text and returns its placeholder.
func (p *pastes) add(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	name := fmt.Sprintf("[paste %d: %d lines, %d characters]", len(p.texts)+1, lines, utf8.RuneCountInString(text))
	p.texts[name] = text
	return name
}

// names returns all placeholders.
func (p *pastes) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.texts))
}

// expand returns the line as it would be sent.
func (p *pastes) expand(line string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	pairs := []string{string(newlineMark), "\n"}
	for name, text := range p.texts {
		pairs = append(pairs, name, text)
	}
	return strings.NewReplacer(pairs...).Replace(line) // once, so that a paste may name another
}

// within returns the pasted texts that may stand in line: by their placeholder, or remembered.
func (p *pastes) within(line string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	texts := slices.Clone(p.known)
	for name, text := range p.texts {
		if !p.folded[name] && strings.Contains(line, name) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (p *pastes) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.texts)
	clear(p.folded)
}
