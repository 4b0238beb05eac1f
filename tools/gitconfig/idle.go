package gitconfig

import (
	"fmt"
	"slices"
	"strings"
)

// QuietArgs is what git is told, beyond its configuration, so that it runs no hook, no
// monitor of the file system, no pager and no program for signatures, and looks for no
// repository that pretends to be a directory.
var QuietArgs = strings.Fields("safe.bareRepository=explicit core.fsmonitor=false core.hooksPath=/dev/null core.pager=cat submodule.recurse=false" +
	" log.showSignature=false status.submoduleSummary=false gpg.program=false gpg.openpgp.program=false gpg.x509.program=false gpg.ssh.program=false")

// IsConfigVariable reports whether kv is a variable of the environment that tells git settings.
func IsConfigVariable(kv string) bool {
	return strings.HasPrefix(kv, "GIT_CONFIG_COUNT=") || strings.HasPrefix(kv, "GIT_CONFIG_PARAMETERS=")
}

// Environ returns the variables that tell git settings, each as NAME=VALUE, and that it
// is to take no locks that it can do without and to ask no server.
func Environ(settings ...string) (env []string) {
	for i, set := range settings {
		key, value, _ := strings.Cut(set, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
}

// Idle reports whether a setting makes git run nothing while it makes a worktree, removes one or
// tells its state, if it was told [QuietArgs]. Filters run then, so their settings are not idle.
// Settings that include a file are not idle either, since the file may hold any setting.
func (e Entry) Idle() bool {
	if e.Harmless() || slices.Contains(strings.Fields(idleSections), e.Section) {
		return true
	}
	return e.Section == "core" && slices.Contains(strings.Fields(idleKeys), e.Key)
}

// IdleAdding reports whether a setting makes git run nothing while it adds to a repository, except
// for hooks and an editor.
func (e Entry) IdleAdding() bool {
	return e.Harmless() || e.String() == "core.worktree" || e.Idle() && e.Key != "fsmonitor" && !slices.Contains([]string{"diff", "gpg", "merge", "sequence"}, e.Section)
}

// What git does not read for that, or has been told otherwise about.
const (
	idleSections = "alias credential diff difftool merge mergetool sequence gui gitk sendemail http pager format gpg user branch commit tag push pull fetch rebase"
	idleKeys     = "fsmonitor hookspath pager editor sshcommand askpass gitproxy excludesfile attributesfile"
)
