package report

import (
	"encoding/json"
	"math"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/output"
)

// The records of a stream, without the fields that all records share.
type (
	initRecord struct {
		Session string          `json:"session_id"`
		Model   string          `json:"model"`
		Version int             `json:"schema_version"`
		Program string          `json:"version,omitempty"`
		Dir     string          `json:"cwd,omitempty"`
		Mode    string          `json:"approval_mode,omitempty"`
		Talk    int             `json:"protocol_version,omitempty"` // of a conversation
		Sandbox *Sandbox        `json:"sandbox,omitempty"`
		Unused  []UnusedFeature `json:"unused,omitempty"`
	}
	messageRecord struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Delta   bool   `json:"delta,omitempty"`
		ID      string `json:"id,omitempty"` // of the line that said it
	}
	toolUseRecord struct {
		Name string `json:"tool_name"`
		ID   string `json:"tool_id"`
		caller
		Parameters any `json:"parameters"`
	}
	toolResultRecord struct {
		ID string `json:"tool_id"`
		caller
		Status string     `json:"status"`
		Output string     `json:"output"`
		Error  *callError `json:"error,omitempty"`
		Paths  []string   `json:"paths,omitempty"`
		Took   int64      `json:"duration_ms"`
	}
	retryRecord struct {
		Attempt int    `json:"attempt"`
		Of      int    `json:"max_attempts"`
		Delay   int64  `json:"delay_ms"`
		Message string `json:"message"`
		Restart bool   `json:"restart"`
		Model   string `json:"model,omitempty"`
	}
	resultRecord struct {
		Status   string             `json:"status"`
		Error    *Failure           `json:"error,omitempty"`
		Stats    json.RawMessage    `json:"stats"`
		Session  string             `json:"session_id"`
		Version  int                `json:"schema_version"`
		ExitCode int                `json:"exit_code"`
		Reason   string             `json:"termination_reason"`
		Denied   []Denial           `json:"denied"`
		Warnings []string           `json:"warnings,omitempty"`
		Patch    *string            `json:"patch,omitempty"`
		Planned  *[]PlannedCall     `json:"planned,omitempty"`
		Value    json.RawMessage    `json:"structured_output,omitempty"`
		Code     *string            `json:"extracted,omitempty"`
		Sandbox  *Sandbox           `json:"sandbox,omitempty"`
		Check    *tally.Check       `json:"check,omitempty"`
		Cited    []engine.Reference `json:"citations,omitempty"`
	}
)

// CheckOf returns the last check for a record, nil without a check.
func CheckOf(t *tally.Tally) *tally.Check {
	c := t.Checked()
	if c == nil {
		return nil
	}
	return &tally.Check{Command: output.Valid(c.Command), Rounds: c.Rounds, Code: c.Code, OK: c.OK}
}

// An ErrorRecord reports an error or a warning.
type ErrorRecord struct {
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Line     int    `json:"line,omitempty"` // of the input, if the error is about a line
	ID       string `json:"id,omitempty"`   // the id in that line
	Open     bool   `json:"open,omitempty"` // ID is a question that still waits for an answer
}

// A callError is the error of a call.
type callError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// value converts v into valid JSON: with valid text, and without invalid numbers.
func value(v any) (_ any, invalid bool) {
	switch v := v.(type) {
	case string:
		c := output.UTF8{Raw: true}
		return c.All(v), c.Invalid()
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, one := range v {
			k, bad := value(key)
			v, worse := value(one)
			m[k.(string)] = v
			invalid = invalid || bad || worse
		}
		return m, invalid
	case []any:
		s := make([]any, len(v))
		for i := range v {
			var bad bool
			s[i], bad = value(v[i])
			invalid = invalid || bad
		}
		return s, invalid
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
	}
	return v, false
}

// marshal returns v as compact JSON, with escapes for invisible characters.
func marshal(v any) []byte {
	b, err := text.JSON(v, "")
	if err != nil {
		panic(err) // a mistake in this package
	}
	return output.JSON(b)
}
