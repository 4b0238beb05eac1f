package text_test

import (
	"fmt"
	"testing"

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
