package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// others are the keys of the Gemini CLI's settings that change nothing here,
// or nothing yet. They are accepted in silence, with whatever is below them.
const others = `$schema
mcpServers policyPaths adminPolicyPaths useWriteTodos
general.preferredEditor general.openEditorInNewWindow general.vimMode general.devtools
general.enableAutoUpdate general.enableAutoUpdateNotification general.enableNotifications general.notificationMethod
general.checkpointing.enabled general.plan.enabled general.plan.directory general.plan.modelRouting
general.retryFetchErrors general.debugKeystrokeLogging general.sessionRetention.enabled general.sessionRetention.maxAge
general.sessionRetention.maxCount general.sessionRetention.minRetention general.topicUpdateNarration general.logRagSnippets
general.disableAutoUpdate general.disableUpdateNag
billing.overageStrategy billing.vertexAi.requestType billing.vertexAi.sharedRequestType
privacy.usageStatisticsEnabled ide.enabled ide.hasSeenNudge
ui.theme ui.autoThemeSwitching ui.terminalBackgroundPollingInterval ui.customThemes ui.hideWindowTitle ui.showStatusInTitle
ui.dynamicWindowTitle ui.inlineThinkingMode ui.showHomeDirectoryWarning ui.showCompatibilityWarnings ui.hideTips ui.hideBanner
ui.hideContextSummary ui.hideFooter ui.escapePastedAtSymbols ui.showShortcutsHint ui.compactToolOutput ui.showLineNumbers
ui.showUserIdentity ui.useBackgroundColor ui.incrementalRendering ui.renderProcess ui.showSpinner ui.collapseDrawerDuringApproval
ui.footer.items ui.footer.showLabels ui.footer.hideContextPercentage ui.footer.hideCWD ui.footer.hideSandboxStatus
ui.footer.hideModelInfo ui.showMemoryUsage ui.showCitations ui.showModelInfoInChat ui.useAlternateBuffer ui.terminalBuffer
ui.debugRainbow ui.loadingPhrases ui.errorVerbosity ui.customWittyPhrases ui.accessibility.enableLoadingPhrases
ui.accessibility.disableLoadingPhrases
model.summarizeToolOutput model.compressionThreshold model.disableLoopDetection model.skipNextSpeakerCheck
modelConfigs agents.overrides agents.browser
context.discoveryMaxDirs context.loadMemoryFromIncludeDirectories
context.fileFiltering.enableFuzzySearch context.fileFiltering.disableFuzzySearch context.fileFiltering.enableFileWatcher
tools.sandbox tools.sandboxAllowedPaths tools.sandboxNetworkAccess tools.shell.backgroundCompletionBehavior tools.shell.showColor
tools.shell.enableShellOutputEfficiency tools.core tools.allowed tools.confirmationRequired tools.exclude tools.discoveryCommand
tools.callCommand tools.disableLLMCorrection
mcp.serverCommand mcp.allowed mcp.excluded mcp.autoAllowInHeadless
security.toolSandboxing security.disableAlwaysAllow security.enablePermanentToolApproval security.autoAddToPolicyByDefault
security.blockGitExtensions security.allowedExtensions security.auth.selectedType security.auth.enforcedType
security.auth.useExternal security.enableConseca
advanced.autoConfigureMemory advanced.dnsResolutionOrder advanced.bugCommand
experimental extensions skills.enabled skills.disabled hooksConfig.enabled hooksConfig.disabled hooksConfig.notifications hooks
contextManagement admin telemetry`

// renamed are keys by an older name, and what they are called today. Of the
// old names only these concern something that the program goes by.
func renamed() map[string]string {
	return map[string]string{"tools.approvalMode": "general.defaultApprovalMode"}
}

// A vocabulary tells the keys that mean something from those that do not.
type vocabulary struct {
	leaves   map[string]bool // whatever is below them
	branches map[string]bool // they hold leaves
	ordered  []string        // the leaves
}

func words() vocabulary {
	v := vocabulary{leaves: map[string]bool{}, branches: map[string]bool{}}
	add := func(key string) {
		v.leaves[key] = true
		for i := range key {
			if key[i] == '.' {
				v.branches[key[:i]] = true
			}
		}
	}
	for _, key := range strings.Fields(others) {
		add(key)
	}
	for _, k := range fields() {
		add(k.Name)
	}
	for old := range renamed() {
		add(old)
	}
	v.ordered = slices.Sorted(maps.Keys(v.leaves))
	return v
}

// check returns what is wrong with the names of the keys in tree, in order.
func (v vocabulary) check(tree map[string]any) []string {
	var wrong []string
	var walk func(prefix string, tree map[string]any)
	walk = func(prefix string, tree map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			key := prefix + name
			below, object := tree[name].(map[string]any)
			switch {
			case v.leaves[key]:
			case v.branches[key] && object:
				walk(key+".", below)
			case v.branches[key]:
				wrong = append(wrong, fmt.Sprintf("%s must be an object, not %s", key, describe(tree[name])))
			default:
				wrong = append(wrong, v.unknown(key))
			}
		}
	}
	walk("", tree)
	return wrong
}

// unknown says that there is no such key, and which one comes nearest.
func (v vocabulary) unknown(key string) string {
	const longest = 100
	said := fmt.Sprintf("%.*q is not a setting", longest, key)
	if len(key) > longest {
		return said
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	best, least := "", 1+max(2, len(key)/4)
	for _, k := range v.ordered {
		d := levenshtein.ComputeDistance(strings.ToLower(key), strings.ToLower(k))
		if strings.HasSuffix(k, "."+last) {
			d = min(d, 1) // in the wrong place
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return said
	}
	return said + "; did you mean " + best + "?"
}

// lookup returns the value at a key such as "model.name".
func lookup(tree map[string]any, key string) (any, bool) {
	for {
		name, rest, more := strings.Cut(key, ".")
		v, ok := tree[name]
		if !more || !ok {
			return v, ok
		}
		if tree, ok = v.(map[string]any); !ok {
			return nil, false
		}
		key = rest
	}
}
