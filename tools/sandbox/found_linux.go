package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
)

// A found is what was found out, and in which circumstances.
type found struct {
	Where string
	State State
}

// Last returns the state that was found last, by this process or by an earlier process in the
// same circumstances, else by a probe now. It is for messages before a command has run: a command
// is never confined by what another process has found.
func (k *Kernel) Last() State {
	if k.tried.Load() {
		return k.State()
	}
	var last found
	b, err := os.ReadFile(k.options.Found)
	if err == nil && json.Unmarshal(b, &last) == nil && last.Where == k.circumstances() && last.State.Confined() {
		return last.State
	}
	return k.State()
}

// keep stores the state for later processes. An incomplete state is not stored, so that
// each process tries its layers again.
func (k *Kernel) keep() {
	if k.options.Found == "" || !k.state.Confined() {
		return
	}
	b, err := json.Marshal(found{k.circumstances(), k.state})
	if old, _ := os.ReadFile(k.options.Found); err != nil || string(old) == string(b) {
		return
	}
	if os.MkdirAll(filepath.Dir(k.options.Found), 0o700) == nil {
		disk.Replace(k.options.Found, b, 0o600) // without it the next one takes a moment longer
	}
}

// circumstances returns a text that changes whenever the state may change: after a system
// start, in another container, with other rights, by another program.
func (k *Kernel) circumstances() string {
	var b strings.Builder
	fmt.Fprintln(&b, k.options.Without, k.options.Reexec, k.options.Temp, len(k.options.Helper), len(embedded))
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, name := range []string{"user", "mnt", "pid", "net", "ipc"} {
		link, _ := os.Readlink("/proc/self/ns/" + name)
		fmt.Fprintln(&b, link)
	}
	for _, path := range []string{"/proc/sys/kernel/random/boot_id", "/proc/self/attr/current",
		"/proc/sys/user/max_user_namespaces",
		"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"} {
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s\n", text)
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "Uid", "Gid", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters":
			b.WriteString(line)
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}
