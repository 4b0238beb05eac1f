package a2a

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/repl/serve"
)

// Possible answers to a question about a call, in the Gemini CLI's words.
const (
	proceed         = "proceed_once"
	always          = "proceed_always"
	alwaysTool      = "proceed_always_tool"
	alwaysServer    = "proceed_always_server"
	modify          = "modify_with_editor"
	refuse          = "cancel"
	proceedOnline   = "proceed_with_network" // gemline's own
	proceedReadOnly = "proceed_read_only"    // gemline's own
)

// A pending is a call that needs approval, in its stored form.
type pending struct {
	CallID    string         `json:"callId"`
	Name      string         `json:"name"`
	Args      map[string]any `json:"args"`  // without secrets
	Whole     bool           `json:"whole"` // Args are complete
	Title     string         `json:"title"`
	Questions int            `json:"questions"`
	Outcomes  []string       `json:"outcomes"` // the possible answers
	Grants    int            `json:"grants"`
	About     string         `json:"about"` // the question for people
	data      map[string]any // the question for programs
}

// An offer is a possible answer.
type offer struct {
	Outcome string `json:"outcome"`
	Label   string `json:"label"`
	answer  engine.Answer
}

// offers returns the possible answers about a call. A longer grant lasts for the task.
func offers(p engine.Proposal) (list []offer) {
	add := func(outcome, label string, a engine.Answer) {
		if !slices.ContainsFunc(list, func(o offer) bool { return o.Outcome == outcome }) {
			list = append(list, offer{outcome, label, a})
		}
	}
	add(proceed, "allow", engine.Allowed{})
	if len(p.Intent.Questions) == 0 {
		for _, g := range question.Grants(p) { // the narrowest first
			a := engine.Allowed{Scope: engine.Session, Grant: g}
			if p.Tool.Server != "" && strings.HasSuffix(g.Tool, "*") {
				add(alwaysServer, g.Label, a)
				continue
			}
			add(always, g.Label, a)
			add(alwaysTool, g.Label, a)
		}
		if p.Intent.Draft != nil {
			add(modify, "change it, and be asked again", nil)
		}
		if a, ok := question.WithNetwork(p); ok {
			add(proceedOnline, "allow with the network", a)
		}
		if a, ok := question.ReadOnly(p); ok {
			add(proceedReadOnly, "allow, confined to reading", a)
		}
	}
	add(refuse, "deny", engine.Refused{})
	return list
}

// ask returns the question about a proposal.
func (s *Server) ask(p engine.Proposal) *pending {
	q := &pending{CallID: cmp.Or(p.ID, p.Tool.Name()), Name: p.Tool.Name(), Title: s.plain(question.Title(p)),
		Questions: len(p.Intent.Questions), Grants: len(question.Grants(p)),
		About: s.plain(text.Shorten(serve.Describe(p), mostMessage))}
	b, _ := json.Marshal(p.Args)
	if q.Whole = p.Agent == "" && len(b) <= mostRecord/2 && s.Redact(string(b)) == string(b); q.Whole {
		text.Unmarshal(b, &q.Args)
	}
	list := offers(p)
	q.Outcomes = lists.Map(list, func(o offer) string { return o.Outcome })
	labels := lists.Map(question.Grants(p), func(g engine.Grant) string { return g.Label })
	c := call{agent: p.Agent, id: q.CallID, name: q.Name, args: p.Args, state: engine.AwaitingApproval, tool: p.Tool}
	d := c.data()
	d["confirmationDetails"], d["outcomes"], d["grants"] = confirmation(p), list, labels
	q.data = s.clean(d, mostData)
	return q
}

// same reports whether q and o propose the same call.
func (q *pending) same(o *pending) bool {
	return q.Whole && o.Whole && q.Name == o.Name && q.About == o.About && reflect.DeepEqual(q.Args, o.Args)
}

// A clientAnswer is the answer of a client to a question.
type clientAnswer struct {
	CallID  string         `json:"callId"`
	Outcome string         `json:"outcome"`
	Content *string        `json:"newContent"` // replaces the proposed content
	Grant   int            `json:"grant"`      // a number in grants
	Replies map[int]string `json:"answers"`    // by the numbers of the questions
	note    string
}

// ends reports whether the answer ends the turn without a message to the model.
func (r clientAnswer) ends() bool { return r.Outcome == refuse && r.note == "" }

