//go:build unix

package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if err := Conceal(); err != nil {
		fmt.Println("conceal:", err)
	}
	goleak.VerifyTestMain(m)
}

// settings are those of tests: the environment of the test, and no limits.
func settings() Settings { return Settings{Environ: os.Environ()} }

func run(t *testing.T, text string) Outcome {
	t.Helper()
	return Run(t.Context(), Command{Text: text, Dir: t.TempDir(), Settings: settings()})
}

func TestRun(t *testing.T) {
	for _, test := range []struct{ name, command, text string }{
		{"output", "echo hi", "Output: hi"},
		{"nothing", "true", "Output: (empty)"},
		{"exit code", "echo a; exit 3", "Output: a\nExit Code: 3"},
		{"signal", "kill -9 $$", "Output: (empty)\nSignal: 9"},
		{"a signal of a child is a code", "{ sh -c 'kill -9 $$'; exit $?; } 2>/dev/null", "Output: (empty)\nExit Code: 137"},
		{"both outputs in order", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", "Output: 1\n2\n3\n4"},
		{"not found", "nosuchprogram 2>/dev/null", "Output: (empty)\nExit Code: 127"},
		{"trimmed", "printf '\\n \\n  indented\\n\\nend \\n\\n'", "Output:   indented\n\nend"},
		{"colours", `printf '\033[31mred\033[0m'`, "Output: red"},
		{"standard input", "cat; echo end", "Output: end"},
		{"standard input of a pipeline", "cat | wc -c | tr -d ' '", "Output: 0"},
		{"bash", "[[ a == a ]] && echo yes", "Output: yes"},
		{"substitution", "echo $(echo `echo x`)", "Output: x"},
		{"options", "-c 'touch x'; ls | wc -l | tr -d ' '", "Output: 0"},
		{"no terminal", "(: </dev/tty) 2>/dev/null || echo none; test -t 0 || test -t 1 || echo pipes", "Output: none\npipes"},
		{"own session", `ps -o pid=,pgid=,sess=,tty= -p $$ | { read p g s t; [ $p = $g -a $p = $s ] && echo $t; }`, "Output: ?"},
		{"only three files", "for i in 0 1 2 3 4 5 6 7 8 9 10 11 12; do test -e /proc/$$/fd/$i && echo $i; done; true", "Output: 0\n1\n2"},
		{"syntax", "if true; then", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.HasPrefix(test.command, "[[") {
				need(t, "bash")
			}
			if strings.Contains(test.command, "ps -o") {
				need(t, "ps")
			}
			if strings.Contains(test.command, "/proc") && missing("/proc/self/fd") {
				t.Skip("no /proc here")
			}
			o := run(t, test.command)
			text := o.Text()
			if test.name == "options" { // the shell complains; nothing is run
				text = text[:len("Output: 0")-1] + text[strings.LastIndex(text, "0"):]
			}
			if test.name == "syntax" {
				if o.Code == 0 || !strings.Contains(strings.ToLower(text), "syntax error") {
					t.Errorf("got %q", text)
				}
				return
			}
			if text != test.text {
				t.Errorf("got %q; want %q", text, test.text)
			}
			if want := !strings.Contains(text, "Exit Code") && o.Signal == 0; o.OK() != want {
				t.Errorf("OK is %v", o.OK())
			}
		})
	}
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatalf("%s is missing", program)
		}
		t.Skipf("%s is not installed", program)
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, text, dir, err string }{
		{"NUL", "echo a\x00b", dir, "NUL byte"},
		{"no directory", "true", filepath.Join(dir, "none"), "none"},
		{"a file for a directory", "true", file, "not a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := Run(t.Context(), Command{Text: test.text, Dir: test.dir, Settings: settings()})
			if o.Err == nil || !strings.Contains(o.Err.Error(), test.err) || o.OK() {
				t.Errorf("got %+v", o)
			}
			if !strings.HasPrefix(o.Text(), "Output: (empty)\nError: ") {
				t.Errorf("text %q", o.Text())
			}
		})
	}
}

