//go:build unix

package script

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gemline/engine"
	"gemline/engine/enginetest"
)

// observer runs scripts that it reads, each ended by a NUL, in one bash, and
// writes what the shell has set and defined before and behind each. What should
// never run is called canary and notes that it did.
const observer = `
export LC_ALL=C.UTF-8
canary() { builtin printf '\nran canary\n' >&9; }
command_not_found_handle() { :; }
state() { # bash may be told to lose any of them
	builtin printf '\0'
	builtin declare -p; builtin declare -f; builtin alias; builtin shopt -p; builtin set +o; builtin trap -p; builtin complete -p
	builtin enable -a; builtin umask; builtin ulimit -S -n; builtin hash
} >&9 2>/dev/null
while IFS= read -r -d '' script; do
	(builtin printf '\0'; state; eval -- "$script" </dev/null >/dev/null 2>&1; state) >&9 2>/dev/null
	builtin printf '\0\0\0' >&9
done
`

// quiet builtins would end what observes them.
var quiet = []string{"kill", "suspend"}

// What bash has itself sets, defines and runs nothing in a plain script, and
// in a readable one nothing that runs and was not told.
func TestBuiltinsAgainstBash(t *testing.T) {
	for _, shell := range bashes(t) {
		t.Run(shell, func(t *testing.T) { builtinsAgainst(t, shell) })
	}
}

func builtinsAgainst(t *testing.T, shell string) {
	out, err := exec.Command(shell, "-c", "compgen -b").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	for _, name := range all {
		if !IsBuiltin(name) {
			t.Errorf("%s is not known to be one of the shell's", name)
		}
	}
	r := enginetest.Random(t, 0)
	const batch = 500
	plain, readable := 0, 0
	for done, total := 0, size(400, 400_000); done < total; done += batch {
		var texts []string
		for len(texts) < batch {
			name := all[r.IntN(len(all))]
			if r.IntN(2) == 0 {
				name = slices.Sorted(maps.Keys(telling))[r.IntN(len(telling))]
			}
			if text := invocation(r, name); !slices.Contains(quiet, name) && Read(text).Class != engine.Opaque {
				texts = append(texts, text)
			}
		}
		for i, seen := range observe(t, shell, texts) {
			s := Read(texts[i])
			if s.Class == engine.Plain {
				plain++
			} else {
				readable++
			}
			for _, problem := range seen.problems(s) {
				t.Errorf("%s\n%s: %s", texts[i], s.Class, problem)
			}
		}
	}
	t.Logf("builtins: %d plain and %d readable random commands changed nothing that was not told", plain, readable)
	if plain < 100 || readable < 100 {
		t.Error("hardly any were looked at")
	}
}

// telling are words that say more to some commands than to others.
var telling = map[string][]string{
	"printf":  {"%n", "x%n", "%5n", "%ln", "%*n", "%.*n", "%-n", "%%n", "% %n", `\x25n`, "%s", "--", "-v", "x", "PATH", "3"},
	"compgen": {"-W", "-C", "-F", "-X", "-G", "-A", "-P", "$(canary)", "canary", "function", "x"},
	"jobs":    {"-x", "-l", "canary", "%1"},
	"set":     {"-k", "-H", "-o", "+o", "--", "-e", "keyword", "history", "histexpand", "posix", "PATH=/x"},
	"test":    {"-v", "-R", "-n", "!", "a[$(canary)]", "x[0]", "-eq", "-a", "(", ")"},
	"alias":   {"canary=x", "-p", "x=canary"},
	"hash":    {"-p", "/dev/null", "canary", "-l", "-r"},
	"read":    {"-a", "-d", "PATH", "x", "-i", "a[$(canary)]"},
}

