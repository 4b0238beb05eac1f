package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"gemline/engine/lists"
	"gemline/tools/mcp/rpc"
)

// turn changes a setting of a session, such as its mode or model.
func (c *client) turn(ctx context.Context, m *rpc.Message) (any, error) {
	var p struct {
		SessionID protocol.SessionId `json:"sessionId"`
		ModeID    string             `json:"modeId"`
		ModelID   string             `json:"modelId"`
	}
	if err := rpc.Unmarshal(m.Params, &p); err != nil {
		return nil, invalid("%s", err)
	}
	h, err := c.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	sw, id := h.mode(), p.ModeID
	if m.Method == protocol.AgentMethodSessionSetModel {
		sw, id = h.session.Model, p.ModelID
	}
	do := func() (any, error) {
		if err := sw.Set(ctx, id); err != nil {
			return nil, invalid("%s", c.plain(c.Outcome(err).Complete().Message))
		}
		h.tellMode()
		return struct{}{}, nil
	}
	if sw.Turn { // the running turn depends on it
		return h.queued(ctx, &prompt{instead: do})
	}
	return c.later(do)
}

// modeNames are the names of approval modes in editors.
var modeNames = map[string]string{"default": "Default", "auto_edit": "Auto Edit", "auto": "Auto",
	"yolo": "YOLO", "plan": "Plan"}

// modeID returns the id of an approval mode in editors.
func modeID(mode string) string {
	if mode == "auto_edit" {
		return "autoEdit"
	}
	return mode
}

// mode returns the switch of the approval mode, in the words of editors.
func (h *editorSession) mode() Switch {
	sw := h.session.Mode
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
		ids := lists.Map(all, func(p Position) string { return p.ID })
		return fmt.Errorf("there is no approval mode %.40q; there are: %s", id, strings.Join(ids, ", "))
	}
	return sw
}

func (h *editorSession) modes() *protocol.SessionModeState {
	sw := h.mode()
	return &protocol.SessionModeState{CurrentModeId: protocol.SessionModeId(sw.Now()),
		AvailableModes: lists.Map(sw.All(), func(p Position) protocol.SessionMode {
			return protocol.SessionMode{Id: protocol.SessionModeId(p.ID), Name: p.Name, Description: &p.About}
		})}
}

func (h *editorSession) models() *protocol.SessionModelState {
	return &protocol.SessionModelState{CurrentModelId: protocol.ModelId(h.session.Model.Now()),
		AvailableModels: lists.Map(h.session.Model.All(), func(p Position) protocol.ModelInfo {
			return protocol.ModelInfo{ModelId: protocol.ModelId(p.ID), Name: p.Name, Description: &p.About}
		})}
}

// changed reports whether an update is new to the editor, and stores it as the last.
func (h *editorSession) changed(update any) bool {
	b, err := json.Marshal(update)
	kind := fmt.Sprintf("%T", update)
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.told[kind]
	h.told[kind] = string(b)
	return err == nil && was != string(b)
}

func (h *editorSession) modeUpdate() protocol.SessionCurrentModeUpdate {
	return protocol.SessionCurrentModeUpdate{SessionUpdate: "current_mode_update",
		CurrentModeId: protocol.SessionModeId(h.mode().Now())}
}

// tellMode sends the approval mode to the editor if it has changed.
func (h *editorSession) tellMode() {
	if u := h.modeUpdate(); h.changed(u) {
		h.view.update(u)
	}
}

// tellCommands sends the slash commands to the editor if they have changed.
func (h *editorSession) tellCommands() {
	if u := (protocol.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update",
		AvailableCommands: h.session.Commands()}); h.changed(u) {
		h.view.update(u)
	}
}
