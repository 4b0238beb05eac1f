package output

import (
	"encoding/base64"
	"strings"
	"testing"
)

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestClipboardSequence(t *testing.T) {
	const text = "grüße\n"
	plain := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"terminal", nil, plain},
		{"tmux", []string{"TMUX", "/tmp/tmux-0/default,1,0"}, "\x1bPtmux;\x1b" + plain + "\x1b\\"},
		{"screen", []string{"STY", "123.pts-0"}, "\x1bP" + plain + "\x1b\\"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ClipboardSequence(text, environment(tt.env...))
			if got != tt.want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
	if got, err := ClipboardSequence(text, environment("TMUX", "/tmp/t,1,0", "STY", "123.pts-0")); got != "" || err == nil {
		t.Errorf("screen in tmux, or the other way round: %q, %v", got, err)
	}
	if got, err := ClipboardSequence(strings.Repeat("x", maxClipboard+1), environment()); got != "" || err == nil {
		t.Errorf("too much: %d bytes, %v", len(got), err)
	}
	long, err := ClipboardSequence(strings.Repeat("x", maxClipboard), environment("STY", "1"))
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(long, "\x1bP"), "\x1b\\"), "\x1b\\\x1bP", "")
	if want, _ := ClipboardSequence(strings.Repeat("x", maxClipboard), environment()); joined != want {
		t.Error("what screen passes on is not what was meant")
	}
}

func TestNotificationSequence(t *testing.T) {
	tests := []struct {
		name, method, title, body string
		env                       []string
		want                      string
	}{
		{"bell", "bell", "t", "b", nil, "\a"},
		{"osc9", "osc9", "gemline", "done", nil, "\x1b]9;gemline: done\a"},
		{"osc777", "osc777", "a;b", "c;d", nil, "\x1b]777;notify;a,b;c,d\a"},
		{"auto knows nothing", "auto", "t", "b", nil, "\a"},
		{"auto in WezTerm", "auto", "t", "b", []string{"TERM_PROGRAM", "WezTerm"}, "\x1b]9;t: b\a"},
		{"auto in urxvt", "auto", "t", "b", []string{"TERM", "rxvt-unicode-256color"}, "\x1b]777;notify;t;b\a"},
		{"auto in foot", "auto", "t", "b", []string{"TERM", "foot"}, "\x1b]777;notify;t;b\a"},
		{"auto in kitty in tmux", "auto", "t", "b", []string{"KITTY_WINDOW_ID", "1", "TMUX", "x"}, "\x1bPtmux;\x1b\x1b]9;t: b\a\x1b\\"},
		{"tmux in screen, or the other way round", "osc9", "t", "b", []string{"TMUX", "x", "STY", "1"}, "\a"},
		{"hostile", "osc9", "t", "a\x07\x1b]0;title\x07\u202eb\nc\xff", nil, "\x1b]9;t: a]0;titleb c\a"},
		{"not too long", "osc9", "t", strings.Repeat("ä", 180), nil, "\x1b]9;t: " + strings.Repeat("ä", 180) + "\a"},
		{"long", "osc9", "t", strings.Repeat("ä", 200), nil, "\x1b]9;t: " + strings.Repeat("ä", 177) + "...\a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NotificationSequence(tt.method, tt.title, tt.body, environment(tt.env...)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
