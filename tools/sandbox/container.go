package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Container confines commands by docker or podman: each runs in a container of its own,
// which is removed afterwards. Programs come from the image; the workspace has the same
// path as outside.
//
// Protected paths that do not exist are created as empty directories, which Close removes.
type Container struct {
	Engine   string // docker or podman
	Path     string // of the program
	Runtime  string // "" for the engine's own
	Image    string
	BuildDir string // the project directory to build the image from, "" for no build
	Extras   Extras
	Environ  []string // the environment of engine calls that start no command

	placeholders
	built built
	mu    sync.Mutex
	names []string // the started containers
}

// Close ends the running containers, and removes placeholders.
func (k *Container) Close() error {
	k.mu.Lock()
	names := k.names
	k.names = nil
	k.mu.Unlock()
	if len(names) > 0 {
		const patience = 20 * time.Second
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		cmd := exec.CommandContext(ctx, k.Path, append([]string{"rm", "-f"}, names...)...)
		cmd.Env = k.Environ
		cmd.Run() // most have ended already
	}
	return k.placeholders.Close()
}

// container returns the container that c requests.
func (c Config) container(word, path string) (Sandbox, error) {
	k := &Container{Engine: word, Path: path, Image: c.Image, Extras: c.Extras, Environ: c.Environ}
	if word == ByRunsc {
		k.Engine, k.Runtime = ByDocker, ByRunsc
	}
	if c.Extras.Build {
		return k, c.build(k)
	}
	if k.Image == "" {
		return nil, c.fault("%s runs commands in an image, and none is named",
			"--sandbox=kernel needs none (tools.sandbox: \"kernel\" in the settings); or tools.sandbox.image or GEMINI_SANDBOX_IMAGE names one, with bash and what the project needs", word)
	}
	if strings.HasPrefix(k.Image, "-") {
		return nil, c.fault("%.60q is not the name of an image", "", k.Image)
	}
	return k, nil
}

// State implements [Sandbox]. It runs no program: the first command shows whether the engine
// works.
func (k *Container) State() State {
	image := k.Image
	if k.BuildDir != "" {
		image += ", which is built of " + filepath.Join(k.BuildDir, Dockerfile) + " for the first command"
	}
	s := State{Name: cmp.Or(k.Runtime, k.Engine), Step: "a container for each command", Files: true, Network: true, RunsReadOnly: true,
		Layers: []Layer{{Name: "container", On: true, Why: "of the image " + image}}}
	if len(k.Extras.Flags) > 0 {
		s.Files, s.Network, s.RunsReadOnly = false, false, false
		s.Layers = append(s.Layers, Layer{Name: "confinement", Why: "SANDBOX_FLAGS may lift it"})
	}
	return s
}

// CheckEngine asks the engine once whether it works: docker's is a daemon, which may not be
// running. The error has the engine's words.
func (k *Container) CheckEngine(ctx context.Context) error {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.Path, "version", "--format", "{{.Server.Version}}")
	cmd.Env, cmd.WaitDelay = k.Environ, time.Second
	out, err := cmd.CombinedOutput()
	switch said := text.OneLine(strings.TrimSpace(string(out)), 200); {
	case ctx.Err() != nil:
		return fmt.Errorf("%s does not answer", k.Engine)
	case err != nil && said != "":
		return fmt.Errorf("%s does not work: %s", k.Engine, said)
	case err != nil:
		return fmt.Errorf("%s does not work: %w", k.Engine, err)
	}
	return nil
}

// Confine implements [Sandbox].
func (k *Container) Confine(cmd *exec.Cmd, p Profile) (func(), error) {
	if len(cmd.ExtraFiles) > 0 {
		return nil, &Error{Message: "the command is too long for a container", Advice: "put it into a file"}
	}
	if err := k.build(); err != nil {
		return nil, err
	}
	m, err := k.prepare(p)
	if err != nil {
		return nil, err
	}
	for _, path := range append(slices.Clone(m.write), m.readOnly...) {
		if strings.ContainsAny(path, ",\"\n") {
			return nil, &Error{Message: fmt.Sprintf("%.200q can't be given to a container by that name", path)}
		}
	}
	env := append(cmd.Environ(), k.Extras.Env...) // a list of processes must not show the values
	name := "gemline-" + strings.ToLower(rand.Text()[:12])
	k.mu.Lock()
	k.names = append(k.names, name)
	k.mu.Unlock()
	args := k.arguments(p, m, name, cmd.Dir, env)
	cmd.Args = append(append([]string{k.Path}, args...), append([]string{filepath.Base(cmd.Path)}, cmd.Args[1:]...)...)
	cmd.Path, cmd.Env = k.Path, env
	return func() {}, nil
}