func TestLongCommand(t *testing.T) {
	comment := "# " + strings.Repeat("x", 1<<20)
	o := run(t, "echo a\n"+comment+"\necho b; cat; ls -l /dev/fd/3 2>/dev/null; exit 4")
	if o.Output != "a\nb" || o.Code != 4 {
		t.Errorf("got %.200q, code %d, %v", o.Output, o.Code, o.Err)
	}
}

func TestLargeOutput(t *testing.T) {
	const n = 10 << 20
	var live int
	o := Run(t.Context(), Command{
		Text:     fmt.Sprintf("yes 0123456789abcde | head -c %d; echo end >&2", n),
		Settings: settings(),
		Output:   func(s string) { live += len(s) },
	})
	want := strings.Repeat("0123456789abcde\n", n/16) + "end"
	if o.Output != want {
		t.Errorf("%d bytes kept of %d; end %.40q", len(o.Output), len(want), o.Output[max(0, len(o.Output)-40):])
	}
	if live != len(want)+1 {
		t.Errorf("%d bytes shown", live)
	}
}

func TestMoreThanIsKept(t *testing.T) {
	o := run(t, "echo first; yes 0123456789abcde | head -c 17000000; echo last")
	if len(o.Output) > maxOutput+len(truncated) || strings.HasPrefix(o.Output, "first") ||
		!strings.HasSuffix(o.Output, "\nlast"+truncated) {
		t.Errorf("%d bytes, %.40q ... %.100q", len(o.Output), o.Output, o.Output[len(o.Output)-100:])
	}
}

// TestSlowReader checks that nothing is lost when whoever is shown the output
// is busy at the time the command ends.
func TestSlowReader(t *testing.T) {
	ended := make(chan struct{})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	go func() {
		defer close(ended)
		f, err := os.Open(fifo)
		if err != nil {
			return
		}
		defer f.Close()
		f.Read(make([]byte, 1)) // until the shell has gone
	}()
	first := true
	o := Run(t.Context(), Command{
		Text:     fmt.Sprintf("exec 9>%s; echo a; echo b; head -c 40000 /dev/zero | tr '\\0' x; echo; echo c", fifo),
		Settings: settings(),
		Output: func(string) {
			if first {
				first = false
				<-ended
				<-time.After(3 * grace)
			}
		},
	})
	if want := "a\nb\n" + strings.Repeat("x", 40000) + "\nc"; o.Output != want {
		t.Errorf("%d bytes of %d", len(o.Output), len(want))
	}
}

func TestLiveOutput(t *testing.T) {
	var got []string
	Run(t.Context(), Command{
		Text:     `printf 'a\303'; sleep 0.05; printf '\251\303\251\303\251b\033['; printf '31mc\377d\303'`,
		Settings: settings(),
		Output:   func(s string) { got = append(got, s) },
	})
	if all := strings.Join(got, ""); all != "a\u00e9\u00e9\u00e9bc\ufffdd\ufffd" {
		t.Errorf("got %q", got)
	}
	for i, s := range got {
		if i < len(got)-1 && whole([]byte(s)) != len(s) {
			t.Errorf("piece %q ends within a character", s)
		}
	}
}

func TestOutputArrivesEarly(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	o := Run(t.Context(), Command{
		Text:     fmt.Sprintf("echo question; cat %s", fifo),
		Settings: settings(),
		Output: func(s string) {
			if strings.Contains(s, "question") {
				if err := os.WriteFile(fifo, []byte("answer"), 0); err != nil {
					t.Error(err)
				}
			}
		},
	})
	if o.Output != "question\nanswer" {
		t.Errorf("got %q", o.Output)
	}
}

