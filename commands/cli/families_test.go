package cli

import "testing"

func TestFind(t *testing.T) {
	things := family[string]{"thing", "gemline things", []string{"Foo", "foo", "foo", "Bar", "bar2"},
		func(s string) candidate { return candidate{word: s} }}
	for name, want := range map[string]string{
		"Foo": "Foo", "foo": "foo", "BAR": "Bar", "bar2": "bar2", "BAR2": "bar2",
		"FOO":  `no thing is called "FOO", but Foo and foo are`,
		"bat2": `no thing is called "bat2"; did you mean bar2?`,
		"zzz":  `no thing is called "zzz"; gemline things lists them`,
		"":     `no thing is called ""; gemline things lists them`,
	} {
		got, err := things.find(name)
		if err != nil {
			got += err.Error()
		}
		if got != want {
			t.Errorf("%q is %s, not %s", name, got, want)
		}
	}
}
