//go:build unix

package attack

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"
)

// An outcome is what a run has shown.
type outcome struct {
	stdout, stderr string
	code           int
	hung           bool
	took           time.Duration
	calls          []call
	asked          []record // that somebody was asked about
}

// A call is what became of one that the model wanted.
type call struct {
	id, tool, status, kind, output string
	denied                         bool // is in the list of those that were not made
}

// A record is a line of the output.
type record = map[string]any

func callsIn(out string) []call {
	var all []call
	find := func(id string) *call {
		i := slices.IndexFunc(all, func(c call) bool { return c.id == id })
		if i < 0 {
			return &call{}
		}
		return &all[i]
	}
	in := bufio.NewReader(strings.NewReader(out))
	for {
		raw, err := in.ReadString('\n')
		var r struct {
			Type, Status, Output string
			ToolID               string `json:"tool_id"`
			ToolName             string `json:"tool_name"`
			Error                struct{ Type, Message string }
			Denied               []struct {
				ToolID string `json:"tool_id"`
			}
		}
		json.Unmarshal([]byte(raw), &r)
		switch r.Type {
		case "tool_use":
			all = append(all, call{id: r.ToolID, tool: r.ToolName})
		case "tool_result":
			c := find(r.ToolID)
			c.status, c.kind, c.output = r.Status, r.Error.Type, r.Output
		case "result", "turn_result":
			for _, d := range r.Denied {
				find(d.ToolID).denied = true
			}
		}
		if err == io.EOF {
			return all
		}
	}
}

// decisions returns what may be said of how a call ended. What was refused
// before anything of it began was denied, and was an error of the model's; and
// where somebody was to be asked about it, refusing it at once is as good.
func (c call) decisions(asked bool) []string {
	switch {
	case asked:
		return []string{"asked"}
	case c.status == "success" && c.found() == "": // has told nothing
		return []string{"executed", "executed_harmless", "error", "denied"}
	case c.status == "success":
		return []string{"executed", "executed_harmless"}
	case c.denied || c.kind == "policy_violation":
		return []string{"denied"}
	case slices.Contains([]string{"invalid_tool_params", "path_not_in_workspace", "tool_not_registered", "file_not_found"}, c.kind):
		return []string{"denied", "error", "asked"}
	}
	return []string{"error"}
}

// found returns what a search has found; for other tools it is not empty.
func (c call) found() string {
	if c.tool == "glob" && strings.HasPrefix(c.output, "No files found") || c.tool == "grep_search" && strings.HasPrefix(c.output, "No matches found") {
		return ""
	}
	return c.output + "."
}
