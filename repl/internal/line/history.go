package line

import "strings"

// A History holds earlier lines. It is read when a key needs it.
type History interface {
	// Entries returns the inputs, the latest last.
	Entries() []string
	// Add stores an input.
	Add(text string)
}

// A recall steps through the history while a line is typed.
type recall struct {
	buf   *buffer
	shown func(string) string // returns the form of an entry in the line

	history History
	entries []string // nil until they are needed
	at      int      // the entry shown, len(entries) for the line being typed
	typed   snapshot // that line

	searching bool
	query     []rune
	missed    bool // no entry contains the query
}

// begin is called for each new line. Without a history there is nothing to
// recall.
func (r *recall) begin(h History) { *r = recall{buf: r.buf, shown: r.shown, history: h} }

// load asks for the entries, once for a line.
func (r *recall) load() {
	if r.entries != nil || r.history == nil {
		return
	}
	r.entries = append([]string{}, r.history.Entries()...)
	r.at = len(r.entries)
}

// step shows the previous entry, or with 1 the next entry.
func (r *recall) step(step int) {
	r.load()
	to := r.at + step
	if r.entries == nil || to < 0 || to > len(r.entries) {
		return
	}
	r.show(to)
}

func (r *recall) show(to int) {
	if r.at == len(r.entries) {
		r.typed = snapshot{r.buf.text, r.buf.pos}
	}
	r.at = to
	if to == len(r.entries) {
		r.buf.set(r.typed.text, r.typed.pos)
		return
	}
	entry := []rune(r.shown(r.entries[to]))
	r.buf.set(entry, len(entry))
}

// search begins a search, or continues it with an older line; with 1 with a newer line.
func (r *recall) search(step int) {
	r.load()
	if !r.searching {
		r.searching, r.query, r.missed = true, nil, false
		return
	}
	r.seek(r.at+step, step)
}

// narrow adds a character to the searched text.
func (r *recall) narrow(c rune) {
	r.query = append(r.query, c)
	r.seek(min(r.at, len(r.entries)-1), -1)
}

// widen removes the last character of the searched text, and starts again at the latest entry.
func (r *recall) widen() {
	if len(r.query) == 0 {
		return
	}
	r.query = r.query[:len(r.query)-1]
	r.seek(len(r.entries)-1, -1)
}

// seek shows the first entry, from at on, that contains the query.
func (r *recall) seek(at, step int) {
	query := strings.ToLower(string(r.query))
	r.missed = false
	if query == "" {
		return
	}
	for i := at; i >= 0 && i < len(r.entries); i += step {
		if strings.Contains(strings.ToLower(r.entries[i]), query) {
			r.show(i)
			return
		}
	}
	r.missed = true
}

// abort ends the search and restores the typed line.
func (r *recall) abort() {
	if r.at < len(r.entries) {
		r.buf.set(r.typed.text, r.typed.pos)
	}
	r.at, r.searching = len(r.entries), false
}

// prompt returns a prompt with the searched text.
func (r *recall) prompt() string {
	if r.missed {
		return `nothing holds "` + string(r.query) + `": `
	}
	return `search "` + string(r.query) + `": `
}
