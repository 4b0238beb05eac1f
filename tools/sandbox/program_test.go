//go:build unix

package sandbox_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/sandbox"
)

// updating reports whether -update is given, which the package has for another
// file, too.
func updating() bool { f := flag.Lookup("update"); return f != nil && f.Value.String() == "true" }

// rewritten returns the words of a command that s has changed, a line each,
// with names that are not the same each time taken out.
func rewritten(t *testing.T, s sandbox.Sandbox, p sandbox.Profile, dir string, names ...string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", "--", "go test ./... && echo 'done'")
	cmd.Path, cmd.Err, cmd.Dir = "/usr/bin/bash", nil, dir
	cmd.Env = []string{"PATH=/usr/bin", "HOME=/home/user", "TERM=dumb", "LC_ALL=C.UTF-8", "GEMINI_CLI=1", "https_proxy=http://proxy:3128", "A_TOKEN=secret",
		"GOCACHE=" + filepath.Join(p.Write[0], "go-build"), "PIP_CACHE_DIR=/home/user/.cache/pip"}
	release, err := s.Confine(cmd, p)
	if err != nil {
		t.Fatal(err)
	}
	release()
	for _, arg := range cmd.Args {
		if strings.HasPrefix(arg, "gemline-") {
			names = append(names, arg, "NAME")
		}
	}
	return strings.NewReplacer(names...).Replace(strings.Join(cmd.Args, "\n") + "\n")
}

