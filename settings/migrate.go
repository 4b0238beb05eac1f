package settings

import (
	"maps"
	"slices"
	"strings"
)

// A rename is a key by an older name.
type rename struct {
	from, to string
	turn     func(any) any // the value for the new name; nil keeps it
	only     string        // the type of the values that are meant; "" is any
}

// renames are the older names, those of the flat files of the first years
// first: what they are moved to may have been renamed since.
func renames() []rename {
	rows := []rename{
		{"general.disableAutoUpdate", "general.enableAutoUpdate", inverse, ""},
		{"general.disableUpdateNag", "general.enableAutoUpdateNotification", inverse, ""},
		{"ui.accessibility.disableLoadingPhrases", "ui.accessibility.enableLoadingPhrases", inverse, ""},
		{"context.fileFiltering.disableFuzzySearch", "context.fileFiltering.enableFuzzySearch", inverse, ""},
		{"context.loadFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories", nil, ""},
		{"model.chatCompression.contextPercentageThreshold", "model.compressionThreshold", nil, ""},
		{"tools.approvalMode", "general.defaultApprovalMode", nil, ""},
		{"experimental.plan", "general.plan.enabled", nil, ""},
		{"experimental.cliHelpAgentSettings.enabled", "agents.overrides.cli_help.enabled", nil, ""},
		{"hooks.enabled", "hooksConfig.enabled", nil, isBool},
		{"hooks.disabled", "hooksConfig.disabled", nil, isList},
		{"hooks.notifications", "hooksConfig.notifications", nil, isBool},
	}
	const investigator = "agents.overrides.codebase_investigator."
	for from, to := range sorted(map[string]string{
		"enabled": "enabled", "maxNumTurns": "runConfig.maxTurns", "maxTimeMinutes": "runConfig.maxTimeMinutes", "model": "modelConfig.model",
		"thinkingBudget": "modelConfig.generateContentConfig.thinkingConfig.thinkingBudget",
	}) {
		rows = append(rows, rename{"experimental.codebaseInvestigatorSettings." + from, investigator + to, nil, ""})
	}
	return rows
}

// flat names the keys of the first years, which all stood at the top, and
// where they stand today.
const flat = `accessibility ui.accessibility
allowMCPServers mcp.allowed
allowedTools tools.allowed
autoAccept tools.autoAccept
autoConfigureMaxOldSpaceSize advanced.autoConfigureMemory
bugCommand advanced.bugCommand
chatCompression model.chatCompression
checkpointing general.checkpointing
contextFileName context.fileName
coreTools tools.core
customThemes ui.customThemes
customWittyPhrases ui.customWittyPhrases
debugKeystrokeLogging general.debugKeystrokeLogging
disableAutoUpdate general.disableAutoUpdate
disableUpdateNag general.disableUpdateNag
dnsResolutionOrder advanced.dnsResolutionOrder
enableInteractiveShell tools.shell.enableInteractiveShell
enablePromptCompletion general.enablePromptCompletion
enforcedAuthType security.auth.enforcedType
excludeMCPServers mcp.excluded
excludeTools tools.exclude
excludedProjectEnvVars advanced.excludedEnvVars
extensionManagement experimental.extensionManagement
fileFiltering context.fileFiltering
folderTrust security.folderTrust.enabled
folderTrustFeature security.folderTrust.featureEnabled
hasSeenIdeIntegrationNudge ide.hasSeenNudge
hideBanner ui.hideBanner
hideCWD ui.footer.hideCWD
hideContextSummary ui.hideContextSummary
hideFooter ui.hideFooter
hideModelInfo ui.footer.hideModelInfo
hideSandboxStatus ui.footer.hideSandboxStatus
hideTips ui.hideTips
hideWindowTitle ui.hideWindowTitle
ideMode ide.enabled
includeDirectories context.includeDirectories
loadMemoryFromIncludeDirectories context.loadMemoryFromIncludeDirectories
maxSessionTurns model.maxSessionTurns
mcpServerCommand mcp.serverCommand
memoryDiscoveryMaxDirs context.discoveryMaxDirs
memoryImportFormat context.importFormat
model model.name
preferredEditor general.preferredEditor
retryFetchErrors general.retryFetchErrors
sandbox tools.sandbox
selectedAuthType security.auth.selectedType
shellPager tools.shell.pager
shellShowColor tools.shell.showColor
showCitations ui.showCitations
showLineNumbers ui.showLineNumbers
showMemoryUsage ui.showMemoryUsage
showStatusInTitle ui.showStatusInTitle
skipNextSpeakerCheck model.skipNextSpeakerCheck
summarizeToolOutput model.summarizeToolOutput
theme ui.theme
toolCallCommand tools.callCommand
toolDiscoveryCommand tools.discoveryCommand
usageStatisticsEnabled privacy.usageStatisticsEnabled
useExternalAuth security.auth.useExternal
useRipgrep tools.useRipgrep
vimMode general.vimMode`

