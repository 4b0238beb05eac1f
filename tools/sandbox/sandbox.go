package sandbox

import (
	"errors"
	"os/exec"
)

// A Profile is the rights of a confined command. All paths are absolute.
type Profile struct {
	Root         string   // the workspace: writable except for its protected files
	Write        []string // further writable files and directories
	ReadOnly     []string // read-only files and directories, also below Root and Write
	Anchored     []string // writable directories that can't be removed or renamed
	Kept         []string // paths that stay unchanged if they are links or missing
	Hidden       []string // files and directories that can't be read
	Removed      []string // paths that the command removes or moves, with the repositories in them
	Masked       []string // files that can be neither run nor read; a link is masked, not its target
	Cache        string   // a directory in one of Write
	Below        string   // a directory whose files also appear in Cache if possible; stays unchanged
	Hooks        string   // the user's directory of hooks allowed in new repositories
	Network      bool     // the network of this machine can be reached
	Loopback     bool     // commands with Loopback share loopback addresses that no other process reaches
	Unprotected  bool     // no protection below Root and Write: the user has approved it
	RunReadOnly  bool     // read-only, without network; sees only system directories, Root, Write and ReadOnly
	EndLeftovers bool     // the command's background processes end with it
}

// A Sandbox confines commands. It is safe for concurrent use.
type Sandbox interface {
	// Confine changes cmd, which is complete but not started, to run confined by p, with
	// the same streams, directory, environment, further files and process attributes. The
	// exit status is the command's. Release is called once after cmd was started or failed
	// to start.
	Confine(cmd *exec.Cmd, p Profile) (release func(), err error)

	// State returns the layers in force. The first call determines them, in milliseconds.
	State() State
}

// Options configure a Kernel. The zero value is valid.
type Options struct {
	Without []string // layers not to use, as State names them
	Reexec  bool     // the embedded helper is not used
	Helper  []byte   // replaces the embedded helper
	Temp    []string // candidate directories for temporary files; the first writable wins; none means the system's
	Cache   string   // the fallback for Temp, created when needed
}

// ErrUnavailable means that nothing on this system confines commands.
var ErrUnavailable = errors.New("nothing on this system confines commands")

// A State is the effective confinement by a Sandbox on this system.
type State struct {
	Name         string  // such as "kernel", "docker"; "none" if nothing confines
	Step         string  // its layers in a few words, such as "namespaces, Landlock, seccomp"
	Files        bool    // writes outside of the Profile are prevented
	Network      bool    // a command without Network in its Profile can't reach the network
	RunsReadOnly bool    // a command with RunReadOnly in its Profile is read-only
	Loopback     bool    // commands with Loopback in their Profiles share a loopback interface
	Masks        bool    // a command can't run what its Profile masks, but for links
	Layers       []Layer // in the order of their application
}

// A Layer is a part of a Sandbox that the kernel enforces.
type Layer struct {
	Name string `json:"name"` // such as "Landlock"
	On   bool   `json:"on"`
	Why  string `json:"why"` // its description, or why it is off
}

// Image reports whether commands see the programs of a container's image.
func (s State) Image() bool { return s.Name == ByDocker || s.Name == ByPodman || s.Name == ByRunsc }

// Confined reports whether s restricts both a command's writes and its network.
func (s State) Confined() bool { return s.Files && s.Network }
