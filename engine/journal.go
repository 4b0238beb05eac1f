package engine

import (
	"time"

	"google.golang.org/genai"
)

// A Journal stores a conversation. engine/journal writes it to a file.
type Journal interface {
	// Record appends e.
	Record(e Entry) error

	// Result records the outcome of a call of the model's last message, before the outcome is
	// shown or sent. The Entry with the answers to all calls follows.
	Result(c CallRecord) error

	// Rewrite records that said replaces the conversation, except for its opening message.
	Rewrite(said []*genai.Content) error
}

// An Entry is one message of the conversation with its metadata.
type Entry struct {
	Content *genai.Content

	// Opening marks the message that sets up the conversation's context.
	Opening bool

	// For a message of the model: Model is the name of the model that answered.
	Model    string
	Thoughts []string // one for each thought, as the model wrote it
	Usage    *Usage   // nil if the API sent no counts
	Cut      bool     // the user, or the end of the program, cut it off
	Cited    []Reference

	// For a message that answers calls: the outcome of each call, in order.
	Calls []CallRecord
}

// A CallRecord is one call and its outcome, for the record.
type CallRecord struct {
	ID     string // as in the events
	Tool   Tool   // the zero Tool if no tool has the name
	Name   string
	Args   map[string]any
	Intent Intent
	Answer []*genai.Part // what the model was told
	Result Result
	Err    error
	At     time.Time // when it was over
}
