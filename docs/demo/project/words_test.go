package words

import "testing"

func TestCount(t *testing.T) {
	for s, want := range map[string]int{
		"":                  0,
		"one":               1,
		"one two":           2,
		"  spaces  around ": 2,
	} {
		if got := Count(s); got != want {
			t.Errorf("Count(%q) = %d; want %d", s, got, want)
		}
	}
}
