//go:build unix

package script

import (
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/tools/shell/program"
)

// The programs that run others take the words behind each of their options for
// what they are told here to be: what they run, when they are run for real, is
// among what was told, or the script is opaque.
func TestWrappersAgainstBash(t *testing.T) {
	// Those that ask for a password, mount things, or go on for ever.
	left := []string{"sudo", "doas", "pkexec", "unshare", "nsenter", "chroot", "watch", "dbus-run-session", "command", "builtin", "exec", "time"}
	behind := []string{"alpha beta gamma", "1 alpha beta"}
	if enginetest.Soak() {
		behind = append(behind, "1 1 alpha beta", "-- alpha beta", "-- 1 alpha beta")
	} else {
		left = append(left, "strace", "ltrace", "fakeroot", "unbuffer") // which take long
	}
	var names []string
	for _, p := range program.Entries() {
		if p.Usage != nil && p.Grammar == "" && !strings.Contains(p.Names[0], " ") {
			names = append(names, p.Names...)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(left, name) })
	slices.Sort(names)
	shell := bashes(t)[0]
	path, found := noting(t, shell, names...)
	var scripts []string
	for _, name := range found {
		var options []string
		for _, o := range program.Find(name).Options {
			for _, s := range o.Spellings {
				if options = append(options, s); strings.HasPrefix(s, "--") {
					options = append(options, s+"=1000000000")
				}
			}
		}
		for _, o := range append(options, "-1", "--") {
			for _, words := range behind {
				script := name + " " + o + " " + words
				if name == "xargs" {
					script += " <<< x"
				}
				scripts = append(scripts, script)
			}
		}
	}
	ran := 0
	for i, commands := range bash(t, shell, path, scripts, func(int) int { return 0 }) {
		s := Read(scripts[i])
		for _, c := range commands {
			if ran++; s.Class != engine.Opaque && !slices.ContainsFunc(s.Commands, func(told engine.Command) bool { return covers(told, c) }) {
				t.Errorf("%s\nruns %q; told is %s", scripts[i], c, told(s))
			}
		}
	}
	t.Logf("wrappers: %d ways to call %q ran %d commands", len(scripts), found, ran)
	if len(found) > 6 && ran < 20 {
		t.Error("they hardly ran anything")
	}
}
