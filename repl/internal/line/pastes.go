package line

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// longPaste is the longest paste that is shown itself, in bytes.
const longPaste = 800

// pastes are the pasted texts behind placeholders in the line. The goroutine that reads keys adds
// them.
type pastes struct {
	mu     sync.Mutex
	texts  map[string]string // by placeholder
	folded map[string]bool   // placeholders of inputs from the history, which were not pasted now
	known  []string          // all pasted texts, since an input from the history may contain them
}

// fold returns the form of a history entry in the line.
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

// pasted returns the placeholder of a paste, or the text itself if it is short and is one line,
// apart from line ends around it.
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

// expand returns the line with the texts of its placeholders.
func (p *pastes) expand(line string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	pairs := []string{string(newlineMark), "\n"}
	for name, text := range p.texts {
		pairs = append(pairs, name, text)
	}
	return strings.NewReplacer(pairs...).Replace(line) // in one pass: a paste may contain a placeholder
}

// within returns the pasted texts that may stand in line: those of its placeholders, and all
// earlier pastes, which an input from the history may contain.
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
