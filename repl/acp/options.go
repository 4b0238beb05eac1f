package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"gemline/engine"
	"gemline/tools/mcp/rpc"
)

// setMode changes the approval mode.
func (c *client) setMode(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.SetSessionModeRequest
	return c.turn(ctx, m, &p, func(h *held) (Switch, string) { return h.mode(), string(p.ModeId) }, func() protocol.SessionId { return p.SessionId })
}

// setModel changes the model.
func (c *client) setModel(ctx context.Context, m *rpc.Message) (any, error) {
	var p protocol.UnstableSetSessionModelRequest
	return c.turn(ctx, m, &p, func(h *held) (Switch, string) { return h.talk.Model, string(p.ModelId) }, func() protocol.SessionId { return p.SessionId })
}

// setOption changes either of them, as newer editors do it.
func (c *client) setOption(ctx context.Context, m *rpc.Message) (any, error) {
	var p struct {
		SessionID protocol.SessionId `json:"sessionId"`
		ConfigID  string             `json:"configId"`
		Value     any                `json:"value"`
	}
	value := func() string { v, _ := p.Value.(string); return v }
	return c.turn(ctx, m, &p, func(h *held) (Switch, string) {
		switch p.ConfigID {
		case modeOption:
			return h.mode(), value()
		case modelOption:
			return h.talk.Model, value()
		}
		return Switch{}, ""
	}, func() protocol.SessionId { return p.SessionID })
}

// turn turns a switch of a session, which the parameters name.
func (c *client) turn(ctx context.Context, m *rpc.Message, params any, which func(*held) (Switch, string), session func() protocol.SessionId) (any, error) {
	if err := json.Unmarshal(m.Params, params); err != nil {
		return nil, invalid("%s", err)
	}
	h, err := c.find(session())
	if err != nil {
		return nil, err
	}
	sw, id := which(h)
	if sw.Set == nil {
		return nil, invalid("there is no such option; there are %s and %s", modeOption, modelOption)
	}
	do := func() (any, error) {
		if err := sw.Set(ctx, id); err != nil {
			return nil, invalid("%s", c.plain(c.Outcome(err).Complete().Message))
		}
		h.tellMode()
		if m.Method == protocol.AgentMethodSessionSetConfigOption {
			return protocol.SetSessionConfigOptionResponse{ConfigOptions: h.options()}, nil
		}
		return struct{}{}, nil
	}
	if sw.Turn { // as what is worked on goes by it
		return h.queued(ctx, &prompt{instead: do})
	}
	return c.later(do)
}

// The options of a session.
const (
	modeOption  = "mode"
	modelOption = "model"
)

// modeNames are what people read of approval modes.
var modeNames = map[string]string{"default": "Default", "auto_edit": "Auto Edit", "auto": "Auto", "yolo": "YOLO", "plan": "Plan"}

// modeID returns what editors call an approval mode.
func modeID(mode string) string {
	if mode == "auto_edit" {
		return "autoEdit"
	}
	return mode
}

// mode returns the switch of the approval mode, in the words of editors.
func (h *held) mode() Switch {
	sw := h.talk.Mode
	all := sw.All()
	for i, p := range all {
		all[i] = Position{ID: modeID(p.ID), Name: modeNames[p.ID], About: p.About}
	}
	now, set := sw.Now, sw.Set
	sw.All = func() []Position { return all }
	sw.Now = func() string { return modeID(now()) }
	sw.Set = func(ctx context.Context, id string) error {
		for mode := range modeNames {
			if id == mode || id == modeID(mode) {
				return set(ctx, mode)
			}
		}
		var ids []string
		for _, p := range all {
			ids = append(ids, p.ID)
		}
		return fmt.Errorf("there is no approval mode %.40q; there are: %s", id, strings.Join(ids, ", "))
	}
	return sw
}

func (h *held) modes() *protocol.SessionModeState {
	sw := h.mode()
	s := &protocol.SessionModeState{CurrentModeId: protocol.SessionModeId(sw.Now())}
	for _, p := range sw.All() {
		s.AvailableModes = append(s.AvailableModes, protocol.SessionMode{Id: protocol.SessionModeId(p.ID), Name: p.Name, Description: &p.About})
	}
	return s
}

func (h *held) models() *protocol.SessionModelState {
	s := &protocol.SessionModelState{CurrentModelId: protocol.ModelId(h.talk.Model.Now())}
	for _, p := range h.talk.Model.All() {
		about := p.About
		s.AvailableModels = append(s.AvailableModels, protocol.ModelInfo{ModelId: protocol.ModelId(p.ID), Name: p.Name, Description: &about})
	}
	return s
}

// options returns both, as newer editors read them.
func (h *held) options() []protocol.SessionConfigOption {
	option := func(id, name, now string, category protocol.SessionConfigOptionCategory, all []protocol.SessionConfigSelectOption) protocol.SessionConfigOption {
		list := protocol.SessionConfigSelectOptionsUngrouped(all)
		return protocol.SessionConfigOption{Select: &protocol.SessionConfigOptionSelect{Type: "select", Id: protocol.SessionConfigId(id), Name: name, Category: &category,
			CurrentValue: protocol.SessionConfigValueId(now), Options: protocol.SessionConfigSelectOptions{Ungrouped: &list}}}
	}
	var modes, models []protocol.SessionConfigSelectOption
	ms := h.modes()
	for _, m := range ms.AvailableModes {
		modes = append(modes, protocol.SessionConfigSelectOption{Value: protocol.SessionConfigValueId(m.Id), Name: m.Name, Description: m.Description})
	}
	s := h.models()
	for _, m := range s.AvailableModels {
		models = append(models, protocol.SessionConfigSelectOption{Value: protocol.SessionConfigValueId(m.ModelId), Name: m.Name, Description: m.Description})
	}
	return []protocol.SessionConfigOption{
		option(modeOption, "Approval mode", string(ms.CurrentModeId), "mode", modes),
		option(modelOption, "Model", string(s.CurrentModelId), "model", models),
	}
}

// tellMode tells the editor of an approval mode that it does not know of.
func (h *held) tellMode() {
	now := h.mode().Now()
	h.mu.Lock()
	was := h.told
	h.told = now
	h.mu.Unlock()
	if was != now {
		h.update(protocol.SessionCurrentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeId: protocol.SessionModeId(now)})
	}
}

// tellCommands tells the editor of the slash commands, if it does not know of them.
func (h *held) tellCommands() {
	all := h.talk.Commands()
	b, err := json.Marshal(all)
	if err != nil {
		return
	}
	h.mu.Lock()
	was := h.known
	h.known = string(b)
	h.mu.Unlock()
	if was != string(b) {
		h.update(protocol.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: all})
	}
}

var _ engine.Approver = (*held)(nil)
