package launch

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
)

// NetworkPrograms returns the programs among commands that are known to need a network, each
// once, with the sub-command that needs it. A program with only loopback addresses needs
// none: commands reach servers of the session without it.
func NetworkPrograms(commands []engine.Command) (names []string) {
	for _, c := range commands {
		name, known := c.Program()
		var words []string
		for _, w := range c.Argv[min(1, len(c.Argv)):] {
			if w.Known {
				words = append(words, w.Text)
			}
		}
		with, dials := program.Find(name).DialsAt(words)
		name = strings.TrimSpace(name + " " + with)
		if known && dials && !loopbackOnly(c.Argv) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// loopbackOnly reports whether words of a command line name a loopback address, and no
// address elsewhere by a URL. For a word with an expansion, the text before the expansion
// counts, if it contains the whole host.
func loopbackOnly(words []engine.Word) bool {
	here := false
	for _, word := range words {
		w := word.Text
		isURL := strings.Contains(w, "://")
		if !isURL {
			w = "//" + w
		}
		if at := strings.IndexAny(w, "$`"); at >= 0 && !word.Known {
			if w = w[:at]; !strings.HasSuffix(w, "/") && !strings.HasSuffix(w, ":") {
				return false
			}
		}
		switch u, err := url.Parse(w); {
		case err == nil && text.Loopback(u.Hostname()):
			here = true
		case isURL:
			return false
		}
	}
	return here
}

// Messages of programs that lack a network. Uneasy counts only for programs that are known to use
// the network.
var (
	unreached = text.Pattern(`(?i)could ?n.t resolve|could not resolve|unable to resolve host|failed to resolve|name resolution|name or service not known|` +
		`nodename nor servname|no such host|unknown host|getaddrinfo|\bEAI_AGAIN\b|\bENOTFOUND\b|network is unreachable|\bENETUNREACH\b|no route to host|\bEHOSTUNREACH\b|` +
		`connection refused|\bECONNREFUSED\b|dial (tcp|udp)|socket: (operation not permitted|permission denied|address family not supported)`)
	networkTrouble = text.Pattern(`(?i)network|timed? ?out|connect|resolve|unreachable|offline|socket`)
)

// refusedWrite matches messages of programs that may not write, and aPath the path in them: in
// quotation marks, or with a slash.
var (
	refusedWrite = text.Pattern(`(?i)read-only file ?system|\bEROFS\b|permission denied|\bEACCES\b|operation not permitted|\bEPERM\b|device or resource busy|\bEBUSY\b`)
	aPath        = text.Pattern("'([^']+)'|\"([^\"]+)\"|`([^`']+)['`]|‘([^’]+)’|([^\\s:'\"`‘’,;()]*/[^\\s:'\"`‘’,;()]*)")
)

// fileNotFound matches messages about a file that is hidden, such as other programs' files in the
// temporary directories.
var fileNotFound = text.Pattern(`(?i)no such file or directory|\bENOENT\b|FileNotFoundError`)

// unnamedWrite matches messages that do not name the file that could not be written.
var unnamedWrite = text.Pattern(`(?m)^curl: \(23\) `)

// revertedChange matches the sandbox's message about a protected file that a command has made.
var revertedChange = text.Pattern(`(?m)^gemline: sandbox: ".*" was made or changed, which commands may not do`)

// mostPaths is how many paths are taken from an output.
const mostPaths = 50

// OutputEnd returns the end of an output, where commands name missing rights.
func OutputEnd(output string) string { return output[max(0, len(output)-16<<10):] }

// A Denial is a path, as printed by a program, that the program could not open, find or
// remove.
type Denial struct {
	Path           string
	Write          bool // the program tried to write
	missing, taken bool
}

// writing matches messages of programs that tried to write. Other programs may have tried to
// read.
var writing = text.Pattern(`(?i)read-only|\bEROFS\b|creat|writ|touch|append|sav(e|ing)\b|\bcopy`)

// removal matches messages of programs that remove or replace a file: write access to the
// file alone is not enough for that.
var removal = text.Pattern(`(?i)remov|unlink|renam|\bmove|delet|overwrite|link ['"‘]`)

// ParseDenials returns the missing rights that a command's output names: the network, and paths.
func ParseDenials(output string) (network bool, refused []Denial) {
	for line := range strings.Lines(OutputEnd(output)) {
		network = network || unreached().MatchString(line)
		r := Denial{}
		if !refusedWrite().MatchString(line) {
			if r.missing = fileNotFound().MatchString(line); !r.missing {
				continue
			}
		}
		r.taken = removal().MatchString(line)
		for _, r.Path = range pathsIn(line) {
			r.Write = r.taken || writing().MatchString(strings.ReplaceAll(line, r.Path, ""))
			if len(refused) < mostPaths && !slices.Contains(refused, r) {
				refused = append(refused, r)
			}
		}
	}
	return network, refused
}

// messagePrefix matches the program's name at the beginning of a message, with a line number in a
// script.
var messagePrefix = text.Pattern(`^\s*\S+: ((?:line )?\d+: )?`)

// pathsIn returns possible paths in a line. The name of the complaining program counts only
// if there is no other path.
func pathsIn(line string) (paths []string) {
	if who := messagePrefix().FindStringSubmatch(line); who != nil {
		rest := line[len(who[0]):]
		if paths = pathsIn(rest); len(paths) > 0 || who[1] != "" || messagePrefix().MatchString(rest) {
			return paths
		}
	}
	for _, m := range aPath().FindAllStringSubmatch(line, -1) {
		for _, path := range m[1:] {
			if path != "" {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// MissingRights returns the rights that a failed command probably lacked. refused are the
// paths that it could not write to, if a right covers more than these paths. It leaves out
// rights that would not have helped: a command can't write what this process can't write.
func (l *Launcher) MissingRights(plan engine.Plan, o shell.Outcome) (r engine.Rights, refused []string) {
	if l.Sandbox == nil || o.OK() || o.Cancelled || o.Limit > 0 || o.Err != nil {
		return r, nil
	}
	state, p := l.State(), l.SandboxWith(plan.Rights)
	p.Hidden = resolved(p.Hidden)
	network, complaints := ParseDenials(o.Output)
	silent := strings.TrimSpace(o.Output) == "" // curl -s prints no errors
	network = network || len(NetworkPrograms(plan.Commands)) > 0 && (silent || networkTrouble().MatchString(o.Output))
	r.Network = network && state.Network && !p.Network
	r.Protected = state.Files && !p.Unprotected && revertedChange().MatchString(o.Output)
	if !state.Files {
		return r, nil
	}
	own := append([]string{p.Root}, p.Write...)
	var writes []string
	for _, path := range plan.Writes {
		writes = append(writes, disk.ResolveLinks(absolute(path, plan)))
	}
	kept := readOnlyPaths(o.Output, plan, p)
	for _, path := range kept {
		r.Write = adding(r.Write, path)
	}
	for _, said := range complaints {
		path := absolute(said.Path, plan)
		if disk.InsideAny(kept, located(said.Path, plan)) {
			continue
		}
		if slices.Contains(p.Masked, disk.ResolveLinks(path)) || said.missing && !concealed(path) {
			continue
		}
		named, at, ok := place(path, said.taken, plan)
		away := disk.Within(p.Hidden, named) || said.missing && unseen(named, p)
		switch {
		case away && !said.Write && !slices.Contains(writes, named) && sandbox.Readable(named):
			r.Read = adding(r.Read, named)
		case !ok || at == filepath.Dir(at) || writable(at, p):
		case disk.InsideAny(own, at) && !disk.InsideAny(p.ReadOnly, at):
			r.Protected = true
		default:
			r.Write = adding(r.Write, at)
			if named != at {
				refused = adding(refused, named)
			}
		}
	}
	if r.Network || unnamedWrite().MatchString(o.Output) { // its writes would fail next
		for _, path := range writes {
			if at, ok := sandbox.Writable(path); ok && at != filepath.Dir(at) &&
				!disk.InsideAny(own, at) && !strings.ContainsAny(path, "$*?[{`") {
				r.Write = adding(r.Write, at)
			}
		}
	}
	all := slices.Clone(r.Write)
	r.Write = slices.DeleteFunc(r.Write, func(path string) bool {
		return slices.ContainsFunc(all, func(dir string) bool { return dir != path && disk.Inside(dir, path) })
	})
	return described(r), refused
}

// Needs returns the rights to read the hidden files that commands of plan name or have as
// inputs, so that the user is asked before a command fails. Only programs that read the files
// named by their arguments count (basename and dirname use the name alone); others may work
// without them. In a path that the shell expands, only the home directory is known.
func (l *Launcher) Needs(plan engine.Plan, inputs []engine.Word) (r engine.Rights) {
	if l.Sandbox == nil || !l.State().Files {
		return r
	}
	home, _ := Lookup(l.Config.Shell.Environ, "HOME")
	var paths []string
	for _, w := range inputs {
		if path, ok := named(w, home); ok {
			paths = append(paths, located(path, plan))
		}
	}
	for _, c := range plan.Commands {
		name, _ := c.Program()
		words := c.Words()
		if name == "source" || name == "." || (program.Find(name).LooksAt(words[min(1, len(words)):]) || name == "cp") && !script.IsBuiltin(name) && !strings.HasSuffix(name, "name") {
			for _, w := range c.Argv[1:] {
				if path, ok := named(w, home); ok {
					paths = append(paths, located(path, plan))
				}
			}
		}
	}
	if len(paths) == 0 {
		return r
	}
	hidden := resolved(l.SandboxWith(plan.Rights).Hidden)
	for _, path := range paths {
		if path = disk.ResolveLinks(path); disk.Within(hidden, path) && sandbox.Readable(path) {
			r.Read = adding(r.Read, path)
		}
	}
	return r
}

// named returns the path in a word, if only its home directory is unknown.
func named(w engine.Word, home string) (path string, ok bool) {
	if strings.HasPrefix(w.Text, "-") || w.Known {
		return w.Text, w.Known && w.Text != "" && w.Text[0] != '-'
	}
	path = strings.ReplaceAll(w.Text, `"`, "")
	for _, start := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(path, start); ok && home != "" {
			return filepath.Join(home, rest), !strings.ContainsAny(rest, "$`*?[{\\'~")
		}
	}
	return "", false
}

// temporary matches messages of programs that could not create a temporary file to replace
// another.
var temporary = text.Pattern(`(?i)temporary file|temp name`)

// readOnly matches messages of programs that could not write to a read-only file system.
var readOnly = text.Pattern(`(?i)read-only file ?system|\bEROFS\b`)

// Tried returns the rights that a read-only command needs beyond those of all commands, and
// the paths that it has tried to write and to read. tried may be true without a path in
// wrote.
func (l *Launcher) Tried(plan engine.Plan, o shell.Outcome) (r engine.Rights, wrote, read []string, tried bool) {
	if o.Cancelled || o.Limit > 0 || o.Err != nil {
		return r, nil, nil, false
	}
	r, _ = l.MissingRights(plan, o)
	r.Protected = false // most commands need no protected paths; the others fail again
	for line := range strings.Lines(OutputEnd(o.Output)) {
		if !readOnly().MatchString(line) {
			continue
		}
		tried = true
		paths := pathsIn(line)
		if temporary().MatchString(line) && len(paths) == 1 { // the program wanted to replace a file by it
			beside := filepath.Dir(located(paths[0], plan))
			paths = slices.DeleteFunc(slices.Clone(plan.Writes), func(w string) bool {
				return filepath.Dir(located(w, plan)) != beside
			})
		}
		for _, path := range plan.Writes { // in the line, it may not look like a path
			if strings.Contains(line, " "+path+":") {
				paths = append(paths, path)
			}
		}
		for _, path := range paths {
			path = located(path, plan)
			if _, err := os.Stat(filepath.Dir(path)); err == nil {
				wrote = adding(wrote, path)
			}
		}
	}
	if !tried && !r.Network { // a refused write always causes such a message
		r.Write = nil
		r = described(r)
	}
	masked := l.Profile().Masked
	_, said := ParseDenials(o.Output)
	for _, s := range said {
		path := absolute(s.Path, plan)
		if _, err := os.Lstat(path); err == nil && !s.Write && !slices.Contains(masked, path) &&
			!disk.InsideAny(l.Roots(), disk.ResolveLinks(path)) && sandbox.Readable(path) {
			read = adding(read, path)
		}
	}
	return r, wrote, read, tried
}

// described returns r with descriptions of its paths.
func described(r engine.Rights) engine.Rights {
	r.Files, r.Missing = nil, nil
	for _, path := range slices.Concat(r.Read, r.Write) {
		switch info, err := os.Stat(path); {
		case slices.Contains(r.Files, path), slices.Contains(r.Missing, path):
		case err == nil && !info.IsDir():
			r.Files = append(r.Files, path)
		case errors.Is(err, fs.ErrNotExist):
			r.Missing = append(r.Missing, path)
		}
	}
	return r
}

// absolute returns the absolute form of path, which is relative to the directory of plan.
func absolute(path string, plan engine.Plan) string {
	return filepath.Clean(disk.Absolute(path, plan.Dir, ""))
}

// located is absolute for a plan whose commands may change the directory: path is relative to
// the last directory in which it exists, or else to the last directory.
func located(path string, plan engine.Plan) string {
	dirs := []string{plan.Dir}
	for _, c := range plan.Commands {
		if name, _ := c.Program(); name == "cd" && len(c.Argv) == 2 && c.Argv[1].Known {
			dirs = append(dirs, filepath.Clean(disk.Absolute(c.Argv[1].Text, dirs[len(dirs)-1], "")))
		}
	}
	for _, dir := range slices.Backward(dirs) {
		at := filepath.Clean(disk.Absolute(path, dir, ""))
		if _, err := os.Lstat(at); err == nil {
			return at
		}
	}
	return filepath.Clean(disk.Absolute(path, dirs[len(dirs)-1], ""))
}

// adding appends path to list, unless list contains it or is full.
func adding(list []string, path string) []string {
	const most = 5
	if len(list) < most && !slices.Contains(list, path) {
		list = append(list, path)
	}
	return list
}

// place returns a refusal's path, without links, and the path to grant for it: the path
// itself if it exists, else the nearest directory above it. For a deletion it is the parent
// directory.
func place(path string, taken bool, plan engine.Plan) (named, at string, ok bool) {
	named = path
	for _, gone := range Removed(plan) {
		if disk.InsideAny([]string{gone}, named) {
			named, taken = gone, true
		}
	}
	if !taken {
		named = disk.ResolveLinks(named)
		at, ok = sandbox.Writable(named)
		return named, at, ok
	}
	named = disk.ResolveParent(named)
	at, ok = sandbox.Writable(filepath.Dir(named))
	return named, at, ok
}

// Removed returns the paths that the plan's programs remove or rename.
func Removed(plan engine.Plan) (paths []string) {
	for _, command := range plan.Commands {
		name, _ := command.Program()
		p := program.Find(name)
		if !p.Is(program.Removes) {
			continue
		}
		words := command.Argv[1:]
		if p.Is(program.Writes) && len(words) > 0 {
			words = words[:len(words)-1] // the last word is the destination
		}
		for _, w := range words {
			if w.Known && !strings.HasPrefix(w.Text, "-") {
				paths = append(paths, absolute(w.Text, plan))
			}
		}
	}
	return paths
}

// unseen reports whether path is concealed from a command with the profile p, and could be
// shown without showing paths that the command may write to.
func unseen(path string, p sandbox.Profile) bool {
	holds := func(dir string) bool {
		return disk.Inside(path, disk.ResolveLinks(dir)) || disk.Inside(disk.ResolveLinks(dir), path)
	}
	return concealed(path) && !slices.ContainsFunc(append([]string{p.Root}, p.Write...), holds)
}

// concealed reports whether path, or its directory, exists in the user's temporary directory,
// which commands do not see: they have a directory of their own.
func concealed(path string) bool {
	path = disk.ResolveLinks(path)
	at, _ := sandbox.Writable(path)
	return (at == path || at == filepath.Dir(path)) &&
		slices.ContainsFunc([]string{"/tmp", "/var/tmp"}, func(temp string) bool {
			return at != temp && disk.InsideAny([]string{temp}, at)
		})
}
