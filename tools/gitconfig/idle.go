package gitconfig

import (
	"fmt"
	"slices"
	"strings"
)

// QuietArgs are settings that override git's configuration, so that git runs no hook, file
// system monitor, pager or signature program, and uses no bare repository found in a
// directory.
var QuietArgs = strings.Fields("safe.bareRepository=explicit core.fsmonitor=false core.hooksPath=/dev/null core.pager=cat submodule.recurse=false" +
	" log.showSignature=false status.submoduleSummary=false gpg.program=false gpg.openpgp.program=false gpg.x509.program=false gpg.ssh.program=false")

// IsConfigVariable reports whether kv is an environment variable with settings for git.
func IsConfigVariable(kv string) bool {
	return strings.HasPrefix(kv, "GIT_CONFIG_COUNT=") || strings.HasPrefix(kv, "GIT_CONFIG_PARAMETERS=")
}

// Environ returns environment variables for git with settings, each as NAME=VALUE, and with
// optional locks and lazy fetches switched off.
func Environ(settings ...string) (env []string) {
	for i, set := range settings {
		key, value, _ := strings.Cut(set, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
}

// Idle reports whether git with [QuietArgs] runs no program for a setting while it creates
// or removes a worktree, or reports its state. Filters run then, so their settings are not
// idle. Settings that include a file are not idle either, since the file may hold any
// setting.
func (e Entry) Idle() bool {
	if e.Harmless() || slices.Contains(strings.Fields(idleSections), e.Section) {
		return true
	}
	return e.Section == "core" && slices.Contains(strings.Fields(idleKeys), e.Key)
}

// IdleAdding reports whether git runs no program for a setting while it adds to a
// repository, except for hooks and an editor.
func (e Entry) IdleAdding() bool {
	return e.Harmless() || e.String() == "core.worktree" || e.Idle() && e.Key != "fsmonitor" && !slices.Contains([]string{"diff", "gpg", "merge", "sequence"}, e.Section)
}

// Settings that git does not read for these operations, or that QuietArgs override.
const (
	idleSections = "alias credential diff difftool merge mergetool sequence gui gitk sendemail http pager format gpg user branch commit tag push pull fetch rebase"
	idleKeys     = "fsmonitor hookspath pager editor sshcommand askpass gitproxy excludesfile attributesfile"
)
