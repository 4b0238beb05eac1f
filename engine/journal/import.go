package journal

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"gemline/engine/text"
)

// importFile returns a session that begins with the messages of the user and the model in the
// session file path. The file is not changed. The file is untrusted, so its directories are
// ignored.
func importFile(cfg Config, path string) (OpenedSession, error) {
	c, r, err := loadRecord(path, true)
	if err != nil {
		return OpenedSession{}, fmt.Errorf("--session-file: %w", err)
	}
	f := New(cfg)
	f.known, f.opening = nil, false // since it would replace the messages
	note, err := json.Marshal(map[string]string{"id": uuid.NewString(),
		"timestamp": text.Timestamp(f.now()), "type": "info", "content": "Imported from " + path})
	if err != nil {
		return OpenedSession{}, err
	}
	messages := []json.RawMessage{note}
	for _, m := range r.messages {
		if m.ID != openingID && (m.Type == "user" || m.Type == "gemini") {
			messages = append(messages, withoutModel(m.raw))
		}
	}
	return OpenedSession{File: f, History: c.History, From: c, Copy: true}, f.startWith(messages)
}

// withoutModel returns a message without its model: a resumed conversation stays with the vendor
// of its last model, which no foreign file may choose.
func withoutModel(message json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil || fields["model"] == nil {
		return message
	}
	delete(fields, "model")
	b, err := json.Marshal(fields)
	if err != nil {
		return message
	}
	return b
}
