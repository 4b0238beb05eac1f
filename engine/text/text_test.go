package text_test

import (
	"fmt"
	"testing"
	"time"

	"gemline/engine/text"
)

func ExampleJSON() {
	b, _ := text.JSON(map[string]any{"a": "<b> & c"}, "")
	fmt.Println(string(b))
	b, _ = text.JSON([]int{1}, "  ")
	fmt.Println(string(b))
	_, err := text.JSON(func() {}, "")
	fmt.Println(err != nil)
	// Output:
	// {"a":"<b> & c"}
	// [
	//   1
	// ]
	// true
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"", 3, ""}, {" a\n\tb ", 3, "a b"}, {"abcd", 3, "abc..."}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äöü..."}, {"a\xff", 3, "a?"},
	} {
		if got := text.OneLine(c.in, c.most); got != c.want {
			t.Errorf("OneLine(%q, %d) = %q", c.in, c.most, got)
		}
	}
	if got := text.Shorten("a  b", 3); got != "a  ..." {
		t.Errorf("got %q", got)
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 8412: "8,412", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := text.Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestMoney(t *testing.T) {
	for usd, want := range map[float64]string{0: "$0.0000", 0.00012: "$0.000120", 0.0123: "$0.0123", 0.9: "$0.9000", 1: "$1.00", 12.345: "$12.35"} {
		if got := text.Money(usd); got != want {
			t.Errorf("Money(%v) = %q, want %q", usd, got, want)
		}
	}
}

func TestTimestamp(t *testing.T) {
	at := time.Date(2026, 11, 23, 1, 2, 3, 4_567_890, time.FixedZone("", 3600))
	if got := text.Timestamp(at); got != "2026-11-23T00:02:03.004Z" {
		t.Errorf("got %s", got)
	}
}

func TestMisspelled(t *testing.T) {
	known := []string{"wirter", "ts-reviewer", "backend-developer", "test-2", "essay"}
	for name, want := range map[string]string{"writer": "wirter", "go-reviewer": "", "frontend-developer": "", "test-1": "", " essai ": "essay", "essay": "", "     ": ""} {
		if got := text.Misspelled(name, []string{name}, known); got != want {
			t.Errorf("%q: %q; want %q", name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"gemini-2.5-pro", "gemini-2.5-flash", "auto"}
	for name, want := range map[string]string{"gemini-2.5-prp": "gemini-2.5-pro", "flash": "", "ato": "auto", "": "", "gemini-2.5-flush": "gemini-2.5-flash", "x": ""} {
		if got := text.Nearest(name, names); got != want {
			t.Errorf("%q: %q; want %q", name, got, want)
		}
	}
}
