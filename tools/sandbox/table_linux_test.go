package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write the table of probes into testdata/probes.md")

const page = "testdata/probes.md"

// nobody is the ordinary user that probes run as when root runs the test.
const nobody = 65534

// columns are the steps, and without what a Kernel is at each.
var columns = []struct {
	name    string
	none    bool
	without []string
}{
	{"nothing", true, nil},
	{"seccomp", false, []string{"namespaces", "Landlock"}},
	{"Landlock, seccomp", false, []string{"namespaces"}},
	{"namespaces, Landlock, seccomp", false, nil},
}

// effects are attacks on what other programs would run or obey; whether they
// worked is seen when they are over.
var effects = []struct{ name, script, there string }{
	{"write a hook", "echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"write a hook where there were none", "mkdir -p deep/er/.git/hooks; echo x > deep/er/.git/hooks/pre-commit", "deep/er/.git/hooks/pre-commit"},
	{"change the configuration of a repository", "git config core.fsmonitor id", ".git/changed"},
	{"replace a repository", "mv .git .g2; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
	{"say where another configuration is", "echo ../evil > .git/commondir", ".git/commondir"},
	{"make a repository with a hook", "mkdir -p v/.git/hooks; echo x > v/.git/hooks/post-checkout", "v/.git/hooks/post-checkout"},
	{"write gemline's configuration", "mkdir -p .gemini; echo {} > .gemini/settings.json", ".gemini/settings.json"},
}

// TestProbes tries everything that a confined command must not do, at every
// step, as root and as an ordinary user, and holds the result to what the table
// says. A kernel that can do more than theirs is fine.
func TestProbes(t *testing.T) {
	if os.Getenv(probeVariable) == "table" { // as an ordinary user, started below
		fmt.Print("table\n" + measure(t, os.Getenv("PROBE_BASE")).String())
		return
	}
	base, err := os.MkdirTemp(".", "probes-")
	if err != nil {
		base, err = os.MkdirTemp("", "probes-")
	}
	if err == nil {
		base, err = filepath.Abs(base)
	}
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	os.Chmod(base, 0o755)
	results := []result{{}, {}} // of root and of an ordinary user
	own := filepath.Join(base, "own")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		results[1] = measure(t, own)
	} else {
		results[0] = measure(t, own)
		results[1] = asNobody(t, base)
	}
	table := join(results)
	t.Log("\n" + table)
	if *update {
		rewrite(t, table)
	}
	compare(t, results)
}

// asNobody measures as an ordinary user. It returns nothing where root can't
// become one.
func asNobody(t *testing.T, base string) result {
	out, ok, err := runAsNobody(t, base, "^TestProbes$", probeVariable+"=table")
	if !ok {
		return result{}
	}
	_, text, ok := strings.Cut(string(out), "table\n")
	if !ok {
		t.Logf("nobody can't run the probes here: %v: %s", err, out)
		return result{}
	}
	return parse(text)
}

// runAsNobody runs tests as an ordinary user, in a directory in base. It reports
// false where root can't become one, and where others can't go to base.
func runAsNobody(t *testing.T, base, tests string, env ...string) (out []byte, ok bool, err error) {
	for at := base; at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Stat(at); err != nil || info.Mode()&1 == 0 {
			t.Log("others can't go through", at, err)
			return nil, false, err
		}
	}
	dir := filepath.Join(base, "nobody")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self) // where it is, nobody may not go
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "program")
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	os.Chmod(program, 0o755)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Log("root is not quite root here:", err)
		return nil, false, err
	}
	cmd := exec.Command(program, "-test.v", "-test.run="+tests)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PROBE_BASE="+dir, "HOME="+dir), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err = cmd.CombinedOutput()
	return out, true, err
}

// A result says for each step and probe how it went: "open", "blocked",
// "undone" afterwards, "works" or "fails".
type result map[string]map[string]string

func (r result) String() string {
	var b strings.Builder
	for _, c := range columns {
		for name, cell := range r[c.name] {
			fmt.Fprintf(&b, "%s\t%s\t%s\n", c.name, name, cell)
		}
	}
	return b.String()
}

