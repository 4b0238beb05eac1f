package script

import (
	"regexp"
	"slices"
	"strings"

	"gemline/engine"
	"mvdan.cc/sh/v3/syntax"
)

// program reads the arguments of a program: some run others, or write files
// that no redirection names.
func (v *visitor) program(name string, args []word, in *string) {
	if rest, ok := strings.CutPrefix(name, "g"); ok && slices.Contains(gnu, rest) {
		name = rest
	}
	if _, ok := carriers[name]; ok {
		v.prefix(name, args)
		return
	}
	switch base := strings.TrimRight(name, "0123456789.-"); {
	case strings.HasPrefix(name, "ld-linux"), strings.HasPrefix(name, "ld-musl"), strings.HasPrefix(name, "ld.so"), strings.HasPrefix(name, "ld-2."):
		v.opaque("the dynamic loader runs its arguments: %s", join(args))
	case slices.Contains(shells, base):
		v.shell(name, args, in)
	case slices.Contains(interpreters, base):
		v.interpreter(name, args)
	case slices.Contains(launchers, base), slices.Contains(launchers, name), strings.HasPrefix(name, "qemu-"), name == "arch" && len(args) > 1:
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
	}
	switch name {
	case "psql", "mysql", "mariadb", "sqlite", "sqlite3", "sqlcmd", "usql", "duckdb":
		v.database(name, args)
	case "find", "gfind":
		v.find(args)
	case "fd", "fdfind":
		v.fd(args)
	case "ssh":
		v.ssh(args)
	case "su", "runuser", "script":
		v.su(name, args)
	case "docker", "podman", "nerdctl", "kubectl":
		v.container(name, args)
	case "parallel":
		v.parallel(args)
	case "git":
		v.git(args)
	case "gh":
		if len(args) > 2 && args[0].text == "repo" && args[1].text == "clone" {
			options := slices.DeleteFunc(slices.Clone(args[2:]), func(w word) bool { return w.text == "--" })
			v.carried("gh", append([]word{{text: "git", known: true}, args[1]}, options...), nil)
		}
	case "awk", "gawk", "mawk", "nawk":
		v.awk(name, args)
	case "sed", "gsed":
		v.sed(args)
	case "tee":
		for _, a := range args {
			if !a.known || !strings.HasPrefix(a.text, "-") && a.text != "/dev/null" {
				v.open(a)
			}
		}
	case "uniq", "xxd":
		v.second(name, args)
	case "go":
		v.refused(name, dangers[name], args)
		if slices.ContainsFunc(args, func(w word) bool { return w.text == "env" }) {
			v.refused(name, dangers["go env"], args)
		}
	default:
		v.refused(name, dangers[name], args)
		v.writes(name, args)
	}
}

