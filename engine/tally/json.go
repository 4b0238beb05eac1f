package tally

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gemline/engine"
	"gemline/engine/text"
)

// A list is a map that keeps the insertion order of its keys.
type list[T any] struct {
	keys   []string
	values []*T
	index  map[string]int
}

// at returns the value of key, and creates it if there is none.
func (l *list[T]) at(key string) *T {
	key = printable(key)
	if i, ok := l.index[key]; ok {
		return l.values[i]
	}
	if l.index == nil {
		l.index = map[string]int{}
	}
	l.index[key] = len(l.keys)
	l.keys = append(l.keys, key)
	l.values = append(l.values, new(T))
	return l.values[len(l.values)-1]
}

// printable returns a name, which may be the model's, in valid UTF-8 and without control
// characters, so that names stay distinct in JSON.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}

// MarshalJSON returns an object with the keys in order.
func (l list[T]) MarshalJSON() ([]byte, error) {
	return text.Object(func(yield func(string, any) bool) {
		for i, key := range l.keys {
			if !yield(key, l.values[i]) {
				return
			}
		}
	})
}

// A millis is a duration that is written as a number of milliseconds.
type millis time.Duration

// MarshalJSON returns the number.
func (m millis) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// main is the role of the conversation with the user.
const main = "main"

type model struct {
	all    role           // all of them together
	ByType list[int]      // errors
	Roles  list[role]     // by the role of the request
	used   []engine.Usage // the requests whose sum is Tokens
	cost   *spent         // for JSON; nil if unknown
}

// A role holds the counts of a model's requests in one role.
type role struct {
	calls
	Tokens tokens `json:"tokens"`
}

type calls struct {
	Requests int    `json:"totalRequests"`
	Errors   int    `json:"totalErrors"`
	Latency  millis `json:"totalLatencyMs"`
}

// add counts a request.
func (c *calls) add(took time.Duration, failed bool) {
	c.Requests++
	c.Latency += millis(took)
	if failed {
		c.Errors++
	}
}

type tokens struct {
	Input      int `json:"input"` // of the prompt, without the cached tokens
	Prompt     int `json:"prompt"`
	Candidates int `json:"candidates"`
	Total      int `json:"total"`
	Cached     int `json:"cached"`
	Thoughts   int `json:"thoughts"`
	Tool       int `json:"tool"`
}

func (s tokens) plus(o tokens) tokens {
	return tokens{s.Input + o.Input, s.Prompt + o.Prompt, s.Candidates + o.Candidates, s.Total + o.Total,
		s.Cached + o.Cached, s.Thoughts + o.Thoughts, s.Tool + o.Tool}
}

// add counts u. The number of uncached tokens is computed from the sums, since the numbers of one
// request need not be consistent.
func (s *tokens) add(u engine.Usage) {
	*s = s.plus(tokens{Prompt: u.Prompt, Candidates: u.Output, Total: u.Sum(), Cached: u.Cached,
		Thoughts: u.Thoughts, Tool: u.ToolUse})
	s.Input = max(0, s.Prompt-s.Cached)
}

// MarshalJSON returns the form that a model has under its name.
func (m model) MarshalJSON() ([]byte, error) {
	type byType struct {
		calls
		ByType list[int] `json:"errorsByType"`
	}
	return text.JSON(struct {
		API    byType     `json:"api"`
		Tokens tokens     `json:"tokens"`
		Roles  list[role] `json:"roles"`
		*spent
	}{byType{m.all.calls, m.ByType}, m.all.Tokens, m.Roles, m.cost}, "")
}

type decisions struct {
	Accept     int `json:"accept"`
	Reject     int `json:"reject"`
	Modify     int `json:"modify"`
	AutoAccept int `json:"auto_accept"`
}

type tool struct {
	Count     int       `json:"count"`
	Success   int       `json:"success"`
	Fail      int       `json:"fail"`
	Took      millis    `json:"durationMs"`
	Decisions decisions `json:"decisions"`
}

type toolStats struct {
	Calls     int        `json:"totalCalls"`
	Success   int        `json:"totalSuccess"`
	Fail      int        `json:"totalFail"`
	Took      millis     `json:"totalDurationMs"`
	Decisions decisions  `json:"totalDecisions"`
	ByName    list[tool] `json:"byName"`
}

type fileStats struct {
	Added   int `json:"totalLinesAdded"`
	Removed int `json:"totalLinesRemoved"`
}

// MarshalJSON returns the "stats" of a json document.
func (t *Tally) MarshalJSON() ([]byte, error) {
	for _, m := range t.counts.models.values {
		m.cost = t.cost(m.used)
	}
	return text.JSON(struct {
		Models list[model] `json:"models"`
		Tools  toolStats   `json:"tools"`
		Files  fileStats   `json:"files"`
		Agents list[agent] `json:"agents,omitzero"`
		*spent
	}{
		t.counts.models,
		toolStats{t.counts.all.Count, t.counts.all.Success, t.counts.all.Fail, t.counts.all.Took, t.counts.all.Decisions, t.counts.tools},
		fileStats{t.counts.added, t.counts.removed},
		t.counts.agents,
		t.costs(),
	}, "")
}

type flatTokens struct {
	Total  int `json:"total_tokens"`
	Prompt int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cached"`
	Input  int `json:"input"`
}

func flat(s tokens) flatTokens {
	return flatTokens{s.Total, s.Prompt, s.Candidates, s.Cached, s.Input}
}

type flatModel struct {
	flatTokens
	*spent
}

// Flat returns the JSON of the "stats" in the last record of a stream, whose duration was took.
func (t *Tally) Flat(took time.Duration) json.RawMessage {
	var models list[flatModel]
	for i, name := range t.counts.models.keys {
		m := t.counts.models.values[i]
		*models.at(name) = flatModel{flat(m.all.Tokens), t.cost(m.used)}
	}
	b, err := text.JSON(struct {
		flatTokens
		Took   millis          `json:"duration_ms"`
		Calls  int             `json:"tool_calls"`
		Models list[flatModel] `json:"models"`
		Agents list[agent]     `json:"agents,omitzero"`
		*spent
	}{flat(t.counts.tokens()), millis(took), t.counts.all.Count, models, t.counts.agents, t.costs()}, "")
	if err != nil {
		panic(err) // no error for numbers and names
	}
	return b
}
