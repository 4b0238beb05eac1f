package mcp

import (
	"encoding/json"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/text"
)

const (
	askName = "ask"
	session = "session" // the argument that names a conversation
)

// sessionSchema is the schema of that argument.
var sessionSchema = map[string]any{"type": "string", "pattern": "^[A-Za-z0-9_-]+$",
	"description": "A name that you choose, of letters, digits, - and _. Calls with the same name go on with one conversation, in which what was said, found and allowed is known. Without it, a call stands alone."}

// ask returns the tool with which a client gives gemline a task.
func (c *client) ask() protocol.Tool {
	schema, _ := json.Marshal(map[string]any{"type": "object", "required": []string{"prompt"},
		"additionalProperties": false,
		"properties":           map[string]any{"prompt": map[string]any{"type": "string", "description": "The task, with all that has to be known for it."}, session: sessionSchema}})
	yes := true
	return protocol.Tool{Name: askName, Title: "Ask gemline", RawInputSchema: schema,
		Description: "Gives a task to gemline, a coding agent that works in " + text.PrintableLine(c.Dir) +
			". It reads and changes files and runs commands there by itself, as far as its rules and its user allow, and answers when it is done, which may take minutes.",
		Annotations: protocol.ToolAnnotation{Title: "Ask gemline", DestructiveHint: &yes, OpenWorldHint: &yes}}
}

// listed converts a tool for the client.
func listed(t engine.Tool) protocol.Tool {
	looks, changes, far := t.Kind.ReadOnly(), t.Kind == engine.Edit || t.Kind == engine.Execute ||
		t.Kind == engine.Other, t.Kind == engine.Fetch
	return protocol.Tool{Name: t.Name(), Title: t.Label, Description: t.Declaration.Description,
		RawInputSchema: withSession(t),
		Annotations: protocol.ToolAnnotation{Title: t.Label, ReadOnlyHint: &looks,
			DestructiveHint: &changes, OpenWorldHint: &far}}
}

// withSession returns the schema of a tool's arguments, with an argument that names a
// conversation.
func withSession(t engine.Tool) json.RawMessage {
	schema := map[string]any{}
	b, _ := json.Marshal(t.Declaration.ParametersJsonSchema)
	text.Unmarshal(b, &schema)
	schema["type"] = "object"
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	properties[session] = sessionSchema
	delete(properties, "wait_for_previous") // it concerns several calls in one message
	schema["properties"] = properties
	b, _ = json.Marshal(schema)
	return b
}
