package tools

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// networkers are the programs that want a network, and the sub-commands with
// which they do; nil is always.
var networkers = map[string][]string{
	"curl": nil, "wget": nil, "ssh": nil, "scp": nil, "sftp": nil, "ftp": nil, "telnet": nil, "nc": nil, "ncat": nil, "socat": nil,
	"ping": nil, "dig": nil, "nslookup": nil, "host": nil, "whois": nil, "traceroute": nil, "gh": nil, "glab": nil,
	"npx": nil, "uvx": nil, "twine": nil, "gcloud": nil, "aws": nil, "az": nil, "kubectl": nil,
	"git":     {"fetch", "pull", "push", "clone", "ls-remote", "submodule"},
	"hg":      {"pull", "push", "clone", "incoming", "outgoing"},
	"svn":     {"checkout", "co", "update", "up", "commit", "ci"},
	"npm":     {"install", "i", "ci", "add", "update", "upgrade", "audit", "outdated", "publish", "view", "info", "login", "exec"},
	"pnpm":    {"install", "i", "add", "update", "up", "dlx", "publish", "audit", "outdated"},
	"yarn":    {"install", "add", "upgrade", "up", "dlx", "publish", "audit"},
	"bun":     {"install", "i", "add", "update", "x"},
	"pip":     {"install", "download", "index", "wheel"},
	"pip3":    {"install", "download", "index", "wheel"},
	"pipx":    {"install", "run", "upgrade"},
	"uv":      {"add", "sync", "lock", "pip", "tool"},
	"poetry":  {"install", "add", "update", "lock", "publish"},
	"conda":   {"install", "create", "update"},
	"cargo":   {"install", "add", "fetch", "update", "publish", "search"},
	"go":      {"get", "install"},
	"gem":     {"install", "update", "push"},
	"bundle":  {"install", "update"},
	"mvn":     nil,
	"gradle":  nil,
	"docker":  {"pull", "push", "build", "login"},
	"podman":  {"pull", "push", "build", "login"},
	"apt":     {"install", "update", "upgrade"},
	"apt-get": {"install", "update", "upgrade"},
	"apk":     {"add", "update", "upgrade"},
	"dnf":     {"install", "update", "upgrade"},
	"yum":     {"install", "update", "upgrade"},
	"brew":    {"install", "update", "upgrade"},
	"helm":    {"install", "pull", "repo", "upgrade"},
}

