package text

import "testing"

func TestShortID(t *testing.T) {
	for id, want := range map[string]string{
		"b9e248d9-cf5a-481c-a38d-30aa2a6373e8": "b9e248d9",
		"00000000-0000-4000-8000-000000000001": "00000000-0000-4000-8000-000000000001", // others begin so, too
		"B9e248d9-cf5a-481c-a38d-30aa2a6373e8": "B9e248d9-cf5a-481c-a38d-30aa2a6373e8",
		"broken-off":                           "broken-off",
		"":                                     "",
	} {
		if got := ShortID(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
