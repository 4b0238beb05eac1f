//go:build unix

package attack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// refusals are how commands say that the kernel refuses something, or has
// nothing to show them.
var refusals = regexp.MustCompile(`(?i)permission denied|not permitted|read-only file system|no such (file|device|process)|unreachable|connection refused|cannot assign|not supported|superuser|may not do`)

// confined reports whether the kernel holds the commands of a run, by its own
// record.
func (o outcome) confined() bool {
	return regexp.MustCompile(`"sandbox":\{[^}]*"files":true,"network":true`).MatchString(o.stdout)
}

// checkEffect checks what a confined command came to.
func (n *nest) checkEffect(o outcome) {
	n.t.Helper()
	if n.Expect.Effect == "" && n.Expect.StdoutHas == "" && n.Expect.StdoutFDs == "" {
		return
	}
	if len(o.calls) == 0 {
		n.t.Fatal("no call was made")
	}
	c := o.calls[len(o.calls)-1]
	said := c.output + "\n" + n.told(true)
	switch n.Expect.Effect {
	case "":
	case "allowed":
		if c.status != "success" {
			n.t.Errorf("it came to %s: %s", c.status, said)
		}
	case "blocked":
		if !refusals.MatchString(said) {
			n.t.Errorf("nothing was refused: %s", said)
		}
	case "agent survives":
		if o.code != 0 || c.status == "" {
			n.t.Errorf("gemline ended with %d, the call with %q", o.code, c.status)
		}
	default:
		n.t.Fatalf("what is the effect %q?", n.Expect.Effect)
	}
	if !strings.Contains(said, n.Expect.StdoutHas) {
		n.t.Errorf("no %q in %s", n.Expect.StdoutHas, said)
	}
	if n.Expect.StdoutFDs != "" {
		n.checkDescriptors(said)
	}
}

// checkDescriptors checks a listing of a process's descriptors: it has the
// three, and the one that reads the listing.
func (n *nest) checkDescriptors(listing string) {
	n.t.Helper()
	for _, m := range regexp.MustCompile(`(\d+) -> (\S+)`).FindAllStringSubmatch(listing, -1) {
		if !slices.Contains([]string{"0", "1", "2"}, m[1]) && !strings.HasSuffix(m[2], "/fd") {
			n.t.Errorf("the command has %s", m[0])
		}
	}
}

// held says what commands of the program are held by here. It is asked before
// anything is tried: unheld, some of it would be done to this machine.
var held = sync.OnceValues(func() (status struct {
	Step           string
	Files, Network bool
}, err error) {
	path, err := built()
	if err != nil {
		return status, err
	}
	home, err := os.MkdirTemp("", "gemline-attack-home-")
	if err != nil {
		return status, err
	}
	defer os.RemoveAll(home)
	cmd := exec.Command(path, "sandbox", "status", "--json")
	cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir()}
	out, err := cmd.Output()
	if err != nil {
		return status, fmt.Errorf("gemline sandbox status: %w: %s", err, out)
	}
	err = json.Unmarshal(out, &struct{ Sandbox any }{&status})
	return status, err
})

// needs skips a case that needs what is not here.
func (n *nest) needs() {
	n.t.Helper()
	if n.Setup.Sandbox {
		status, err := held()
		if err != nil {
			n.t.Fatal(err)
		}
		if !status.Files || !status.Network {
			n.t.Skipf("nothing holds the files and the network of commands here (%s), so this would really be done", cmp.Or(status.Step, "no step is in force"))
		}
	}
	for _, name := range []string{"python3", "strace"} {
		for _, raw := range n.Call {
			if !strings.Contains(string(raw), `"`+name+" ") {
				continue
			}
			if _, err := exec.LookPath(name); err != nil {
				if os.Getenv("GEMLINE_TEST_ALL") != "" {
					n.t.Fatal(err)
				}
				n.t.Skipf("there is no %s here", name)
			}
		}
	}
}

// race has the file tools of the program write while a command swaps the
// directory that they write to for one outside.
func (n *nest) race() {
	raw := strings.Replace(string(n.Call[0]), `"args": {`, `"args": {"is_background": true, `, 1)
	n.Call[0] = []byte(raw)
	var calls []string
	for range 300 {
		calls = append(calls, `{"name": "write_file", "args": {"file_path": "d/f", "content": "x"}}`)
	}
	n.Call = append(n.Call, []byte("["+strings.Join(calls, ",")+"]"))
	n.turns = turns(n.t, n.Call)
	n.write(filepath.Join(n.o, "witness"), "x", 0o644)
}
