//go:build unix

package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gemline/engine/redact"
)

// forever is a wait that a test never sits out.
const forever = time.Minute

func newJobs(t *testing.T) *Jobs {
	js := NewJobs(filepath.Join(t.TempDir(), "tmp", "logs"))
	t.Cleanup(js.Close)
	return js
}

func start(t *testing.T, js *Jobs, text string) int {
	t.Helper()
	pid, err := js.Start(Command{Text: text, Dir: t.TempDir(), Settings: settings()})
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func wait(t *testing.T, js *Jobs, pid int) Job {
	t.Helper()
	j, err := js.Wait(t.Context(), pid, forever)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestJob(t *testing.T) {
	for _, test := range []struct {
		name, command string
		code, signal  int
		log           string
	}{
		{"success", `printf 'a\033[1mb\033[0m\nc\n'; echo d >&2`, 0, 0, "ab\nc\nd"},
		{"failure", "echo a; exit 3", 3, 0, "a"},
		{"signal", "kill -9 $$", 0, 9, ""},
		{"empty standard input", "cat", 0, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			js := newJobs(t)
			pid := start(t, js, test.command)
			j := wait(t, js, pid)
			if j.PID != pid || j.Running || !j.Known || j.Code != test.code || j.Signal != test.signal || j.Command != test.command {
				t.Errorf("got %+v", j)
			}
			if j.OK() != (test.code == 0 && test.signal == 0) {
				t.Errorf("OK is %v", j.OK())
			}
			if j.Output != test.log {
				t.Errorf("output %q", j.Output)
			}
			text, _, _, err := js.Tail(pid, 100)
			if err != nil || text != test.log {
				t.Errorf("log holds %q, %v", text, err)
			}
			if want := fmt.Sprintf("background-%d.log", pid); filepath.Base(j.Log) != want {
				t.Errorf("log is %s", j.Log)
			}
			for path, want := range map[string]os.FileMode{j.Log: 0o600, filepath.Dir(j.Log): os.ModeDir | 0o700} {
				info, err := os.Lstat(path)
				if err != nil || info.Mode() != want {
					t.Errorf("%s: %v, %v", path, info.Mode(), err)
				}
			}
		})
	}
}

func TestJobRunsOn(t *testing.T) {
	js := newJobs(t)
	pid := start(t, js, "echo up; exec sleep 50")
	j, err := js.Wait(t.Context(), pid, time.Millisecond)
	if err != nil || !j.Running || j.OK() {
		t.Errorf("got %+v, %v", j, err)
	}
	if list := js.List(); len(list) != 1 || !list[0].Running {
		t.Errorf("got %+v", list)
	}
	if err := js.Stop(pid); err != nil {
		t.Error(err)
	}
	if j = js.List()[0]; j.Running || j.Signal != 15 || j.SignalName != "SIGTERM" {
		t.Errorf("got %+v", j)
	}
	dead(t, fmt.Sprint(pid))
}

func TestCloseEndsAll(t *testing.T) {
	js := newJobs(t)
	var pids []int
	for _, command := range []string{"sleep 50", deaf, "sleep 50 & echo $!; sleep 50", "sleep 50 >/dev/null & true", "true"} {
		pids = append(pids, start(t, js, command))
	}
	js.Close()
	js.Close()
	for _, j := range js.List() {
		if j.Running {
			t.Errorf("runs: %+v", j)
		}
		dead(t, fmt.Sprint(j.PID)+" "+j.Output)
	}
	for _, pid := range pids {
		for _, p := range processes() {
			if p.session == pid {
				t.Errorf("something is left of %d", pid)
			}
		}
	}
	if _, err := js.Start(Command{Text: "true", Settings: settings()}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if o := Run(t.Context(), Command{Text: "sleep 50 & echo $!", Settings: settings(), Jobs: js}); o.Background != nil {
		t.Errorf("got %+v", o)
	} else {
		dead(t, o.Output)
	}
}

func TestAdoptedLog(t *testing.T) {
	js := newJobs(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	o := Run(t.Context(), Command{Text: "mkfifo fifo; { cat fifo; echo bye; } & echo hi", Dir: dir, Settings: settings(), Jobs: js})
	if len(o.Background) == 0 || o.Output != "hi" {
		t.Fatalf("got %+v", o)
	}
	if err := os.WriteFile(fifo, []byte("later\n"), 0); err != nil {
		t.Fatal(err)
	}
	j := wait(t, js, o.Background[0])
	text, shown, total, err := js.Tail(o.Background[len(o.Background)-1], 100)
	if text != "hi\nlater\nbye" || shown != 3 || total != 3 || err != nil {
		t.Errorf("got %q, %d of %d, %v", text, shown, total, err)
	}
	if j.Known || j.Running {
		t.Errorf("got %+v", j)
	}
	if _, _, _, err := js.Tail(o.Group, 1); err != nil {
		t.Errorf("by the group: %v", err)
	}
}

func TestTailOfLog(t *testing.T) {
	js := newJobs(t)
	pid := start(t, js, "seq 20000; printf end")
	wait(t, js, pid)
	for _, test := range []struct {
		lines, shown int
		text         string
	}{
		{1, 1, "end"},
		{3, 3, "19999\n20000\nend"},
	} {
		text, shown, total, err := js.Tail(pid, test.lines)
		if text != test.text || shown != test.shown || total != 20001 || err != nil {
			t.Errorf("%d: got %q, %d of %d, %v", test.lines, text, shown, total, err)
		}
	}
	var all strings.Builder
	for i := range 20000 {
		fmt.Fprintln(&all, i+1)
	}
	all.WriteString("end")
	text, shown, total, err := js.Tail(pid, 1<<40)
	if !strings.HasSuffix(text, "\n20000\nend") || shown != strings.Count(text, "\n")+1 || total != 20001 || err != nil ||
		len(text) > shownLog || len(text) < shownLog-10 || !strings.Contains(all.String(), "\n"+text) {
		t.Errorf("got %d bytes, %d of %d, %v", len(text), shown, total, err)
	}
}

func TestLogShortens(t *testing.T) {
	l, err := createLog(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.file.Close()
	line := []byte(strings.Repeat("x", 99) + "\n")
	piece := []byte(strings.Repeat(string(line), 10_000))
	for range maxLog/len(piece) + 1 {
		l.write(piece)
	}
	l.write([]byte("end\n"))
	info, err := l.file.Stat()
	if err != nil || info.Size() > 2*keptLog+int64(len(piece)) || info.Size() != l.size || l.err != nil {
		t.Errorf("%d bytes, %v, %v", info.Size(), err, l.err)
	}
	text, shown, err := l.tail(2)
	if want := string(line) + "end"; string(text) != want || shown != 2 || err != nil {
		t.Errorf("got %.100q, %d, %v", text, shown, err)
	}
	if want := (maxLog/len(piece)+1)*10_000 + 1; l.total() != want {
		t.Errorf("%d lines; want %d", l.total(), want)
	}
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("in the log's place", func(t *testing.T) {
		logs := t.TempDir()
		if err := os.Symlink(secret, filepath.Join(logs, "background-7.log")); err != nil {
			t.Skip(err)
		}
		l, err := createLog(logs, 7)
		if err != nil {
			t.Fatal(err)
		}
		defer l.file.Close()
		l.write([]byte("log\n"))
		if filepath.Base(l.path) != "background-7-1.log" {
			t.Errorf("log is %s", l.path)
		}
	})
	t.Run("for the directory", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "logs")
		if err := os.Symlink(dir, link); err != nil {
			t.Skip(err)
		}
		if _, err := createLog(link, 7); err == nil {
			t.Error("followed")
		}
	})
	t.Run("open directory", func(t *testing.T) {
		logs := filepath.Join(t.TempDir(), "logs")
		if err := os.Mkdir(logs, 0o777); err != nil {
			t.Fatal(err)
		}
		l, err := createLog(logs, 7)
		if err != nil {
			t.Fatal(err)
		}
		defer l.file.Close()
		if info, err := os.Stat(logs); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
	for _, put := range []string{"link", "hard link", "nothing"} {
		t.Run(put+" instead of the log", func(t *testing.T) {
			js := newJobs(t)
			pid := start(t, js, "echo a")
			j := wait(t, js, pid)
			if err := os.Remove(j.Log); err != nil {
				t.Fatal(err)
			}
			switch put {
			case "link":
				if err := os.Symlink(secret, j.Log); err != nil {
					t.Skip(err)
				}
			case "hard link":
				if err := os.Link(secret, j.Log); err != nil {
					t.Skip(err)
				}
			}
			if text, _, _, err := js.Tail(pid, 10); !errors.Is(err, ErrNoLog) || text != "" {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	if b, _ := os.ReadFile(secret); string(b) != "secret\n" {
		t.Errorf("secret holds %q", b)
	}
}

func TestLogFails(t *testing.T) {
	l, err := createLog(t.TempDir(), 7)
	if err != nil {
		t.Fatal(err)
	}
	l.write([]byte("a\n"))
	l.file.Close() // as good as a full disk
	l.write([]byte("b\n"))
	l.write([]byte("c\n"))
	if text, shown, err := l.tail(9); string(text) != "a" || shown != 1 || l.total() != 1 || err != nil || l.err == nil {
		t.Errorf("got %q, %d of %d, %v, %v", text, shown, l.total(), err, l.err)
	}
}

func TestNoLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	js := NewJobs(filepath.Join(file, "logs"))
	defer js.Close()
	pid := start(t, js, "echo a; exit 2")
	if j := wait(t, js, pid); j.Code != 2 || j.Log != "" || j.Err == nil || j.Output != "a" {
		t.Errorf("got %+v", j)
	}
	if _, _, _, err := js.Tail(pid, 1); !errors.Is(err, ErrNoLog) {
		t.Errorf("got %v", err)
	}
	if _, _, _, err := js.Tail(pid+1, 1); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestHistory(t *testing.T) {
	js := newJobs(t)
	first := start(t, js, "exec sleep 50")
	var last int
	for range maxHistory + 5 {
		last = start(t, js, "true")
		wait(t, js, last)
	}
	list := js.List()
	if len(list) != maxHistory || list[0].PID != first || !list[0].Running || list[len(list)-1].PID != last {
		t.Errorf("%d jobs, first %+v, last %+v", len(list), list[0], list[len(list)-1])
	}
}

func TestManyAtOnce(t *testing.T) {
	js := newJobs(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			pid, err := js.Start(Command{Text: fmt.Sprintf("echo %d; exec sleep 50", i), Settings: settings()})
			if err != nil {
				t.Error(err)
				return
			}
			js.List()
			js.Tail(pid, 5)
			if i%2 == 0 {
				if err := js.Stop(pid); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(js.List()); n != 8 {
		t.Errorf("%d jobs", n)
	}
}

// A log has no secret in it, however the output was cut.
func TestJobSecrets(t *testing.T) {
	js := newJobs(t)
	js.Secrets = &redact.Redactor{}
	js.Secrets.Add("TOKEN", "hunter2hunter2")
	pid := start(t, js, "printf 'the hunter2'; sleep 0.05; printf 'hunter2 and\nhunt'")
	j := wait(t, js, pid)
	b, err := os.ReadFile(j.Log)
	if want := "the [redacted: TOKEN] and\nhunt"; err != nil || string(b) != want {
		t.Errorf("got %q, %v", b, err)
	}
}
