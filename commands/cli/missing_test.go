package cli

import (
	"strings"
	"testing"
)

// What is a sub-command of the Gemini CLI, or a command of sessions, or a misspelled
// sub-command, is no prompt; what only begins like one is.
func TestMissing(t *testing.T) {
	for words, want := range map[string]string{
		"mcp list":                  "",
		"gemma":                     "gemline gemma is no command: this version starts no model itself; gemline models lists the models that answer",
		"gemma setup now":           "gemline gemma setup is no command: this",
		"--json gemma status":       "gemline gemma status is no command: this",
		"gemma --json":              "gemline gemma is no command: this",
		"extension install x":       "",
		"gemma status":              "no model itself",
		"gemma models are what":     "",
		"skills":                    "",
		"hook up the logger":        "",
		"extensions of Go's syntax": "",
		"-- gemma status":           "",
		"-p gemma":                  "",
		"what gemma":                "",
		"":                          "",
		"usage --json":              "gemline usage is no command: /stats shows a session's use",
		"--json usage":              "gemline usage is no",
		"usage -o json":             "gemline usage is no",
		"-o json usage":             "gemline usage is no",
		"-m flash usage --json":     "gemline usage is no",
		"stats":                     "/stats",
		"login":                     "gemline auth signin",
		"version":                   "gemline --version",
		"resume":                    "gemline --resume",
		"modles --json":             "did you mean gemline models?",
		"model":                     "did you mean gemline models?",
		"session":                   "did you mean gemline sessions?",
		"extention":                 "did you mean gemline extension?",
		"usage of tar":              "",
		"usage: tar":                "",
		"-- usage":                  "",
		"-p usage":                  "",
		"-i usage --json":           "",
		"resume the work":           "",
		"session 3":                 "",
		"session list":              "gemline session list is no command: did you mean gemline sessions list?",
		"sesions list --json":       "did you mean gemline sessions list?",
		"session show 3":            "did you mean gemline sessions show?",
		"sessions print 3":          "did you mean gemline sessions show?",
		"session list is empty":     "",
		"session list empty":        "did you mean gemline sessions list?",
		"session ends too early":    "",
		"agent list":                "did you mean gemline agents list?",
		"agent of change":           "",
		"tool list":                 "did you mean gemline tools list?",
		"model railways":            "",
		"settings list":             "did you mean gemline config list?",
		"setting get model.name":    "did you mean gemline config get?",
		"settings for the team":     "",
		"extensions show lint":      "gemline extensions show is no command: gemline extensions --help lists what there is",
		"extensions show up twice":  "",
		"extensions remove lint":    "gemline extensions remove is no command: did you mean gemline extensions uninstall?",
		"hooks rm lint --json":      "gemline hooks rm is no command: gemline hooks --help",
		"mcp delete far":            "did you mean gemline mcp remove?",
		"worktree delete x":         "did you mean gemline worktree remove?",
		"extensions add lint":       "did you mean gemline extensions install?",
		"agents create one for me":  "",
		"hooks remove dead code":    "",
		"agents show helper":        "",
		"update show page":          "",
		"hello":                     "",
		"test":                      "",
		"summarize":                 "",
		"explain":                   "",
		"review --json":             "",
		"thanks":                    "",
		"refactor":                  "",
	} {
		err := Missing(strings.Fields(words))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", words, err, want)
		}
	}
}
