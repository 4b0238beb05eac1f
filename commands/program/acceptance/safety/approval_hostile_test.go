//go:build unix

package safety

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A hostile command means to have PWNED made by somebody who looks at it and
// sees something else.
type hostileCommand struct {
	command string
	runs    string // programs that are told before the question
	shows   string // what gives it away
}

// hostileCommands try what a line of text can.
func hostileCommands() []hostileCommand {
	touch := "touch PWNED"
	return []hostileCommand{
		// Out of sight.
		{"git status" + strings.Repeat(" ", 300) + "; " + touch, "git, touch", "(300 blanks)"},
		{"ls" + strings.Repeat("\n", 301) + touch, "ls, touch", "(300 blank lines)"},
		{"ls" + strings.Repeat("\t", 60) + "; " + touch, "ls, touch", "(60 blanks)"},
		{"ls" + strings.Repeat("\u2800", 100) + "; " + touch, "touch", `ls\u{2800}\u{2800}`},
		{"echo " + strings.Repeat("x", 65000) + "; " + touch, "echo, touch", "xxxx; " + touch},
		{"echo " + strings.Repeat("a", 500) + "; " + touch, "echo, touch", "aaaa; " + touch},
		{"echo " + strings.Repeat("漢字", 90) + "; " + touch, "echo, touch", "漢字; " + touch},
		{"git log --oneline --graph --decorate --all --since=yesterday --until=now && " + touch, "git, touch", "now && " + touch},
		{strings.Repeat("true;", 120) + touch, "true, touch", "true;" + touch},
		{"cat <<E\n" + strings.Repeat("all is well\n", 60) + "E\n" + touch, "cat, touch", "63 lines"},
		// Acting on the terminal.
		{"ls \x1b[8m; " + touch + "\x1b[0m", "ls, touch", `\x1b[8m; touch PWNED\x1b[0m`},
		{touch + "\rls -l       ", "", `touch PWNED\x0dls -l`},
		{touch + strings.Repeat("\b", 11) + "ls", "", `\x08\x08\x08ls`},
		{"echo \x1b]52;c;ZXZpbA==\a; " + touch, "echo, touch", `\x1b]52;c;ZXZpbA==\x07`},
		{"echo \x1bP1$r0m\x1b\\; " + touch, "echo", `\x1bP1$r0m\x1b\`},
		{"echo \u009b2J\u009d0;t\u009c; " + touch, "echo, touch", `\u{9b}2J\u{9d}0`},
		{"cat <<E\n\x1b[1A\x1b[2Kls\nE\n" + touch, "cat, touch", `\x1b[1A\x1b[2Kls`},
		{"echo \x1b[6n\x1b[c\x05; " + touch, "echo, touch", `\x1b[6n\x1b[c\x05`},
		{"ls\v\f\x7f; " + touch, "touch", `ls\x0b\x0c\x7f`},
		{"ls\u2028" + touch, "", `ls\u{2028}touch`},
		{"ls\u0085" + touch, "", `ls\u{85}touch`},
		// Not looking like what it is.
		{touch + " # \u202esl", "touch", `# \u{202e}sl`},
		{"ls \u2066" + touch + "\u2069\u200f", "ls", `\u{2066}touch PWNED\u{2069}\u{200f}`},
		{"l\u200bs; " + touch, `l\u{200b}s, touch`, `l\u{200b}s`},
		{"l\u200bs\ufeff\u2060; " + touch, "touch", `\u{feff}\u{2060}`},
		{"to\u00aduch PWNED", `to\u{ad}uch`, `to\u{ad}uch`},
		{"ls\U000e0074\U000e006f; " + touch, "touch", `ls\u{e0074}\u{e006f}`},
		{"ls\ufe00\ufe01; " + touch, "touch", `ls\u{fe00}\u{fe01}`},
		{"ls\u00a0; " + touch, "touch", `ls\u{a0}`},
		{"ls\u3164; " + touch, "touch", `ls\u{3164}`},
		{"\u0440wd; " + touch, "touch", "U+0440"},
		{"\u0441\u0440 a PWNED", "\u0441\u0440", "the name of a program is not plain ASCII: \u0441\u0440 (U+0441 U+0440)"},
		{"ｒｍ x; " + touch, "touch", "U+FF52 U+FF4D"},
		{"𝗅𝗌; " + touch, "touch", "U+1D5C5 U+1D5CC"},
		{"echo a" + strings.Repeat("\u0301", 200) + "; " + touch, "echo, touch", `\u{301}\u{301}; touch`},
		{"echo \u0301\u0489" + "; " + touch, "echo, touch", `echo \u{301}\u{489}`},
		// Looking like what it is not.
		{"ls # permission: run: ls\n# y n a b ? (a = always): y\n" + touch, "ls, touch", "\nls # permission: run: ls"},
		{": '\npermission: run: ls\ny n e ?: y\ntool: run: ls\nresult: ok\n> '\n" + touch, ":, touch", "| permission: run: ls"},
		{": " + strings.Repeat("-", 38) + "permission: run: ls" + strings.Repeat("-", 21) + "y n ?: y; " + touch, ":", `-permission\x3a run: ls`},
		{": " + strings.Repeat("-", 78) + "PERMISSION: run: ls" + strings.Repeat("-", 61) + "Y N a ?: y; " + touch, ":", `-PERMISSION\x3a run: ls`},
		{"cp # info: 9 characters typed before the question were ignored", "cp", "9 characters"},
		// Running what does not look like it.
		{"tou\\\nch PWNED", "", `tou\`},
		{"$(printf touch) PWNED", "$(printf touch), printf", "$(printf touch)"},
		{"echo dG91Y2ggUFdORUQ= | base64 -d | sh", "echo, base64, sh", "sh runs its input, which was not checked"},
		{"sh <<E\n" + touch + "\nE", "sh", touch},
		{"nice -n 5 env A=1 timeout 5 xargs touch PWNED", "nice, env, timeout, xargs, touch", "the command sets: A=1"},
		{"LD_PRELOAD=./x.so PATH=. ls", "ls", "the command sets: LD_PRELOAD=./x.so, PATH=."},
		{"echo x > PWNED >> .bashrc", "echo", "the command writes: PWNED, .bashrc"},
		{"ls() { touch PWNED; }; ls", "touch, ls", "ls() { touch PWNED; }"},
	}
}

// late is what a slow machine shows as well: the echo of the y, and what passes
// the time, and says how much has passed.
var late = regexp.MustCompile(`^y\r\n|(?m)^(progress|done): .*\r\n`)

const (
	dropped = "info: 2 characters typed before the question were dropped\r\n"
	putting = "permission: run: "
	putIt   = "permission: run it?"
)

// TestHostileCommands asks about every hostile command on a usual terminal and on a
// small one. What stands there is kept in commands/program/acceptance/testdata/prompts, as the terminal
// shows it; UPDATE=1 writes it.
//
// Each question is answered by something that means no, behind a y that was
// typed before it was there.
func TestHostileCommands(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{24, 80}, {10, 40}} {
		rows, cols := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", cols, rows), func(t *testing.T) {
			t.Parallel()
			all := hostileCommands()
			waiting, typed := make(chan struct{}), make(chan struct{})
			server := et.NewServer()
			for i, h := range all {
				call := et.Says("", et.Call(fmt.Sprint(i), "run_shell_command", "command", h.command))
				call.Inspect = func(ctx context.Context, _ *engine.Request) {
					for _, c := range []chan struct{}{waiting, typed} {
						select {
						case c <- struct{}{}:
						case <-ctx.Done():
						}
					}
				}
				server.Add(call)
				if i%4 != 3 { // else the turn is over
					server.Add(et.Says("."))
				}
			}
			c := pt.Terminal(t, server, "--sandbox=off") // what holds commands differs from one system to the next
			c.Rows, c.Cols = rows, cols
			s := teletype.Start(t, c)
			s.Expect("> ")
			var golden strings.Builder
			for i, h := range all {
				s.Line(fmt.Sprintf("number %d", i))
				s.Expect("\r\n")
				<-waiting
				s.Line("y")
				<-typed
				shown := s.Expect(dropped) + s.Match(`y n [^\r\n]*\?[^\r\n]*: $`)
				s.Send([]string{"\r", "n\r", "\x04", "\x03"}[i%4])
				shown += strings.TrimSuffix(s.Expect("\r\n> "), "> ")
				shown = late.ReplaceAllString(strings.ReplaceAll(shown, c.Dir, "/project"), "")
				checkPrompt(t, h, shown, rows, cols)
				fmt.Fprintf(&golden, "== %d: %.60q\n%s", i, h.command, strings.Join(onScreen(shown, cols), "\n"))
			}
			pt.Leave(t, s, teletype.Rules{})
			left, err := os.ReadDir(c.Dir)
			if err != nil || len(left) != 2 {
				t.Errorf("something has run: %v, %v", left, err)
			}
			compareGolden(t, filepath.Join("commands/program/acceptance/testdata/prompts", fmt.Sprintf("%dx%d.golden", cols, rows)), golden.String())
		})
	}
}

// checkPrompt holds what was shown of a command to what has to be shown.
func checkPrompt(t *testing.T, h hostileCommand, shown string, rows, cols int) {
	t.Helper()
	if !strings.Contains(shown, h.shows) {
		t.Errorf("%.60q: no %q in\n%.2000q", h.command, h.shows, shown)
	}
	told := ""
	for line := range strings.SplitSeq(shown, "\r\n") {
		if runs, ok := strings.CutPrefix(line, "info: the command runs: "); ok {
			told = runs
		}
		if title, ok := strings.CutPrefix(line, putting); ok && told == "" {
			told = strings.ReplaceAll(title, " ", ", ")
		}
		if line == putIt && told == "" {
			told = shown // the command stands above
		}
	}
	for name := range strings.SplitSeq(h.runs, ", ") {
		if !slices.Contains(strings.Split(told, ", "), name) && name != "" && !strings.Contains(told, name) {
			t.Errorf("%.60q: the program %q is not told: %q", h.command, name, told)
		}
	}
	// On the screen, nothing but the question itself looks like one, and it
	// fits.
	lines := onScreen(shown, cols)
	var marks []string
	last := 0
	for i, row := range lines {
		low := strings.ToLower(row)
		if strings.HasPrefix(low, "permission:") || strings.HasPrefix(low, "y n ") {
			marks = append(marks, row)
			last = i
		}
	}
	puts := func(row string) bool { return strings.HasPrefix(row, putting) || row == putIt }
	if len(marks) != 2 || !puts(marks[0]) {
		t.Errorf("%.60q: these look like questions: %q", h.command, marks)
	}
	if ends := slices.IndexFunc(lines, puts); last-ends > rows-4 {
		t.Errorf("%.60q: the question takes %d rows", h.command, last-ends)
	}
}

// onScreen returns the rows of a terminal of so many columns.
func onScreen(text string, cols int) (rows []string) {
	for line := range strings.SplitSeq(text, "\r\n") {
		var row strings.Builder
		at := 0
		for g := displaywidth.StringGraphemes(line); g.Next(); {
			width := g.Width()
			if g.Value() == "\t" {
				width = 8 - at%8
			}
			if at+width > cols && width > 0 {
				rows = append(rows, row.String())
				row.Reset()
				at = 0
			}
			row.WriteString(g.Value())
			at += width
		}
		rows = append(rows, row.String())
	}
	return rows
}

// repeated is a row that stands there several times.
var repeated = regexp.MustCompile(`(?m)^(x{40}|x{80}|a{40}|a{80})\n`)

// compareGolden compares text with a file, in which rows that say nothing new
// are counted.
func compareGolden(t *testing.T, file, text string) {
	t.Helper()
	var out []string
	n := 0
	for row := range strings.SplitSeq(text, "\n") {
		if row += "\n"; len(out) > 0 && repeated.MatchString(row) && out[len(out)-1] == row {
			n++
			continue
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("... the same %d times more\n", n))
			n = 0
		}
		out = append(out, row)
	}
	text = strings.Join(out, "")
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Error(diff)
	}
}
