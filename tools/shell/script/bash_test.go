//go:build unix

package script

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
	"gemline/engine/enginetest"
)

// size returns how many inputs a test takes.
func size(small, full int) int {
	switch {
	case enginetest.Soak():
		return full
	case testing.Short():
		return small / 20
	case enginetest.Raced:
		return small / 5 // readers are alone with their text
	}
	return small
}

// programs are those that scripts may run: all they do is to note that they
// were run. None of them exists.
var programs = []string{"alpha", "beta", "gamma", "a-b", "x.y", "rm", "git", "café"}

// driver runs scripts that it reads, each ended by a NUL, in one bash. What
// they run is a function, or not found; both note the number of the script and
// the words, and succeed or not as told in front of the script. A note is one
// write, or two could mix: bash ends a write at a line end.
const driver = `
export LC_ALL=C.UTF-8 I=-1 S
note() { builtin printf '%s\0' "$I" "$#" "${@//$'\n'/$'\1'}" >&9; return $S; }
command_not_found_handle() { note "$@"; }
for name in PROGRAMS; do eval "$name() { note $name \"\$@\"; }"; done
while IFS= read -r -d '' S && IFS= read -r -d '' script; do
	I=$((I + 1))
	set --
	if [ "$PATH" = /nowhere ]; then
		eval -- "$script" </dev/null 2>/dev/null
	else # a mistake in a calculation ends a shell
		(eval -- "$script"; wait) </dev/null 2>/dev/null
	fi
	wait
done
builtin printf 'end' >&9
`

// bashes returns each bash that is there, of which one has to be.
func bashes(t testing.TB) (all []string) {
	for _, name := range []string{"bash", "bash-5.3", "bash5.3", "/usr/local/bin/bash", "/opt/bash/bin/bash"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err == nil && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	if all == nil {
		t.Skip("no bash")
	}
	return all
}

// bash runs scripts and returns, for each, the commands that it ran. Where
// status is 1 every command fails. path is where they find programs.
func bash(t testing.TB, shell, path string, scripts []string, status func(i int) int) [][][]string {
	t.Helper()
	dir := t.TempDir()
	var in bytes.Buffer
	for i, s := range scripts {
		fmt.Fprintf(&in, "%d\x00%s\x00", status(i), s)
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cwd := filepath.Join(dir, "empty")
	if err := os.Mkdir(cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell, "--norc", "--noprofile", "-c", strings.Replace(driver, "PROGRAMS", strings.Join(programs, " "), 1))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // nothing is asked at a terminal
	cmd.Dir, cmd.Env, cmd.Stdin = cwd, []string{"PATH=" + path, "HOME=" + cwd}, &in
	// 9 is a descriptor that the scripts have no way to name.
	cmd.ExtraFiles = []*os.File{log, log, log, log, log, log, log}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("bash: %v\n%s", err, stderr.Bytes())
	}
	written, err := os.ReadFile(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Split(strings.ReplaceAll(string(written), "\x01", "\n"), "\x00")
	if !slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "end") }) {
		t.Fatalf("bash left too early; the last it ran was %q", fields[max(0, len(fields)-9):])
	}
	ran := make([][][]string, len(scripts))
	for len(fields) > 2 {
		fields[0] = strings.TrimPrefix(fields[0], "end") // what a script left behind goes on
		i, err := strconv.Atoi(fields[0])
		n, err2 := strconv.Atoi(fields[1])
		if err != nil || err2 != nil || n > len(fields)-2 {
			t.Fatalf("log: %q", fields[:min(len(fields), 5)])
		}
		ran[i], fields = append(ran[i], fields[2:n+2]), fields[n+2:]
	}
	return ran
}

// expected returns the commands of s that run if each has the status.
func expected(s *syntax.Stmt, status int) (all [][]string) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		var words []string
		for _, w := range c.Args {
			words = append(words, literal(w).text)
		}
		return [][]string{words}
	case *syntax.BinaryCmd:
		all = expected(c.X, status)
		if c.Op == syntax.Pipe || (c.Op == syntax.AndStmt) == (status == 0) {
			all = append(all, expected(c.Y, status)...)
		}
	}
	return all
}

// safe reports whether a plain script runs nothing but what can be noted: no
// files, and none of the commands of the shell itself.
func safe(s Script) bool {
	for _, c := range s.Commands {
		name := c.Argv[0].Text
		if strings.Contains(name, "/") || IsBuiltin(name) || name == "note" || name == "command_not_found_handle" {
			return false
		}
	}
	return true
}

