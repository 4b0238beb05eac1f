package script

import (
	"strings"
	"testing"
)

// Options are read as getopt_long reads them, but for those that are shortened.
func TestTake(t *testing.T) {
	o := options{flags: "ab", valued: "nI", long: []string{"all", "color"}, longer: []string{"name"}}
	for _, test := range []struct{ args, want string }{
		{"-a", "a"}, {"-ab x", "a b"}, {"-n x y", "n:x +1"}, {"-nx y", "n:x"}, {"-an x", "a n:x +1"}, {"-abnab", "a b n:ab"}, {"-n=x", "n:=x"}, {"-nI x", "n:I"},
		{"--all x", "all"}, {"--color", "color"}, {"--color=x", "color:x"}, {"--name x y", "name:x +1"}, {"--name=x y", "name:x"}, {"--name=", "name"}, {"--name=a=b", "name:a=b"},
		{"-n --all", "n:--all +1"}, {"-n ?x", "n:?x +1"}, {"--name ?x", "name:?x +1"},
		{"-n", ""}, {"-an", ""}, {"--name", ""}, {"-c", ""}, {"-ac", ""}, {"-na *x", "n:a"}, {"-n *x", ""}, {"--name *x", ""}, {"--nam x", ""}, {"--al", ""}, {"--other", ""}, {"--", ""}, {"---all", ""}, {"-a-", ""},
	} {
		var args []word
		for text := range strings.FieldsSeq(test.args) {
			args = append(args, word{text: text, known: text[0] != '?' && text[0] != '*', split: text[0] == '*'})
		}
		found, values, ok := o.take(args)
		var got []string
		for _, one := range found {
			if one.value.text != "" {
				one.name += ":" + one.value.text
			}
			if one.value.known != !strings.Contains(one.value.text, "?") {
				t.Errorf("%s: %s: known: %t", test.args, one.name, one.value.known)
			}
			got = append(got, one.name)
		}
		if values == 1 {
			got = append(got, "+1")
		}
		if strings.Join(got, " ") != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %t; want %q", test.args, got, ok, test.want)
		}
	}
}