func TestTerminal(t *testing.T) {
	s := settings()
	s.PTY, s.Columns, s.Rows = true, 101, 33
	o := Run(t.Context(), Command{
		Text: `test -t 1 && test -t 2 && echo terminal; test -t 0 || echo no input
			(: </dev/tty) 2>/dev/null || echo none; stty size <&1; printf 'a\r\nb\nc\td\n'; exit 3`,
		Settings: s,
	})
	if want := "terminal\nno input\nnone\n33 101\na\r\nb\nc\td"; o.Output != want || o.Code != 3 {
		t.Errorf("got %q, code %d", o.Output, o.Code)
	}
	o = Run(t.Context(), Command{Text: "yes 0123456789abcde | head -c 1000000; echo end", Settings: s})
	if len(o.Output) != 1000003 {
		t.Errorf("%d bytes through a terminal", len(o.Output))
	}
	var live strings.Builder
	o = Run(t.Context(), Command{Text: `printf 'x 1\rx 2\rx 3'; exit 1`, Settings: s, Output: func(s string) { live.WriteString(s) }})
	if o.Output != "x 1\nx 3" || live.String() != o.Output {
		t.Errorf("got %q, shown %q", o.Output, live.String())
	}
	limited(t, 1, func(limit time.Duration) Command {
		s.Inactivity = limit
		return Command{Text: "echo $$; sleep 50", Settings: s}
	})
}

// limited runs a command with a limit of time that is just long enough for it
// to tell so many process numbers, and checks that these are no more then.
func limited(t *testing.T, told int, command func(limit time.Duration) Command) (Outcome, time.Duration) {
	t.Helper()
	for limit := 500 * time.Millisecond; ; limit *= 3 {
		o := Run(t.Context(), command(limit))
		if o.Limit != limit {
			t.Errorf("got %+v", o)
		}
		if strings.Count(o.Output+"\n", "\n") >= told && o.Output != "" || limit > 30*time.Second { // a slow machine
			dead(t, o.Output)
			return o, limit
		}
	}
}

// dead checks that the processes in a list of numbers are no more.
func dead(t *testing.T, pids string) {
	t.Helper()
	if pids == "" {
		t.Error("no process told its number")
	}
	for _, f := range strings.Fields(pids) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, alive := processes()[pid]; alive {
			t.Errorf("process %d is alive", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// These leave something running, say its number, and end.
var leaving = map[string]string{
	"in the background":       "sleep 500 & echo $!",
	"without output":          "sleep 500 >/dev/null 2>&1 & echo $!",
	"below a subshell":        "(sleep 500 & echo $!)",
	"with job control":        "set -m 2>/dev/null; sleep 500 & echo $!",
	"deaf to hang-up":         "nohup sleep 500 2>/dev/null & echo $!",
	"deaf to the first order": "d=$(mktemp -d); sh -c 'trap \"\" TERM; echo $$; : >$0/up; while :; do sleep 1; done' $d & until [ -e $d/up ]; do sleep 0.01; done; rm -r $d",
}

func TestLeftBehindIsEnded(t *testing.T) {
	for name, command := range leaving {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			o := run(t, command)
			if took := time.Since(start); took > 5*time.Minute { // what it left sleeps for longer
				t.Errorf("took %v", took)
			}
			if o.Background != nil || !o.OK() {
				t.Errorf("got %+v", o)
			}
			dead(t, strings.Fields(o.Output)[0])
		})
	}
}

func TestLeftBehindIsAdopted(t *testing.T) {
	for name, command := range leaving {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := NewJobs(filepath.Join(t.TempDir(), "logs"))
			defer js.Close()
			o := Run(t.Context(), Command{Text: command, Settings: settings(), Jobs: js})
			if len(o.Background) == 0 || !o.OK() {
				t.Fatalf("got %+v", o)
			}
			want := fmt.Sprintf("\nBackground PIDs: %s\nProcess Group PGID: %d",
				strings.ReplaceAll(strings.Trim(fmt.Sprint(o.Background), "[]"), " ", ", "), o.Group)
			if !strings.HasSuffix(o.Text(), want) {
				t.Errorf("got %q; want the end %q", o.Text(), want)
			}
			pid := strings.Fields(o.Output)[0]
			if !strings.Contains(want, pid) {
				t.Errorf("%s is not among %v", pid, o.Background)
			}
			if list := js.List(); len(list) != 1 || !list[0].Running {
				t.Errorf("listed: %+v", list)
			}
			js.Close()
			dead(t, pid)
			if list := js.List(); list[0].Running {
				t.Errorf("listed after the end: %+v", list)
			}
		})
	}
}

