package preset

import (
	"strings"
	"time"
)

// A row is a built-in alias.
type row struct {
	name, extends string
	model         string // "" is that of the alias it extends
	config        string // as JSON, "" is none
}

// What conversations and quick answers are asked with.
const (
	chat      = `{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true}}`
	unthought = `{"thinkingConfig":{"thinkingBudget":0}}`
)

// builtin are the aliases that are there without settings. They are the Gemini
// CLI's, so that settings written for it mean the same here.
var builtin = [...]row{
	{"base", "", "", `{"temperature":0,"topP":1}`},
	{"chat-base", "base", "", chat},
	{"chat-base-2.5", "chat-base", "", `{"thinkingConfig":{"thinkingBudget":8192}}`},
	{"chat-base-3", "chat-base", "", `{"thinkingConfig":{"thinkingLevel":"HIGH"}}`},
	{"gemini-2.5-flash-base", "base", "gemini-2.5-flash", ""},
	{"gemini-3-flash-base", "base", "gemini-3-flash-preview", ""},
	{"gemini-3.5-flash-base", "base", "gemini-3.5-flash", ""},
	{"classifier", "base", "flash-lite", `{"maxOutputTokens":1024,"thinkingConfig":{"thinkingBudget":512}}`},
	{"prompt-completion", "base", "flash-lite",
		`{"temperature":0.3,"maxOutputTokens":16000,"thinkingConfig":{"thinkingBudget":0}}`},
	{"fast-ack-helper", "base", "flash-lite",
		`{"temperature":0.2,"maxOutputTokens":120,"thinkingConfig":{"thinkingBudget":0}}`},
	{"edit-corrector", "base", "flash-lite", unthought},
	{"summarizer-default", "base", "flash-lite", `{"maxOutputTokens":2000}`},
	{"summarizer-shell", "base", "flash-lite", `{"maxOutputTokens":2000}`},
	{"web-search", "gemini-3-flash-base", "", `{"tools":[{"googleSearch":{}}]}`},
	{"web-fetch", "gemini-3-flash-base", "", `{"tools":[{"urlContext":{}}]}`},
	{"web-fetch-fallback", "gemini-3-flash-base", "", ""},
	{"loop-detection", "gemini-3-flash-base", "", ""},
	{"loop-detection-double-check", "base", "gemini-3-pro-preview", ""},
	{"llm-edit-fixer", "gemini-3-flash-base", "", ""},
	{"next-speaker-checker", "gemini-3-flash-base", "", ""},
	{"context-snapshotter", "gemini-3-flash-base", "",
		`{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"thinkingLevel":"HIGH"}}`},
	{"chat-compression-3-pro", "", "gemini-3-pro-preview", ""},
	{"chat-compression-3-flash", "", "gemini-3-flash-preview", ""},
	{"chat-compression-3.1-flash-lite", "", "flash-lite", ""},
	{"chat-compression-2.5-pro", "", "gemini-2.5-pro", ""},
	{"chat-compression-2.5-flash", "", "gemini-2.5-flash", ""},
	{"chat-compression-2.5-flash-lite", "", "gemini-2.5-flash-lite", ""},
	{"chat-compression-default", "", "gemini-3-pro-preview", ""},
	{"agent-history-provider-summarizer", "", "gemini-3-flash-preview", ""},
}

// Main is the role of requests of the conversation with the user.
const Main = "main"

// A purpose is what requests beside a conversation are for.
type purpose struct {
	name     string // of the alias, or how it begins
	role     string
	limit    time.Duration
	attempts int // 0 is as many as usual
}

// purposes are those that are known, and how long their answers are worth waiting
// for: a whole prompt waits for the classifier, while a compression takes the time
// that the reading of a long conversation does.
var purposes = [...]purpose{
	{"classifier", "utility_router", 3 * time.Second, 0},
	{"prompt-completion", "utility_autocomplete", 5 * time.Second, 0},
	{"fast-ack-helper", "utility_fast_ack_helper", 5 * time.Second, 0},
	{"next-speaker-checker", "utility_next_speaker", 15 * time.Second, 0},
	{"loop-detection", "utility_loop_detector", 15 * time.Second, 2},
	{"edit-corrector", "utility_edit_corrector", 40 * time.Second, 0},
	{"llm-edit-fixer", "utility_edit_corrector", 40 * time.Second, 0},
	{"summarizer-", "utility_summarizer", time.Minute, 0},
	{"web-", "utility_tool", time.Minute, 0},
	{"context-snapshotter", "utility_state_snapshot_processor", 5 * time.Minute, 3},
	{"chat-compression-", "utility_compressor", 5 * time.Minute, 3},
	{"agent-history-provider-summarizer", "utility_compressor", 5 * time.Minute, 3},
}

// purposeOf returns what is known of a purpose; what is unknown counts as a tool's.
func purposeOf(name string) purpose {
	for _, p := range purposes {
		if strings.HasPrefix(name, p.name) {
			return p
		}
	}
	return purpose{name, "utility_tool", time.Minute, 0}
}

// Compression returns the purpose of compressing a conversation with a model.
func Compression(model string) string {
	model = strings.TrimPrefix(model, "models/")
	model = strings.TrimSuffix(strings.TrimSuffix(model, "-customtools"), "-preview")
	version, class, _ := strings.Cut(strings.TrimPrefix(model, "gemini-"), "-")
	switch major, _, _ := strings.Cut(version, "."); {
	case version == "2.5" && (class == "pro" || class == "flash" || class == "flash-lite"):
		return "chat-compression-2.5-" + class
	case major != "3":
	case class == "flash-lite":
		return "chat-compression-3.1-flash-lite"
	case class == "pro", class == "flash":
		return "chat-compression-3-" + class
	}
	return "chat-compression-default"
}
