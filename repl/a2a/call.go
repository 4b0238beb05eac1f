package a2a

import (
	"path/filepath"
	"strings"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/repl/question"
)

// A call is a call of the model in its current state, as clients see it.
type call struct {
	agent, id, name string
	args            map[string]any
	state           engine.CallState
	tool            engine.Tool // the zero Tool if it is unknown
}

// data returns the call for clients, in the form that is the same in all its states.
func (c call) data() map[string]any {
	args := c.args
	if args == nil {
		args = map[string]any{}
	}
	return map[string]any{
		"request": map[string]any{"callId": c.id, "name": c.name, "args": args, "isClientInitiated": false},
		"status":  string(c.state), "tool": toolData(c.tool, c.name, args), "agent": c.agent}
}

// toolData returns the tool of a call for clients.
func toolData(t engine.Tool, name string, args map[string]any) map[string]any {
	d := map[string]any{"name": name, "displayName": name}
	if t.Declaration == nil {
		return d
	}
	if t.Label != "" {
		d["displayName"] = t.Label
	}
	schema := map[string]any{"name": t.Name(), "description": t.Declaration.Description}
	if s := t.Declaration.ParametersJsonSchema; s != nil {
		schema["parametersJsonSchema"] = s
	}
	d["kind"], d["description"], d["schema"] = t.Of(args).Kind.String(), t.Declaration.Description, schema
	return d
}

// response returns the result of a call.
func (c call) response(ev engine.CallFinished) map[string]any {
	d := map[string]any{"callId": c.id, "resultDisplay": ev.Result.Display}
	if e := ev.Intent.Edit; e != nil && ev.Err == nil {
		d["resultDisplay"] = editData(ev.Intent)
	}
	if ev.Err != nil {
		d["error"] = map[string]any{"message": engine.DisplayError(ev.Err)}
		d["errorType"] = engine.ErrorType(ev.Err)
	}
	return d
}

// editData returns both texts of a file that a call changes, and the diff. It leaves out texts that
// don't fit into an event: a client could take a cut text for the file.
func editData(in engine.Intent) map[string]any {
	d := map[string]any{"fileDiff": in.Detail}
	if e := in.Edit; e != nil {
		d["filePath"], d["fileName"], d["isNewFile"] = e.Path, filepath.Base(e.Path), e.Created
		if sizeOf(e.Before)+sizeOf(e.After) > mostTexts {
			d["truncated"] = true
			return d
		}
		d["newContent"], d["originalContent"] = e.After, e.Before
		if e.Created {
			d["originalContent"] = nil
		}
	}
	return d
}

// confirmation returns the Gemini CLI's form of a question about a call.
func confirmation(p engine.Proposal) map[string]any {
	d := map[string]any{"type": "info", "title": question.Title(p), "prompt": p.Intent.Detail}
	_, change := question.ChangeOf(p)
	switch {
	case len(p.Intent.Questions) > 0:
		delete(d, "prompt")
		d["type"], d["questions"] = "ask_user", questionsOf(p.Intent.Questions)
	case p.Intent.Edit != nil || change && len(p.Intent.Paths) > 0:
		d = editData(p.Intent)
		d["type"], d["title"] = "edit", question.Title(p)
		if p.Intent.Edit == nil {
			d["filePath"], d["fileName"] = p.Intent.Paths[0], filepath.Base(p.Intent.Paths[0])
		}
	case p.Tool.Kind == engine.Execute:
		delete(d, "prompt")
		names := append([]string{}, question.Programs(p.Intent)...)
		d["type"], d["command"] = "exec", p.Intent.Detail
		d["rootCommand"], d["rootCommands"] = strings.Join(names, ", "), names
	case p.Tool.Server != "":
		d["type"], d["serverName"], d["toolName"], d["toolDisplayName"] = "mcp", p.Tool.Server, p.Tool.Name(), p.Tool.Label
	}
	return d
}

// questionsOf returns the questions of a call.
func questionsOf(all []engine.Question) []map[string]any {
	return lists.Map(all, func(q engine.Question) map[string]any {
		options := lists.Map(q.Options, func(o engine.Option) map[string]any {
			return map[string]any{"label": o.Label, "description": o.Description}
		})
		return map[string]any{"question": q.Text, "header": q.Header, "multiSelect": q.Multi,
			"options": options, "placeholder": q.Hint, "type": question.KindName(q.Kind)}
	})
}

// A thought is a thought of the model, for clients: the subject stands between the first pair of
// double asterisks, and applies to the text behind it.
type thought struct{ subject, description string }

// A thinker splits the model's thoughts into subject and text, piece by piece.
type thinker struct{ subject, pending string }

// mostSubject is the longest subject, in bytes.
const mostSubject = 400

// add adds a piece, and returns the part of the thought that is complete. It holds text that may be
// part of a subject until the subject ends.
func (t *thinker) add(piece string) (told thought, ok bool) {
	all := t.pending + piece
	t.pending = ""
	before, rest, opened := strings.Cut(all, "**")
	subject, after, closed := strings.Cut(rest, "**")
	switch {
	case closed:
		t.subject = strings.TrimSpace(subject)
		return thought{t.subject, strings.TrimLeft(before+after, " \n")}, true
	case opened && len(rest) <= mostSubject && !strings.Contains(rest, "\n"), strings.HasSuffix(all, "*"):
		t.pending = all
		return told, false
	}
	return thought{t.subject, all}, all != ""
}

// end returns the held text at the end of an answer.
func (t *thinker) end() (told thought, ok bool) {
	told = thought{t.subject, t.pending}
	*t = thinker{}
	return told, told.description != ""
}
