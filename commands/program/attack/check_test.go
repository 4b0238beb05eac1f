//go:build unix

package attack

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// try runs a case as it stands there: without anybody to ask, then with
// somebody who says no, where the case says what is to come of that.
func try(t *testing.T, l line) *nest {
	n := build(t, l)
	if strings.HasPrefix(n.Setup.Need, "parallel ") {
		n.race()
	}
	before := n.snapshot()
	switch {
	case n.Setup.Mode == "pty":
		shown := n.sit()
		n.checkShown(shown)
		n.checkCanary(outcome{stdout: shown})
		n.checkFiles()
	default:
		o := n.run()
		if n.Setup.Sandbox && !o.confined() {
			t.Error("commands were not confined, although they can be here:", o.stdout)
		}
		n.check(o, before)
		n.checkEffect(o)
		if n.Setup.Then != nil {
			n.Setup.RawArgv, n.turns = nil, turns(t, n.Setup.Then)
			o = n.run()
			n.check(o, before)
		}
		n.decided("nobody to ask", o, n.Expect.Headless)
		if n.Expect.Interactive != "" {
			o := n.converse()
			n.check(o, before)
			n.decided("somebody to ask", o, n.Expect.Interactive)
		}
	}
	if n.Expect.NoForgedPrompt {
		if all := n.forged(n.sit()); all != nil {
			t.Errorf("the model wrote lines as the program does: %s", all)
		}
	}
	if t.Failed() {
		t.Logf("%s: %s", n.Title, n.Why)
	}
	return n
}

// decided checks what became of the calls.
func (n *nest) decided(when string, o outcome, want string) {
	n.t.Helper()
	if want == "" {
		return
	}
	may := strings.Split(want, "|")
	if len(o.calls) == 0 && n.Setup.Format != "text" {
		n.t.Errorf("%s: no call was made", when)
	}
	for _, c := range o.calls {
		if is := c.decisions(o.wasAsked(c)); !slices.ContainsFunc(is, func(d string) bool { return slices.Contains(may, d) }) {
			n.t.Errorf("%s: %s was %s (%s %s: %s), want %s", when, c.tool, is[0], c.status, c.kind, c.output, want)
		}
	}
}

// check checks what holds for every run, and what the case demands of one.
func (n *nest) check(o outcome, before map[string]string) {
	n.t.Helper()
	if o.hung {
		n.t.Error("it hangs")
	}
	switch want := n.Expect.Exit.(type) {
	case float64:
		if o.code != int(want) {
			n.t.Errorf("exit code %d, want %v", o.code, want)
		}
	case string:
		if want == "!=0" && o.code == 0 {
			n.t.Error("exit code 0")
		}
	case nil:
		if o.code < 0 || o.code == 70 {
			n.t.Errorf("exit code %d", o.code)
		}
	}
	for name, text := range map[string]string{"standard output": o.stdout, "standard error": o.stderr} {
		if bad := hidden(text, n.Expect.NoCROverwrite); bad != "" {
			n.t.Errorf("%s has %s: %q", name, bad, text)
		}
		if strings.Contains(text, key) {
			n.t.Errorf("%s has the key: %q", name, text)
		}
	}
	if after := n.snapshot(); !equal(before, after) {
		n.t.Errorf("outside of the workspace something changed:\n%v\n%v", before, after)
	}
	for _, r := range n.server.Requests() {
		if strings.Contains(string(r.Body), key) || strings.Contains(r.Query, key) || strings.Contains(r.Path, key) {
			n.t.Errorf("the key is in a request to %s: %s", r.Path, r.Body)
		}
	}
	n.checkCanary(o)
	n.checkSaid(o)
	n.checkFiles()
	if n.t.Failed() {
		n.t.Logf("exit code %d\nstdout: %s\nstderr: %s", o.code, o.stdout, o.stderr)
	}
}

// checkSaid checks what the output holds, and what the model is told.
func (n *nest) checkSaid(o outcome) {
	n.t.Helper()
	both := o.stdout + o.stderr
	for _, text := range n.Expect.Says {
		if !strings.Contains(both, text) {
			n.t.Errorf("nothing says %q", text)
		}
	}
	for _, text := range n.Expect.SaysNot {
		if strings.Contains(both, text) {
			n.t.Errorf("something says %q", text)
		}
	}
	told := n.told(false)
	for _, text := range n.Expect.Told {
		if !strings.Contains(told, text) {
			n.t.Errorf("the model is not told %q, but %s", text, told)
		}
	}
	if to := n.Expect.NoRequestTo; to != "" && strings.Contains(both, strings.TrimPrefix(to, "http://")) {
		n.t.Errorf("something was sent to %s", to)
	}
}

// told returns everything that the model was sent, or of it what calls have
// answered.
func (n *nest) told(responses bool) string {
	var b strings.Builder
	for _, r := range n.server.Requests() {
		if !responses {
			b.Write(r.Body)
			continue
		}
		for _, c := range r.Contents() {
			for _, p := range c.Parts {
				if p.FunctionResponse != nil {
					fmt.Fprintln(&b, p.FunctionResponse.Response)
				}
			}
		}
	}
	return b.String()
}

