package settings

// Settings are the values of the settings files that the program goes by. The
// zero value is of no use: see [Default].
//
// A field's tags are its key, its default, the words it may hold, how the
// values of several files combine (the strongest counts if nothing is said),
// and what the reference page says about it. The keys without a field are in
// a table.
type Settings struct {
	Model        string `key:"model.name" help:"The model or alias. Before it come -m and GEMINI_MODEL."`
	MaxTurns     int    `key:"model.maxSessionTurns" default:"-1" help:"How many requests a session may make; 0 or less is no limit. --max-turns beats it."`
	Idle         int    `key:"model.streamIdleTimeoutSeconds" default:"300" help:"After how many seconds without a byte of an answer the request is made again; 0 is never. A long call arrives in one piece, so that less may break it off."`
	ApprovalMode string `key:"general.defaultApprovalMode" default:"default" enum:"default,auto_edit,plan" help:"What runs unasked when a session begins. Running everything takes a flag. A project can only tighten it."`
	MaxAttempts  int    `key:"general.maxAttempts" default:"10" help:"How often a request is made that gets no answer, 10 at most. --max-attempts beats it."`
	SyncSession  bool   `key:"general.sessionSync" default:"true" help:"Have the disk keep a session's file before a call changes anything and at the end of each turn, so that it outlives a loss of power. false saves a few milliseconds each time, more on a slow disk."`
	Format       string `key:"output.format" default:"text" enum:"text,json" help:"How one answer is printed. -o and --json beat it."`
	ScreenReader bool   `key:"ui.accessibility.screenReader" help:"Plain mode. Flags and ACCESSIBLE beat it."`
	Editor       string `key:"general.preferredEditor" enum:"vscode,vscodium,windsurf,cursor,zed,antigravity,sublimetext,lapce,nova,bbedit,vim,neovim,emacs,emacsclient,hx,micro" help:"Where a proposal is edited. It beats VISUAL and EDITOR."`
	NewWindow    bool   `key:"general.openEditorInNewWindow" help:"Have an editor that can open another window for it."`
	Vi           bool   `key:"general.vimMode" help:"Vi keys where gemline edits the line. /vim beats it."`

	Stream   string `key:"ui.stream" enum:"token,sentence,paragraph,final" help:"How much of an answer is shown at a time. If nothing is said: a sentence in plain mode, a token in smart mode. --stream and /stream beat it."`
	Detail   string `key:"ui.detail" default:"normal" enum:"short,normal,full" help:"How much gemline says about what the model does. --detail and /detail beat it."`
	Thinking string `key:"ui.inlineThinkingMode" default:"off" enum:"off,full" help:"Show the model's thoughts, at full detail."`
	Layout   string `key:"ui.layout" default:"smart" enum:"plain,smart" help:"How answers stand in smart mode: smart wraps lines at words, aligns tables and colours code; plain puts in words what markup means, as plain mode does."`
	ASCII    bool   `key:"ui.ascii" help:"Show quotation marks, dashes, arrows and the like in ASCII, and other characters as escapes. --ascii beats it."`

	PasteLines string `key:"ui.pasteLines" default:"together" enum:"together,single" help:"Whether lines that are pasted together are one input, or one each. --prompt-format stable means single."`

	Notifications bool   `key:"general.enableNotifications" help:"Call for attention at a question, and when a turn of five seconds or more is over."`
	NotifyMethod  string `key:"general.notificationMethod" default:"auto" enum:"auto,osc9,osc777,bell,none" help:"How to call for attention. In plain mode only bell does anything."`
	NotifyCommand string `key:"general.notificationCommand" help:"A shell command that is run instead, with one JSON object on its standard input. A project can't set it."`

	FileNames     []string `key:"context.fileName" lone:"yes" help:"More names of context files; one name or a list."`
	Markers       []string `key:"context.memoryBoundaryMarkers" default:".git" help:"What a directory holds above which no context files are looked for; an empty list: none of a parent."`
	ImportFormat  string   `key:"context.importFormat" default:"tree" enum:"tree,flat" help:"Where imported files stand in the text: in the place of the import, or each once behind the file."`
	IncludeDirs   []string `key:"context.includeDirectories" merge:"concat" help:"More directories to work in, before those of --include-directories."`
	Tree          bool     `key:"context.includeDirectoryTree" default:"true" help:"List the workspace in the opening message."`
	RespectGit    bool     `key:"context.fileFiltering.respectGitIgnore" default:"true" help:"Pass over what .gitignore names."`
	RespectGemini bool     `key:"context.fileFiltering.respectGeminiIgnore" default:"true" help:"Pass over what .geminiignore names."`
	IgnoreFiles   []string `key:"context.fileFiltering.customIgnoreFilePaths" merge:"union" help:"More ignore files, the strongest first."`
	FileSearch    bool     `key:"context.fileFiltering.enableRecursiveFileSearch" default:"true" help:"Look for an @path that is not there in the names of all files."`
	FuzzySearch   bool     `key:"context.fileFiltering.enableFuzzySearch" default:"true" help:"Complete an @path from letters that are in its name."`

	Extensions         bool     `key:"experimental.extensionManagement" default:"true" help:"Use the installed extensions."`
	DisabledExtensions []string `key:"extensions.disabled" merge:"union" help:"Names of extensions that are not used."`

	NoAlways         bool     `key:"security.disableAlwaysAllow" help:"Do not offer the answer always, and pass over what was said always to."`
	PolicyPaths      []string `key:"policyPaths" merge:"union" help:"Files or directories of the user's rules, instead of ~/.gemini/policies. --policy beats it. A project can't set it."`
	AdminPolicyPaths []string `key:"adminPolicyPaths" merge:"union" help:"More files or directories of the administrator's rules. A project can't set it."`
	CoreTools        []string `key:"tools.core" help:"The only tools there are; they run unasked. A project's list only leaves tools out."`
	AllowedTools     []string `key:"tools.allowed" help:"Tools and commands that run unasked, such as run_shell_command(git status). A project can't set it."`
	ConfirmedTools   []string `key:"tools.confirmationRequired" help:"Tools and commands that are always asked about."`
	ExcludedTools    []string `key:"tools.exclude" merge:"union" help:"Tools and commands that do not run."`

	Pager      string `key:"tools.shell.pager" default:"cat" help:"PAGER and GIT_PAGER of commands. A project can't set it."`
	Inactivity int    `key:"tools.shell.inactivityTimeout" default:"300" help:"After how many seconds without output a command is stopped; 0 is never."`
	Terminal   bool   `key:"tools.shell.enableInteractiveShell" default:"true" help:"Give commands a terminal to write to, in a session."`
	Threshold  int    `key:"tools.truncateToolOutputThreshold" default:"40000" help:"How many characters of a command's output the model reads; 0 or less is all."`
	Ripgrep    bool   `key:"tools.useRipgrep" default:"true" help:"Search with rg where it is installed."`
	DirectWeb  bool   `key:"experimental.directWebFetch" help:"Have web_fetch return a page as it is, without the help of a model."`
	WriteTodos bool   `key:"useWriteTodos" default:"true" help:"Offer the older models, gemini-2.x, a todo list to write to."`

	MarkdownCommands []string `key:"commands.markdownFolders" merge:"concat" help:"Folders with commands of other agents, in Markdown; see help custom-commands. A project can name only folders of its own."`

	SandboxPaths   []string `key:"tools.sandboxAllowedPaths" merge:"concat" help:"More files and directories that confined commands may write to. A project can't set it."`
	SandboxNetwork bool     `key:"tools.sandboxNetworkAccess" help:"Let confined commands reach the network. A project can only set it to false."`
	ToolSandboxing bool     `key:"security.toolSandboxing" help:"Insist on it that commands are confined: --sandbox=off is refused with exit code 52, and a run without confinement with 44. A project can only set it to true."`

	Redact      bool     `key:"security.environmentVariableRedaction.enabled" default:"true" help:"Keep variables that look like secrets from commands."`
	AllowedVars []string `key:"security.environmentVariableRedaction.allowed" help:"Variables that commands get, whatever they look like."`
	BlockedVars []string `key:"security.environmentVariableRedaction.blocked" merge:"union" help:"Variables that commands never get."`
	NoYolo      bool     `key:"security.disableYoloMode" help:"Refuse -y and --approval-mode yolo, with exit code 52."`
	FolderTrust bool     `key:"security.folderTrust.enabled" default:"true" help:"Ask before a folder's own settings, .env and context files are used. A project can't set it."`

	AuthType     string `key:"security.auth.selectedType" help:"How you sign in: gemini-api-key, vertex-ai, gateway or compute-default-credentials. If nothing is said, the environment decides."`
	EnforcedAuth string `key:"security.auth.enforcedType" help:"The only such way that is allowed; any other ends with exit code 41."`
	ExternalAuth bool   `key:"security.auth.useExternal" help:"Whoever stands between gemline and the API adds the credentials; none are looked for."`
	VertexShare  string `key:"billing.vertexAi.requestType" enum:"dedicated,shared" help:"What X-Vertex-AI-LLM-Request-Type says to Vertex AI."`
	VertexUrge   string `key:"billing.vertexAi.sharedRequestType" enum:"priority,flex" help:"What X-Vertex-AI-LLM-Shared-Request-Type says to Vertex AI."`

	Telemetry          bool   `key:"telemetry.enabled" help:"Record what sessions do, for telemetry.outfile or a collector of yours. A project can only set it to false, and nothing else of telemetry."`
	TelemetryTraces    bool   `key:"telemetry.traces" help:"Let spans hold whole conversations, where logPrompts lets records hold what is said."`
	TelemetryTarget    string `key:"telemetry.target" default:"local" enum:"local,gcp" help:"Who collects: a collector or file of yours, or Google Cloud, which is reached through a collector (useCollector)."`
	TelemetryEndpoint  string `key:"telemetry.otlpEndpoint" default:"http://localhost:4317" help:"The collector's address."`
	TelemetryProtocol  string `key:"telemetry.otlpProtocol" default:"grpc" enum:"grpc,http" help:"How the collector is spoken to: OTLP over gRPC or over HTTP."`
	TelemetryPrompts   bool   `key:"telemetry.logPrompts" default:"true" help:"Let records hold what you, the model and tools say. If nothing says so, that is true for a file and false for a collector."`
	TelemetryOutfile   string `key:"telemetry.outfile" help:"A file in place of a collector."`
	TelemetryCollector bool   `key:"telemetry.useCollector" help:"With the target gcp: send to the collector at otlpEndpoint."`
	TelemetryAuth      bool   `key:"telemetry.useCliAuth" help:"Use the program's own log-in for Google Cloud; gemline has none, and beside useCollector nothing is recorded."`

	IgnoreLocalEnv bool     `key:"advanced.ignoreLocalEnv" help:"Read a plain .env from the home directory only; one in a .gemini still counts."`
	ExcludedVars   []string `key:"advanced.excludedEnvVars" default:"DEBUG,DEBUG_MODE" merge:"union" help:"Variables that are not taken from a plain .env."`

	// Merged is everything that the files say, for what needs whole objects,
	// such as mcpServers and hooks. It is not to be changed.
	Merged map[string]any

	layers   []Layer      // the files, the weakest first
	confiner string       // the file that says what confines commands
	misread  []misreading // what files say about it that can't be understood
}

// Labels returns what ui.labels says: words by the labels that they stand for.
func (s *Settings) Labels() map[string]string {
	words := map[string]string{}
	ui, _ := s.Merged["ui"].(map[string]any)
	labels, _ := ui["labels"].(map[string]any)
	for name, v := range labels {
		words[name], _ = v.(string)
	}
	return words
}

// Says reports whether a file gives a key a value.
func (s *Settings) Says(key string) bool {
	path, err := SplitKey(key)
	if err != nil {
		return false
	}
	_, ok := at(s.Merged, path)
	return ok
}

// Default returns the settings of a user who has none.
func Default() *Settings {
	s := &Settings{}
	for _, k := range fields() {
		if k.fallback != nil {
			k.set(s, k.fallback)
		}
	}
	return s
}