// What confines a command and waits for the last process is none of those that
// it left, though it ends with them.
func TestLeftBehindIsCounted(t *testing.T) {
	js := NewJobs(filepath.Join(t.TempDir(), "logs"))
	defer js.Close()
	kept := 0
	s := settings()
	s.IsHelperProcess = func(pid int) bool {
		if kept == 0 {
			kept = pid
		}
		return pid == kept
	}
	o := Run(t.Context(), Command{Text: "sleep 50 & echo $!; sleep 50 & echo $!", Settings: s, Jobs: js})
	pids := strings.Fields(o.Output)
	if len(pids) != 2 || len(o.Background) != 1 || o.Background[0] == kept || !slices.Contains(pids, fmt.Sprint(o.Background[0])) {
		t.Fatalf("kept %d: got %+v", kept, o)
	}
	if list := js.List(); len(list) != 1 || list[0].PID != o.Background[0] {
		t.Errorf("listed: %+v", list)
	}
	if err := js.Stop(kept); err != nil { // it is known all the same
		t.Error(err)
	}
	for _, pid := range pids {
		dead(t, pid)
	}
}

// TestOutOfSession needs a system that shows what processes write to.
func TestOutOfSession(t *testing.T) {
	if missing("/proc/self/fd") {
		t.Skip("no /proc here")
	}
	need(t, "setsid")
	t.Run("by its output", func(t *testing.T) {
		o := run(t, "setsid sh -c 'echo $$; : >up; exec sleep 50' & until [ -e up ]; do sleep 0.01; done")
		dead(t, o.Output)
	})
	t.Run("by its parents", func(t *testing.T) {
		limited(t, 1, func(limit time.Duration) Command {
			s := settings()
			s.Timeout = limit
			return Command{Text: "setsid -w sh -c 'echo $$; exec sleep 50 >/dev/null 2>&1'", Settings: s}
		})
	})
}

// deaf starts processes that do not end when told to, and tells their numbers.
const deaf = `trap '' TERM; echo $$; sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & wait`

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name    string
		command string
		told    int // process numbers
		quiet   bool
		text    string
	}{
		{"total", "while :; do echo $$; sleep 0.01; done", 1, false, "exceeded the timeout of %v seconds. Below"},
		{"quiet", "echo $$; sleep 50", 1, true, "exceeded the timeout of %v seconds without output. Below"},
		{"deaf", deaf, 2, false, "exceeded the timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o, limit := limited(t, test.told, func(limit time.Duration) Command {
				s := settings()
				if s.Timeout = limit; test.quiet {
					s.Timeout, s.Inactivity = 0, limit
				}
				return Command{Text: test.command, Settings: s}
			})
			if want := strings.ReplaceAll(test.text, "%v", fmt.Sprint(limit.Seconds())); !strings.Contains(o.Text(), want) {
				t.Errorf("got %q; want %q", o.Text(), want)
			}
		})
	}
	t.Run("silent from the start", func(t *testing.T) {
		t.Parallel()
		s := settings()
		s.Inactivity = 60 * time.Millisecond
		o := Run(t.Context(), Command{Text: "sleep 50", Settings: s})
		if want := "without output. There was no output before it was cancelled."; !strings.Contains(o.Text(), want) {
			t.Errorf("got %q; want %q", o.Text(), want)
		}
	})
}

