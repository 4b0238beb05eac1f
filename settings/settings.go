package settings

import "encoding/json"

// Settings are the effective values of the settings files. The zero value is not useful: see
// [Default].
//
// A field's tag is its key. The file keys.txt describes all keys, also keys without a field; "go
// generate" joins the two in table.go.
type Settings struct {
	Model        string `key:"model.name"`
	MaxTurns     int    `key:"model.maxSessionTurns"`
	Idle         int    `key:"model.streamIdleTimeoutSeconds"`
	Check        string `key:"check"`
	Fallback     string `key:"model.fallback"`
	Routing      bool   `key:"model.routing"`
	Unscored     string `key:"model.unscored"`
	ThinkLevel   string `key:"model.thinking"`
	PlanRouting  bool   `key:"general.plan.modelRouting"`
	NoLoopCheck  bool   `key:"model.disableLoopDetection"`
	ApprovalMode string `key:"general.defaultApprovalMode"`
	PlanMode     bool   `key:"general.plan.enabled"`
	PlanDir      string `key:"general.plan.directory"`
	MaxAttempts  int    `key:"general.maxAttempts"`
	SyncSession  bool   `key:"general.sessionSync"`
	Checkpoints  bool   `key:"general.checkpointing.enabled"`

	Retention    bool   `key:"general.sessionRetention.enabled"`
	MaxAge       string `key:"general.sessionRetention.maxAge"`
	MaxSessions  int    `key:"general.sessionRetention.maxCount"`
	MinRetention string `key:"general.sessionRetention.minRetention"`

	SkipNextSpeaker bool `key:"model.skipNextSpeakerCheck"`

	Compression   float64 `key:"model.compressionThreshold"`
	ManageContext bool    `key:"experimental.contextManagement"`
	WindowMost    int     `key:"contextManagement.historyWindow.maxTokens"`
	WindowStay    int     `key:"contextManagement.historyWindow.retainedTokens"`
	DistillTo     int     `key:"contextManagement.tools.distillation.maxOutputTokens"`
	DistillSumUp  int     `key:"contextManagement.tools.distillation.summarizationThresholdTokens"`
	MaskProtected int     `key:"contextManagement.tools.outputMasking.protectionThresholdTokens"`
	MaskLeast     int     `key:"contextManagement.tools.outputMasking.minPrunableThresholdTokens"`
	MaskLatest    bool    `key:"contextManagement.tools.outputMasking.protectLatestTurn"`

	Format       string `key:"output.format"`
	ScreenReader bool   `key:"ui.accessibility.screenReader"`
	Editor       string `key:"general.preferredEditor"`
	IDE          bool   `key:"ide.enabled"`
	NewWindow    bool   `key:"general.openEditorInNewWindow"`
	Vi           bool   `key:"general.vimMode"`

	Stream   string `key:"ui.stream"`
	Detail   string `key:"ui.detail"`
	Thinking string `key:"ui.inlineThinkingMode"`
	Layout   string `key:"ui.layout"`
	Cite     bool   `key:"ui.showCitations"`
	WarnHome bool   `key:"ui.showHomeDirectoryWarning"`
	ASCII    bool   `key:"ui.ascii"`

	PasteLines string `key:"ui.pasteLines"`

	Notifications bool   `key:"general.enableNotifications"`
	NotifyMethod  string `key:"general.notificationMethod"`
	NotifyCommand string `key:"general.notificationCommand"`

	FileNames     []string `key:"context.fileName"`
	Markers       []string `key:"context.memoryBoundaryMarkers"`
	ImportFormat  string   `key:"context.importFormat"`
	IncludeDirs   []string `key:"context.includeDirectories"`
	IncludeMemory bool     `key:"context.loadMemoryFromIncludeDirectories"`
	Tree          bool     `key:"context.includeDirectoryTree"`
	RespectGit    bool     `key:"context.fileFiltering.respectGitIgnore"`
	RespectGemini bool     `key:"context.fileFiltering.respectGeminiIgnore"`
	IgnoreFiles   []string `key:"context.fileFiltering.customIgnoreFilePaths"`
	FileSearch    bool     `key:"context.fileFiltering.enableRecursiveFileSearch"`
	FuzzySearch   bool     `key:"context.fileFiltering.enableFuzzySearch"`

	Extensions         bool     `key:"experimental.extensionManagement"`
	DisabledExtensions []string `key:"extensions.disabled"`

	NoAlways         bool     `key:"security.disableAlwaysAllow"`
	PolicyPaths      []string `key:"policyPaths"`
	AdminPolicyPaths []string `key:"adminPolicyPaths"`
	CoreTools        []string `key:"tools.core"`
	AllowedTools     []string `key:"tools.allowed"`
	ConfirmedTools   []string `key:"tools.confirmationRequired"`
	ExcludedTools    []string `key:"tools.exclude"`

	Pager            string `key:"tools.shell.pager"`
	Inactivity       int    `key:"tools.shell.inactivityTimeout"`
	Terminal         bool   `key:"tools.shell.enableInteractiveShell"`
	Threshold        int    `key:"tools.truncateToolOutputThreshold"`
	FileEncoding     string `key:"tools.fileEncoding"`
	Ripgrep          bool   `key:"tools.useRipgrep"`
	DirectWeb        bool   `key:"experimental.directWebFetch"`
	WriteTodos       bool   `key:"useWriteTodos"`
	Steering         bool   `key:"experimental.modelSteering"`
	OnHangup         string `key:"general.onHangup"`
	Agents           bool   `key:"experimental.enableAgents"`
	DiscoveryCommand string `key:"tools.discoveryCommand"`
	CallCommand      string `key:"tools.callCommand"`
	NoCorrection     bool   `key:"tools.disableLLMCorrection"`
	Topics           bool   `key:"general.topicUpdateNarration"`
	Tracker          bool   `key:"experimental.taskTracker"`
	Worktrees        bool   `key:"experimental.worktrees"`

	MarkdownCommands []string `key:"commands.markdownFolders"`
	PrivateAgents    []string `key:"agents.allowPrivateAddresses"`

	SandboxPaths   []string `key:"tools.sandboxAllowedPaths"`
	SandboxNetwork bool     `key:"tools.sandboxNetworkAccess"`
	Offline        bool     `key:"general.offline"`
	ToolSandboxing bool     `key:"security.toolSandboxing"`

	Redact      bool     `key:"security.environmentVariableRedaction.enabled"`
	AllowedVars []string `key:"security.environmentVariableRedaction.allowed"`
	BlockedVars []string `key:"security.environmentVariableRedaction.blocked"`
	NoYolo      bool     `key:"security.disableYoloMode"`
	FolderTrust bool     `key:"security.folderTrust.enabled"`

	ConnectSeconds int `key:"mcp.connectSeconds"`

	Hooks         bool     `key:"hooksConfig.enabled"`
	DisabledHooks []string `key:"hooksConfig.disabled"`

	AllowedExtensions  []string `key:"security.allowedExtensions"`
	BlockGitExtensions bool     `key:"security.blockGitExtensions"`

	Skills         bool     `key:"skills.enabled"`
	DisabledSkills []string `key:"skills.disabled"`

	AuthType     string `key:"security.auth.selectedType"`
	EnforcedAuth string `key:"security.auth.enforcedType"`
	ExternalAuth bool   `key:"security.auth.useExternal"`
	VertexShare  string `key:"billing.vertexAi.requestType"`
	VertexUrge   string `key:"billing.vertexAi.sharedRequestType"`

	Telemetry          bool   `key:"telemetry.enabled"`
	TelemetryTraces    bool   `key:"telemetry.traces"`
	TelemetryTarget    string `key:"telemetry.target"`
	TelemetryEndpoint  string `key:"telemetry.otlpEndpoint"`
	TelemetryProtocol  string `key:"telemetry.otlpProtocol"`
	TelemetryPrompts   bool   `key:"telemetry.logPrompts"`
	TelemetryOutfile   string `key:"telemetry.outfile"`
	TelemetryCollector bool   `key:"telemetry.useCollector"`
	TelemetryAuth      bool   `key:"telemetry.useCliAuth"`

	IgnoreLocalEnv bool     `key:"advanced.ignoreLocalEnv"`
	ExcludedVars   []string `key:"advanced.excludedEnvVars"`

	// Merged holds all values of the files, for code that needs whole objects, such as mcpServers
	// and hooks. It must not be changed.
	Merged map[string]any

	layers []Layer // the files, the weakest first
}

