package source

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine/network"
	"gemline/engine/text"
	"gemline/tools/gitconfig"
	"gemline/tools/launch"
)

// longest limits the time of a git command.
const longest = 10 * time.Minute

// prefixes are the prefixes of repository addresses.
var prefixes = []string{"http://", "https://", "ssh://", "file://", "git@", "sso://", "github:", "gitlab:"}

// RepositoryAddress returns the repository's address for a word of the user, "" if the word
// names no repository.
func RepositoryAddress(word string) string {
	if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(word, p) }) ||
		strings.ContainsAny(word, "\x00\n ") {
		return ""
	}
	for short, long := range map[string]string{"github:": "https://github.com/", "gitlab:": "https://gitlab.com/"} {
		if rest, ok := strings.CutPrefix(word, short); ok {
			return long + rest
		}
	}
	return word
}

// Clone writes the files of a repository at ref, a branch, a tag or a commit, into a
// directory, which must not exist yet. "" is the default branch. It returns the commit.
func (h Hub) Clone(ctx context.Context, address, ref, to string) (commit string, err error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template="},
		{"remote", "add", "origin", address},
		{"fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", "origin", cmp.Or(ref, "HEAD")},
		{"checkout", "--quiet", "--detach", "FETCH_HEAD"},
		{"rev-parse", "HEAD"},
	} {
		if commit, err = h.git(ctx, to, args...); err != nil {
			break
		}
	}
	if err == nil {
		err = verify(to)
	}
	if err != nil {
		os.RemoveAll(to)
		return "", fmt.Errorf("%s can't be had: %w", text.PrintableLine(DisplayAddress(address)), err)
	}
	return strings.TrimSpace(commit), nil
}

// Commit returns the current commit of a ref; "" is the default branch.
func (h Hub) Commit(ctx context.Context, address, ref string) (string, error) {
	out, err := h.git(ctx, "", "ls-remote", "--", address, cmp.Or(ref, "HEAD"))
	if err != nil {
		return "", fmt.Errorf("%s can't be asked: %w", text.PrintableLine(DisplayAddress(address)), err)
	}
	commit, _, _ := strings.Cut(out, "\t")
	return commit, nil
}

// Remote returns owner and name of the repository of a remote in the clone at dir, origin
// first; "" if no remote is on the server.
func (h Hub) Remote(ctx context.Context, dir string) (name string, err error) {
	out, err := h.git(ctx, dir, "remote", "--verbose")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) { // NAME, a tab, ADDRESS (fetch)
		remote, rest, _ := strings.Cut(line, "\t")
		address, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if found, ok := h.Repository(address); ok && kind == "(fetch)" && (name == "" || remote == "origin") {
			name = found
		}
	}
	return name, nil
}

// DisplayAddress returns an address without a password or a token.
func DisplayAddress(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@') // a password may contain more of them
	if !ok || at < 0 {
		return address
	}
	user, host := rest[:at], rest[at+1:]
	switch name, _, secret := strings.Cut(user, ":"); {
	case secret:
		return scheme + "://" + name + ":...@" + host
	case strings.HasPrefix(strings.ToLower(scheme), "http"): // the user name may be a token
		return scheme + "://...@" + host
	}
	return address
}

// sshCommand returns the user's ssh command for git, by default ssh.
func (h Hub) sshCommand(ctx context.Context) string {
	const name = "GIT_SSH_COMMAND="
	for _, kv := range h.Launcher.Config.Shell.Environ {
		if said, ok := strings.CutPrefix(kv, name); ok && said != "" {
			return said
		}
	}
	said, err := h.git(ctx, "", "config", "--get", "core.sshCommand")
	if err != nil { // it is not set
		return "ssh"
	}
	return cmp.Or(strings.TrimSpace(said), "ssh")
}

// git runs git in a directory. It has the user's rights, since the user has asked for it,
// and no terminal input.
func (h Hub) git(ctx context.Context, dir string, args ...string) (string, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return "", errors.New("git is not installed")
	}
	ssh := "ssh"
	if args[0] == "fetch" || args[0] == "ls-remote" {
		ssh = h.sshCommand(ctx)
	}
	l := *h.Launcher
	l.Config.Shell.Environ = slices.DeleteFunc(slices.Clone(l.Config.Shell.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GIT_SSL_") ||
			strings.HasPrefix(kv, "SSH_ASKPASS")
	})
	config := append(slices.Clone(gitconfig.QuietArgs), "core.askPass=", "protocol.ext.allow=never",
		"core.autocrlf=false", "transfer.fsckObjects=true")
	if h.Token != "" {
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + h.Token))
		config = append(config, "http."+cmp.Or(h.Server, githubServer)+"/.extraHeader=Authorization: Basic "+basic)
	}
	env := append(gitconfig.Environ(config...), "GIT_TERMINAL_PROMPT=0",
		"GIT_SSH_COMMAND="+ssh+" -oBatchMode=yes", "GCM_INTERACTIVE=never",
		"GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")
	if h.Network.Offline {
		env = append(env, "GIT_ALLOW_PROTOCOL=file")
	}
	o := l.Run(ctx, launch.Command{Argv: append([]string{"git"}, args...),
		Dir:        cmp.Or(dir, filepath.VolumeName(os.TempDir())+string(filepath.Separator)),
		Unconfined: true, Vars: launch.Usual, Env: env, SplitStderr: true, KillLeftovers: true, Limit: launch.Limit{Timeout: longest}})
	switch said := o.Stderr; {
	case o.Cancelled:
		return "", context.Cause(ctx)
	case o.OK():
		return o.Output, nil
	case h.Network.Offline && strings.Contains(said, "not allowed"):
		return "", &network.OfflineError{Host: "the repository"}
	case strings.Contains(said, "could not read Username"), strings.Contains(said, "could not read Password"), strings.Contains(said, "terminal prompts disabled"),
		strings.Contains(said, "Permission denied (publickey"), strings.Contains(said, "Authentication failed"):
		return "", errors.New("it wants credentials, which git does not have; have git keep them (git credential, an ssh agent), or set GITHUB_TOKEN")
	default:
		return "", fmt.Errorf("git %s: %s", args[0],
			text.PrintableLine(cmp.Or(text.OneLine(said, 300), text.OneLine(o.Text(), 300))))
	}
}
