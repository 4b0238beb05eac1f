package preset

import (
	"cmp"
	"strings"
	"time"

	"gemline/engine/model/catalog"
)

// builtin returns the built-in alias called name.
func builtin(name string) (alias, bool) {
	for _, r := range catalog.Shipped().Aliases {
		if r.Name != name {
			continue
		}
		a := alias{extends: r.Extends, model: r.Model, config: r.Config, ours: true}
		if row, ok := named(a.model); ok && row.Is == "" {
			a.model, a.class = "", row.Name
		}
		return a, true
	}
	return alias{}, false
}

// Main is the role of requests of the conversation with the user.
const Main = "main"

// A purpose is the purpose of requests outside of a conversation.
type purpose struct {
	name     string // the alias, or its prefix
	role     string
	limit    time.Duration
	attempts int    // 0 is the usual number
	plain    string // the name below model.roles
}

// purposes are the known purposes, with their timeouts: a prompt waits for the classifier, while
// a compression must read a long conversation.
var purposes = [...]purpose{
	{"classifier", "utility_router", 3 * time.Second, 1, "routing"},
	{"prompt-completion", "utility_autocomplete", 5 * time.Second, 0, ""},
	{"fast-ack-helper", "utility_fast_ack_helper", 5 * time.Second, 0, ""},
	{"next-speaker-checker", "utility_next_speaker", 15 * time.Second, 0, "speaker"},
	{"loop-detection", "utility_loop_detector", 15 * time.Second, 2, "loops"},
	{"edit-corrector", "utility_edit_corrector", 40 * time.Second, 0, "edits"},
	{"llm-edit-fixer", "utility_edit_corrector", 40 * time.Second, 0, "edits"},
	{"summarizer-", "utility_summarizer", time.Minute, 0, "summaries"},
	{"web-", "utility_tool", time.Minute, 0, "web"},
	{"context-snapshotter", "utility_state_snapshot_processor", 5 * time.Minute, 3, "compression"},
	{"chat-compression-", "utility_compressor", 5 * time.Minute, 3, "compression"},
	{"agent-history-provider-summarizer", "utility_compressor", 5 * time.Minute, 3, "compression"},
}

// fast is the role of all purposes for which a fast model suffices.
const fast = "fast"

// classOf returns the class of models of an alias without settings, "" if none.
func classOf(name string) string {
	for a, ok := builtin(name); ok; a, ok = builtin(a.extends) {
		if a.class != "" {
			return a.class
		}
	}
	return ""
}

// purposeOf returns the purpose of a name; an unknown name counts as a tool's.
func purposeOf(name string) purpose {
	for _, p := range purposes {
		if strings.HasPrefix(name, p.name) {
			return p
		}
	}
	return purpose{name, "utility_tool", time.Minute, 0, ""}
}

// Compression returns the purpose of compressing a conversation with a model.
func Compression(model string) string {
	m := catalog.Lookup(model)
	return cmp.Or(m.Kin.Compression[m.Class], "chat-compression-default")
}