var (
	shells = []string{"bash", "sh", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "yash", "fish", "csh", "tcsh", "pwsh", "powershell", "elvish", "nu", "xonsh", "cmd", "posh", "oksh", "hush", "osh", "ion", "rc", "es"}

	// interpreters run what a file or an argument says.
	interpreters = []string{"python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "expect", "osascript",
		"rscript", "r", "ghci", "guile", "racket", "sbcl", "clisp", "scala", "groovy", "jshell", "julia", "swift", "ocaml", "erl", "elixir", "iex", "jq", "tsx", "ts-node", "raku", "qjs", "wish", "irb", "pry", "ipython", "bpython", "ghc", "gnuplot", "octave", "sage", "matlab"}

	// launchers run others, in ways that are not read here.
	launchers = []string{"at", "batch", "crontab", "systemd-run", "start-stop-daemon", "screen", "tmux", "dtach", "abduco", "gdb", "lldb", "valgrind",
		"perf", "entr", "inotifywait", "watchexec", "firejail", "bwrap", "proot", "ed", "ex", "vi", "vim", "nvim", "emacs", "emacsclient", "socat", "nc", "ncat",
		"faketime", "numactl", "setarch", "cgexec", "runcon", "capsh", "rlwrap", "xvfb-run", "lxc", "lxc-attach", "machinectl", "run-parts", "logrotate",
		"dc", "m4", "mail", "mailx", "telnet", "scp", "sftp", "rsync", "sshpass", "autossh", "mosh", "pdsh", "ansible", "cssh", "hyperfine", "parallel-ssh",
		"gosu", "su-exec", "tini", "dumb-init", "catatonit", "torsocks", "torify", "proxychains", "eatmydata", "catchsegv", "cpulimit", "chpst", "setuidgid", "softlimit", "sg", "newgrp",
		"trickle", "daemonize", "rr", "heaptrack", "uftrace", "stap", "bpftrace", "lftp", "ftp", "cross-env", "env-cmd", "dotenv", "nix-shell", "aws-vault", "coreutils", "tsp", "nq",
		"systemd-inhibit", "systemd-nspawn", "dbus-launch", "run0", "gksu", "gksudo", "kdesudo", "please", "super", "calife", "runas", "fakechroot", "schroot", "i386", "x86_64", "uname26", "wine", "box64",
		"nsjail", "minijail0", "runc", "crun", "crictl", "ctr", "buildah", "toolbox", "distrobox", "flatpak", "snap", "vagrant", "heroku", "waypipe", "timelimit", "multitime", "pty", "sem", "ts",
		"nodemon", "concurrently", "watchman-make", "fswatch", "chokidar", "view", "rview", "rvim", "gvim", "vimdiff", "red", "mutt", "irssi", "weechat", "sqlplus", "envdir", "envchain",
		"zellij", "byobu", "xterm", "gnome-terminal", "konsole", "alacritty", "kitty", "foot", "wezterm", "startx", "xinit",
		"flatpak-spawn", "ssh-agent", "ifne", "mispipe", "annotate-output", "retry", "setlock", "s6-setuidgid", "s6-envdir", "s6-softlimit", "with-contenv", "execlineb", "winpty", "uclampset", "rush", "xe", "pseudo"}

	// gnu are programs that have a g before their names where others have them.
	gnu = []string{"xargs", "timeout", "nice", "nohup", "stdbuf", "env", "time", "tar", "sort", "split", "chroot", "install", "dd", "tee", "uniq", "cp", "mv", "ln", "touch", "base64", "shuf", "date", "parallel"}
)

// database reads the arguments of a client of databases, whose commands may run
// programs: \! and \copy, .shell and .system, system, and copies to programs.
func (v *visitor) database(name string, args []word) {
	for i, a := range args {
		file := slices.Contains([]string{"-f", "--file", "-init", "--init-command"}, a.text) || strings.HasPrefix(a.text, "--file=") || strings.HasPrefix(a.text, "-f") && name == "psql"
		if !a.known || file || runsByClient.MatchString(a.text) {
			v.opaque("%s may run a program named by an argument: %s", name, join(args[i:]))
			return
		}
	}
}

var runsByClient = regexp.MustCompile(`(?i)[\\|]|^\s*[.:]|\.(shell|system|read|load|once|output|import)\b|\b(system|source|program|load_extension|editor|pager)\b`)

// shell reads the arguments of a shell.
func (v *visitor) shell(name string, args []word, in *string) {
	v.lower(engine.Readable, "%s runs a script of its own", name)
	if !slices.Contains([]string{"bash", "sh", "dash", "ash", "rbash"}, name) {
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
		if !slices.Contains([]string{"zsh", "ksh", "mksh", "yash"}, name) {
			return // its scripts are not even like ours
		}
	}
	script := false
	for len(args) > 0 && args[0].known && len(args[0].text) > 1 && (args[0].text[0] == '-' || args[0].text[0] == '+') {
		s := args[0].text
		args = args[1:]
		switch {
		case s == "--":
		case s == "--norc", s == "--noprofile", s == "--posix":
			continue
		case s == "--version", s == "--help":
			return
		case strings.HasPrefix(s, "--"), s[0] == '+', strings.Trim(s[1:], "aceEfhluvxi") != "":
			v.opaque("%s may run a program that was not checked: %s", name, s)
			return
		default:
			script = script || strings.ContainsRune(s, 'c')
			continue
		}
		break
	}
	switch {
	case script && len(args) > 0 && args[0].known:
		v.dialects(args[0].text, name)
	case !script && len(args) == 0 && in != nil:
		v.dialects(*in, name)
	default:
		v.unchecked(name, args)
	}
}

