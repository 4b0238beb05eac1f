//go:build unix

package programtest

import (
	"strings"

	et "gemline/engine/enginetest"
)

// A user's agents, and what their models say to each of their requests.
var (
	AgentFiles = map[string]string{
		".gemini/agents/alpha.md": "---\nname: alpha\ndescription: a\ntools: [read_file]\n---\nYou are alpha.",
		".gemini/agents/beta.md":  "---\nname: beta\ndescription: b\ntools: [read_file]\n---\nYou are beta.",
		".gemini/agents/slow.md":  "---\nname: slow\ndescription: s\ntools: [read_file]\n---\nYou are slow.",
		".gemini/agents/vague.md": "---\nname: vague\ndescription: v\ntools: []\n---\nYou are vague.",
		".gemini/agents/stuck.md": "---\nname: stuck\ndescription: k\ntools: []\n---\nYou are stuck.",
		".gemini/settings.json":   `{"agents": {"overrides": {"slow": {"runConfig": {"maxTimeMinutes": 0.005}}}}}`,
	}
	secret   = et.Says("", et.Call("1", "read_file", "file_path", ".env"))
	Reported = func(words string) et.Reply { return et.Says("", et.Call("2", "complete_task", "result", words)) }
	SaidBy   = map[string][]et.Reply{
		"You are alpha.": {secret, Reported("the port is 8080")},
		"You are beta.":  {secret, Reported("it was refused")},
		"You are slow.":  {{Stall: true}, Reported("half of it")},
		"You are vague.": {et.Says("Well, well."), Reported("well")},
		"You are stuck.": {{Stall: true}},
		"You find out how a codebase works": {et.Says("", et.Call("1", "read_file", "file_path", "greeting.txt")),
			et.Says("", et.Call("2", "complete_task", "report", map[string]any{"SummaryOfFindings": "It greets.", "ExplorationTrace": []any{}, "RelevantLocations": []any{}}))},
	}
)

// AgentsAnswer answers requests of agents, wherever in between they come, and others in
// the order of replies.
func AgentsAnswer(replies ...et.Reply) *et.Server {
	s := et.NewServer()
	s.Respond = func(r et.Received) et.Reply {
		for who, said := range SaidBy {
			if strings.Contains(string(r.Body), who) {
				return said[strings.Count(string(r.Body), `"role":"model"`)]
			}
		}
		if len(replies) == 0 { // somebody wants to know what a session was about
			return et.Says("About agents.")
		}
		reply := replies[0]
		replies = replies[1:]
		return reply
	}
	return s
}

func Calling(id, name string) []any { return []any{"agent_name", name, "prompt", "look, " + id} }
