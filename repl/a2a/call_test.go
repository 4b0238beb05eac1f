package a2a

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// A thought has the subject that stands between double asterisks, however it is cut into
// pieces, and nothing of it is lost.
func TestThinker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		want   []thought
	}{
		"in one piece":         {[]string{"**Plan** Read it."}, []thought{{"Plan", "Read it."}}},
		"cut in the subject":   {[]string{"**Pl", "an**\n\nRead it."}, []thought{{"Plan", "Read it."}}},
		"cut in the asterisks": {[]string{"*", "*Plan*", "* Read it."}, []thought{{"Plan", "Read it."}}},
		"goes on":              {[]string{"**Plan**\n", "Read it.", " Then write."}, []thought{{"Plan", ""}, {"Plan", "Read it."}, {"Plan", " Then write."}}},
		"a second one":         {[]string{"**Plan** Read.", "**Doubt** Is it?"}, []thought{{"Plan", "Read."}, {"Doubt", "Is it?"}}},
		"words before it":      {[]string{"Hm. **Plan** Read."}, []thought{{"Plan", "Hm.  Read."}}},
		"none":                 {[]string{"Read it."}, []thought{{"", "Read it."}}},
		"a product":            {[]string{"2 * 3", " = 6"}, []thought{{"", "2 * 3"}, {"", " = 6"}}},
		"a power":              {[]string{"2**3\nis 8", " or so"}, []thought{{"", "2**3\nis 8"}, {"", " or so"}}},
		"never closed":         {[]string{"**Plan"}, []thought{{"", "**Plan"}}},
		"too long":             {[]string{"**" + strings.Repeat("x", mostSubject+1)}, []thought{{"", "**" + strings.Repeat("x", mostSubject+1)}}},
		"nothing":              {[]string{""}, nil},
	} {
		var th thinker
		var got []thought
		for _, p := range c.pieces {
			if told, ok := th.add(p); ok {
				got = append(got, told)
			}
		}
		if told, ok := th.end(); ok {
			got = append(got, told)
		}
		if !reflect.DeepEqual(got, c.want) || th != (thinker{}) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// "Always" of any name that the Gemini CLI has takes the narrowest grant on offer, and a whole
// server only where that is said.
func TestOffers(t *testing.T) {
	t.Parallel()
	declared := &genai.FunctionDeclaration{Name: "mcp_db_read"}
	exact := engine.Grant{Label: "always this", Tool: "run_shell_command", Target: "command ls"}
	wide := engine.Grant{Label: "always ls", Tool: "run_shell_command", Target: "program ls"}
	tool := engine.Grant{Label: "always read", Tool: "mcp_db_read"}
	server := engine.Grant{Label: "always all of db", Tool: engine.ServerPrefix("db") + "*"}
	for name, c := range map[string]struct {
		p    engine.Proposal
		want map[string]string // labels by outcome
	}{
		"a tool of our own": {engine.Proposal{Tool: engine.Tool{Declaration: declared}, Intent: engine.Intent{Grants: []engine.Grant{exact, wide}}},
			map[string]string{proceed: "allow", always: exact.Label, alwaysTool: exact.Label, refuse: "deny"}},
		"one of a server": {engine.Proposal{Tool: engine.Tool{Declaration: declared, Server: "db"}, Intent: engine.Intent{Grants: []engine.Grant{tool, server}}},
			map[string]string{proceed: "allow", always: tool.Label, alwaysTool: tool.Label, alwaysServer: server.Label, refuse: "deny"}},
		"a server alone": {engine.Proposal{Tool: engine.Tool{Declaration: declared, Server: "db"}, Intent: engine.Intent{Grants: []engine.Grant{server}}},
			map[string]string{proceed: "allow", alwaysServer: server.Label, refuse: "deny"}},
		"no grants": {engine.Proposal{Tool: engine.Tool{Declaration: declared}},
			map[string]string{proceed: "allow", refuse: "deny"}},
		"questions": {engine.Proposal{Tool: engine.Tool{Declaration: declared}, Intent: engine.Intent{Grants: []engine.Grant{exact}, Questions: []engine.Question{{Text: "Which?"}}}},
			map[string]string{proceed: "allow", refuse: "deny"}},
	} {
		got := map[string]string{}
		for _, o := range offers(c.p) {
			got[o.Outcome] = o.Label
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if kind := confirmation(c.p)["type"]; c.p.Tool.Server != "" && kind != "mcp" {
			t.Errorf("%s: it is of type %v", name, kind)
		}
		for outcome, label := range c.want {
			a, ok := clientAnswer{Outcome: outcome}.answer(c.p)
			if g, is := a.(engine.Allowed); !ok || is && g.Scope != engine.Once && g.Grant.Label != label {
				t.Errorf("%s: %s gives %+v, %v", name, outcome, a, ok)
			}
		}
	}
}

// What is answered to a call that is asked about has to be offered, and words alone allow nothing.
func TestReact(t *testing.T) {
	t.Parallel()
	words := "x"
	grants := []engine.Grant{{Label: "this", Tool: "t", Target: "a"}, {Label: "all", Tool: "t"}}
	plain := engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "t"}}, Intent: engine.Intent{Grants: grants,
		Plan: engine.Plan{NetworkArgs: map[string]any{"net": true}, ReadOnlyArgs: map[string]any{"look": true}}}}
	draft := plain
	draft.Intent.Draft = &engine.Draft{Args: func(s string) map[string]any { return map[string]any{"content": s} }}
	asking := plain
	asking.Intent = engine.Intent{Questions: []engine.Question{{Text: "Which?"}}}
	two := plain
	two.Intent = engine.Intent{Questions: []engine.Question{{Text: "Which?"}, {Text: "When?"}}}
	s := &Server{Config: Config{Redact: func(s string) string { return s }}}
	for name, c := range map[string]struct {
		p      engine.Proposal
		words  string
		answer *clientAnswer
		want   engine.Answer // nil if it is refused
	}{
		"words":                    {plain, "no", nil, engine.Refused{Note: "no"}},
		"words for a question":     {asking, "blue", nil, engine.Replied{Replies: []string{"blue"}}},
		"words for two questions":  {two, "blue", nil, engine.Refused{Note: "blue"}},
		"replies":                  {two, "", &clientAnswer{Outcome: proceed, Replies: map[int]string{1: "now"}}, engine.Replied{Replies: []string{"", "now"}}},
		"a reply to no question":   {two, "", &clientAnswer{Outcome: proceed, Replies: map[int]string{2: "now"}}, nil},
		"refused with words":       {plain, "no", &clientAnswer{Outcome: refuse}, engine.Refused{Note: "no"}},
		"allowed with words":       {plain, "do", &clientAnswer{Outcome: proceed}, nil},
		"with the network":         {plain, "", &clientAnswer{Outcome: proceedOnline}, engine.Changed{Agreed: true, Args: map[string]any{"net": true}}},
		"held to looking":          {plain, "", &clientAnswer{Outcome: proceedReadOnly}, engine.Changed{Agreed: true, Args: map[string]any{"look": true}}},
		"no network":               {asking, "", &clientAnswer{Outcome: proceedOnline}, nil},
		"the first grant":          {plain, "", &clientAnswer{Outcome: always}, engine.Allowed{Scope: engine.Session, Grant: grants[0]}},
		"another grant":            {plain, "", &clientAnswer{Outcome: always, Grant: 1}, engine.Allowed{Scope: engine.Session, Grant: grants[1]}},
		"no such grant":            {plain, "", &clientAnswer{Outcome: always, Grant: 2}, nil},
		"a grant for once":         {plain, "", &clientAnswer{Outcome: proceed, Grant: 1}, nil},
		"content":                  {draft, "", &clientAnswer{Outcome: proceed, Content: &words}, engine.Changed{Agreed: true, Args: map[string]any{"content": "x"}}},
		"content to be asked of":   {draft, "", &clientAnswer{Outcome: modify, Content: &words}, engine.Changed{Args: map[string]any{"content": "x"}}},
		"modify without content":   {draft, "", &clientAnswer{Outcome: modify}, nil},
		"content of another call":  {plain, "", &clientAnswer{Outcome: proceed, Content: &words}, nil},
		"content that goes beyond": {draft, "", &clientAnswer{Outcome: always, Content: &words}, nil},
	} {
		var got engine.Answer
		r, err := s.ask(c.p).react(c.words, c.answer)
		if err == nil {
			got, _ = r.answer(c.p)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// In every state, what is told of a call has its arguments and its tool; of what is long the
// longest is cut, and a text of a file is there as a whole or not at all.
func TestCallData(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	tool := engine.Tool{Label: "Edit", Kind: engine.Edit, Declaration: &genai.FunctionDeclaration{Name: "replace",
		Description: "Changes a file.", ParametersJsonSchema: map[string]any{"type": "object"}}}
	edit := func(before, after string, made bool) engine.Intent {
		return engine.Intent{Detail: "-" + before + "\n+" + after, Paths: []string{"/p/a"},
			Edit: &engine.TextEdit{Path: "/p/a", Before: before, After: after, Created: made}}
	}
	s := &Server{Config: Config{Redact: func(s string) string { return strings.ReplaceAll(s, "hush", "[secret]") }}}
	for name, c := range map[string]struct {
		call call
		ev   *engine.CallFinished
		want string // of the result, in JSON
	}{
		"scheduled":        {call: call{id: "1", name: "replace", state: engine.Scheduled, tool: tool}},
		"long arguments":   {call: call{id: "1", name: "replace", args: map[string]any{"a": long, "b": "short"}, state: engine.Executing, tool: tool}},
		"an unknown tool":  {call: call{id: "1", name: "nope", state: engine.Failed}},
		"a result":         {call{id: "1", name: "replace", state: engine.Success, tool: tool}, &engine.CallFinished{Result: engine.Result{Display: "done, hush"}}, `"done, [secret]"`},
		"an edit":          {call{id: "1", name: "replace", state: engine.Success, tool: tool}, &engine.CallFinished{Intent: edit("a", "b", false)}, `{"fileDiff":"-a\n+b","fileName":"a","filePath":"/p/a","isNewFile":false,"newContent":"b","originalContent":"a"}`},
		"a new file":       {call{id: "1", name: "write_file", state: engine.Success, tool: tool}, &engine.CallFinished{Intent: edit("", "b", true)}, `{"fileDiff":"-\n+b","fileName":"a","filePath":"/p/a","isNewFile":true,"newContent":"b","originalContent":null}`},
		"a failed edit":    {call{id: "1", name: "replace", state: engine.Failed, tool: tool}, &engine.CallFinished{Intent: edit("a", "b", false), Err: errors.New("no"), Result: engine.Result{Display: "no"}}, `"no"`},
		"a long edit":      {call: call{id: "1", name: "replace", state: engine.Success, tool: tool}, ev: &engine.CallFinished{Intent: edit(long, long+"y", false)}},
		"a page":           {call: call{id: "1", name: "replace", args: map[string]any{"a": strings.Repeat("<p>Hello</p>\n", 5000)}, state: engine.Executing, tool: tool}},
		"quotes that grow": {call: call{id: "1", name: "replace", state: engine.Success, tool: tool}, ev: &engine.CallFinished{Intent: edit(strings.Repeat("\"\n", 5000), "", false)}},
	} {
		d := c.call.data()
		if c.ev != nil {
			d["response"] = c.call.response(*c.ev)
		}
		d = s.clean(d, mostData)
		b, err := json.Marshal(d)
		if err != nil || len(b) > 60_000 {
			t.Fatalf("%s: %d bytes, %v", name, len(b), err)
		}
		var got struct {
			Request struct {
				CallID string
				Args   map[string]any
			}
			Status   string
			Tool     struct{ Name, DisplayName string }
			Response struct{ ResultDisplay json.RawMessage }
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if got.Request.CallID != "1" || got.Request.Args == nil || got.Status != string(c.call.state) || got.Tool.Name != c.call.name || got.Tool.DisplayName == "" {
			t.Errorf("%s: %.300s", name, b)
		}
		if c.want != "" && string(got.Response.ResultDisplay) != c.want {
			t.Errorf("%s: %s, want %s", name, got.Response.ResultDisplay, c.want)
		}
		if name == "long arguments" && (got.Request.Args["b"] != "short" || d["truncated"] != true) {
			t.Errorf("%s: %v", name, d["truncated"])
		}
		if c.ev != nil && c.want == "" {
			r := d["response"].(map[string]any)["resultDisplay"].(map[string]any)
			if _, there := r["newContent"]; there || r["truncated"] != true || r["filePath"] != "/p/a" {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}
