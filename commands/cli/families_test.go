package cli

import "testing"

func TestMember(t *testing.T) {
	family := []string{"Foo", "foo", "foo", "Bar", "bar2"}
	for name, want := range map[string]string{
		"Foo": "Foo", "foo": "foo", "BAR": "Bar", "bar2": "bar2", "BAR2": "bar2",
		"FOO":  `no thing is called "FOO", but Foo and foo are`,
		"bat2": `no thing is called "bat2"; did you mean bar2?`,
		"zzz":  `no thing is called "zzz"; gemline things lists them`,
		"":     `no thing is called ""; gemline things lists them`,
	} {
		got, err := member("thing", "gemline things", name, family, func(s string) string { return s })
		if err != nil {
			got += err.Error()
		}
		if got != want {
			t.Errorf("%q is %s, not %s", name, got, want)
		}
	}
}