// arguments returns the arguments for the engine, without the command. A
// variable is given by its name: the engine takes its value from env.
func (k *Container) arguments(p Profile, m masks, name, dir string, env []string) []string {
	args := []string{"run", "-i", "--rm", "--init", "--name", name, "--hostname", name, "--entrypoint", ""}
	if dir != "" {
		args = append(args, "--workdir", dir)
	}
	if k.Runtime != "" {
		args = append(args, "--runtime="+k.Runtime)
	}
	args = append(args, "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs", "/tmp:exec")
	if k.Engine == ByDocker { // podman sets its own limit where possible
		args = append(args, "--pids-limit=4096")
	}
	if p.Network && !p.RunReadOnly {
		args = append(args, "--add-host", "host.docker.internal:host-gateway")
		for _, port := range k.Extras.Ports {
			args = append(args, "--publish", "127.0.0.1:"+port+":"+port)
		}
	} else {
		args = append(args, "--network=none")
	}
	if k.Extras.User != "" {
		args = append(args, "--user", k.Extras.User)
		if k.Engine == ByPodman && !strings.HasPrefix(k.Extras.User, "0:") { // root keeps it anyway
			args = append(args, "--userns=keep-id")
		}
	}
	args = append(args, k.mounts(m, p.RunReadOnly)...)
	for _, name := range variables(env, k.Extras.Env, m.write, p.Network) {
		args = append(args, "--env", name)
	}
	args = append(args, "--env", "HOME=/tmp", "--env", "SANDBOX="+name)
	args = append(args, k.Extras.Flags...)
	return append(args, k.Image)
}

// mounts returns the mounts of a container; with look, they are read-only.
func (k *Container) mounts(m masks, look bool) []string {
	var args []string
	bind := func(from, to string, writable bool) {
		spec := "type=bind,source=" + from + ",target=" + to
		if !writable {
			spec += ",readonly"
		}
		args = append(args, "--mount", spec)
	}
	for _, path := range m.write {
		bind(path, path, true)
	}
	for _, o := range k.Extras.Mounts {
		bind(o.From, o.To, o.Writable && !look)
	}
	for _, path := range m.readOnly {
		bind(path, path, false)
	}
	for _, s := range m.hidden {
		if !slices.ContainsFunc(slices.Concat(m.write, m.readOnly),
			func(w string) bool { return disk.Inside(w, s.path) }) {
			continue // it is not there anyway
		}
		if s.dir {
			options := ":ro,size=0"
			if k.Engine == ByPodman { // podman would copy the hidden files into the tmpfs
				options += ",notmpcopyup"
			}
			args = append(args, "--tmpfs", s.path+options)
		} else {
			bind("/dev/null", s.path, false)
		}
	}
	return args
}

// passed are the variables that commands in a container get from outside. They hold no
// paths, which would not exist there.
var passed = []string{"GEMINI_CLI", "TERM", "NO_COLOR", "PAGER", "GIT_PAGER", "GIT_EDITOR", "GIT_TERMINAL_PROMPT",
	"GH_PROMPT_DISABLED", "DEBIAN_FRONTEND", "CI", "TZ", "LANG", "LANGUAGE", "NODE_ENV"}

var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy"}

// caches are variables that name a directory; a container gets them if the directory is
// writable.
var caches = []string{"GOCACHE", "npm_config_cache", "PIP_CACHE_DIR"}

