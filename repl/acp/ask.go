package acp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	protocol "github.com/coder/acp-go-sdk"
	"github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/tools/mcp/rpc"
	"gemline/tools/workspace"
)

// An option is an option of a question, with its answer.
type option struct {
	protocol.PermissionOption
	answer engine.Answer // nil means refusal
}

// Approve implements [engine.Approver]. It waits for the editor, until the editor disconnects.
func (h *editorSession) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.Intent.Questions) > 0 {
		return h.questions(ctx, p)
	}
	var more []protocol.ToolCallContent
	if lines := question.FactLines(p); len(lines) > 0 {
		more = h.view.text(strings.Join(lines, "\n"))
	}
	return h.request(ctx, p, question.Title(p)+question.Rights(p), more, h.choices(p))
}

// choices returns the possible answers about a call.
func (h *editorSession) choices(p engine.Proposal) (list []option) {
	add := func(kind protocol.PermissionOptionKind, id, name string, a engine.Answer) {
		list = append(list, option{protocol.PermissionOption{Kind: kind,
			OptionId: protocol.PermissionOptionId(id), Name: name}, a})
	}
	var once []question.LabelledAnswer
	n := 0
	for _, c := range question.LabelledAnswers(p) {
		a, always := c.Answer.(engine.Allowed)
		if always = always && a.Scope != engine.Once; !always {
			once = append(once, c)
			continue
		}
		n++
		id := "proceed_always"
		switch {
		case p.Tool.Server != "":
			id += map[bool]string{true: "_tool", false: "_server"}[n == 1]
		case n > 1:
			id = fmt.Sprintf("%s_%d", id, n)
		}
		add(protocol.PermissionOptionKindAllowAlways, id, c.Label, c.Answer)
		if scopes := question.Scopes(a.Grant); n == 1 && h.session.Permanent && len(scopes) > 1 {
			last := scopes[len(scopes)-1]
			if kept, problem := question.Always(a.Grant, last); problem == "" {
				where := map[engine.Scope]string{engine.InProject: "this project",
					engine.Everywhere: "all future sessions"}[last]
				add(protocol.PermissionOptionKindAllowAlways, "proceed_always_and_save",
					output.EscapeLine(text.OneLine(a.Grant.Label, longestTitle))+" in "+where, kept)
			}
		}
	}
	for i, c := range once {
		switch {
		case i == 0:
			add(protocol.PermissionOptionKindAllowOnce, "proceed_once", "Allow", c.Answer)
		case c.Answer != nil:
			add(protocol.PermissionOptionKindAllowOnce, fmt.Sprintf("proceed_once_%d", i),
				strings.ToUpper(c.Label[:1])+c.Label[1:], c.Answer)
		}
	}
	add(protocol.PermissionOptionKindRejectOnce, "cancel", "Reject", nil)
	return list
}

// request lets the editor ask its user, and returns the choice. An answer that was not offered is a
// refusal.
func (h *editorSession) request(ctx context.Context, p engine.Proposal, title string,
	more []protocol.ToolCallContent, options []option) (engine.Answer, error) {
	if _, known := h.view.calls[p.ID]; !known || p.AgentCall != "" { // it is about no call, and ends with the answer
		p.ID += "__asked"
		defer func() {
			c := h.view.call(p.ID)
			delete(h.view.calls, p.ID)
			h.view.update(protocol.SessionToolCallUpdate{SessionUpdate: "tool_call_update",
				ToolCallId: c.id, Status: new(protocol.ToolCallStatusCompleted)})
		}()
	}
	c := h.view.call(p.ID)
	if c.args == nil {
		c.args = p.Args
	}
	h.view.begin(p.ID, p.Tool.Name(), "", engine.Intent{Title: title, Detail: p.Intent.Detail,
		Paths: p.Intent.Paths, Edit: p.Intent.Edit, Plan: p.Intent.Plan}, protocol.ToolCallStatusPending, more)
	offered := lists.Map(options, func(o option) protocol.PermissionOption {
		o.Name = h.client.plain(o.Name)
		return o.PermissionOption
	})
	kind, status := kindOf(p.Tool.Kind), protocol.ToolCallStatusPending
	var said struct {
		Outcome struct {
			Outcome  string                      `json:"outcome"`
			OptionID protocol.PermissionOptionId `json:"optionId"`
		} `json:"outcome"`
	}
	err := h.client.conn.Call(ctx, protocol.ClientMethodSessionRequestPermission,
		protocol.RequestPermissionRequest{SessionId: h.view.id, Options: offered,
			ToolCall: protocol.ToolCallUpdate{ToolCallId: c.id,
				Title: new(h.view.line(title)), Kind: &kind, Status: &status, Content: append(h.view.detail(p.Intent, kind), more...),
				Locations: locations(p.Intent), RawInput: h.view.input(p.Args)}}, &said)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return engine.Unasked{Advice: "the editor could not ask: " +
			text.OneLine(output.EscapeLine(err.Error()), longestTitle)}, nil
	case said.Outcome.Outcome == "cancelled": // the editor cancels the prompt
		return nil, context.Canceled
	}
	for _, o := range options {
		if said.Outcome.Outcome == "selected" && o.OptionId == said.Outcome.OptionID && o.answer != nil {
			return o.answer, nil
		}
	}
	return engine.Refused{}, nil
}

