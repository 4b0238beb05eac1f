package sandbox

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Seatbelt confines commands by sandbox-exec of macOS.
type Seatbelt struct {
	Path    string // of sandbox-exec
	Profile string // one of [Profiles], or "" for permissive without a network
	File    string // the file of the user's own profile instead, "" for none
	Home    string
}

// Profiles are the names of profiles that come with gemline: which files can be read,
// and whether there is a network.
var Profiles = []string{"permissive-open", "permissive-proxied", "restrictive-open",
	"restrictive-proxied", "strict-open", "strict-proxied"}

// seatbelt returns the profile that c asks for.
func (c Config) seatbelt(path string) (Sandbox, error) {
	s := &Seatbelt{Path: path, Profile: c.Extras.Profile, Home: c.Getenv("HOME")}
	if s.Profile == "" || slices.Contains(Profiles, s.Profile) {
		return s, nil
	}
	name := "sandbox-macos-" + s.Profile + ".sb"
	for _, dir := range c.Seatbelt {
		file := filepath.Join(dir, name)
		if !strings.ContainsAny(s.Profile, `/\`) && c.Exists(file) {
			s.File = file
			return s, nil
		}
	}
	return nil, &Error{Message: fmt.Sprintf("SEATBELT_PROFILE: there is no profile %.60q", s.Profile),
		Advice: "it is one of " + strings.Join(Profiles, ", ") + ", or has a file " + name +
			" in " + strings.Join(c.Seatbelt, " or ")}
}

// State implements [Sandbox]. It runs nothing.
func (s *Seatbelt) State() State {
	st := State{Name: BySeatbelt, Step: "profile " + cmp.Or(s.Profile, "permissive"), Files: true,
		Network: s.Profile == ""}
	st.Masks = s.File == ""
	st.RunsReadOnly = s.Profile == "" && s.File == ""
	st.Layers = []Layer{{Name: "Seatbelt", On: true, Why: "macOS restricts commands by a profile"}}
	if s.File != "" {
		st.Files = false
		st.Layers = append(st.Layers, Layer{Name: "confinement", Why: "gemline does not know what is in " + s.File})
	} else if !st.Network {
		st.Layers = append(st.Layers, Layer{Name: "network", Why: "SEATBELT_PROFILE says so"})
	}
	return st
}

// Confine implements [Sandbox].
func (s *Seatbelt) Confine(cmd *exec.Cmd, p Profile) (func(), error) {
	for _, path := range slices.Concat([]string{p.Root}, p.Write, p.ReadOnly, p.Kept, p.Hidden, p.Masked) {
		if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, &Error{Message: fmt.Sprintf("%.200q can't stand in a profile", path)}
		}
	}
	args := s.arguments(p)
	cmd.Args = append(append([]string{s.Path}, args...), append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = s.Path
	cmd.Env = append(cmd.Environ(), "SANDBOX="+BySeatbelt)
	return func() {}, nil
}

// arguments returns the arguments for sandbox-exec, without the command.
func (s *Seatbelt) arguments(p Profile) []string {
	if s.File == "" {
		return []string{"-p", s.text(p)}
	}
	args := []string{"-D", "TARGET_DIR=" + p.Root, "-D", "TMP_DIR=/private/tmp", "-D", "HOME_DIR=" + s.Home,
		"-D", "CACHE_DIR=" + filepath.Join(s.Home, "Library", "Caches")}
	for i := range 5 { // the number of directories in the Gemini CLI's profiles
		dir := "/dev/null"
		if i < len(p.Write) {
			dir = p.Write[i]
		}
		args = append(args, "-D", fmt.Sprintf("INCLUDE_DIR_%d=%s", i, dir))
	}
	return append(args, "-f", s.File)
}

// seatbeltBase is the beginning of every profile: deny all, except the minimum for a process.
const seatbeltBase = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.trustd.agent"))
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* file-write* (regex #"^/dev/(null|zero|tty|random|urandom|dtracehelper|fd/[0-9]+|ttys[0-9]+)$"))
(allow file-ioctl (regex #"^/dev/(null|ttys[0-9]+)$"))
`

// text returns the profile, in the language of Seatbelt. The last matching rule wins.
func (s *Seatbelt) text(p Profile) string {
	reads, net, _ := strings.Cut(s.Profile, "-")
	var b strings.Builder
	b.WriteString(seatbeltBase)
	work, temp := append([]string{p.Root}, p.Write...), []string{"/private/tmp", "/private/var/folders"}
	write := append(slices.Clone(work), temp...)
	switch cmp.Or(reads, "permissive") {
	case "permissive":
		b.WriteString("(allow file-read*)\n")
	case "restrictive":
		paths(&b, "allow file-read*", append([]string{s.Home, "/bin", "/sbin", "/usr", "/opt",
			"/System", "/Library", "/Applications", "/private/etc", "/private/var/db", "/private/var/select"}, write...))
	case "strict":
		paths(&b, "allow file-read*", append([]string{"/bin", "/sbin", "/usr", "/opt", "/System",
			"/Library/Developer", "/private/etc", "/private/var/db", "/private/var/select"}, write...))
	}
	if p.RunReadOnly {
		paths(&b, "deny file-read*", []string{"/Users", "/Volumes", "/private/var/root"})
		paths(&b, "allow file-read*", append(work, p.ReadOnly...))
		write = temp
	}
	paths(&b, "allow file-write*", write)
	paths(&b, "deny file-write*", slices.Concat(p.ReadOnly, p.Kept))
	for _, dir := range p.Anchored {
		fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", quoted(dir))
	}
	if p.RunReadOnly {
		paths(&b, "deny file-write*", work)
	} else if !p.Unprotected {
		b.WriteString(`(deny file-write* (regex #"/\.git/(config|hooks|info|modules)(/|$)"))
(deny file-write* (regex #"/\.gemini(/|$)"))
(deny file-write-create file-write-unlink (regex #"/\.git$"))
`)
	}
	paths(&b, "deny file-read* file-write*", p.Hidden)
	paths(&b, "deny process-exec* file-read-data", p.Masked)
	switch {
	case p.RunReadOnly:
	case p.Network || net == "open":
		b.WriteString("(allow network*)\n(allow system-socket)\n(allow mach-lookup (global-name \"com.apple.dnssd.service\") (global-name \"com.apple.SystemConfiguration.configd\"))\n")
	case net == "proxied":
		b.WriteString("(allow network-outbound (remote tcp \"localhost:8877\"))\n(allow system-socket)\n")
	}
	return b.String()
}

// paths writes a rule about paths and all below them.
func paths(b *strings.Builder, rule string, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString("(" + rule)
	for _, path := range list {
		if path != "" {
			b.WriteString("\n  (subpath " + quoted(path) + ")")
		}
	}
	b.WriteString(")\n")
}

// quoted returns a path as a string literal of Seatbelt's language.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