// A move is a value that stood at one place and now stands at another.
type move struct {
	from, to []string
	lost     bool // there is a value under the newer name, which counts
}

// migrate gives the keys of tree the names of today, in place, and returns
// what was moved. Where both names are there, the newer one counts.
func migrate(tree map[string]any) []move {
	var moves []move
	for line := range strings.Lines(flat) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		if v, ok := tree[from]; ok && (from != "model" || exactly(isText, v)) {
			moves = append(moves, shift(tree, rename{from: from, to: to})...)
		}
	}
	if len(tree) == 0 {
		return moves
	}
	for _, r := range renames() {
		moves = append(moves, shift(tree, r)...)
	}
	return append(moves, recast(tree)...)
}

// recast puts values that were renamed themselves into today's words.
func recast(tree map[string]any) []move {
	theme := []string{"ui", "theme"}
	if name, _ := at(tree, theme); name == "VS" {
		graft(tree, theme, "Default Light")
	} else if name == "VS2015" {
		graft(tree, theme, "Default")
	}
	phrases := move{from: []string{"ui", "accessibility", "enableLoadingPhrases"}, to: []string{"ui", "loadingPhrases"}}
	said, _ := at(tree, phrases.from)
	if _, newer := at(tree, phrases.to); newer || said != false && said != "false" {
		return nil
	}
	graft(tree, phrases.to, "off")
	return []move{phrases}
}

// shift moves the value of one old name.
func shift(tree map[string]any, r rename) []move {
	from, to := strings.Split(r.from, "."), strings.Split(r.to, ".")
	v, ok := at(tree, from)
	if !ok || r.only != "" && !exactly(r.only, v) {
		return nil
	}
	if r.turn != nil {
		v = r.turn(v)
	}
	remove(tree, from)
	return transplant(tree, from, to, v)
}

// transplant puts v at a place. Where there are objects at both, their keys
// are moved one by one.
func transplant(tree map[string]any, from, to []string, v any) []move {
	there, taken := at(tree, to)
	if !taken {
		if !graft(tree, to, v) { // something other than an object is in the way
			return []move{{from, to, true}}
		}
		return []move{{from: from, to: to}}
	}
	old, holds := v.(map[string]any)
	if _, both := there.(map[string]any); !holds || !both {
		return []move{{from, to, true}}
	}
	var moves []move
	for name, item := range sorted(old) {
		moves = append(moves, transplant(tree, below(from, name), below(to, name), item)...)
	}
	return moves
}

// inverse returns the opposite of a truth, and anything else as it is.
func inverse(v any) any {
	switch v {
	case true, "true":
		return false
	case false, "false":
		return true
	}
	return v
}

func exactly(kind string, v any) bool {
	_, ok := exact(kind, v)
	return ok
}

// below returns the path of a name below path.
func below(path []string, name string) []string { return append(path[:len(path):len(path)], name) }

// at returns the value at a path.
func at(tree map[string]any, path []string) (any, bool) {
	for i, name := range path {
		v, ok := tree[name]
		if !ok || i == len(path)-1 {
			return v, ok
		}
		if tree, ok = v.(map[string]any); !ok {
			return nil, false
		}
	}
	return tree, true
}

// graft sets the value at a path, if what is above it are objects.
func graft(tree map[string]any, path []string, v any) bool {
	for _, name := range path[:len(path)-1] {
		if _, ok := tree[name]; !ok {
			tree[name] = map[string]any{}
		}
		next, ok := tree[name].(map[string]any)
		if !ok {
			return false
		}
		tree = next
	}
	tree[path[len(path)-1]] = v
	return true
}

// remove takes the value at a path away, and the objects that become empty.
func remove(tree map[string]any, path []string) {
	if len(path) == 1 {
		delete(tree, path[0])
		return
	}
	next, ok := tree[path[0]].(map[string]any)
	if !ok {
		return
	}
	if remove(next, path[1:]); len(next) == 0 {
		delete(tree, path[0])
	}
}

// sorted ranges over a map in the order of its keys.
func sorted[V any](m map[string]V) func(yield func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
