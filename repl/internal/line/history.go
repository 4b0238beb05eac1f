package line

import "strings"

// A History is what was entered before. It is asked for nothing before a key
// needs it.
type History interface {
	// Entries returns the inputs, the last one last.
	Entries() []string
	// Add remembers an input.
	Add(text string)
}

// recent is the History of a Reader that was given none: it lasts as long as
// the program.
type recent struct{ entries []string }

// historySize is how many inputs it remembers.
const historySize = 1000

func (r *recent) Entries() []string { return r.entries }

func (r *recent) Add(text string) {
	if n := len(r.entries); n > 0 && r.entries[n-1] == text {
		return
	}
	r.entries = append(r.entries, text)
	if n := len(r.entries) - historySize; n > 0 {
		r.entries = r.entries[n:]
	}
}

// A recall goes through the history while a line is typed.
type recall struct {
	history History
	entries []string // nil until they are needed
	at      int      // the entry shown, len(entries) for the line being typed
	typed   snapshot // that line

	searching bool
	query     []rune
	missed    bool // nothing holds the query
}

// begin is called for each new line. Without a history there is nothing to
// recall through.
func (w *recall) begin(h History) { *w = recall{history: h} }

// load asks for the entries, once for a line.
func (w *recall) load() {
	if w.entries != nil || w.history == nil {
		return
	}
	w.entries = append([]string{}, w.history.Entries()...)
	w.at = len(w.entries)
}

// step goes to the entry before, or with 1 to the one behind.
func (w *recall) step(b *buffer, step int, shown func(string) string) {
	w.load()
	to := w.at + step
	if w.entries == nil || to < 0 || to > len(w.entries) {
		return
	}
	w.show(b, to, shown)
}

func (w *recall) show(b *buffer, to int, shown func(string) string) {
	if w.at == len(w.entries) {
		w.typed = snapshot{b.text, b.pos}
	}
	w.at = to
	if to == len(w.entries) {
		b.set(w.typed.text, w.typed.pos)
		return
	}
	entry := []rune(shown(w.entries[to]))
	b.set(entry, len(entry))
}

// search begins to search, or goes on to what is older; with 1 to what is
// newer.
func (w *recall) search(b *buffer, step int, shown func(string) string) {
	w.load()
	if !w.searching {
		w.searching, w.query, w.missed = true, nil, false
		return
	}
	w.seek(b, w.at+step, step, shown)
}

// narrow adds a character to what is searched for.
func (w *recall) narrow(b *buffer, r rune, shown func(string) string) {
	w.query = append(w.query, r)
	w.seek(b, min(w.at, len(w.entries)-1), -1, shown)
}

// widen takes a character away from it, and begins again at the newest.
func (w *recall) widen(b *buffer, shown func(string) string) {
	if len(w.query) == 0 {
		return
	}
	w.query = w.query[:len(w.query)-1]
	w.seek(b, len(w.entries)-1, -1, shown)
}

// seek shows the first entry from at on that holds the query.
func (w *recall) seek(b *buffer, at, step int, shown func(string) string) {
	query := strings.ToLower(string(w.query))
	w.missed = false
	if query == "" {
		return
	}
	for i := at; i >= 0 && i < len(w.entries); i += step {
		if strings.Contains(strings.ToLower(w.entries[i]), query) {
			w.show(b, i, shown)
			return
		}
	}
	w.missed = true
}

// abort gives the search up and goes back to the line that was typed.
func (w *recall) abort(b *buffer) {
	if w.at < len(w.entries) {
		b.set(w.typed.text, w.typed.pos)
	}
	w.at, w.searching = len(w.entries), false
}

// prompt says what is searched for.
func (w *recall) prompt() string {
	if w.missed {
		return `nothing holds "` + string(w.query) + `": `
	}
	return `search "` + string(w.query) + `": `
}