// variables returns the names of the variables in env that a container gets.
func variables(env, more, write []string, network bool) []string {
	var names []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if slices.Contains(caches, name) && slices.ContainsFunc(write,
			func(w string) bool { return disk.Inside(w, value) }) {
			names = append(names, name)
		}
		own := slices.ContainsFunc(more, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if own || slices.Contains(passed, name) || strings.HasPrefix(name, "LC_") || network &&
			slices.Contains(proxies, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ReadExtras reads what the environment says about containers and profiles: SANDBOX_FLAGS,
// SANDBOX_ENV, SANDBOX_MOUNTS, SANDBOX_PORTS, SANDBOX_SET_UID_GID, BUILD_SANDBOX,
// SEATBELT_PROFILE. Hidden paths can't be mounted; user is the UID:GID of the user, "" if
// unknown. The error is an [*Error].
func ReadExtras(getenv func(string) string, hidden []string, user string, exists func(string) bool) (Extras, error) {
	var o Extras
	bad := func(name, format string, args ...any) (Extras, error) {
		return Extras{}, &Error{Message: name + ": " + fmt.Sprintf(format, args...)}
	}
	on := func(name string) bool { v := getenv(name); return v != "" && v != "0" && v != "false" }
	if on("GEMINI_SANDBOX_PROXY_COMMAND") {
		return bad("GEMINI_SANDBOX_PROXY_COMMAND", "it is not supported; unset it")
	}
	o.Build = on("BUILD_SANDBOX")
	var err error
	if o.Flags, err = words(getenv("SANDBOX_FLAGS")); err != nil {
		return bad("SANDBOX_FLAGS", "%v", err)
	}
	for _, kv := range commas(getenv("SANDBOX_ENV")) {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return bad("SANDBOX_ENV", "%.60q is not NAME=value", kv)
		}
		o.Env = append(o.Env, kv)
	}
	for _, text := range commas(getenv("SANDBOX_MOUNTS")) {
		m, err := mount(text, hidden, exists)
		if err != nil {
			return bad("SANDBOX_MOUNTS", "%v", err)
		}
		o.Mounts = append(o.Mounts, m)
	}
	for _, port := range commas(getenv("SANDBOX_PORTS")) {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return bad("SANDBOX_PORTS", "%.60q is not a port; one is a number from 1 to 65535", port)
		}
		o.Ports = append(o.Ports, port)
	}
	switch set := strings.ToLower(strings.TrimSpace(getenv("SANDBOX_SET_UID_GID"))); set {
	case "", "1", "true":
		o.User = user
	case "0", "false":
	default:
		return bad("SANDBOX_SET_UID_GID", "it must be true or false, not %.60q", set)
	}
	o.Profile = strings.TrimSpace(getenv("SEATBELT_PROFILE"))
	return o, nil
}

// mount reads FROM[:TO[:OPTIONS]].
func mount(text string, hidden []string, exists func(string) bool) (Mount, error) {
	parts := strings.Split(text, ":")
	m := Mount{From: parts[0], To: parts[0]}
	if len(parts) > 1 && parts[1] != "" {
		m.To = parts[1]
	}
	for i, o := range parts[min(2, len(parts)):] {
		if i > 0 || o != "ro" && o != "rw" && o != "" {
			return m, fmt.Errorf("%.200q must be FROM, FROM:TO or FROM:TO:ro or rw", text)
		}
		m.Writable = o == "rw"
	}
	m.From, m.To = filepath.Clean(m.From), filepath.Clean(m.To)
	switch {
	case !filepath.IsAbs(m.From) || !filepath.IsAbs(m.To):
		return m, fmt.Errorf("%.200q: both paths must be absolute", text)
	case strings.ContainsAny(text, "\"\n"):
		return m, fmt.Errorf("%.200q: no quotation marks, no line ends", text)
	case !exists(m.From):
		return m, fmt.Errorf("%.200q is not there", m.From)
	}
	for _, path := range hidden {
		if disk.Inside(path, m.From) || disk.Inside(m.From, path) {
			return m, fmt.Errorf("%.200q: commands can't see %s", text, path)
		}
	}
	return m, nil
}

func commas(text string) (out []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// words splits a text like a shell, with only quotes and backslashes.
func words(text string) (out []string, err error) {
	var word strings.Builder
	begun, quote, escaped := false, rune(0), false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quotation mark or a backslash has no end")
	}
	if begun {
		out = append(out, word.String())
	}
	return out, nil
}