// questions asks the model's questions, if each has several fixed answers and takes one.
func (h *editorSession) questions(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	for _, q := range p.Intent.Questions {
		if q.Kind == engine.FreeText || q.Multi {
			if p.Tool.Server != "" {
				h.view.warn(p.Intent.Title + ", and an editor can ask for one of several answers only; it gets no answer: " + text.OneLine(p.Intent.Questions[0].Text, longestTitle))
			}
			return engine.Unasked{Advice: "an editor can ask for one of several answers only; ask in your answer, and end with it"}, nil
		}
	}
	replies := make([]string, len(p.Intent.Questions))
	for i, q := range p.Intent.Questions {
		words := []string{engine.Yes, engine.No}
		about := []string{q.Hint}
		if q.Kind == engine.MultipleChoice {
			words = nil
			for _, o := range q.Options {
				words = append(words, o.Label)
				about = append(about, o.Label+": "+o.Description)
			}
		}
		var options []option
		for j, w := range words {
			options = append(options, option{protocol.PermissionOption{Kind: protocol.PermissionOptionKindAllowOnce, OptionId: protocol.PermissionOptionId(fmt.Sprintf("answer_%d", j+1)),
				Name: output.EscapeLine(w)}, engine.Replied{Replies: []string{w}}})
		}
		options = append(options, option{protocol.PermissionOption{Kind: protocol.PermissionOptionKindRejectOnce, OptionId: "cancel", Name: "No answer"}, nil})
		a, err := h.request(ctx, p, q.Text, h.view.text(output.Escape(strings.TrimSpace(strings.Join(about, "\n")))), options)
		if err != nil {
			return nil, err
		}
		switch a := a.(type) {
		case engine.Replied:
			replies[i] = a.Replies[0]
		case engine.Unasked:
			return a, nil
		default:
			return engine.Refused{}, nil
		}
	}
	return engine.Replied{Replies: replies}, nil
}

// editor returns the editor's functions for files.
func (h *editorSession) editor(can capabilities) (ed workspace.Editor) {
	call := func(method string, params, result any) error {
		err := h.client.conn.Call(h.running(), mcp.MCPMethod(method), params, result)
		if e := (*rpc.Error)(nil); errors.As(err, &e) {
			switch said := strings.ToLower(fmt.Sprint(e.Message, e.Data)); {
			case e.Code == mcp.METHOD_NOT_FOUND:
				return errors.ErrUnsupported
			case e.Code == missing, strings.Contains(said, "not found"), strings.Contains(said, "enoent"):
				return fs.ErrNotExist
			}
			return fmt.Errorf("the editor: %w", err)
		}
		return err
	}
	if can.Fs.ReadTextFile {
		ed.Read = func(path string) (string, error) {
			var said struct{ Content *string }
			err := call(protocol.ClientMethodFsReadTextFile,
				protocol.ReadTextFileRequest{SessionId: h.view.id, Path: path}, &said)
			if err == nil && said.Content == nil {
				err = errors.New("the editor has answered without a content")
			}
			if err != nil {
				return "", err
			}
			return *said.Content, nil
		}
	}
	if can.Fs.WriteTextFile {
		ed.Write = func(path, text string) error {
			return call(protocol.ClientMethodFsWriteTextFile,
				protocol.WriteTextFileRequest{SessionId: h.view.id, Path: path, Content: text}, nil)
		}
	}
	return ed
}
