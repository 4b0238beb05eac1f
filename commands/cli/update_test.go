package cli

import (
	"strings"
	"testing"
)

// What installed the program has left a mark beside it; without one, how it was built says it.
func TestOrigin(t *testing.T) {
	for _, c := range []struct{ mark, by, command string }{
		{"deb", "a Debian package", "sudo apt install ./gemline_*_"},
		{"rpm", "an RPM package", "sudo rpm -U ./gemline-*."},
		{"apk", "an Alpine package", "doas apk add "},
		{"brew", "Homebrew", "brew upgrade gemline"},
		{"image", "a container image", "podman load "},
		{"make PREFIX=/opt", "make install", "git pull && sudo make install PREFIX=/opt, in the clone"},
		{"", "hand", ""},
		{"something newer", "hand", ""},
	} {
		if o := (Build{linked: true}).origin("/usr/bin/gemline", c.mark); o.By != c.by || !strings.HasPrefix(o.Command, c.command) {
			t.Errorf("%q: %+v", c.mark, o)
		}
	}
	if o := (Build{}).origin("/root/go/bin/gemline", ""); o.By != "go install or go build" {
		t.Errorf("%+v", o)
	}
}
