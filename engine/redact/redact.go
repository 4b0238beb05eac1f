// Package redact removes secrets from texts: secrets that the program knows, and texts with
// the shape of a well-known kind of key. A mark with the kind of the secret replaces them,
// such as [redacted: API key]. A first caller gives each secret to [Redactor.Add], cleans text for the
// model with [Redactor.RedactKnown], and text to store with [Redactor.Text].
//
// # Known secrets and shapes
//
// A known secret is removed from everything that is stored, shown or sent. A shape is a guess. It
// is good enough for sessions and logs, but not for the model's work: a test's made-up key would
// be replaced in the text of a file.
//
// # Cleaning is idempotent
//
// Cleaning a cleaned text does not change it. The time is proportional to the length of the text,
// whatever it contains.
package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// minLength is how many bytes a secret has at least. Shorter texts would match by chance.
const minLength = 4

// markPrefix is how every mark begins.
const markPrefix = "[redacted: "

// mark returns the text in the place of a secret.
func mark(what string) string { return markPrefix + what + "]" }

// A Redactor knows secrets. It learns of more while it is used, and may be used
// concurrently. A nil Redactor knows none, and learns none.
type Redactor struct {
	mu    sync.RWMutex
	known []known // longer ones first
	marks []string
	used  atomic.Bool

	recalled []string // marks of earlier runs

	stored *Redactor // has the secrets that are removed from stored text only; may be nil
}

type known struct{ value, mark string }

// Add has r remove secret from now on, also in its forms in URLs and in JSON; what names the
// secret in a word or two. Of a URL with a password, the password is removed. A secret that is
// too short is ignored.
func (r *Redactor) Add(what, secret string) {
	secret = strings.TrimSpace(secret)
	if u, err := url.Parse(secret); err == nil && u.User != nil && u.Host != "" {
		secret, _ = u.User.Password()
	}
	if r == nil || len(secret) < minLength || strings.Contains(markPrefix, secret) {
		return
	}
	if what == "" || len(what) > 60 || strings.ContainsAny(what, "[]") || Shapes(what, "") != what {
		what = "secret"
	}
	quoted, _ := json.Marshal(secret) // no error for a string
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret),
		string(quoted[1 : len(quoted)-1])} {
		if !slices.ContainsFunc(r.known, func(k known) bool { return k.value == v }) {
			r.known = append(r.known, known{v, mark(what)})
		}
	}
	slices.SortStableFunc(r.known, func(a, b known) int { return len(b.value) - len(a.value) })
	if !slices.Contains(r.marks, mark(what)) {
		r.marks = append(r.marks, mark(what))
	}
}

// AddStored has only [Redactor.Text] remove secret from now on: a password that is a plain word
// stays in the texts that the model works with.
func (r *Redactor) AddStored(what, secret string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if r.stored == nil {
		r.stored = &Redactor{}
	}
	stored := r.stored
	r.mu.Unlock()
	stored.Add(what, secret)
}

// Count returns how many secrets r knows, in all their forms. It only grows.
func (r *Redactor) Count() int {
	if r == nil {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.known)
}