// dialers returns the programs among commands that are known to want a network,
// each once, with the sub-command that says so.
func dialers(commands []engine.Command) (names []string) {
	for _, c := range commands {
		name, known := c.Program()
		subs, there := networkers[strings.ToLower(name)]
		if !known || !there {
			continue
		}
		if subs != nil {
			i := slices.IndexFunc(c.Argv[1:], func(w engine.Word) bool { return w.Known && slices.Contains(subs, w.Text) })
			if i < 0 {
				continue
			}
			name += " " + c.Argv[i+1].Text
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// What programs say for want of a network, and what they may say who are known
// to want one.
var (
	unreached = regexp.MustCompile(`(?i)could ?n.t resolve|could not resolve|unable to resolve host|failed to resolve|name resolution|name or service not known|` +
		`nodename nor servname|no such host|unknown host|getaddrinfo|EAI_AGAIN|ENOTFOUND|network is unreachable|ENETUNREACH|no route to host|EHOSTUNREACH|` +
		`connection refused|ECONNREFUSED|dial (tcp|udp)|socket: (operation not permitted|permission denied|address family not supported)`)
	uneasy = regexp.MustCompile(`(?i)network|timed? ?out|connect|resolve|unreachable|offline|socket`)
)

// refusedWrite is what programs say who may not write, and aPath what they name
// then: something in quotation marks, or with a slash in it.
var (
	refusedWrite = regexp.MustCompile(`(?i)read-only file ?system|\bEROFS\b|permission denied|\bEACCES\b|operation not permitted|\bEPERM\b`)
	aPath        = regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|`([^`']+)['`]|‘([^’]+)’|([^\\s:'\"`‘’,;()]*/[^\\s:'\"`‘’,;()]*)")
)

// notThere is what programs say where something is hidden from them, as what
// others keep in the temporary directories is.
var notThere = regexp.MustCompile(`(?i)no such file or directory|\bENOENT\b|FileNotFoundError`)

// undone is what the sandbox says when a command has made what is protected.
var undone = regexp.MustCompile(`(?m)^gemline: sandbox: ".*" was made or changed, which commands may not do`)

// Of an output, so much of its end is looked at for what a command lacked, and
// so many paths are taken from it.
const (
	lastWords = 16 << 10
	mostPaths = 50
)

// complaints returns what the output of a command says of what it lacked: a
// network, and paths, as they stand there, that it could not write to or find.
func complaints(output string) (network bool, paths, missing []string) {
	if len(output) > lastWords {
		output = output[len(output)-lastWords:]
	}
	for line := range strings.Lines(output) {
		network = network || unreached.MatchString(line)
		if refusedWrite.MatchString(line) {
			paths = append(paths, pathsIn(line)...)
		} else if notThere.MatchString(line) {
			missing = append(missing, pathsIn(line)...)
		}
	}
	return network, few(paths), few(missing)
}

// saying is who says something, at the beginning of a line.
var saying = regexp.MustCompile(`^\s*\S+: (line \d+: )?`)

// pathsIn returns what may be paths in a line. Who says it is none of them, if
// there are others.
func pathsIn(line string) (paths []string) {
	if who := saying.FindString(line); who != "" {
		if paths = pathsIn(line[len(who):]); len(paths) > 0 {
			return paths
		}
	}
	for _, m := range aPath.FindAllStringSubmatch(line, -1) {
		for _, path := range m[1:] {
			if path != "" {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// few returns the first of paths, each once.
func few(paths []string) []string {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths[:min(len(paths), mostPaths)]
}

// lacks returns the rights that a command seems to have failed without. A right
// that would not have helped is none of them: what this process itself may not
// write, no answer of the user's lets a command write.
func (c shellCall) lacks(o shell.Outcome) (r engine.Rights) {
	if c.env.Sandbox == nil || o.OK() || o.Cancelled || o.Limit > 0 || o.Err != nil {
		return r
	}
	state, p := c.env.Sandbox.State(), c.env.profile(c.rights)
	network, paths, missing := complaints(o.Output)
	paths = append(paths, slices.DeleteFunc(missing, func(path string) bool { return !concealed(path) })...)
	network = network || len(dialers(c.read.Commands)) > 0 && uneasy.MatchString(o.Output)
	r.Network = network && state.Network && !p.Network
	r.Protected = state.Files && !p.Unlimited && undone.MatchString(o.Output)
	for _, path := range paths {
		if !state.Files {
			break
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.dir, path)
		}
		named := resolved(filepath.Clean(path))
		path, ok := sandbox.Writable(named)
		const most = 5
		outside := func(path string) bool { return !among(path, append([]string{p.Root}, p.Write...)) }
		switch {
		case ok && outside(named) && c.makes(named, path):
			for _, file := range c.files() { // the others would fail next
				if at, ok := sandbox.Writable(file); ok && outside(file) && c.makes(file, at) && len(r.Write) < most && !slices.Contains(r.Write, file) {
					r.Write = append(r.Write, file)
				}
			}
		case !ok || path == filepath.Dir(path) || writable(path, p):
		case !outside(path) && !among(path, p.ReadOnly):
			r.Protected = true
		case len(r.Write) < most && !slices.Contains(r.Write, path):
			r.Write = append(r.Write, path)
		}
	}
	all := slices.Clone(r.Write)
	r.Write = slices.DeleteFunc(r.Write, func(path string) bool {
		return slices.ContainsFunc(all, func(dir string) bool { return dir != path && among(path, []string{dir}) })
	})
	return r
}

// concealed reports whether path, or the directory it would be in, is there and
// in a temporary directory, of which commands have their own.
func concealed(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	path = resolved(filepath.Clean(path))
	at, _ := sandbox.Writable(path)
	return (at == path || at == filepath.Dir(path)) && slices.ContainsFunc([]string{"/tmp", "/var/tmp"}, func(temp string) bool {
		return at != temp && among(at, []string{temp})
	})
}