// pieces are what random scripts are made of: what belongs there, and what
// readers may disagree about.
var pieces = []string{" ", " ", " ", " ", " ", "; ", " && ", " || ", "\n", " | ", "\t", "alpha", "beta", "gamma ", "rm ", "git ", "a-b ", "x.y ", "café ", "-x", "--long=v", "a", "b1", "0", "1", "2", "é", "日本", ".", ",", ":", "@", "%", "+", "_", "=", "^", "!", "#", "]", "}", "{",
	"'", `"`, `\`, `\\`, `\'`, `\"`, `\ `, `\;`, `\#`, `\$`, `\n`, "$", "$'", `$"`, `'a b'`, `"c d"`, `""`, "''", `'\''`, `$'\n'`, `$'\x41\101\t'`, `"\$x"`, "{}", "{a", "a}", "~", "a~", "=~", "HEAD~1", "@{1}",
	" >/dev/null", " 2>&1", " 2>/dev/null", " </dev/null", " >&2", "&>/dev/null", " # no more", "#", "if", "then", "fi", "time ", "! ", "[[", "]]", "do", "in", "case", "function ", "coproc ", "select", "&", "(", ")", "<", "*", "?", "[", "`"}

// babble returns a random text.
func babble(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(3) > 0 {
		b.WriteString(programs[r.IntN(len(programs))] + " ")
	}
	for range 1 + r.IntN(9) {
		n := len(pieces)
		if r.IntN(4) > 0 {
			n = 48 // seldom the odder ones
		}
		b.WriteString(pieces[r.IntN(n)])
	}
	return b.String()
}

// What bash runs of a plain script is what was read of it.
func TestPlainAgainstBash(t *testing.T) {
	for _, shell := range bashes(t) {
		t.Run(shell, func(t *testing.T) { plainAgainst(t, shell) })
	}
}

func plainAgainst(t *testing.T, shell string) {
	r := enginetest.Random(t, 0)
	const batch = 5000
	tried, taken := 0, 0
	for total := size(6000, 1_000_000); tried < total; {
		var texts, run []string
		for len(texts) < batch && tried < total {
			tried++
			text := babble(r)
			if s := Read(text); s.Class == engine.Plain && safe(s) {
				texts = append(texts, text)
			}
		}
		taken += len(texts)
		for i, text := range texts {
			if i%4 == 0 {
				text, _ = Read(text).Canonical()
			}
			run = append(run, text)
		}
		status := func(i int) int { return i % 2 }
		for i, got := range bash(t, shell, "/nowhere", run, status) {
			file, _ := syntax.NewParser().Parse(strings.NewReader(texts[i]), "")
			var want [][]string
			for _, s := range file.Stmts {
				want = append(want, expected(s, status(i))...)
			}
			if strings.Contains(run[i], "|") { // what stands in a pipeline runs at the same time
				slices.SortFunc(want, slices.Compare)
				slices.SortFunc(got, slices.Compare)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, of %q\n%s", run[i], texts[i], diff)
			}
		}
	}
	t.Logf("plain: %d random scripts, %d of them plain, none run otherwise than read", tried, taken)
	if taken*5 < tried {
		t.Errorf("only %d of %d were plain", taken, tried)
	}
}

// FuzzPlain is the same, with scripts that a fuzzer makes.
func FuzzPlain(f *testing.F) {
	f.Add(`alpha 'a b' && beta | gamma 2>&1`)
	f.Add(`"rm" $'\x41' \{a,b} # x`)
	f.Fuzz(func(t *testing.T, text string) {
		s := Read(text)
		if s.Class != engine.Plain || !safe(s) {
			return
		}
		canonical, _ := s.Canonical()
		ran := bash(t, bashes(t)[0], "/nowhere", []string{text, canonical}, func(int) int { return 0 })
		for _, one := range ran {
			slices.SortFunc(one, slices.Compare)
		}
		if diff := cmp.Diff(ran[0], ran[1]); diff != "" {
			t.Errorf("%q is run otherwise than %q\n%s", text, canonical, diff)
		}
	})
}

// Every program that bash runs of a script was told, or the script is opaque.
func TestReadableAgainstBash(t *testing.T) {
	for _, shell := range bashes(t) {
		t.Run(shell, func(t *testing.T) { readableAgainst(t, shell) })
	}
}

// noting returns a directory with programs that note that they were run, and
// those that are there of others.
func noting(t *testing.T, shell string, others ...string) (path string, found []string) {
	path = t.TempDir()
	for _, name := range programs {
		shim := "#!" + shell + "\nset -- " + name + " \"$@\"\nprintf '%s\\0' \"$I\" \"$#\" \"${@//$'\\n'/$'\\1'}\" >&9\nexit $S\n"
		if err := os.WriteFile(filepath.Join(path, name), []byte(shim), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range others {
		real, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if err := os.Symlink(real, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
		found = append(found, name)
	}
	return path, found
}

func readableAgainst(t *testing.T, shell string) {
	needed := []string{"env", "timeout", "nice", "nohup", "setsid", "xargs", "find", "stdbuf", "bash", "sh", "cat", "true"}
	path, found := noting(t, shell, needed...)
	if len(found) < len(needed) {
		t.Skipf("of %q only %q are there", needed, found)
	}
	r := enginetest.Random(t, 0)
	const batch = 500
	readable, ran := 0, 0
	g := grammar{r: r} // one, so that no function has the name of another script's
	for done, total := 0, size(400, 200_000); done < total; done += batch {
		var texts []string
		for len(texts) < min(batch, total) {
			if text := g.list(3); Read(text).Class != engine.Opaque {
				texts = append(texts, text)
			} else if len(texts)%10 == 0 {
				texts = append(texts, "true") // it counts as one
			}
		}
		for i, commands := range bash(t, shell, path, texts, func(i int) int { return i % 2 }) {
			s := Read(texts[i])
			if s.Class == engine.Readable {
				readable++
			}
			for _, c := range commands {
				if ran++; !slices.ContainsFunc(s.Commands, func(told engine.Command) bool { return covers(told, c) }) {
					t.Errorf("%s\nruns %q; told is %s", texts[i], c, told(s))
				}
			}
		}
	}
	t.Logf("readable: %d random scripts, %d of them readable, ran %d commands", size(400, 200_000), readable, ran)
	if ran < readable/2 {
		t.Error("they hardly ran anything")
	}
}

// covers reports whether a command that was told may have been run as words.
func covers(c engine.Command, words []string) bool {
	for i, w := range c.Argv {
		if !w.Known {
			return i > 0
		}
		if i >= len(words) || words[i] != w.Text {
			return false
		}
	}
	return len(words) == len(c.Argv)
}

// A grammar makes random scripts of everything that the shell has.
type grammar struct {
	r         *rand.Rand
	functions int
}

func (g *grammar) pick(all ...string) string { return all[g.r.IntN(len(all))] }

func (g *grammar) list(depth int) string {
	text := g.command(depth)
	for range g.r.IntN(2) {
		text += g.pick("; ", " && ", " || ", " | ", "\n") + g.command(depth)
	}
	return text
}

func (g *grammar) command(depth int) string {
	if depth == 0 || g.r.IntN(3) == 0 {
		return g.simple(depth)
	}
	d := depth - 1
	switch g.r.IntN(34) {
	case 25:
		return g.simple(d) + " |& " + g.simple(d)
	case 26:
		return "case " + g.word(d) + " in a) " + g.list(d) + g.pick(";;", ";&", ";;&") + " (*) " + g.simple(d) + "\nesac"
	case 27:
		return "select v in a " + g.word(d) + "; do " + g.list(d) + "; done"
	case 28:
		return g.pick("let ", "let 1+1 ") + g.pick("1", "'2*3'") + "; ((" + g.number(d) + ")); " + g.simple(d)
	case 29:
		return "[[ " + g.test(d) + " ]]"
	case 30:
		return g.pick("x[0]=", "x[$("+g.simple(0)+")]=", "x+=", "declare -a x=", "readonly r$RANDOM=", "local x=") + g.pick("1", "$("+g.simple(d)+")")
	case 31:
		return g.pick("x=", "x+=", "declare x=") + "([1]=$(" + g.simple(d) + ") b)"
	case 32:
		return g.simple(d) + g.pick(" 2>&1", " <&0", " >&2", " 3<&0", " &>>out", " 0<in", " {v}>out", " <<< "+g.word(d))
	case 0:
		return "(" + g.list(d) + ")"
	case 1:
		return "{ " + g.list(d) + "; }"
	case 2:
		return "if " + g.list(d) + "; then " + g.list(d) + "; else " + g.list(d) + "; fi"
	case 3:
		return g.pick("while ", "until ") + g.list(d) + "; do " + g.list(d) + "; break; done"
	case 4:
		return "for v in a " + g.word(d) + "; do " + g.list(d) + "; done"
	case 5:
		return "case " + g.word(d) + " in " + g.pick("*", "a|b*", "$("+g.list(d)+")") + ") " + g.list(d) + ";; esac"
	case 6:
		g.functions++
		name := fmt.Sprintf("f%d", g.functions)
		return g.pick(name+"() ", "function "+name+" ") + "{ " + g.list(d) + "; }; " + name + " x"
	case 7:
		return g.pick("! ", "time ", "time -p ") + g.simple(d)
	case 8:
		return g.simple(d) + " &"
	case 9:
		return "[[ " + g.word(0) + g.pick(" == ", " != ", " < ") + "$(" + g.list(d) + ") || -n \"$(" + g.list(d) + ")\" ]]"
	case 10:
		return "cat " + g.pick("<<E", "<<-E") + "\nx $(" + g.list(d) + ") `" + g.simple(0) + "`\nE\n" + g.simple(d)
	case 11:
		return g.simple(d) + " <<< \"$(" + g.list(d) + ")\""
	case 12:
		return g.pick("x=", "x+=", "export x=", "declare x=", "typeset y=", "X=1 y=") + "$(" + g.list(d) + ")"
	case 13:
		return g.simple(d) + g.pick(" >out", " 2>>out", " &>out", " >|out", " <>out", " > >("+g.list(d)+")", " >out$("+g.list(d)+")")
	case 14:
		return "x=(a $(" + g.list(d) + "))"
	case 15:
		return g.pick("env ", "env A=1 ", "timeout 60 ", "nice ", "nice -n 1 ", "nohup ", "setsid -w ", "stdbuf -oL ", "command ", "command -- ", "env nice timeout 60 ") + g.simple(d)
	case 16:
		return "echo a b | xargs " + g.pick("", "-n1 ", "-I{} ") + g.simple(0)
	case 17:
		return "find . -maxdepth 0 " + g.pick("-exec ", "-execdir ") + g.simple(0) + g.pick(` \;`, ` {} +`)
	case 18:
		return g.pick("bash -c ", "bash -ec ", "sh -c ") + Quote(g.simple(d)+g.pick("", "; "+g.simple(d)))
	case 19:
		return "eval " + g.pick("", "-- ") + Quote(g.list(d))
	case 20:
		return "(exec " + g.pick("", "-a n ") + g.simple(0) + ")"
	case 21:
		return "(trap " + Quote(g.list(d)) + " EXIT; " + g.simple(d) + ")"
	case 22:
		return g.pick("bash", "sh") + " <<'E'\n" + g.simple(d) + "\nE\n" + g.simple(d)
	case 23:
		return "coproc " + g.simple(d)
	case 24:
		return "for ((i = 0; 0; )); do " + g.list(d) + "; done; " + g.simple(d)
	}
	return "bash <<< " + Quote(g.simple(d))
}

func (g *grammar) simple(depth int) string {
	name := g.pick(programs...)
	switch g.r.IntN(6) {
	case 0:
		name = `\` + name
	case 1:
		name = name[:1] + "''" + name[1:]
	case 2:
		name = `"` + name + `"`
	}
	text := g.pick("", "", "", "A=1 ", "A=$x ") + name
	for range g.r.IntN(3) {
		text += " " + g.word(depth)
	}
	return text
}

func (g *grammar) word(depth int) string {
	if depth == 0 || g.r.IntN(2) == 0 {
		return g.pick("a", "-x", "'b c'", `"d"`, `\;`, "$x", `"$x"`, "*", "{a,b}", "~", "$'e\\n'", "$'; rm f;'", `'$(rm g)'`, "\"$@\"", "${x:-y}", "${#x}", "$((1 + 2))", "{}", "$?", `"a$x"`)
	}
	d := depth - 1
	switch g.r.IntN(14) {
	case 8:
		return "${x" + g.pick("-", ":+", "+", ":?", "?", "=", "#", "##", "%", "%%", "^", "^^", ",", ",,") + "$(" + g.simple(d) + ")}"
	case 9:
		return "${x" + g.pick("/", "//", "/#", "/%") + "a/$(" + g.simple(d) + ")}"
	case 10:
		return g.pick("${x[0]}", "${#x[@]}", "${!x*}", "${!x[@]}", "${x@Q}", "${x:1:2}", "${x: -1}", "${x[*]}", `$"a"`, `$"$(`+g.simple(0)+`)"`, "$-", "$!", "${x@A}")
	case 11:
		return "$((" + g.number(d) + "))"
	case 12:
		return g.pick("@", "?", "*", "+", "!") + "(a|$(" + g.simple(d) + "))"
	case 13:
		return ">(" + g.list(d) + ")"
	case 0:
		return "$(" + g.list(d) + ")"
	case 1:
		return "\"x $(" + g.list(d) + ")\""
	case 2:
		return "`" + strings.ReplaceAll(g.simple(0), `\`, `\\`) + "`"
	case 3:
		return "${x:-$(" + g.list(d) + ")}"
	case 4:
		return "\"${x:=$(" + g.list(d) + ")}\""
	case 5:
		return "<(" + g.list(d) + ")"
	case 6:
		return "$((1 + $(" + g.list(d) + ") 2))"
	}
	return "${x/$(" + g.list(d) + ")/a}"
}

// number makes a calculation.
func (g *grammar) number(depth int) string {
	n := g.pick("1", "2", "$#", "$?", "${#x}", "0x1f", "(3)", "-1", "!0", "~2", "x", "x++", "--x", "x = 1", "+1")
	if depth > 0 && g.r.IntN(4) == 0 {
		n = "$(" + g.simple(0) + "; echo 1)"
	}
	for range g.r.IntN(2) {
		n += g.pick(" + ", " - ", " * ", " / ", " % ", " ** ", " << ", " >> ", " & ", " | ", " ^ ", " && ", " || ", " < ", " > ", " <= ", " >= ", " == ", " != ", ", ", " ? 1 : ") + g.pick("1", "2", "$#", "x += 1")
	}
	return n
}

// test makes what stands between [[ and ]].
func (g *grammar) test(depth int) string {
	sub := "$(" + g.simple(0) + ")"
	switch g.r.IntN(6) {
	case 0:
		return "-" + g.pick(strings.Split("abcdefghknoprstuwxzGLNOSv", "")...) + " " + g.pick("x", sub)
	case 1:
		return g.pick("a", sub) + " " + g.pick("=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef") + " " + g.pick("a*", sub)
	case 2:
		return g.pick("1", "$#", sub) + " -" + g.pick("eq", "ne", "lt", "le", "gt", "ge") + " 2"
	case 3:
		return "! " + sub
	case 4:
		return "( " + sub + " )" + g.pick(" && ", " || ") + "-n " + sub
	}
	return "-R x || " + sub
}

// Words that are quoted are read as what they were, by any shell.
func TestQuote(t *testing.T) {
	r := enginetest.Random(t, 0)
	const batch = 2000
	for done, total := 0, size(6000, 1_000_000); done < total; done += batch {
		var want []string
		script := bytes.NewBufferString("r() { printf '%s\\0' \"$#\" \"$@\"; }\n")
		for range min(batch, total) {
			words := make([]string, r.IntN(5))
			script.WriteString("r")
			for i := range words {
				words[i] = scrawl(r)
				script.WriteString(" " + Quote(words[i]))
			}
			script.WriteString("\n")
			want = append(append(want, strconv.Itoa(len(words))), words...)
		}
		for _, name := range []string{"bash", "sh", "dash"} {
			shell, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			for _, locale := range []string{"C", "C.UTF-8"} {
				cmd := exec.Command(shell)
				cmd.Env, cmd.Stdin = []string{"LC_ALL=" + locale}, bytes.NewReader(script.Bytes())
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, %s:\n%s", name, locale, diff)
				}
			}
		}
	}
	t.Logf("quoting: %d lists of words, all read back as they were", size(6000, 1_000_000))
}

// scrawl returns a random word.
func scrawl(r *rand.Rand) string {
	const odd = `'"\$!~*?[]{}()<>|&;#= ` + "\n\t\r`"
	var b []byte
	for range r.IntN(12) {
		switch r.IntN(4) {
		case 0:
			b = append(b, byte(1+r.IntN(255))) // no UTF-8
		case 1:
			b = append(b, odd[r.IntN(len(odd))])
		case 2:
			b = append(b, pieces[r.IntN(len(pieces))]...)
		default:
			b = append(b, byte('a'+r.IntN(26)))
		}
	}
	return string(b)
}
