//go:build unix

package terminal

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A session in screen reader mode is spoken by espeak-ng and shown in braille by liblouis:
// each turn fits in a budget of words, of seconds at 300 words a minute, and of cells;
// no path is said twice in a turn, no run of symbols is read out, each question can be
// understood as it is heard, and braille has a sign for every character.
func TestHeardAndFelt(t *testing.T) {
	t.Parallel()
	speak, translate := pt.Need(t, "espeak-ng"), pt.Need(t, "lou_translate")
	server := et.NewServer(
		et.Says("", et.Call("1", "replace", "file_path", "store.txt", "instruction", "more", "old_string", "two\n", "new_string", "three\n")), et.Says("There are three now."),
		et.Says("", et.Call("2", "run_shell_command", "command", "seq 5 >five")), et.Says("It counts to **5**:\n\n| number | word |\n|---|---|\n| 1 | one |\n| 5 | five |\n"),
		et.Says("", et.Call("3", "read_file", "file_path", "none.txt")), et.Says("There is no such file."))
	c := pt.Terminal(t, server)
	c.Term = "xterm"
	c.Env = append(c.Env, "ACCESSIBLE=1", "LC_ALL=C.UTF-8")
	pt.Write(t, c.Dir, map[string]string{"store.txt": "one\ntwo\n"})
	s := teletype.Start(t, c)
	s.Expect("> ")
	heard := func(line string, answers ...string) string {
		from := len(s.Transcript())
		s.Line(line)
		s.Expect(line + "\r\n")
		for _, answer := range answers {
			s.Match(`\n[^\n]*more: $`)
			s.Line(answer)
			s.Expect(answer + "\r\n")
		}
		s.Match(`(?:^|\n)> $`)
		return strings.ReplaceAll(string(s.Transcript()[from:]), "\r", "")
	}
	for _, turn := range []struct {
		line, answer          string
		words, seconds, cells int
	}{
		{"three in store", "y", 50, 11, 235},
		{"count", "y", 67, 14, 305},
		{"read none", "", 27, 6, 130},
		{"/undo", "", 11, 3, 55},
		{"/help undo", "", 31, 7, 145},
	} {
		var answers []string
		if turn.answer != "" {
			answers = []string{turn.answer}
		}
		text := heard(turn.line, answers...)
		wave := filepath.Join(t.TempDir(), "wave")
		said := exec.Command(speak, "-s", "300", "-w", wave, "--stdin")
		said.Stdin = strings.NewReader(text)
		if out, err := said.CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		info, err := os.Stat(wave)
		if err != nil {
			t.Fatal(err)
		}
		seconds := int(info.Size() / (2 * 22050)) // 16 bits, 22,050 times a second
		felt := exec.Command(translate, "--forward", "en-ueb-g2.ctb")
		felt.Stdin = strings.NewReader(text)
		braille, err := felt.Output()
		if err != nil {
			t.Fatal(err)
		}
		if words, cells := len(strings.Fields(text)), len(strings.Join(strings.Fields(string(braille)), " ")); words > turn.words || seconds > turn.seconds || cells > turn.cells {
			t.Errorf("%s: %d words, %d seconds, %d cells where %d, %d and %d may be:\n%s", turn.line, words, seconds, cells, turn.words, turn.seconds, turn.cells, text)
		}
		if sign := regexp.MustCompile(`\\x[0-9a-f]{4}|\\\d+/`).FindString(string(braille)); sign != "" {
			t.Errorf("%s: braille has no sign for %s:\n%s", turn.line, sign, text)
		}
		if run := regexp.MustCompile(`[^\pL\pN\s]{4,}`).FindString(text); run != "" {
			t.Errorf("%s: %q is read out:\n%s", turn.line, run, text)
		}
		for _, path := range regexp.MustCompile(`/[\w.-]+/[\w./-]+`).FindAllString(text, -1) {
			if strings.Count(text, path) > 1 {
				t.Errorf("%s: %s is said twice:\n%s", turn.line, path, text)
			}
		}
		if turn.answer != "" && !regexp.MustCompile(`(?m)^permission: .+\n(?:.*\n)*y, n.*, \? = more: y$`).MatchString(text) {
			t.Errorf("%s: no question that is understood when heard:\n%s", turn.line, text)
		}
	}
	s.Line("/quit")
	pt.Succeeds(t, s)
}
