package line

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gemline/commands/program/acceptance/teletype"
)

// drawn returns the screen that a text makes on a terminal of its own, and
// where the cursor is behind the part before a bar.
func drawn(t *testing.T, text string, cols int) (screen string, row, col int) {
	before, after, _ := strings.Cut(text, "|")
	show := func(text string) *teletype.Tmux {
		m := teletype.StartTmux(t, teletype.Command{Path: "sh", Args: []string{"-c", `stty -echo; printf '%s' "$1"; read x`, "sh", text}, Rows: 12, Cols: cols})
		m.Expect(">")
		return m
	}
	m := show("> " + before)
	screen = m.Screen()
	if row, col = m.Cursor(); after != "" {
		screen = show("> " + before + after).Screen()
	}
	return screen, row, col
}

// What stands on the screen after editing is what a terminal makes of the text
// itself, however wide its characters are.
func TestWidths(t *testing.T) {
	const accent, family, flag = "e\u0301", "👩‍👩‍👧", "🇩🇪"
	tests := []struct {
		name string
		keys []string // those of one letter or more by name, others as text
		want string   // with the cursor as a bar
	}{
		{"wide", []string{"日本語日本語日本語日本語", "Home", "x", "End", "BSpace", "!"}, "x日本語日本語日本語日本!|"},
		{"wide, in the middle", []string{"日本語日本語", "Left", "Left", "x"}, "日本語日x|本語"},
		{"full-width signs", []string{"a，。「b」", "Left", "BSpace"}, "a，。「|」"},
		{"combining", []string{"caf" + accent + " au lait", "Home", "Right", "Right", "Right", "Right", "x"}, "caf" + accent + "x| au lait"},
		{"combining, rubbed out", []string{"ab" + accent, "BSpace", "c"}, "abc|"},
		{"family", []string{"a" + family + "b", "Left", "x"}, "a" + family + "x|b"},
		{"family, rubbed out", []string{"a" + family + "b", "Left", "BSpace"}, "a|b"},
		{"flag", []string{"a" + flag + "b", "Left", "Left", "x"}, "ax|" + flag + "b"},
		{"right to left", []string{"שלום abc", "Home", "Right", "BSpace"}, "|לום abc"},
		{"ascii, wrapped", []string{strings.Repeat("word ", 9), "Home", "Right", "BSpace", "W", "End", "end."}, "W" + strings.Repeat("word ", 9)[1:] + "end.|"},
		{"full rows", []string{strings.Repeat("x", 38), "y", "BSpace", "BSpace"}, strings.Repeat("x", 37) + "|"},
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	widths := []int{8, 20, 40, 80}
	if testing.Short() {
		widths = []int{20}
	}
	for _, cols := range widths {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			t.Parallel()
			m := teletype.StartTmux(t, teletype.Command{Path: exe, Env: []string{"LINE_PROGRAM=smart"}, Rows: 12, Cols: cols})
			m.ExpectEnd(">")
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					want, row, col := drawn(t, tt.want, cols)
					below := strings.Count(want, "\n") - row
					m.Key(tt.keys...)
					screen := m.ExpectEnd(want)
					if r, c := m.Cursor(); strings.Count(screen, "\n")-r != below || c != col {
						t.Errorf("the cursor is at %d, %d of\n%s\ninstead of %d, %d of\n%s", r, c, screen, row, col, want)
					}
					m.Key("C-c")
					m.ExpectEnd("ed\n>")
				})
			}
		})
	}
}

// A change of the size while a line is typed leaves a line that can be edited.
func TestResize(t *testing.T) {
	s := start(t, "smart")
	s.Expect("> ")
	s.Send("some words that are longer than the terminal will be")
	s.Expect("will be")
	s.Resize(24, 20)
	s.Send("\x01x\x05!\r")
	s.Expect(`got "xsome words that are longer than the terminal will be!"`)

	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := teletype.StartTmux(t, teletype.Command{Path: exe, Env: []string{"LINE_PROGRAM=smart"}, Rows: 12, Cols: 60})
	m.Expect(">")
	m.Send("some words that are longer than the terminal will be")
	m.Expect("will be")
	m.Resize(12, 20)
	m.ExpectEnd("rminal will be")
	m.Key("Home")
	m.Send("x")
	m.Key("End")
	m.Send("!")
	m.ExpectEnd("> xsome words that a\nre longer than the t\nerminal will be!")
}

// A line that is drawn anew at the top of the screen leaves no copies behind:
// terminals such as tmux keep what is erased from the upper left corner.
func TestDrawnAtTheTop(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := teletype.StartTmux(t, teletype.Command{Path: exe, Env: []string{"LINE_PROGRAM=smart"}, Rows: 6, Cols: 20})
	m.ExpectEnd(">")
	m.Send("words that wrap over the columns")
	for range 4 {
		m.Key("Left")
	}
	m.Send("X")
	m.ExpectEnd("lXumns")
	if all := m.History(); strings.Count(all, "words that wrap") != 1 {
		t.Errorf("the line does not stand there once:\n%s", all)
	}
}