// dialects reads a script for a shell that may or may not be bash, both ways.
func (v *visitor) dialects(text, name string) {
	v.script(text, name, syntax.LangBash, v.again)
	if name != "bash" && name != "rbash" {
		v.script(text, name, syntax.LangPOSIX, true)
	}
}

// interpreter reads the arguments of an interpreter. A file or a module that
// it runs is a program like any other; a text is not.
func (v *visitor) interpreter(name string, args []word) {
	if name == "jq" {
		return // it runs nothing
	}
	if len(args) == 0 || args[0].text == "-" {
		v.unchecked(name, nil)
		return
	}
	for i, a := range args {
		s := a.text
		switch {
		case !a.known:
			v.opaque("an expansion decides what %s runs: %s", name, s)
			return
		case strings.HasPrefix(name, "python") && strings.HasPrefix(s, "-m"):
			return
		case i == len(args)-1 && (s == "--version" || s == "--help" || s == "-V" || s == "-h"):
			return // some go on to the other arguments
		case !strings.HasPrefix(s, "-"):
			return // a file, or a command as deno has it
		case strings.HasPrefix(name, "python") && strings.Trim(s, "-uBEIsSOqv") == "":
		case strings.HasPrefix(name, "node") && (s == "--test" || s == "--check" || s == "-c" || s == "-v"):
		default:
			v.opaque("%s runs code from an argument: %s", name, s)
			return
		}
	}
}

// find reads the arguments of find.
func (v *visitor) find(args []word) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.split && strings.ContainsRune("$*?[{`\"@+!", rune(a.text[0])) {
			v.opaque("an expansion decides what find does: %s", a.text)
		}
		switch a.text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && !(args[end].text == "+" && args[end-1].text == "{}") {
				end++
			}
			words := slices.Clone(args[min(i+1, len(args)):end])
			if slices.ContainsFunc(words, acts) {
				v.opaque("find may run a program that was not checked: %s", join(args)) // the first may be what a test looks for
			}
			for j, w := range words {
				if strings.Contains(w.text, "{}") {
					words[j].known = false
				}
			}
			v.carried("find", words, nil)
			i = end
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(args) {
				i++
				v.write(args[i])
				if acts(args[i]) {
					v.opaque("find may run a program that was not checked: %s", join(args))
				}
			}
		case "-delete":
			v.lower(engine.Readable, "find deletes what it finds")
		}
	}
}

// acts reports whether a word is an action of find's that runs a program.
func acts(w word) bool {
	return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.text)
}

// fd reads the arguments of fd.
func (v *visitor) fd(args []word) {
	for i, a := range args {
		if s := a.text; s == "-x" || s == "-X" || s == "--exec" || s == "--exec-batch" {
			if slices.ContainsFunc(args[i+1:], func(w word) bool { return w.text == ";" }) {
				v.opaque("fd runs more than one command: %s", join(args))
			}
			v.carried("fd", append(slices.Clone(args[i+1:]), word{text: "(input)", split: true}), nil)
			return
		} else if strings.HasPrefix(s, "--exec") || len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.ContainsAny(s, "xX") || a.split {
			v.opaque("fd may run a program that was not checked: %s", s)
		}
	}
}

// ssh reads the arguments of ssh: the words behind the host are a script.
func (v *visitor) ssh(args []word) {
	v.lower(engine.Readable, "ssh runs a command on another machine")
	c := carrier{options: options{flags: "46AaCfGgKkMNnqsTtVvXxYy", valued: "bceilmp"}, operands: 1}
	rest, _, ok := v.options("ssh", c, args)
	if !ok || len(rest) > 0 && rest[0].known && strings.HasPrefix(rest[0].text, "-") {
		v.opaque("ssh may run a program that was not checked: %s", join(args))
		return
	}
	v.joined("ssh", rest)
}

