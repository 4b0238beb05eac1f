package flags

import "slices"

// lacking lists flags of the Gemini CLI and similar programs that gemline lacks, with alternatives.
// Each is an error, since users could believe an ignored flag to work. A flag that gemline has
// under another name is an alias instead.
var lacking = []struct {
	names   []string
	instead string
}{
	{[]string{"continue", "c"}, "--resume latest resumes the last session"},
	{[]string{"fork-session"}, "--session-file FILE begins a session with the conversation of another"},
	{[]string{"max-retries", "retries"}, "--max-attempts N says how often a request is made"},
	{[]string{"all-files"}, "@. in the prompt puts the files of this folder into it"},
	{[]string{"proxy"}, "HTTPS_PROXY=ADDRESS in the environment names a proxy"},
	{[]string{"checkpointing"}, "changes can be taken back in any case; general.checkpointing.enabled: false in the settings switches that off"},
	{[]string{"telemetry", "telemetry-target", "telemetry-otlp-endpoint", "telemetry-otlp-protocol", "telemetry-log-prompts", "telemetry-outfile"},
		"gemline config set telemetry.enabled true switches it on, and telemetry.target and the like say where it goes"},
	{[]string{"show-memory-usage"}, "gemline shows none; /stats says what a session has used"},
	{[]string{"full-auto", "a", "ask-for-approval"}, "--approval-mode auto runs confined, reversible calls unasked; -y runs everything unasked, confined"},
	{[]string{"dangerously-bypass-approvals-and-sandbox", "yes"}, "-y runs everything unasked, confined; with --sandbox=off nothing holds it"},
	{[]string{"no-stream"}, "--stream final shows an answer when it is whole"},
	{[]string{"disallowed-tools", "exclude-tools"}, "gemline config set tools.exclude NAME, or a rule with --policy FILE, forbids a tool"},
	{[]string{"system-prompt", "system-prompt-file", "append-system-prompt"}, "GEMINI_SYSTEM_MD=FILE is the system prompt; additions to it belong in GEMINI.md"},
	{[]string{"cd", "C"}, "start gemline in the directory: cd DIR && gemline ..."},
	{[]string{"mcp-config", "strict-mcp-config"}, "servers stand in the settings, under mcpServers, and in the project's .mcp.json; --allowed-mcp-server-names says which of them are used"},
	{[]string{"image", "read", "file"}, "@FILE in the prompt puts a file or an image into it"},
	{[]string{"list-models"}, "gemline models lists them"},
	{[]string{"settings", "config", "profile"}, "gemline config set KEY VALUE changes a setting; GEMINI_CLI_HOME names another place for them"},
	{[]string{"verbose"}, "--detail full tells more, -d writes a debug log"},
	{[]string{"no-session-persistence", "ephemeral"}, "a session is always kept; gemline sessions delete ID deletes it"},
	{[]string{"include-partial-messages"}, "--output-format stream-json has them in any case"},
}

// lacks returns the error of a flag that gemline lacks, nil for other names.
func lacks(name string) error {
	for _, l := range lacking {
		if slices.Contains(l.names, kebab(bare(name))) {
			return usage("%.100s: %s", name, l.instead)
		}
	}
	return nil
}