func parse(text string) result {
	r := result{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 3 {
			if r[f[0]] == nil {
				r[f[0]] = map[string]string{}
			}
			r[f[0]][f[1]] = f[2]
		}
	}
	return r
}

// measure runs all probes at all steps that there are here.
func measure(t *testing.T, base string) result {
	r := result{}
	for i, c := range columns {
		k := New(Options{Without: c.without})
		if s := k.State(); !c.none && s.Step != c.name {
			t.Logf("this system has no step %q, but %q: %+v", c.name, s.Step, s.Layers)
			k.Close()
			continue
		}
		if c.none {
			k = nil
		}
		dir := filepath.Join(base, fmt.Sprint(i))
		r[c.name] = map[string]string{}
		syscalls(t, k, dir, r[c.name])
		for n, e := range effects {
			r[c.name][e.name] = effect(t, k, fmt.Sprintf("%s-%d", dir, n), e.script, e.there)
		}
		if k != nil {
			k.Close()
		}
	}
	return r
}

// syscalls runs the probe program once.
func syscalls(t *testing.T, k *Kernel, dir string, cells map[string]string) {
	w := world{root: filepath.Join(dir, "root"), out: filepath.Join(dir, "out")}
	for _, d := range []string{w.root, w.out + "/hidden"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{w.out + "/file", w.out + "/removed", w.out + "/mode", w.root + "/moved"} {
		if err := os.WriteFile(f, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.out+"/hidden/secret", []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := git("init", "-q", w.root).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	w.fifo = w.out + "/fifo"
	if strings.HasPrefix(w.out, "/tmp/") { // where commands see it only because this test says so
		w.fifo = filepath.Join(t.TempDir(), "fifo")
	}
	if err := unix.Mkfifo(w.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	memory, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
	if err == nil {
		defer unix.SysvShmCtl(memory, unix.IPC_RMID, nil)
	}
	w.memory = memory
	listen(t, &w)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	victim := exec.Command(self)
	victim.Dir, victim.Env = w.out, []string{probeVariable + "=victim", "SECRET=canary"}
	if _, err := victim.StdinPipe(); err != nil { // it ends with this process
		t.Fatal(err)
	}
	ready, err := victim.StdoutPipe()
	if err == nil {
		err = victim.Start()
	}
	if err == nil {
		_, err = ready.Read(make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Wait()
	defer victim.Process.Kill()
	w.victim = victim.Process.Pid
	for line := range strings.Lines(attack(t, k, w)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		good := len(f) > 1 && f[1] == "+"
		cells[f[0]] = map[bool]string{true: "open", false: "blocked"}[good]
		if testing.Verbose() && os.Getenv("PROBE_BASE") == "" {
			t.Log(filepath.Base(dir), strings.Join(f, " "))
		}
	}
	for _, c := range controls {
		cells[c.name] = map[string]string{"open": "works", "blocked": "fails"}[cells[c.name]]
	}
}

// listen has everything that probes may connect to answer.
func listen(t *testing.T, w *world) {
	t.Helper()
	serve := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { io.Copy(c, c); c.Close() }()
			}
		}()
		return l.Addr().String()
	}
	w.tcp = serve("tcp", "127.0.0.1:0")
	// A path may be too long for a socket.
	dir, err := w.out, error(nil)
	if len(dir) > 90 {
		dir, err = os.MkdirTemp("", "p")
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	if err != nil {
		t.Fatal(err)
	}
	w.pipe = serve("unix", filepath.Join(dir, "s"))
	w.abstract = fmt.Sprintf("gemline-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(w.out)))
	serve("unix", "@"+w.abstract)
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	go func() {
		b := make([]byte, 100)
		for {
			n, from, err := p.ReadFrom(b)
			if err != nil {
				return
			}
			p.WriteTo(b[:n], from)
		}
	}()
	w.udp = p.LocalAddr().String()
}

// attack runs the probe program in w and returns what it says.
func attack(t *testing.T, k *Kernel, w world) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir, cmd.Env = w.root, w.environ()
	var out string
	if k != nil {
		cmd.Env = append(cmd.Env, "PROBE_CONFINED=1")
		out, err = output(t, k, cmd, Profile{Root: w.root, ReadOnly: []string{w.out}, Hidden: []string{w.out + "/hidden"}})
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if os.Geteuid() == 0 { // what it mounts is not for everybody
			cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
		}
		var b []byte
		b, err = cmd.CombinedOutput()
		out = string(b)
		if cmd.SysProcAttr.Unshareflags != 0 && errors.Is(err, syscall.EPERM) {
			t.Skip("this root may not even mount, so there is nothing to compare with")
		}
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// effect runs a script and says what became of what it did.
func effect(t *testing.T, k *Kernel, root, script, there string) string {
	t.Helper()
	for _, dir := range []string{root, root + "/deep/er"} {
		if out, err := git("init", "-q", dir).CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
	}
	os.RemoveAll(root + "/deep/er/.git/hooks")
	config, _ := os.ReadFile(root + "/.git/config")
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if k != nil {
		release, err := k.Confine(cmd, Profile{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	out, _ := cmd.CombinedOutput()
	now, err := os.ReadFile(root + "/.git/config")
	_, gone := os.Lstat(filepath.Join(root, there))
	switch {
	case gone == nil, err == nil && !bytes.Equal(config, now):
		return "open"
	case strings.Contains(string(out), "it is now called"):
		return "undone"
	}
	return "blocked"
}

// rows are the names of the table's rows, in order.
func rows() []string {
	var all []string
	for _, p := range attacks {
		all = append(all, p.name)
	}
	for _, e := range effects {
		all = append(all, e.name)
	}
	for _, p := range controls {
		all = append(all, p.name)
	}
	return all
}

func join(results []result) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, row := range rows() {
		fmt.Fprintf(&b, "| %s |", row)
		for _, c := range columns {
			root, user := results[0][c.name][row], results[1][c.name][row]
			switch {
			case root == user || user == "":
				fmt.Fprintf(&b, " %s |", root)
			case root == "":
				fmt.Fprintf(&b, " %s |", user)
			default:
				fmt.Fprintf(&b, " root: %s, user: %s |", root, user)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// rewrite puts the table where the page has the one of before.
func rewrite(t *testing.T, table string) {
	t.Helper()
	head, _, _ := strings.Cut(table, "\n")
	b, err := os.ReadFile(page)
	before, rest, ok := strings.Cut(string(b), head)
	_, after, _ := strings.Cut(rest, "\n\n")
	if err != nil || !ok {
		t.Fatal("no place for the table in", page, err)
	}
	if err := os.WriteFile(page, []byte(before+table+"\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare holds what was measured to what the docs say.
func compare(t *testing.T, results []result) {
	t.Helper()
	f, err := os.Open(page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	said := map[string][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if cells := strings.Split(s.Text(), " | "); len(cells) == len(columns)+1 {
			cells[len(cells)-1] = strings.TrimSuffix(cells[len(cells)-1], " |")
			said[strings.TrimPrefix(cells[0], "| ")] = cells[1:]
		}
	}
	checked := 0
	for _, row := range rows() {
		if said[row] == nil {
			t.Errorf("the table has no row for %q: run this test with -update", row)
			continue
		}
		for i, c := range columns {
			for who, r := range results {
				measured := r[c.name][row]
				if measured == "" || c.none {
					continue
				}
				checked++
				if want := cell(said[row][i], who); strength[measured] < strength[want] {
					t.Errorf("%s, %s, %s: the table says %s, here it is %s", row, c.name, []string{"root", "user"}[who], want, measured)
				}
			}
		}
	}
	t.Logf("%d attacks and %d controls; %d cells held to the docs", len(attacks)+len(effects), len(controls), checked)
}

// cell returns what a cell of the docs says of root or an ordinary user.
func cell(text string, who int) string {
	root, user, two := strings.Cut(strings.TrimSpace(text), ", user: ")
	if !two {
		return text
	}
	return []string{strings.TrimPrefix(root, "root: "), user}[who]
}

var strength = map[string]int{"open": 0, "undone": 1, "blocked": 2, "fails": 0, "works": 1}