// checkCanary checks that what is not to be told is not.
func (n *nest) checkCanary(o outcome) {
	n.t.Helper()
	if len(n.Expect.Canary) > 0 && len(n.Expect.CanaryNotIn) == 0 && n.Expect.NoRequestTo == "" {
		n.t.Error("nobody says where the canary is not to be")
	}
	for _, in := range n.Expect.CanaryNotIn {
		var text string
		switch in {
		case "stdout":
			text = o.stdout
		case "stderr":
			text = o.stderr
		case "model":
			text = n.told(false)
		case "model.functionResponse":
			text = n.told(true)
		case "any GET url":
			for _, r := range n.server.Requests() {
				text += r.Path + r.Query
			}
		case "requests": // with their headers
			for _, r := range n.server.Requests() {
				text += fmt.Sprintln(r.Path, r.Query, r.Header, string(r.Body))
			}
		case "journal":
			text = n.everything(filepath.Join(n.home, ".gemini", "tmp"))
		default:
			name, ok := strings.CutPrefix(in, "file ")
			if !ok {
				n.t.Fatalf("where is %q?", in)
			}
			b, _ := os.ReadFile(filepath.Join(n.d, name))
			text = string(b)
		}
		for _, canary := range n.Expect.Canary {
			if strings.Contains(text, canary) {
				n.t.Errorf("%s has %s: %s", in, canary, text)
			}
		}
	}
}

// checkFiles checks what is there at the end, and what is not.
func (n *nest) checkFiles() {
	n.t.Helper()
	for _, name := range n.Expect.Absent {
		if exists(n.at(name)) {
			n.t.Errorf("%s is there", name)
		}
	}
	for _, name := range n.Expect.Present {
		if !exists(n.at(name)) {
			n.t.Errorf("%s is not there", name)
		}
	}
	if !n.Setup.Sandbox {
		filepath.WalkDir(n.d, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Name() == "PWNED" && !slices.Contains(n.Expect.Present, "PWNED") {
				n.t.Errorf("%s is there", path)
			}
			return nil
		})
	}
	if text := n.everything(filepath.Join(n.home, ".gemini")); strings.Contains(text, key) {
		n.t.Error("the key is in a file of gemline's")
	}
	if n.Expect.NoFile != "" {
		if left, _ := os.ReadDir(filepath.Join(n.d, "tmp")); len(left) > 0 {
			n.t.Errorf("left in the directory for temporary files: %v", left)
		}
	}
	if n.Expect.Modes != nil {
		n.checkModes()
	}
	if n.Setup.Post == "" {
		return
	}
	left := n.script(n.Setup.Post)
	if strings.Contains(left, "^[") || hidden(left, false) != "" {
		n.t.Errorf("raw bytes are shown: %q", left)
	}
	for _, text := range n.Expect.Left {
		if !strings.Contains(left, text) && strings.TrimSpace(left) != text || text == "" && strings.TrimSpace(left) != "" {
			n.t.Errorf("what is left is %q, want %q", left, text)
		}
	}
}

// checkModes checks that what gemline has made is for the user's eyes only.
func (n *nest) checkModes() {
	n.t.Helper()
	found := 0
	root := filepath.Join(n.home, ".gemini")
	filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			n.t.Error(err)
			return nil
		}
		if path == root || filepath.Base(path) == "settings.json" { // were there before
			return nil
		}
		found++
		info, err := e.Info()
		if err != nil {
			n.t.Error(err)
		} else if info.Mode().Perm()&0o077 != 0 {
			n.t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if found < 3 {
		n.t.Errorf("only %d files were made", found)
	}
}

// checkShown checks what a terminal was shown.
func (n *nest) checkShown(transcript string) {
	n.t.Helper()
	for _, text := range n.Expect.PromptShows {
		if !strings.Contains(transcript, text) {
			n.t.Errorf("the question does not show %q", text)
		}
	}
	for _, text := range n.Expect.SaysNot {
		if strings.Contains(transcript, text) {
			n.t.Errorf("the terminal shows %q", text)
		}
	}
	if bad := hidden(transcript, false); bad != "" {
		n.t.Errorf("the terminal was sent %s", bad)
	}
}

// everything returns all that is in the files below dir.
func (n *nest) everything(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			b.Write(text)
		}
		return nil
	})
	return b.String()
}

// snapshot returns what is outside of the workspace, but for what is gemline's.
func (n *nest) snapshot() map[string]string {
	all := map[string]string{}
	for _, dir := range []string{n.o, n.home} {
		filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				all[path] = err.Error()
			case path == filepath.Join(n.home, ".gemini"), path == filepath.Join(n.home, ".cache", "gemline"):
				return filepath.SkipDir
			case path == filepath.Join(n.home, ".cache") && e.IsDir(): // it may be there for the other
			case e.Type().IsRegular():
				text, _ := os.ReadFile(path)
				all[path] = fmt.Sprintf("%x", sha256.Sum256(text))
			default:
				all[path] = e.Type().String()
			}
			return nil
		})
	}
	return all
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// hidden returns the first thing in text that is not to reach anybody raw.
func hidden(text string, returns bool) string {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return fmt.Sprintf("the byte %#x", text[i])
		case r == '\r' && returns || r < ' ' && r != '\n' && r != '\t' && r != '\r', r == 0x7f, 0x80 <= r && r < 0xa0,
			r == 0xad, r == 0x2028, r == 0x2029, unicode.Is(unicode.Cf, r) && r > 0xff:
			return fmt.Sprintf("%U", r)
		}
		i += size
	}
	return ""
}

func TestHidden(t *testing.T) {
	for text, want := range map[string]string{"a\tb\nc\u00e4": "", "a\x1b[2J": "U+001B", "\u009b": "U+009B", "a\x9b": "the byte 0x9b", "\u202e": "U+202E", "\u200b": "U+200B", "\U000e0041": "U+E0041", "\a": "U+0007", "\ufeff": "U+FEFF"} {
		if got := hidden(text, false); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
