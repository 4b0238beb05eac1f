package settings

import (
	"slices"
	"strings"
)

// reserved reports whether a variable is not for a project to set: it says
// where requests and keys go, whom to trust, how gemline is run, or what a
// program loads and starts.
func reserved(name string) bool {
	name = strings.ToUpper(name) // HTTPS_PROXY counts in either case
	switch {
	case slices.Contains(permitted, name):
		return false
	case strings.HasSuffix(name, "_PROXY"), strings.HasSuffix(name, "_ENDPOINT"), strings.HasSuffix(name, "_BASE_URL"):
		return true
	case slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }):
		return true
	}
	return slices.Contains(reservedNames, name)
}

// permitted are the variables of a project's .env file that count for gemline itself:
// the model, and whose key and project a request is paid with. None of them chooses a
// log-in, a provider or an address. NODE_ENV is for what the project brings; its name
// is otherwise reserved.
var permitted = []string{
	"GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_API_KEY",
	"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_QUOTA_PROJECT",
	"NODE_ENV",
}

var reservedPrefixes = []string{
	"GEMINI_", "GEMLINE_", "GOOGLE_", "CODE_ASSIST_", "GCE_", "CLOUDSDK_", "CLOUD_SHELL", "OTEL_", "OAUTH_CALLBACK_",
	"SANDBOX", "SEATBELT_", "BUILD_SANDBOX", "DOCKER_", "PODMAN_",
	"LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_", "JAVA_", "JDK_", "_JAVA_", "BASH_", "ZDOTDIR",
	"MALLOC_", "GLIBC_", "GODEBUG", "GOFLAGS", "GOTRACEBACK", "SSL_", "SSH_", "CURL_", "REQUESTS_CA_", "XDG_", "DBUS_", "GEM_", "BUNDLE_", "LUA_", "PHP_",
}

var reservedNames = []string{
	"PATH", "PATHEXT", "COMSPEC", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
	"SHELL", "ENV", "IFS", "CDPATH", "PS4", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "TMPDIR", "TEMP", "TMP", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN",
	"PAGER", "MANPAGER", "LESS", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER", "NO_BROWSER",
	"DISPLAY", "WAYLAND_DISPLAY", "INSIDE_EMACS", "TERM", "CI", "GITHUB_ACTIONS", "DEBUG_MODE", "DEV", "ACCESSIBLE", "NO_COLOR", "TMUX",
}
