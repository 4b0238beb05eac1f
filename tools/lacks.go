package tools

import (
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
	"gemline/tools/shell/program"
)

// dialers returns the programs among commands that are known to want a network,
// each once, with the sub-command that says so.
func dialers(commands []engine.Command) (names []string) {
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
		if known && dials && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// What programs say for want of a network, and what they may say who are known
// to want one.
var (
	unreached = text.Pattern(`(?i)could ?n.t resolve|could not resolve|unable to resolve host|failed to resolve|name resolution|name or service not known|` +
		`nodename nor servname|no such host|unknown host|getaddrinfo|\bEAI_AGAIN\b|\bENOTFOUND\b|network is unreachable|\bENETUNREACH\b|no route to host|\bEHOSTUNREACH\b|` +
		`connection refused|\bECONNREFUSED\b|dial (tcp|udp)|socket: (operation not permitted|permission denied|address family not supported)`)
	uneasy = text.Pattern(`(?i)network|timed? ?out|connect|resolve|unreachable|offline|socket`)
)

// refusedWrite is what programs say who may not write, and aPath what they name
// then: something in quotation marks, or with a slash in it.
var (
	refusedWrite = text.Pattern(`(?i)read-only file ?system|\bEROFS\b|permission denied|\bEACCES\b|operation not permitted|\bEPERM\b|device or resource busy|\bEBUSY\b`)
	aPath        = text.Pattern("'([^']+)'|\"([^\"]+)\"|`([^`']+)['`]|‘([^’]+)’|([^\\s:'\"`‘’,;()]*/[^\\s:'\"`‘’,;()]*)")
)

// notThere is what programs say where something is hidden from them, as what
// others keep in the temporary directories is.
var notThere = text.Pattern(`(?i)no such file or directory|\bENOENT\b|FileNotFoundError`)

// unwritten is what a program says that does not name what it could not write.
var unwritten = text.Pattern(`(?m)^curl: \(23\) `)

// undone is what the sandbox says when a command has made what is protected.
var undone = text.Pattern(`(?m)^gemline: sandbox: ".*" was made or changed, which commands may not do`)

// Of an output, so much of its end is looked at for what a command lacked, and
// so many paths are taken from it.
const (
	lastWords = 16 << 10
	mostPaths = 50
)

// A refusal is a path, as it stands there, that a program says it could not
// open, or find, or take away from its directory.
type refusal struct {
	path                    string
	missing, taken, written bool
}

// writing is what programs say that wanted to write. Others may have wanted to
// read.
var writing = text.Pattern(`(?i)read-only|\bEROFS\b|creat|writ|touch|append|sav(e|ing)\b|\bcopy`)

// taking is what programs say that take a name away, or put another file in its
// place: for that the file itself being open to them is not enough.
var taking = text.Pattern(`(?i)remov|unlink|renam|\bmove|delet|overwrite|link ['"‘]`)

// complaints returns what the output of a command says of what it lacked.
func complaints(output string) (network bool, refused []refusal) {
	if len(output) > lastWords {
		output = output[len(output)-lastWords:]
	}
	for line := range strings.Lines(output) {
		network = network || unreached().MatchString(line)
		r := refusal{}
		if !refusedWrite().MatchString(line) {
			if r.missing = notThere().MatchString(line); !r.missing {
				continue
			}
		}
		r.taken = taking().MatchString(line)
		for _, r.path = range pathsIn(line) {
			r.written = r.taken || writing().MatchString(strings.ReplaceAll(line, r.path, ""))
			if len(refused) < mostPaths && !slices.Contains(refused, r) {
				refused = append(refused, r)
			}
		}
	}
	return network, refused
}

// saying is who says something, at the beginning of a line.
var saying = text.Pattern(`^\s*\S+: (line \d+: )?`)

// pathsIn returns what may be paths in a line. Who says it is none of them, if
// there are others.
func pathsIn(line string) (paths []string) {
	if who := saying().FindString(line); who != "" {
		if paths = pathsIn(line[len(who):]); len(paths) > 0 {
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

// lacks returns the rights that a command has probably failed without, and
// the paths that it could not write to, where a right is for more than these. A
// right that would not have helped is none of them: what this process itself may
// not write, no answer of the user's lets a command write.
func (c shellCall) lacks(o shell.Outcome) (r engine.Rights, refused []string) {
	if c.env.Sandbox == nil || o.OK() || o.Cancelled || o.Limit > 0 || o.Err != nil {
		return r, nil
	}
	state, p := c.env.State(), c.env.Given(c.rights)
	network, complaints := complaints(o.Output)
	silent := strings.TrimSpace(o.Output) == "" // as curl -s is, whatever went wrong
	network = network || len(dialers(c.read.Commands)) > 0 && (silent || uneasy().MatchString(o.Output))
	r.Network = network && state.Network && !p.Network
	r.Protected = state.Files && !p.Unlimited && undone().MatchString(o.Output)
	if !state.Files {
		return r, nil
	}
	next := r.Network || unwritten().MatchString(o.Output) // the files that it makes would fail next
	for _, said := range complaints {
		said.path = c.absolute(said.path)
		if c.env.isDenied(disk.Follow(said.path)) {
			continue
		}
		if said.missing && !concealed(said.path) {
			continue
		}
		named, at, ok := c.place(said)
		outside := !disk.InsideAny(append([]string{p.Root}, p.Write...), at)
		switch {
		case len(launch.Above(named, p.Hidden)) > 0 && !said.written && !c.opens(named):
			if sandbox.Readable(named) {
				r.Read = adding(r.Read, named)
			}
		case c.makes(named) && outside:
			next = true
		case !ok || at == filepath.Dir(at) || launch.Writable(at, p):
		case !outside && !disk.InsideAny(p.ReadOnly, at):
			r.Protected = true
		default:
			r.Write = adding(r.Write, at)
			if named != at {
				refused = adding(refused, named)
			}
		}
	}
	if next {
		for file := range c.files() {
			if at, ok := sandbox.Writable(file); ok && (at == file || c.makes(file)) && !disk.InsideAny(append([]string{p.Root}, p.Write...), at) {
				r.Write = adding(r.Write, file)
			}
		}
	}
	all := slices.Clone(r.Write)
	r.Write = slices.DeleteFunc(r.Write, func(path string) bool {
		return slices.ContainsFunc(all, func(dir string) bool { return dir != path && disk.InsideAny([]string{dir}, path) })
	})
	return c.described(r), refused
}

// adding returns list with path, if it is not there and the list is not long.
func adding(list []string, path string) []string {
	const most = 5
	if len(list) < most && !slices.Contains(list, path) {
		list = append(list, path)
	}
	return list
}

// place returns the path, without links, that a refusal is about, and the one
// that has to be opened for it: itself if it is there, and else the nearest
// directory above it. Of what is taken away it is the directory that it is in.
func (c shellCall) place(said refusal) (named, at string, ok bool) {
	named, taken := said.path, said.taken
	for _, gone := range c.gone() {
		if disk.InsideAny([]string{gone}, named) {
			named, taken = gone, true
		}
	}
	if !taken {
		named = disk.Follow(named)
		at, ok = sandbox.Writable(named)
		return named, at, ok
	}
	named = filepath.Join(disk.Follow(filepath.Dir(named)), filepath.Base(named))
	at, ok = sandbox.Writable(filepath.Dir(named))
	return named, at, ok
}

// gone returns the paths that programs of the command take away from where they
// are.
func (c shellCall) gone() (paths []string) {
	for _, command := range c.read.Commands {
		name, _ := command.Program()
		p := program.Find(name)
		if !p.Is(program.Removes) {
			continue
		}
		words := command.Argv[1:]
		if p.Is(program.Writes) && len(words) > 0 {
			words = words[:len(words)-1] // that is where to
		}
		for _, w := range words {
			if w.Known && !strings.HasPrefix(w.Text, "-") {
				paths = append(paths, c.absolute(w.Text))
			}
		}
	}
	return paths
}

// concealed reports whether path, or the directory it would be in, is there and
// in a temporary directory, of which commands have their own.
func concealed(path string) bool {
	path = disk.Follow(path)
	at, _ := sandbox.Writable(path)
	return (at == path || at == filepath.Dir(path)) && slices.ContainsFunc([]string{"/tmp", "/var/tmp"}, func(temp string) bool {
		return at != temp && disk.InsideAny([]string{temp}, at)
	})
}
