package script

import (
	"slices"
	"strings"
)

// A carrier is a program that runs the command that its arguments end in.
type carrier struct {
	flags    string   // letters of options without a value
	valued   string   // letters of options with one
	long     []string // long options without a value, or with one behind a = only
	longer   []string // long options with one, behind a = or in the next word
	operands int      // how many words stand before the command
	sets     bool     // NAME=value may stand before the command
	joins    bool     // the command is a script for a shell
	appends  bool     // what else the command is given is not known
	digits   bool     // -5 is an option
	number   bool     // the operand is a number, and may be left out
	shell    string   // letters of the options whose value is a script
	away     bool     // it runs in another directory, or under another root
}

// carriers are the carriers that are known. An option that is not among theirs
// makes the script opaque: where the command begins is not known then.
var carriers = map[string]carrier{
	"sudo": {flags: "AbEHknPSB", valued: "ugpCThrtRDU", sets: true,
		long: []string{"preserve-env", "non-interactive", "background", "set-home", "stdin", "askpass", "reset-timestamp", "preserve-groups", "bell"}, longer: []string{"user", "group", "prompt", "host", "chdir", "chroot", "close-from", "role", "type", "command-timeout", "other-user"}},
	"doas":    {flags: "nL", valued: "uC"},
	"pkexec":  {long: []string{"disable-internal-agent", "keep-cwd"}, longer: []string{"user"}},
	"env":     {flags: "i0v", valued: "uC", sets: true, long: []string{"ignore-environment", "debug", "null", "block-signal", "default-signal", "ignore-signal"}, longer: []string{"unset", "chdir"}},
	"timeout": {flags: "vfp", valued: "ks", operands: 1, long: []string{"preserve-status", "foreground", "verbose"}, longer: []string{"kill-after", "signal"}},
	"nice":    {valued: "n", digits: true, longer: []string{"adjustment"}},
	"ionice":  {flags: "t", valued: "cn", long: []string{"ignore"}, longer: []string{"class", "classdata"}},
	"chrt":    {flags: "abdfiorRv", valued: "TPD", operands: 1, number: true},
	"taskset": {flags: "ac", operands: 1, long: []string{"cpu-list"}},
	"nohup":   {},
	"setsid":  {flags: "cfw", long: []string{"ctty", "fork", "wait"}},
	"stdbuf":  {valued: "ioe", longer: []string{"input", "output", "error"}},
	"time":    {flags: "apvq", valued: "f", long: []string{"append", "portability", "verbose", "quiet"}, longer: []string{"format"}},
	"strace":  {flags: "cCdfFhiknqrtTvwxyzZDY", valued: "abeIOpsSuUXP", long: []string{"follow-forks", "summary-only"}, longer: []string{"trace"}},
	"ltrace":  {flags: "bcCfhiLrStT", valued: "aAeFlnsuwx"},
	"flock":   {flags: "exsnuoFv", valued: "wE", operands: 1, shell: "c", long: []string{"nonblock", "nb", "exclusive", "shared", "close", "no-fork", "verbose", "unlock"}, longer: []string{"timeout", "wait", "conflict-exit-code"}},
	"chroot":  {operands: 1, away: true, long: []string{"skip-chdir"}, longer: []string{"userspec", "groups"}},
	"unshare": {flags: "muinpUCTfrc", valued: "SGRw", away: true, long: []string{"mount", "uts", "ipc", "net", "pid", "user", "cgroup", "time", "fork", "map-root-user", "map-current-user", "mount-proc", "kill-child"}},
	"nsenter": {flags: "amuinpUCTFr", valued: "tSGW", away: true, long: []string{"all", "mount", "net", "pid", "user"}, longer: []string{"target"}},
	"watch":   {flags: "bcCdegptwxr", valued: "nq", joins: true, long: []string{"beep", "color", "no-title", "errexit", "chgexit", "precise", "exec"}, longer: []string{"interval"}},
	"xargs": {flags: "0prtxo", valued: "InPLdsE", appends: true, long: []string{"null", "no-run-if-empty", "verbose", "exit", "open-tty", "interactive", "max-lines"},
		longer: []string{"replace", "max-args", "max-procs", "delimiter", "max-chars"}},
	"setpriv": {long: []string{"no-new-privs", "clear-groups", "keep-groups", "init-groups", "reset-env"}, longer: []string{"reuid", "regid", "ruid", "euid", "groups", "bounding-set", "inh-caps", "ambient-caps"}},
	"prlimit": {long: []string{"nofile", "nproc", "as", "cpu", "fsize", "core", "stack"}},
	"busybox": {}, "toybox": {}, "chronic": {flags: "ve"}, "fakeroot": {}, "unbuffer": {flags: "p"}, "caffeinate": {flags: "disu", valued: "t"},
	"command": {flags: "p"}, "builtin": {}, "exec": {flags: "cl", valued: "a"}, "dbus-run-session": {}, "linux64": {}, "linux32": {},
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
		v.opaque("what %s runs can't be told: %s", name, join(args))
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
			args = args[1:]
			return v.operands(c, args, env, replace)
		case s == "-" && name == "env":
			args = args[1:]
		case c.digits && len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "0123456789") == "":
			args = args[1:]
		case strings.HasPrefix(s, "--"):
			key, _, given := strings.Cut(s[2:], "=")
			switch {
			case slices.Contains(c.longer, key) && !given:
				if len(args) < 2 || !args[1].known {
					return nil, nil, false
				}
				args = args[1:]
			case slices.Contains(c.longer, key), slices.Contains(c.long, key):
			default:
				return nil, nil, false
			}
			if key == "chdir" || key == "chroot" {
				v.lost()
			}
			if key == "replace" {
				return nil, nil, false
			}
			args = args[1:]
		case len(s) > 1 && s[0] == '-':
			n, value, ok := c.letters(s[1:], args[1:])
			if !ok {
				return nil, nil, false
			}
			if name == "xargs" && strings.HasPrefix(s, "-I") {
				replace = value
			}
			if strings.ContainsAny(s, "CDR") && (name == "env" || name == "sudo") {
				v.lost()
			}
			args = args[1+n:]
		case c.sets && strings.Contains(s, "="):
			key, value, _ := strings.Cut(s, "=")
			v.set(key, word{text: value, known: true})
			env = append(env, s)
			args = args[1:]
		default:
			return v.operands(c, args, env, replace)
		}
	}
	return nil, env, true
}

// letters reads a word of short options. It returns how many words behind it
// belong to it, and the value of the last.
func (c carrier) letters(s string, next []word) (n int, value string, ok bool) {
	for i := range len(s) {
		switch {
		case strings.IndexByte(c.flags, s[i]) >= 0:
		case strings.IndexByte(c.valued, s[i]) >= 0:
			if i+1 < len(s) {
				return 0, s[i+1:], true
			}
			if len(next) == 0 || !next[0].known {
				return 0, "", false
			}
			return 1, next[0].text, true
		default:
			return 0, "", false
		}
	}
	return 0, "", true
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
	if c.shell != "" && len(args) > 0 && args[0].known && strings.HasPrefix(args[0].text, "-") {
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
