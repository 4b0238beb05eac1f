package mcp

import (
	"maps"
	"slices"
	"strings"
)

// misleading are the variables that make programs run other code. The list is the Gemini
// CLI's.
var misleading = strings.Fields(`NODE_OPTIONS NODE_CLI_FLAGS _FORCE_NODE_OPTIONS NODE_PATH ELECTRON_RUN_AS_NODE
PYTHONPATH PYTHONSTARTUP RUBYOPT RUBYLIB PERL5OPT PERL5LIB PERL5DB LD_PRELOAD LD_AUDIT LD_DEBUG LD_PROFILE LD_LIBRARY_PATH
DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH DYLD_FALLBACK_LIBRARY_PATH DYLD_FALLBACK_FRAMEWORK_PATH DYLD_PRINT_TO_FILE
BASH_ENV ENV JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS CORECLR_PROFILER_PATH CORECLR_ENABLE_PROFILING`)

// environment returns the additional variables of a server, and messages about forbidden
// variables.
func environment(wanted map[string]string) (env, left []string) {
	env = []string{"GEMINI_CLI=1"}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if slices.Contains(misleading, strings.ToUpper(name)) || strings.ContainsAny(name, "=\x00") || name == "" {
			left = append(left, "env may not set "+name+", which changes what programs run")
			continue
		}
		env = append(env, name+"="+wanted[name])
	}
	return env, left
}