// react reads a client's answer to a question. Only an offered answer counts. Words without an
// outcome are the reply to a question, or else a message to the model: words alone never allow a
// call.
func (q *pending) react(words string, answer *clientAnswer) (r clientAnswer, err error) {
	switch {
	case answer == nil && q.Questions == 1:
		return clientAnswer{Outcome: proceed, Replies: map[int]string{0: words}}, nil
	case answer == nil:
		return clientAnswer{Outcome: refuse, note: words}, nil
	}
	r = *answer
	r.note = words
	editable := slices.Contains(q.Outcomes, modify) && (r.Outcome == modify || r.Outcome == proceed)
	switch {
	case !slices.Contains(q.Outcomes, r.Outcome):
		err = faultf(mcp.INVALID_PARAMS,
			"the outcome %.100q is not offered; there are: %s", r.Outcome, strings.Join(q.Outcomes, ", "))
	case words != "" && r.Outcome != refuse:
		err = faultf(mcp.INVALID_PARAMS, "text beside an outcome goes with %s alone", refuse)
	case r.Content != nil && !editable:
		err = faultf(mcp.INVALID_PARAMS,
			"newContent goes with %s and %s where the latter is offered", proceed, modify)
	case r.Outcome == modify && r.Content == nil:
		err = faultf(mcp.INVALID_PARAMS, "%s needs newContent: there is no editor here", modify)
	case r.Grant != 0 && (r.Outcome != always || r.Grant < 0 || r.Grant >= q.Grants):
		err = faultf(mcp.INVALID_PARAMS,
			"grant is the number of one of grants, from 0, and goes with %s", always)
	}
	for i := range r.Replies {
		if i < 0 || i >= q.Questions {
			err = faultf(mcp.INVALID_PARAMS, `answers has a text for each question, by its number: {"0": "…"}`)
		}
	}
	return r, err
}

// answer converts the answer into the engine's form. It returns false if p does not offer the
// answer.
func (r clientAnswer) answer(p engine.Proposal) (engine.Answer, bool) {
	grants := question.Grants(p)
	switch {
	case r.Outcome == refuse:
		return engine.Refused{Note: r.note}, true
	case r.Outcome == proceed && len(p.Intent.Questions) > 0:
		replies := make([]string, len(p.Intent.Questions))
		for i := range replies {
			replies[i] = r.Replies[i]
		}
		return engine.Replied{Replies: replies}, true
	case r.Content != nil && p.Intent.Draft != nil:
		return engine.Changed{Args: p.Intent.Draft.Args(*r.Content), Agreed: r.Outcome == proceed}, true
	case r.Outcome == always && r.Grant > 0 && r.Grant < len(grants):
		return engine.Allowed{Scope: engine.Session, Grant: grants[r.Grant]}, true
	case r.Content != nil, r.Grant > 0:
		return nil, false
	}
	for _, o := range offers(p) {
		if o.Outcome == r.Outcome {
			return o.answer, true
		}
	}
	return nil, false
}

// Limits of a call's data for clients, in bytes of JSON.
const (
	mostData  = 44_000
	mostTexts = 12_000 // of both texts of a file
)

// sizeOf returns the bytes of a value in the library's JSON, which needs six bytes for <, > and &.
func sizeOf(v any) int {
	b, _ := json.Marshal(v)
	return len(b)
}

// clean returns a JSON value for clients: without secrets, and with its longest texts and lists cut
// until it has at most the given number of bytes.
func (s *Server) clean(v map[string]any, most int) map[string]any {
	b, _ := json.Marshal(v)
	var d map[string]any
	text.Unmarshal(b, &d)
	s.cut(d, len(b))
	for longest := most; sizeOf(d) > most; longest /= 2 {
		s.cut(d, longest)
		d["truncated"] = true
	}
	return d
}

// cut returns a value without secrets. Texts have at most longest characters, lists and maps at
// most longest entries.
func (s *Server) cut(v any, longest int) any {
	switch v := v.(type) {
	case string:
		return text.Shorten(s.plain(v), longest)
	case []any:
		v = v[:min(len(v), longest)]
		for i := range v {
			v[i] = s.cut(v[i], longest)
		}
		return v
	case map[string]any:
		for i, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = s.cut(v[name], longest)
			if i >= longest || len(name) > longest {
				delete(v, name)
			}
		}
	}
	return v
}
