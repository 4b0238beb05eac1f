package program_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The runtime initializes a package, among those whose imports are ready, in the order of their
// paths: early comes before the libraries whose initialization takes time, as long as it needs
// none of them.
func TestEarlyNeedsFew(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./early").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if path = strings.TrimSpace(path); strings.HasPrefix(path, "google.golang.org/") || strings.HasPrefix(path, "github.com/") && path > "github.com/santhosh" {
			t.Errorf("%s is initialized before it", path)
		}
	}
}
