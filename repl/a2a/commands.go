package a2a

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	protocol "github.com/a2aproject/a2a-go/a2a"
	"github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/serve"
	"gemline/tools/mcp/rpc"
)

// ServeCard answers with the public description of the server.
func (s *Server) ServeCard(w http.ResponseWriter, _ *http.Request) {
	serve.WriteJSON(w, http.StatusOK, &protocol.AgentCard{Name: "gemline", Version: s.Version, ProtocolVersion: "0.3.0",
		URL: s.Address, PreferredTransport: protocol.TransportProtocolJSONRPC,
		Description:       "A coding agent: it reads and changes the files of one folder and runs commands there, and asks about what its rules do not allow.",
		Capabilities:      protocol.AgentCapabilities{Streaming: true, StateTransitionHistory: true},
		DefaultInputModes: []string{"text"}, DefaultOutputModes: []string{"text"},
		SecuritySchemes: protocol.NamedSecuritySchemes{"bearerAuth": protocol.HTTPAuthSecurityScheme{Scheme: "bearer", Description: "The token that the server printed when it began."}},
		Security:        []protocol.SecurityRequirements{{"bearerAuth": {}}},
		Skills: []protocol.AgentSkill{{ID: "code_generation", Name: "Code Generation",
			Description: "Writes, changes and explains code, and runs what has to be run for it.",
			Tags: []string{"code", "development",
				"programming"}, InputModes: []string{"text"}, OutputModes: []string{"text"},
			Examples: []string{"Find out why the test of the parser fails, and mend it."}}}})
}

// posted decodes the body of a request. If that fails, it answers the request and returns false.
func posted(w http.ResponseWriter, r *http.Request, into any) bool {
	b, status, err := rpc.ReadBody(w, r)
	if jerr := rpc.Unmarshal(b, into); err == nil && jerr != nil {
		status, err = http.StatusBadRequest, fmt.Errorf("this can't be read: %w", jerr)
	}
	if err != nil {
		serve.WriteError(w, status, err.Error())
	}
	return err == nil
}

// create makes a task without a message.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ContextID string   `json:"contextId"`
		Settings  settings `json:"agentSettings"`
	}
	if !posted(w, r, &q) {
		return
	}
	unused := slices.DeleteFunc(s.all(), func(t *task) bool { return t.state() != protocol.TaskStateSubmitted })
	if len(unused) >= mostUnused {
		serve.WriteError(w, http.StatusServiceUnavailable,
			fmt.Sprintf("%d tasks have no message yet, and there can be no more; use or cancel some (GET /tasks/metadata lists them)", len(unused)))
		return
	}
	t, err := s.newTask(q.ContextID, q.Settings)
	if err != nil {
		f := reply(nil, nil, err).Error
		status := map[int]int{mcp.INVALID_PARAMS: http.StatusBadRequest, serverError: http.StatusServiceUnavailable}
		serve.WriteError(w, cmp.Or(status[f.Code], http.StatusInternalServerError), f.Message)
		return
	}
	s.shrink()
	serve.WriteJSON(w, http.StatusCreated, t.record.Task.ID)
}

// A described is the description of a task for a client.
type described struct {
	ID        protocol.TaskID    `json:"id"`
	ContextID string             `json:"contextId"`
	State     protocol.TaskState `json:"taskState"`
	Model     string             `json:"model"`
	Servers   []Connected        `json:"mcpServers"`
	Tools     []Tool             `json:"availableTools"`
}

// A Tool is a tool, for clients.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Schema      any    `json:"parameterSchema,omitempty"`
}

// setupOf returns the model and the tools of an idle conversation.
func setupOf(talk *serve.Session) *described {
	return &described{Model: talk.Model(), Tools: lists.Map(talk.Offered(), func(t engine.Tool) Tool {
		return Tool{t.Name(), text.OneLine(t.Declaration.Description, mostNames), t.Declaration.ParametersJsonSchema}
	})}
}

// describe describes the task in the address, or all tasks. A task without a message gets the model
// and tools of a new conversation.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	tasks, id := s.all(), r.PathValue("id")
	if id != "" {
		t, err := s.find(protocol.TaskID(id))
		if err != nil {
			serve.WriteError(w, http.StatusNotFound, reply(nil, nil, err).Error.Message)
			return
		}
		tasks = []*task{t}
	}
	list := []described{}
	var fresh *described
	for _, t := range tasks {
		known := t.lastSetup.Load()
		if known == nil && fresh == nil {
			talk, err := s.Begin(r.Context(), serve.SessionRequest{Notify: func(string) {}})
			if err != nil {
				serve.WriteError(w, http.StatusInternalServerError, s.plain(err.Error()))
				return
			}
			fresh = setupOf(talk)
			talk.Close()
		}
		d := *cmp.Or(known, fresh)
		d.ID, d.ContextID, d.State, d.Servers = t.record.Task.ID, t.record.Task.ContextID, t.state(), s.Servers()
		list = append(list, d)
	}
	switch {
	case id != "":
		serve.WriteJSON(w, http.StatusOK, map[string]any{"metadata": list[0]})
	case len(list) == 0:
		w.WriteHeader(http.StatusNoContent)
	default:
		serve.WriteJSON(w, http.StatusOK, list)
	}
}

func (s *Server) listCommands(w http.ResponseWriter, _ *http.Request) {
	serve.WriteJSON(w, http.StatusOK, map[string]any{"commands": s.Commands})
}

// execute runs a command. A prompt for the model is sent in a task.
func (s *Server) execute(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	if !posted(w, r, &q) {
		return
	}
	all := slices.Clone(s.Commands)
	for _, c := range s.Commands {
		all = append(all, c.Sub...)
	}
	if !slices.ContainsFunc(all, func(c Command) bool { return c.Name == q.Command }) {
		serve.WriteError(w, http.StatusNotFound, text.OneLine("there is no command "+q.Command+" here; GET /listCommands lists them", mostNames))
		return
	}
	args := text.OneLine(strings.Join(q.Args, " "), mostMessage)
	data, prompt, err := s.Execute(r.Context(), q.Command, args)
	switch {
	case err != nil:
		serve.WriteError(w, http.StatusInternalServerError, s.plain(err.Error()))
	case prompt == "":
		serve.WriteJSON(w, http.StatusOK, s.clean(map[string]any{"name": q.Command, "data": data}, mostBody))
	default:
		m := protocol.NewMessage(protocol.MessageRoleUser, protocol.TextPart{Text: prompt})
		t, st, err := s.say(r.Context(), &protocol.MessageSendParams{Message: m}, true)
		var id json.RawMessage
		if err == nil {
			id, _ = json.Marshal(t.record.Task.ID)
		}
		s.stream(w, id, st, err)
	}
}
