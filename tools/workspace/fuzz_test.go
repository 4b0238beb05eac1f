package workspace

import (
	"strings"
	"testing"
)

func FuzzRules(f *testing.F) {
	for _, s := range []string{"*.go\n!a", "a/**/b", "[[:alpha:]-z]*\\", "**/**/**/**/x", "*a*a*a*a*a*a*b", "[]-a]", "\ufeff#\r\n /"} {
		f.Add([]byte(s), "a/b/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac")
	}
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		base := name[strings.LastIndexByte(name, '/')+1:]
		rules := parseRules(b)
		for _, dir := range []bool{false, true} {
			var last *rule
			for i := range rules.all {
				if r := &rules.all[i]; r.match(name, base, dir) {
					last = r
				}
			}
			if got := rules.last(name, dir); got != last {
				t.Errorf("%q, directory %v: got %+v; want %+v", name, dir, got, last)
			}
		}
	})
}

// A pattern made to take forever must not.
func TestWildEnds(t *testing.T) {
	if wildmatch(strings.Repeat("**/a*", 12)+"b", strings.Repeat("aaaaaaaa/", 200)) || wildmatch(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 3000)) {
		t.Error("matched")
	}
}
