package script

import (
	"slices"
	"strings"
)

// A carrier is a program that runs the command that its arguments end in.
type carrier struct {
	options
	operands int  // how many words stand before the command
	sets     bool // NAME=value may stand before the command
	joins    bool // the command is a script for a shell
	appends  bool // what else the command is given is not known
	digits   bool // -5 is an option
	number   bool // the operand is a number, and may be left out
	script   bool // -c and a script may stand in place of the command
	away     bool // it runs in another directory, or under another root
}

// carriers are the carriers that are known. An option that is not among theirs
// makes the script opaque: where the command begins is not known then.
var carriers = map[string]carrier{
	"sudo": {options: options{flags: "AbEHknPSB", valued: "ugpCThrtRDU",
		long: []string{"preserve-env", "non-interactive", "background", "set-home", "stdin", "askpass", "reset-timestamp", "preserve-groups", "bell"}, longer: []string{"user", "group", "prompt", "host", "chdir", "chroot", "close-from", "role", "type", "command-timeout", "other-user"}}, sets: true},
	"doas":    {options: options{flags: "nL", valued: "uC"}},
	"pkexec":  {options: options{long: []string{"disable-internal-agent", "keep-cwd"}, longer: []string{"user"}}},
	"env":     {options: options{flags: "i0v", valued: "uC", long: []string{"ignore-environment", "debug", "null", "block-signal", "default-signal", "ignore-signal"}, longer: []string{"unset", "chdir"}}, sets: true},
	"timeout": {options: options{flags: "vfp", valued: "ks", long: []string{"preserve-status", "foreground", "verbose"}, longer: []string{"kill-after", "signal"}}, operands: 1},
	"nice":    {options: options{valued: "n", longer: []string{"adjustment"}}, digits: true},
	"ionice":  {options: options{flags: "t", valued: "cn", long: []string{"ignore"}, longer: []string{"class", "classdata"}}},
	"chrt":    {options: options{flags: "abdfiorRv", valued: "TPD"}, operands: 1, number: true},
	"taskset": {options: options{flags: "ac", long: []string{"cpu-list"}}, operands: 1},
	"nohup":   {},
	"setsid":  {options: options{flags: "cfw", long: []string{"ctty", "fork", "wait"}}},
	"stdbuf":  {options: options{valued: "ioe", longer: []string{"input", "output", "error"}}},
	"time":    {options: options{flags: "apvq", valued: "f", long: []string{"append", "portability", "verbose", "quiet"}, longer: []string{"format"}}},
	"strace":  {options: options{flags: "cCdfFhiknqrtTvwxyzZDY", valued: "abeIOpsSuUXP", long: []string{"follow-forks", "summary-only"}, longer: []string{"trace"}}},
	"ltrace":  {options: options{flags: "bcCfhiLrStT", valued: "aAeFlnsuwx"}},
	"flock":   {options: options{flags: "exsnuoFv", valued: "wE", long: []string{"nonblock", "nb", "exclusive", "shared", "close", "no-fork", "verbose", "unlock"}, longer: []string{"timeout", "wait", "conflict-exit-code"}}, operands: 1, script: true},
	"chroot":  {options: options{long: []string{"skip-chdir"}, longer: []string{"userspec", "groups"}}, operands: 1, away: true},
	"unshare": {options: options{flags: "muinpUCTfrc", valued: "SGRw", long: []string{"mount", "uts", "ipc", "net", "pid", "user", "cgroup", "time", "fork", "map-root-user", "map-current-user", "mount-proc", "kill-child"}}, away: true},
	"nsenter": {options: options{flags: "amuinpUCTFr", valued: "tSGW", long: []string{"all", "mount", "net", "pid", "user"}, longer: []string{"target"}}, away: true},
	"watch":   {options: options{flags: "bcCdegptwxr", valued: "nq", long: []string{"beep", "color", "no-title", "errexit", "chgexit", "precise", "exec"}, longer: []string{"interval"}}, joins: true},
	"xargs": {options: options{flags: "0prtxo", valued: "InPLdsE", long: []string{"null", "no-run-if-empty", "verbose", "exit", "open-tty", "interactive", "max-lines"},
		longer: []string{"replace", "max-args", "max-procs", "delimiter", "max-chars"}}, appends: true},
	"setpriv": {options: options{long: []string{"no-new-privs", "clear-groups", "keep-groups", "init-groups", "reset-env"}, longer: []string{"reuid", "regid", "ruid", "euid", "groups", "bounding-set", "inh-caps", "ambient-caps"}}},
	"prlimit": {options: options{long: []string{"nofile", "nproc", "as", "cpu", "fsize", "core", "stack"}}},
	"choom":   {options: options{valued: "n", longer: []string{"adjust"}}},
	"busybox": {}, "toybox": {}, "chronic": {options: options{flags: "ve"}}, "fakeroot": {}, "unbuffer": {options: options{flags: "p"}}, "caffeinate": {options: options{flags: "disu", valued: "t"}},
	"command": {options: options{flags: "p"}}, "builtin": {}, "exec": {options: options{flags: "cl", valued: "a"}}, "dbus-run-session": {}, "linux64": {}, "linux32": {},
}