// invocation returns a command with random options and operands.
func invocation(r *rand.Rand, name string) string {
	operands := []string{"x", "PATH", "IFS", "ENV", "canary", "x=1", "PATH=/x", "x[0]", "a[$(canary)]", "a[`canary`]=1", "$(canary)", "x%n", "%n", "%5n", "%ln", "%*n", "%-n", "%%n", "%s", "%d %s\n", "%(%Y)T",
		`\x25n`, `\045n`, "%", "%q", "--", "-", "-v", "-x", "-p", "-n", "-o", "-k", "+o", "-W", "-C", "-F", "1", "0", "!", "=", "-eq", "%1", "EXIT", "DEBUG", "posix", "keyword", "history", "histexpand", "extglob", "expand_aliases", "nullglob", "pipefail", "/dev/null", "."}
	text := name
	if r.IntN(8) == 0 {
		text = []string{"command ", "builtin ", "command -- "}[r.IntN(3)] + name
	}
	for range r.IntN(5) {
		word := operands[r.IntN(len(operands))]
		if own := telling[name]; own != nil && r.IntN(4) > 0 {
			word = own[r.IntN(len(own))]
		}
		if r.IntN(3) == 0 {
			const letters = "aAbBcCdDeEfFgGhHiIjkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"
			word = string("-+"[r.IntN(20)/19])
			for range 1 + r.IntN(2) {
				word += string(letters[r.IntN(len(letters))])
			}
		}
		text += " " + Quote(word)
	}
	return text
}

// An observation is what a script did to a shell.
type observation struct {
	before, after string
	ended         bool // the script ended the shell
	ran           bool // what should never run
}

// observe returns what each of scripts does to shell.
func observe(t *testing.T, shell string, scripts []string) []observation {
	t.Helper()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cwd := filepath.Join(dir, "empty")
	if err := os.Mkdir(cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, s := range scripts {
		fmt.Fprintf(&in, "%s\x00", s)
	}
	cmd := exec.Command(shell, "--norc", "--noprofile", "-c", observer)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir, cmd.Env, cmd.Stdin = cwd, []string{"PATH=/nowhere", "HOME=" + cwd}, &in
	cmd.ExtraFiles = []*os.File{log, log, log, log, log, log, log}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	written, err := os.ReadFile(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	runs := strings.Split(strings.TrimSuffix(string(written), "\x00\x00\x00"), "\x00\x00\x00")
	if len(runs) != len(scripts) {
		t.Fatalf("%d of %d scripts were observed", len(runs), len(scripts))
	}
	all := make([]observation, len(scripts))
	for i, run := range runs {
		states := strings.Split(strings.TrimLeft(run, "\x00"), "\x00")
		o := observation{before: states[0], ended: len(states) < 2, ran: strings.Contains(run, "\nran canary\n")}
		if !o.ended {
			o.after = states[1]
		}
		o.before, o.after = steady(o.before), steady(o.after)
		all[i] = o
	}
	return all
}

// passing are the variables that no command sets, or each one does.
var passing = regexp.MustCompile(`^declare -\S+ (_|BASH_\w+|BASHPID|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH\w+|FUNCNAME|PIPESTATUS|PWD|OLDPWD|DIRSTACK|HISTCMD|script)\b`)

// steady returns a state without what changes by itself.
func steady(state string) string {
	var b strings.Builder
	for line := range strings.Lines(state) {
		if !passing.MatchString(line) && line != "\n" && line != "ran canary\n" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// deciding are lines about what commands mean, and which programs they are.
var deciding = regexp.MustCompile(`^(declare -\S* (PATH|IFS|ENV|BASH_ENV)\b|alias |complete |enable |set .o (keyword|posix|history|histexpand)|shopt .* (extglob|expand_aliases)|hits)`)

var attributes = regexp.MustCompile(`(?m)^declare -\S+ (\w+$)?`)

// problems returns what a script did that was not read of it.
func (o observation) problems(s Script) (all []string) {
	told := slices.ContainsFunc(s.Commands, func(c engine.Command) bool { return len(c.Argv) > 0 && c.Argv[0].Text == "canary" })
	if o.ran && !told {
		all = append(all, "it runs what is a word of it")
	}
	if o.ended {
		return all
	}
	if s.Class != engine.Plain { // which may be exported, or made such that it can't be changed
		o.before, o.after = attributes.ReplaceAllString(o.before, "declare - "), attributes.ReplaceAllString(o.after, "declare - ")
	}
	before, after := slices.Collect(strings.Lines(o.before)), slices.Collect(strings.Lines(o.after))
	for i, lists := range [][][]string{{before, after}, {after, before}} {
		for _, line := range lists[0] {
			if !slices.Contains(lists[1], line) && (s.Class == engine.Plain || deciding.MatchString(line)) {
				all = append(all, []string{"it takes away ", "it leaves "}[i]+line)
			}
		}
	}
	return all
}
