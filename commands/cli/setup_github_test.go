package cli

import "testing"

// Lines that are there in another spelling are not added again, and the ends of lines stay
// what they are.
func TestIgnoring(t *testing.T) {
	for was, want := range map[string]string{
		"":                                 ".gemini/\ngha-creds-*.json\n",
		"*.log":                            "*.log\n.gemini/\ngha-creds-*.json\n",
		"/.gemini\ngha-creds-*.json\n":     "/.gemini\ngha-creds-*.json\n",
		"a\r\n.gemini/\r\n":                "a\r\n.gemini/\r\ngha-creds-*.json\r\n",
		"# .gemini/\n  gha-creds-*.json\n": "# .gemini/\n  gha-creds-*.json\n.gemini/\n",
	} {
		if got := ignoring(was); got != want {
			t.Errorf("%q: %q", was, got)
		}
	}
}