// su reads the arguments of programs that run a script behind -c, or else a
// shell.
func (v *visitor) su(name string, args []word) {
	for i, a := range args {
		if (a.text == "-c" || a.text == "--command" || name == "script" && a.text == "-qc") && i+1 < len(args) && args[i+1].known {
			if name == "script" {
				v.typescript(slices.Concat(args[:i], args[i+2:]))
			} else {
				v.lost()
			}
			v.text(args[i+1].text, name)
			return
		}
		if !a.known {
			break
		}
	}
	v.opaque("%s may run a program that was not checked: %s", name, join(args))
}

// typescript tells what script writes, which has the other arguments.
func (v *visitor) typescript(others []word) {
	others = slices.DeleteFunc(others, func(w word) bool { return w.known && strings.HasPrefix(w.text, "-") })
	if len(others) == 0 {
		others = []word{{text: "typescript", known: true}}
	}
	for _, w := range others {
		v.write(w)
	}
}

// container reads the arguments of programs that run others in containers.
func (v *visitor) container(name string, args []word) {
	if name != "kubectl" {
		args = skip(args, "container") // docker container run is docker run
	}
	for name == "kubectl" && len(args) > 1 && slices.Contains([]string{"-n", "--namespace", "--context", "--cluster"}, args[0].text) && args[1].known {
		args = args[2:]
	}
	if len(args) == 0 {
		return
	}
	switch sub := args[0].text; {
	case !args[0].known, strings.HasPrefix(sub, "-"):
		v.opaque("%s may do more than was checked: %s", name, join(args))
	case name == "kubectl" && (sub == "exec" || sub == "run" || sub == "debug"):
		i := slices.IndexFunc(args, func(w word) bool { return w.text == "--" })
		if i < 0 {
			v.opaque("%s may run a program that was not checked: %s", name, join(args))
			return
		}
		v.carried(name, args[i+1:], nil)
	case name != "kubectl" && (sub == "run" || sub == "exec" || sub == "create"):
		c := carrier{operands: 1, options: options{flags: "itdPq", valued: "vewuplmh", long: []string{"rm", "interactive", "tty", "detach", "init", "read-only", "privileged", "quiet", "publish-all"},
			longer: []string{"name", "volume", "env", "workdir", "user", "publish", "network", "mount", "memory", "cpus", "platform", "label", "hostname", "add-host", "tmpfs", "pull", "cap-drop", "cap-add", "shm-size", "env-file", "device", "gpus", "restart", "security-opt"}}}
		rest, _, ok := v.options(name, c, args[1:])
		if !ok {
			v.opaque("%s may run a program that was not checked: %s", name, join(args))
			return
		}
		v.carried(name, rest, nil)
	case sub == "unshare", sub == "compose" && slices.ContainsFunc(args, func(w word) bool { return w.text == "run" || w.text == "exec" }):
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
	case slices.Contains([]string{"compose", "build", "buildx", "exec", "plugin", "config", "context", "cp", "swarm", "service", "stack"}, sub):
		v.lower(engine.Readable, "%s %s runs programs of its own", name, sub)
	}
}

// parallel reads what can be read of the arguments of parallel, which has too
// many ways to be told what to run.
func (v *visitor) parallel(args []word) {
	v.opaque("parallel may run a program that was not checked: %s", join(args))
	i := slices.IndexFunc(args, func(w word) bool { return !strings.HasPrefix(w.text, "-") })
	if i < 0 {
		return
	}
	words := args[i:]
	if end := slices.IndexFunc(words, func(w word) bool { return strings.HasPrefix(w.text, ":::") }); end >= 0 {
		words = words[:end]
	}
	v.joined("parallel", words)
}
