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
	note, _ := json.Marshal(map[string]string{"id": uuid.NewString(),
		"timestamp": text.Timestamp(f.now()), "type": "info", "content": "Imported from " + path})
	messages := []json.RawMessage{note}
	for _, m := range r.messages {
		if m.ID != openingID && (m.Type == "user" || m.Type == "gemini") {
			var fields map[string]json.RawMessage
			json.Unmarshal(m.raw, &fields) // it was read before
			delete(fields, "model")        // a resumed conversation stays with the vendor of its model
			raw, _ := json.Marshal(fields)
			messages = append(messages, raw)
		}
	}
	return OpenedSession{File: f, History: c.History, From: c, Copy: true}, f.startWith(messages)
}
