package journal

import (
	"bytes"
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/disk"
	"gemline/engine/parallel"
	"gemline/engine/text"
)

// A Hit is a line of a session that holds the searched words.
type Hit struct {
	Turn int    `json:"turn"` // from 1
	Who  string `json:"who"`  // you, gemini, the name of a tool, or name for the session's name
	Line string `json:"line"` // shortened around the searched words
}

// A SearchResult is a session with its hits.
type SearchResult struct {
	Session
	Number int // in the list of its directory, from 1
	Hits   []Hit
}

// Search returns the sessions of dir that contain words, in any case: in the name or summary, in
// messages, or in calls. The oldest session comes first.
func Search(dir, words string) ([]SearchResult, error) {
	sessions, err := List(dir)
	if err != nil {
		return nil, err
	}
	words = strings.ToLower(strings.TrimSpace(words))
	found := make([]SearchResult, len(sessions))
	parallel.Each(len(sessions), runtime.GOMAXPROCS(0), func(i int) {
		found[i] = SearchResult{sessions[i], i + 1, search(sessions[i], words)}
	})
	return slices.DeleteFunc(found, func(f SearchResult) bool { return len(f.Hits) == 0 }), nil
}

// search returns the hits of words in a session. Most sessions have none, which a search of the
// raw bytes shows.
func search(s Session, words string) (hits []Hit) {
	if words == "" {
		return nil
	}
	if strings.Contains(strings.ToLower(s.Title), words) && (s.Name != "" || s.Summary != "") {
		hits = append(hits, Hit{Who: "name", Line: s.Title})
	}
	b, err := disk.Read(s.Path, maxFile)
	if err != nil || !bytes.Contains(bytes.ToLower(b), []byte(surePart(words))) {
		return hits
	}
	var r record
	r.read(s.Path) // up to the first error
	history := r.transcript()
	for n, turn := range Turns(history) {
		for _, c := range history[turn.From:turn.To] {
			for _, p := range c.Parts {
				who, said := spokenBy(c.Role, p)
				for line := range strings.Lines(said) {
					if at := strings.Index(strings.ToLower(line), words); at >= 0 {
						hits = append(hits, Hit{n + 1, who, around(line, at)})
					}
				}
			}
		}
	}
	return hits
}

// spokenBy returns the speaker and the text of a part.
func spokenBy(role string, p *genai.Part) (who, said string) {
	switch {
	case p.Thought:
	case p.FunctionCall != nil:
		return p.FunctionCall.Name, text.Compact(p.FunctionCall.Args)
	case p.FunctionResponse != nil:
		fr := p.FunctionResponse
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(fr.Response)) {
			s, is := fr.Response[key].(string)
			if !is {
				s = text.Compact(fr.Response[key])
			}
			lines = append(lines, s)
		}
		return fr.Name, strings.Join(lines, "\n")
	case role == genai.RoleModel:
		return "gemini", p.Text
	}
	if said = own(p.Text); said == "" {
		return "added", p.Text
	}
	return "you", said
}

// around returns the part of a line around the byte at.
func around(line string, at int) string {
	const before, most = 40, 160
	line = strings.ToValidUTF8(line, "\uFFFD")
	if at > before && len(line) > most {
		line = "..." + strings.ToValidUTF8(line[min(at, len(line))-before:], "")
	}
	return title(text.OneLine(line, most))
}

// surePart returns the longest part of words that no JSON encoder changes.
func surePart(words string) string {
	parts := strings.FieldsFunc(words, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	if len(parts) == 0 {
		return ""
	}
	return slices.MaxFunc(parts, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}