// Layers returns the content of each file, the weakest first. They must not be changed.
func (s *Settings) Layers() []Layer { return s.layers }

// Labels returns the values of ui.labels: the user's names, by label.
func (s *Settings) Labels() map[string]string {
	return s.texts("ui", "labels")
}

// Roles returns the models for questions beside the conversation, by role.
func (s *Settings) Roles() map[string]string {
	return s.texts("model", "roles")
}

// texts returns the texts in an object, by name.
func (s *Settings) texts(path ...string) map[string]string {
	texts := map[string]string{}
	for name, v := range In[map[string]any](s.Merged, path...) {
		texts[name], _ = v.(string)
	}
	return texts
}

// Auto returns the two models of auto, "" if they are not set.
func (s *Settings) Auto() (large, small string) {
	return In[string](s.Merged, "model", "auto", "large"), In[string](s.Merged, "model", "auto", "small")
}

// Summaries returns the tools whose long outputs are summarized, and the tokens for each summary.
func (s *Settings) Summaries() map[string]int {
	const usual = 2000 // the Gemini CLI's default
	budgets := map[string]int{}
	for name, v := range In[map[string]any](s.Merged, "model", "summarizeToolOutput") {
		budgets[name] = usual
		said, _ := v.(map[string]any)
		if n, ok := said["tokenBudget"].(json.Number); ok {
			budget, _ := n.Int64()
			budgets[name] = int(budget)
		}
	}
	return budgets
}

// IsSet reports whether a file sets a key.
func (s *Settings) IsSet(key string) bool {
	path, err := SplitKey(key)
	if err != nil {
		return false
	}
	_, ok := at(s.Merged, path)
	return ok
}

// Default returns the settings without any files.
func Default() *Settings {
	s := &Settings{}
	for _, k := range table {
		if k.fallback != nil && k.field != nil {
			k.set(s, k.fallback)
		}
	}
	return s
}
