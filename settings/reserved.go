package settings

import (
	"slices"
	"strings"
)

// permitted are the variables of a project's .env file that count for gemline itself. None chooses
// a provider, an account, a key or an address.
var permitted = []string{"GEMINI_MODEL"}

// permits reports whether a variable of a project's .env file, with its value, counts for gemline
// itself. A model of another provider does not.
func permits(name, value string) bool {
	return slices.Contains(permitted, name) && !NamesOtherProvider(value)
}

// own reports whether a variable configures gemline itself: the destination and payment of
// requests, trust, and gemline's process. A project can set it only for the project's programs.
func own(name string) bool {
	name = strings.ToUpper(name) // HTTPS_PROXY counts in upper and lower case
	return hasPrefix(name, ownPrefixes) || slices.ContainsFunc(ownSuffixes, func(s string) bool { return strings.HasSuffix(name, s) }) ||
		slices.Contains(ownNames, name)
}

// reserved reports whether a project can't set a variable for its programs: it controls which files
// a program loads and starts, or names the user's directories.
func reserved(name string) bool {
	name = strings.ToUpper(name)
	return name != "NODE_ENV" && (hasPrefix(name, reservedPrefixes) || slices.Contains(reservedNames, name))
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

var (
	ownPrefixes = []string{"GEMINI_", "GEMLINE_", "GOOGLE_", "CODE_ASSIST_", "GCE_", "CLOUDSDK_", "CLOUD_SHELL",
		"OTEL_", "OTLP_", "OAUTH_CALLBACK_", "GITHUB_", "SANDBOX", "SEATBELT_", "BUILD_SANDBOX"}
	ownSuffixes = []string{"_PROXY", "_ENDPOINT", "_BASE_URL"}
	ownNames    = []string{"BROWSER", "NO_BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "INSIDE_EMACS", "TERM", "CI", "DEBUG_MODE", "DEV", "ACCESSIBLE", "NO_COLOR", "TMUX"}
)

var reservedPrefixes = []string{
	"DOCKER_", "PODMAN_",
	"LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_", "JAVA_", "JDK_", "_JAVA_", "BASH_", "ZDOTDIR",
	"MALLOC_", "GLIBC_", "GODEBUG", "GOFLAGS", "GOTRACEBACK", "SSL_", "SSH_", "CURL_", "REQUESTS_CA_", "XDG_", "DBUS_", "GEM_", "BUNDLE_", "LUA_", "PHP_",
}

var reservedNames = []string{
	"PATH", "PATHEXT", "COMSPEC", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
	"SHELL", "ENV", "IFS", "CDPATH", "PS4", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "TMPDIR", "TEMP", "TMP", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN",
	"PAGER", "MANPAGER", "LESS", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL",
}