// TestNoiseCounts lets a command that writes now and then, and one whose
// output takes long to show, run for longer than they may be silent.
func TestNoiseCounts(t *testing.T) {
	const limit = 3 * time.Second
	for name, write := range map[string]func(p *process){
		"written": func(p *process) { p.active.Store(time.Now().UnixNano()) },
		"shown":   func(p *process) { p.active.Store(0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &process{exited: make(chan struct{}), drained: make(chan struct{})}
				write(p)
				go func() {
					for range 5 {
						<-time.After(limit - time.Millisecond)
						write(p)
					}
					close(p.exited)
					close(p.drained)
				}()
				var o Outcome
				p.await(t.Context(), Settings{Inactivity: limit}, &o)
				if !o.OK() {
					t.Errorf("got %+v", o)
				}
			})
		})
	}
}

func TestCancelled(t *testing.T) {
	for name, command := range map[string]string{"willing": "echo $$; sleep 50; echo more", "deaf": deaf,
		"stopped": "echo $$; kill -STOP $$"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			want := 1
			if name == "deaf" {
				want = 2
			}
			lines := 0
			o := Run(ctx, Command{Text: command, Settings: settings(), Output: func(s string) {
				if lines += strings.Count(s, "\n"); lines >= want {
					cancel()
				}
			}})
			if !o.Cancelled || o.OK() {
				t.Errorf("got %+v", o)
			}
			if !strings.HasPrefix(o.Text(), "Command was cancelled by user before it could complete. Below is the output before it was cancelled:\n") {
				t.Errorf("got %q", o.Text())
			}
			dead(t, o.Output)
		})
	}
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		file := filepath.Join(t.TempDir(), "file")
		o := Run(ctx, Command{Text: "touch " + file, Settings: settings()})
		if !o.Cancelled || !missing(file) {
			t.Errorf("got %+v", o)
		}
	})
}

// TestProcesses compares what ps says about this process with what is known.
func TestProcesses(t *testing.T) {
	need(t, "ps")
	session, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	want := proc{parent: os.Getppid(), group: syscall.Getpgrp(), session: session}
	for name, list := range map[string]func() map[int]proc{"ps": psProcesses, "system": processes} {
		got := list()[os.Getpid()]
		got.born = ""
		if got != want {
			t.Errorf("%s: got %+v; want %+v", name, got, want)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		if o := Run(b.Context(), Command{Text: "true", Settings: settings()}); !o.OK() {
			b.Fatal(o)
		}
	}
}

// BenchmarkBare is what BenchmarkRun is measured against.
func BenchmarkBare(b *testing.B) {
	for b.Loop() {
		if out, err := exec.Command("bash", "-c", "true").CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
			b.Fatal(err)
		}
	}
}

// A program may be started without any environment.
func TestNoPath(t *testing.T) {
	t.Setenv("PATH", "")
	if o := Run(t.Context(), Command{Text: "echo found", Dir: t.TempDir()}); o.Output != "found" {
		t.Errorf("%+v", o)
	}
}

// TestConfine has a command changed before it starts, in front and in the
// background.
func TestConfine(t *testing.T) {
	s := settings()
	released := 0
	s.Confine = func(cmd *exec.Cmd) (func(), error) {
		cmd.Args = append(cmd.Args[:1:1], append([]string{"-f"}, cmd.Args[1:]...)...) // no names for many files
		return func() { released++ }, nil
	}
	dir := t.TempDir()
	if o := Run(t.Context(), Command{Text: "echo *; exit 3", Dir: dir, Settings: s}); o.Output != "*" || o.Code != 3 {
		t.Errorf("got %+v", o)
	}
	jobs := NewJobs(t.TempDir())
	defer jobs.Close()
	pid, err := jobs.Start(Command{Text: "exit 3", Dir: dir, Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	if j, err := jobs.Wait(t.Context(), pid, time.Minute); err != nil || j.Code != 3 {
		t.Errorf("in the background: %+v, %v", j, err)
	}
	if released != 2 {
		t.Errorf("%d of 2 commands were let go of", released)
	}
	s.Confine = func(*exec.Cmd) (func(), error) { return nil, fmt.Errorf("no kernel") }
	if o := Run(t.Context(), Command{Text: "echo ran", Dir: dir, Settings: s}); o.Err == nil || o.Output != "" {
		t.Errorf("what can't be confined runs: %+v", o)
	}
}