// prefix reads a carrier's arguments.
func (v *visitor) prefix(name string, args []word) {
	c := carriers[name]
	if c.away {
		v.lost()
	}
	if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return // it only says what a name means
	}
	rest, env, ok := v.options(name, c, args)
	if !ok {
		v.opaque("%s may run a program that was not checked: %s", name, join(args))
		return
	}
	switch {
	case len(rest) == 0 && c.appends:
		return // xargs echoes
	case c.joins:
		v.joined(name, rest)
		return
	case c.appends:
		rest = append(slices.Clone(rest), word{text: "(input)", split: true})
	}
	v.carried(name, rest, env)
}

// options returns what of args is behind a carrier's options and operands.
func (v *visitor) options(name string, c carrier, args []word) (rest []word, env []string, ok bool) {
	replace := "" // of xargs -I
	for len(args) > 0 {
		a := args[0]
		if !a.known {
			return nil, nil, false
		}
		switch s := a.text; {
		case s == "--":
			return v.operands(c, args[1:], env, replace)
		case s == "-" && name == "env", c.digits && len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "0123456789") == "":
			args = args[1:]
		case c.sets && !strings.HasPrefix(s, "-") && strings.Contains(s, "="):
			key, value, _ := strings.Cut(s, "=")
			v.set(key, word{text: value, known: true})
			env = append(env, s)
			args = args[1:]
		case len(s) < 2 || s[0] != '-':
			return v.operands(c, args, env, replace)
		default:
			found, values, ok := c.take(args)
			if !ok {
				return nil, nil, false
			}
			for _, o := range found {
				switch {
				case !o.value.known, o.name == "replace":
					return nil, nil, false
				case o.name == "I" && name == "xargs":
					replace = o.value.text
				case slices.Contains([]string{"C", "D", "R"}, o.name) && (name == "env" || name == "sudo"), o.name == "chdir", o.name == "chroot":
					v.lost()
				}
			}
			args = args[1+values:]
		}
	}
	return nil, env, true
}

// operands returns what of args is behind the words that stand before the
// command, and adds to env what they set for it.
func (v *visitor) operands(c carrier, args []word, env []string, replace string) ([]word, []string, bool) {
	for range c.operands {
		if len(args) == 0 || args[0].split || c.number && strings.Trim(args[0].text, "0123456789") != "" {
			return nil, nil, false
		}
		args = args[1:]
	}
	if c.sets {
		for len(args) > 0 && args[0].known && strings.Contains(args[0].text, "=") {
			key, value, _ := strings.Cut(args[0].text, "=")
			v.set(key, word{text: value, known: true})
			env = append(env, args[0].text)
			args = args[1:]
		}
	}
	if c.script && len(args) > 0 && args[0].known && strings.HasPrefix(args[0].text, "-") {
		if args[0].text == "-c" && len(args) == 2 && args[1].known {
			v.text(args[1].text, "flock")
			return nil, env, true
		}
		return nil, nil, false
	}
	if replace != "" {
		args = slices.Clone(args)
		for i, a := range args {
			if strings.Contains(a.text, replace) {
				args[i].known = false
			}
		}
	}
	return args, env, true
}