// RedactKnown returns s without the secrets that were added to r.
func (r *Redactor) RedactKnown(s string) string {
	if r == nil {
		return s
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var next []int // the next index of each of r.known; len(s) if there is none
	for i, k := range r.known {
		if at := strings.Index(s, k.value); at >= 0 {
			if next == nil {
				next = make([]int, len(r.known))
				for j := range next {
					next[j] = len(s)
				}
			}
			next[i] = at
		}
	}
	if next == nil {
		return s
	}
	return r.replace(s, next)
}

// replace removes the secrets from s that are found at next. If several begin at the same
// place, the longest counts; nothing inside a mark is a secret.
func (r *Redactor) replace(s string, next []int) string {
	var b strings.Builder
	done := 0
	marked := indexFrom(s, markPrefix, 0)
	for {
		at, which := len(s), -1
		for i := range next {
			if next[i] < done {
				next[i] = indexFrom(s, r.known[i].value, done)
			}
			if next[i] < at {
				at, which = next[i], i
			}
		}
		if which < 0 {
			return b.String() + s[done:]
		}
		if marked < done {
			marked = indexFrom(s, markPrefix, done)
		}
		if marked <= at {
			end := marked + r.markLength(s[marked:])
			if end == marked { // the text only looks like a mark
				end = min(marked+1, at)
				marked = indexFrom(s, markPrefix, marked+1)
			}
			b.WriteString(s[done:end])
			done = end
			continue
		}
		b.WriteString(s[done:at])
		b.WriteString(r.known[which].mark)
		done = at + len(r.known[which].value)
		r.used.Store(true)
	}
}

// indexFrom returns the index of value in s from a place on, len(s) if there is none.
func indexFrom(s, value string, from int) int {
	if i := strings.Index(s[from:], value); i >= 0 {
		return from + i
	}
	return len(s)
}

// markLength returns the length of the mark that s begins with, 0 without one.
func (r *Redactor) markLength(s string) int {
	for _, m := range r.marks {
		if strings.HasPrefix(s, m) {
			return len(m)
		}
	}
	return 0
}

// Text returns s without the secrets that r knows, and without texts in the shape of a
// secret.
func (r *Redactor) Text(s string) string {
	s = r.RedactKnown(s)
	if r != nil {
		r.mu.RLock()
		stored := r.stored
		r.mu.RUnlock()
		s = stored.RedactKnown(s)
	}
	return Shapes(s, "")
}

// AddFrom adds the marks in s, which was cleaned before: see [Redactor.Marks].
func (r *Redactor) AddFrom(s string) {
	const longest, most = 80, 1000 // bytes of a mark, and marks
	for at := indexFrom(s, markPrefix, 0); at < len(s); at = indexFrom(s, markPrefix, at+1) {
		m := s[at:min(len(s), at+longest)]
		end := strings.IndexByte(m, ']')
		if end < 0 {
			continue
		}
		r.mu.Lock()
		if m = m[:end+1]; len(r.recalled) < most && !slices.Contains(r.recalled, m) {
			r.recalled = append(r.recalled, strings.Clone(m))
		}
		r.mu.Unlock()
	}
}

// Marks counts the marks in s of secrets that r has removed from texts, and of recalled marks.
func (r *Redactor) Marks(s string) map[string]int {
	if r == nil || !strings.Contains(s, markPrefix) {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	marks := r.recalled
	if r.used.Load() {
		marks = slices.Concat(marks, r.marks)
	}
	found := map[string]int{}
	for _, m := range marks {
		if n := strings.Count(s, m); n > 0 {
			found[m] = n
		}
	}
	return found
}

// A Stream removes the secrets that a Redactor knows from a text in pieces, even if a cut splits
// a secret. It must not be used concurrently.
type Stream struct {
	r    *Redactor
	tail string // may be the beginning of a secret
}

// Stream returns a Stream of r.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Next adds a piece and returns the text that can be shown now.
func (s *Stream) Next(piece string) string {
	text := s.r.RedactKnown(s.tail + piece)
	n := s.r.partialLength(text)
	s.tail = text[len(text)-n:]
	return text[:len(text)-n]
}

// End returns the text that was held back.
func (s *Stream) End() string {
	held := s.tail
	s.tail = ""
	return held
}

// partialLength returns how many bytes at the end of s may be the beginning of a
// secret.
func (r *Redactor) partialLength(s string) (n int) {
	if r == nil {
		return 0
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, k := range r.known {
		for l := min(len(k.value)-1, len(s)); l > n; l-- {
			if s[len(s)-l] == k.value[0] && strings.HasSuffix(s, k.value[:l]) {
				n = l
				break
			}
		}
	}
	return n
}
