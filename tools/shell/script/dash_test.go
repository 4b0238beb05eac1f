//go:build unix

package script

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
	"gemline/engine/enginetest"
)

// What is written anew of a plain script is run by dash, or whatever sh is, as
// it was read, too: it holds nothing that is bash's own.
func TestPlainAgainstDash(t *testing.T) {
	shell, err := exec.LookPath("dash")
	if err != nil {
		if shell, err = exec.LookPath("sh"); err != nil {
			t.Skip("no sh")
		}
	}
	path := t.TempDir()
	for _, name := range programs {
		shim := "#!" + shell + "\nexec >&9\nprintf '%s\\0' \"$I\" \"$#\" \"" + name + "\" \"$@\"\nexit $S\n"
		if err := os.WriteFile(filepath.Join(path, name), []byte(shim), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := enginetest.Random(t, 0)
	const batch = 100
	ran, total := 0, size(300, 20_000)
	for done := 0; done < total; done += batch {
		var texts []string
		var script bytes.Buffer
		for len(texts) < batch {
			text := babble(r)
			s := Read(text)
			if s.Class != engine.Plain || slices.ContainsFunc(s.Commands, func(c engine.Command) bool { return !slices.Contains(programs, c.Argv[0].Text) }) {
				continue
			}
			canonical, _ := s.Canonical()
			fmt.Fprintf(&script, "I=%d S=%d; export I S\n(eval %s) </dev/null 2>/dev/null\n", len(texts), len(texts)%2, Quote(canonical))
			texts = append(texts, text)
		}
		log := filepath.Join(t.TempDir(), "log")
		f, err := os.OpenFile(log, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(shell)
		cmd.Env, cmd.Stdin, cmd.Dir = []string{"PATH=" + path, "LC_ALL=C.UTF-8"}, &script, path
		cmd.ExtraFiles = []*os.File{f, f, f, f, f, f, f}
		err = cmd.Run()
		f.Close()
		if err != nil && cmd.ProcessState.ExitCode() < 0 {
			t.Fatal(err)
		}
		written, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][][]string, batch)
		for fields := strings.Split(string(written), "\x00"); len(fields) > 2; {
			i, err := strconv.Atoi(fields[0])
			n, err2 := strconv.Atoi(fields[1])
			if err != nil || err2 != nil || n+3 > len(fields) {
				t.Fatalf("log: %q", fields[:3])
			}
			got[i], fields = append(got[i], fields[2:n+3]), fields[n+3:]
		}
		for i, text := range texts {
			file, _ := syntax.NewParser().Parse(strings.NewReader(text), "")
			var want [][]string
			for _, s := range file.Stmts {
				want = append(want, expected(s, i%2)...)
			}
			slices.SortFunc(want, slices.Compare)
			slices.SortFunc(got[i], slices.Compare)
			ran += len(got[i])
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Errorf("%q\n%s", text, diff)
			}
		}
	}
	t.Logf("dash: %d plain scripts ran %d commands, all as read", total, ran)
}
