//go:build unix

package pipes

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// writesOf returns how many bytes each write to a descriptor was of, by what
// strace has seen. A write to a full pipe that a signal interrupts ends early;
// with the one that goes on where it ended it counts as one.
func writesOf(t *testing.T, trace string, fd int) (sizes []int) {
	t.Helper()
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	// Only root sees what is in the memory of a program that conceals it.
	call := regexp.MustCompile(`(?m)^(\d+) +write\(` + strconv.Itoa(fd) + `, (?:""\.\.\.|0x[0-9a-f]+), (\d+)(\) += (\d+)| <unfinished \.\.\.>)$`)
	written, left := 0, 0 // of the write that was interrupted
	for _, m := range call.FindAllSubmatchIndex(b, -1) {
		done := []byte(nil)
		asked, _ := strconv.Atoi(string(b[m[4]:m[5]]))
		if m[8] >= 0 {
			done = b[m[8]:m[9]]
		} else if r := regexp.MustCompile(`(?m)^` + string(b[m[2]:m[3]]) + ` +<\.\.\. write resumed>\) += (\d+)$`).FindSubmatch(b[m[1]:]); r != nil {
			done = r[1]
		}
		n, err := strconv.Atoi(string(done))
		if err != nil {
			t.Fatalf("in the trace: %s", b[m[0]:m[1]])
		}
		if left > 0 && asked != left {
			t.Fatalf("%d bytes were left, then %d were written", left, asked)
		}
		written += n
		if left = asked - n; left == 0 {
			sizes, written = append(sizes, written), 0
		}
	}
	return sizes
}

// Each record is one write, however large it is and however late it is read.
func TestEachRecordIsOneWrite(t *testing.T) {
	t.Parallel()
	pt.Tracing(t)
	long := et.Text(320_000) // 320 kB, five times what a pipe holds
	for _, test := range []struct {
		name string
		args []string
		fd   int
	}{
		{"lines", []string{"-o", "stream-json"}, 1},
		{"a document", []string{"-o", "json"}, 1},
		{"lines beside text", []string{"-o", "stream-json", "--json-fd", "3"}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := et.NewServer(et.Says(long, et.Call("1", "list_directory", "dir_path", ".")), et.Streams("a", "\n", long+"\n", "the end"))
			t.Cleanup(s.Close)
			trace := filepath.Join(dir, "trace")
			run := pt.Headless(t, s, dir, nil, nil, append(test.args, "-q", "--no-loop-check", "-p", "go")...)
			run.Args = append([]string{"strace", "-f", "-qq", "-s", "0", "-e", "trace=write", "-e", "signal=none", "-o", trace}, append([]string{run.Path}, run.Args[1:]...)...)
			run.Path, _ = exec.LookPath("strace")
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			run.Stderr = os.Stderr
			if test.fd == 1 {
				run.Stdout = w
			} else {
				run.ExtraFiles = []*os.File{w}
			}
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			var out bytes.Buffer // filled by a few bytes at a time
			if _, err := io.CopyBuffer(struct{ io.Writer }{&out}, struct{ io.Reader }{r}, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			if err := run.Wait(); err != nil {
				t.Fatal(err)
			}
			var want []int
			if test.name == "a document" {
				want = []int{out.Len()}
			} else {
				for line := range strings.Lines(out.String()) {
					want = append(want, len(line))
				}
			}
			if diff := cmp.Diff(want, writesOf(t, trace, test.fd)); diff != "" || slices.Max(want) < len(long) {
				t.Errorf("records against writes: %s", diff)
			}
		})
	}
}

// A record can be read as soon as it was written, while the run goes on.
func TestRecordsAppearAtOnce(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Stalled(et.Says("half an answer ")))
	t.Cleanup(s.Close)
	run := pt.Headless(t, s, t.TempDir(), nil, nil, "-o", "stream-json", "-p", "go")
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for in := bufio.NewScanner(out); in.Scan(); {
		got = append(got, regexp.MustCompile(`"type":"(\w+)"`).FindStringSubmatch(in.Text())[1])
		if strings.Contains(in.Text(), "half an answer ") {
			run.Process.Signal(syscall.SIGTERM) // nothing ends it before
		}
	}
	run.Wait()
	if diff := cmp.Diff([]string{"init", "message", "message", "result"}, got); diff != "" {
		t.Error(diff)
	}
}

// varies matches what no two runs have in common.
var varies = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+Z|("\w*([Mm]s|_ms)": ?)\d+|\w+_\d{19}_\d+`)

// What is written is the same at a terminal, through a pipe and in a file.
func TestOutputDependsOnNobody(t *testing.T) {
	t.Parallel()
	const answer = "# A title\n\n**bold** and `code`\twith é\u00a0\u202e and a line that is far longer than the eighty columns that a terminal has at least\n\n| a | b |\n|---|---|\n\x1b[31mred\x1b[m\n\n"
	for _, format := range []string{"text", "json", "stream-json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			reply := func() []et.Reply {
				return []et.Reply{et.Says("I look.", et.Call("1", "list_directory", "dir_path", ".")), et.Streams(answer[:20], answer[20:], "the end")}
			}
			s := et.NewServer(slices.Concat(reply(), reply(), reply())...)
			c := pt.Terminal(t, s, "-q", "-n", "-p", "go", "-o", format)
			c.Term = "xterm-256color"
			at := teletype.Start(t, c)
			if code := at.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			written := map[string]string{"terminal": strings.ReplaceAll(string(at.Transcript()), "\r\n", "\n")}
			for _, where := range []string{"pipe", "file"} {
				run := exec.Command(c.Path, c.Args...)
				run.Dir, run.Env = c.Dir, append(c.Env, "TERM=xterm-256color")
				var out bytes.Buffer
				run.Stdout = &out
				if where == "file" {
					f, err := os.Create(filepath.Join(t.TempDir(), "out"))
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					run.Stdout = f
				}
				if err := run.Run(); err != nil {
					t.Fatal(err)
				}
				written[where] = out.String()
				if f, ok := run.Stdout.(*os.File); ok {
					b, _ := os.ReadFile(f.Name())
					written[where] = string(b)
				}
			}
			for where, text := range written {
				if diff := cmp.Diff(varies.ReplaceAllString(written["file"], "$2-"), varies.ReplaceAllString(text, "$2-")); diff != "" {
					t.Errorf("file and %s: %s", where, diff)
				}
			}
			if !strings.HasSuffix(written["file"], "\n") || strings.HasSuffix(written["file"], "\n\n") || !strings.Contains(written["file"], "the end") {
				t.Errorf("%q", written["file"])
			}
		})
	}
}