// TestArguments holds what programs are given to files, which -update writes.
func TestArguments(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"root/.git", "root/.gemini", "root/sub", "root/kept", "root/secret", "more"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"root/key", "root/.git/config", "more/strike"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain := sandbox.Profile{Root: at("root"), Write: []string{at("more")}, ReadOnly: []string{at("root/kept")},
		Hidden: []string{at("root/secret"), at("root/key"), at("none")}}
	if err := os.Symlink("strike", at("more/link")); err != nil {
		t.Fatal(err)
	}
	online, unprotected, look, masked := plain, plain, plain, plain
	masked.Masked = []string{at("more/strike"), at("more/link")}
	online.Network, unprotected.Unprotected, look.RunReadOnly = true, true, true
	bin := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	more := sandbox.Extras{User: "1000:1000", Flags: []string{"--memory", "2g"}, Env: []string{"A=1", "TERM=x"}, Ports: []string{"8080"},
		Mounts: []sandbox.Mount{{From: "/opt/sdk", To: "/opt/sdk"}, {From: "/srv", To: "/data", Writable: true}}}
	type row struct {
		name    string
		s       sandbox.Sandbox
		profile sandbox.Profile
	}
	docker := func(x sandbox.Extras) sandbox.Sandbox {
		return &sandbox.Container{Engine: "docker", Path: bin, Image: "image:1", Extras: x}
	}
	seatbelt := func(profile string) sandbox.Sandbox {
		return &sandbox.Seatbelt{Path: bin, Home: "/Users/user", Profile: profile}
	}
	rows := []row{
		{"docker", docker(sandbox.Extras{}), plain},
		{"docker-network", docker(more), online},
		{"docker-more", docker(more), plain},
		{"docker-look", docker(more), look},
		{"podman", &sandbox.Container{Engine: "podman", Path: bin, Image: "image:1", Extras: sandbox.Extras{User: "1000:1000"}}, plain},
		{"runsc", &sandbox.Container{Engine: "docker", Runtime: "runsc", Path: bin, Image: "image:1"}, plain},
		{"seatbelt", seatbelt(""), plain},
		{"seatbelt-network", seatbelt(""), online},
		{"seatbelt-unprotected", seatbelt(""), unprotected},
		{"seatbelt-look", seatbelt(""), look},
		{"seatbelt-masked", seatbelt(""), masked},
		{"seatbelt-own", &sandbox.Seatbelt{Path: bin, Home: "/Users/user", Profile: "mine", File: "/Users/user/.gemini/sandbox-macos-mine.sb"}, plain},
	}
	for _, name := range sandbox.Profiles {
		rows = append(rows, row{"seatbelt-" + name, seatbelt(name), plain})
	}
	for _, test := range rows {
		t.Run(test.name, func(t *testing.T) {
			got := rewritten(t, test.s, test.profile, at("root/sub"), base, "BASE", bin, "PROGRAM")
			file := filepath.Join("testdata", test.name+".golden")
			if updating() {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || string(want) != got {
				t.Errorf("go test ./tools/sandbox -run TestArguments -update writes %s (%v); it would be\n%s", file, err, got)
			}
		})
	}
}

// TestChoose tells what confines for a word, and what is said where it can't.
func TestChoose(t *testing.T) {
	bin, own := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	put := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// A world is what is installed, and what else is different.
	type world struct {
		installed string
		goos      string
		kernel    bool
		image     string
		profile   string
	}
	put(filepath.Join(own, "sandbox-macos-mine.sb"), "(version 1)")
	for _, test := range []struct {
		word string
		world
		want string // or part of an error
	}{
		{"on", world{}, "error: --sandbox: none of docker, podman is installed"},
		{"on", world{goos: "darwin"}, "error: --sandbox: none of sandbox-exec, docker, podman is installed"},
		{"on", world{installed: "podman"}, "podman: a container for each command"},
		{"on", world{installed: "podman docker sandbox-exec"}, "docker: a container for each command"},
		{"on", world{installed: "podman docker sandbox-exec", goos: "darwin"}, "sandbox-exec: profile permissive"},
		{"on", world{installed: "docker", kernel: true}, "kernel: of a test"},
		{"kernel", world{kernel: true}, "kernel: of a test"},
		{"kernel", world{goos: "darwin"}, "error: --sandbox: the kernel of darwin can't confine commands"},
		{"bwrap", world{installed: "bwrap", kernel: true}, "error: --sandbox: bwrap is not used: the kernel does the same and filters system calls besides"},
		{"docker", world{installed: "docker", image: "-"}, "error: --sandbox: docker runs commands in an image, and none is named"},
		{"docker", world{installed: "docker", image: "--privileged"}, `error: --sandbox: "--privileged" is not the name of an image`},
		{"runsc", world{}, "error: --sandbox: docker is not installed"},
		{"runsc", world{installed: "docker"}, "runsc: a container for each command"},
		{"lxc", world{}, "error: --sandbox: containers of LXC are not supported"},
		{"windows-native", world{}, "error: --sandbox: Windows' own sandbox is not supported"},
		{"Docker\x1b[31m", world{}, `error: --sandbox: "Docker\x1b[31m" is not something that confines commands`},
		{"sandbox-exec", world{}, "error: --sandbox: sandbox-exec is not installed"},
		{"sandbox-exec", world{installed: "sandbox-exec", profile: "strict-proxied"}, "sandbox-exec: profile strict-proxied"},
		{"sandbox-exec", world{installed: "sandbox-exec", profile: "mine"}, "sandbox-exec: profile mine"},
		{"sandbox-exec", world{installed: "sandbox-exec", profile: "other"}, `error: SEATBELT_PROFILE: there is no profile "other"`},
		{"sandbox-exec", world{installed: "sandbox-exec", profile: "../x/mine"}, `error: SEATBELT_PROFILE: there is no profile "../x/mine"`},
	} {
		t.Run(test.word, func(t *testing.T) {
			for name := range strings.FieldsSeq(test.installed) {
				put(filepath.Join(bin, name), "#!/bin/sh\n")
				defer os.Remove(filepath.Join(bin, name))
			}
			c := sandbox.Config{Word: test.word, By: "--sandbox", GOOS: test.goos, Getenv: func(string) string { return "" }, Image: test.image,
				Seatbelt: []string{own}, Exists: func(path string) bool { _, err := os.Stat(path); return err == nil }}
			c.Extras.Profile = test.profile
			switch c.Image {
			case "":
				c.Image = "image"
			case "-":
				c.Image = ""
			}
			if test.kernel {
				c.Kernel = stub{}
			}
			s, err := sandbox.Choose(c)
			got := ""
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = s.State().Name + ": " + s.State().Step
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A stub stands for what the kernel does.
type stub struct{}

func (stub) State() sandbox.State { return sandbox.State{Name: "kernel", Step: "of a test"} }

func (stub) Confine(*exec.Cmd, sandbox.Profile) (func(), error) { return func() {}, nil }

// TestExtras reads the variables about containers.
func TestExtras(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, value, want string }{
		{"SANDBOX_FLAGS", `--memory 2g --label "a b" c\ d ''`, "--memory|2g|--label|a b|c d|"},
		{"SANDBOX_FLAGS", `--label "a`, "error: SANDBOX_FLAGS: a quotation mark or a backslash has no end"},
		{"SANDBOX_ENV", "A=1, B=x=y", "A=1|B=x=y"},
		{"SANDBOX_ENV", "A", `error: SANDBOX_ENV: "A" is not NAME=value`},
		{"SANDBOX_MOUNTS", dir, dir + ":" + dir + ":ro"},
		{"SANDBOX_MOUNTS", dir + ":/data:rw", dir + ":/data:rw"},
		{"SANDBOX_MOUNTS", dir + ":/data:rx", "error: SANDBOX_MOUNTS: "},
		{"SANDBOX_MOUNTS", dir + ":/data,readonly=false", "error: SANDBOX_MOUNTS: "},
		{"SANDBOX_MOUNTS", "data", `error: SANDBOX_MOUNTS: "data": both paths must be absolute`},
		{"SANDBOX_MOUNTS", "/home/user/.ssh/keys", "error: SANDBOX_MOUNTS: "},
		{"SANDBOX_MOUNTS", "/home", "error: SANDBOX_MOUNTS: "},
		{"SANDBOX_PORTS", "8080,3000", "8080|3000"},
		{"SANDBOX_PORTS", "80:80", "error: SANDBOX_PORTS: "},
		{"SANDBOX_PORTS", "65536", `error: SANDBOX_PORTS: "65536" is not a port; one is a number from 1 to 65535`},
		{"SANDBOX_PORTS", "0", "error: SANDBOX_PORTS: "},
		{"SANDBOX_PORTS", "+80", "error: SANDBOX_PORTS: "},
		{"SANDBOX_SET_UID_GID", "true", "user 1:2"},
		{"SANDBOX_SET_UID_GID", "0", ""},
		{"SANDBOX_SET_UID_GID", "maybe", "error: SANDBOX_SET_UID_GID: "},
		{"GEMINI_SANDBOX_PROXY_COMMAND", "proxy", "error: GEMINI_SANDBOX_PROXY_COMMAND: it is not supported; unset it"},
		{"BUILD_SANDBOX", "1", "user 1:2, build"},
		{"BUILD_SANDBOX", "0", "user 1:2"},
	} {
		getenv := func(name string) string {
			if name == test.name {
				return test.value
			}
			return ""
		}
		exists := func(path string) bool { return strings.HasPrefix(path, dir) || strings.HasPrefix(path, "/home") }
		o, err := sandbox.ReadExtras(getenv, []string{"/home/user/.ssh"}, "1:2", exists)
		got := strings.Join(append(append(o.Flags, o.Env...), o.Ports...), "|")
		for _, m := range o.Mounts {
			got += m.From + ":" + m.To + map[bool]string{true: ":rw", false: ":ro"}[m.Writable]
		}
		if got == "" && o.User != "" {
			got = "user " + o.User
		}
		if o.Build {
			got += ", build"
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want && !(strings.HasSuffix(test.want, ": ") && strings.HasPrefix(got, test.want)) {
			t.Errorf("%s=%s: %q, want %q", test.name, test.value, got, test.want)
		}
	}
}

// TestExcept hides nothing of where somebody works.
func TestExcept(t *testing.T) {
	hidden := []string{"/h/.ssh", "/h/.aws", "/h/.netrc"}
	got := sandbox.ExceptGranted(hidden, []string{"/h/.netrc"}, []string{"/h/.aws/project"})
	if strings.Join(got, " ") != "/h/.ssh" {
		t.Errorf("hidden: %q", got)
	}
	if got := sandbox.ExceptGranted(hidden, []string{"/h"}, []string{"/h"}); len(got) != 3 {
		t.Errorf("in the home directory: %q", got)
	}
}
