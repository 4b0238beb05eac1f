package sandbox

import (
	"errors"
	"os/exec"
)

// A Profile says what a confined command may do. All paths are absolute.
type Profile struct {
	Root         string   // the workspace: writable except for its protected files
	Write        []string // further writable files and directories
	ReadOnly     []string // read-only files and directories, also below Root and Write
	Anchored     []string // writable directories that can't be removed or renamed
	Kept         []string // paths that stay as they are if a link or nothing is there
	Hidden       []string // files and directories that can't be read
	Masked       []string // files that can be neither run nor read; of a link, not the target
	Cache        string   // a directory in one of Write
	Below        string   // a directory whose files also appear in Cache if possible; stays unchanged
	Hooks        string   // a directory of the user's, whose hooks new repositories may have
	Network      bool     // the network of this machine can be reached
	Loopback     bool     // commands with Loopback share loopback addresses that no other process reaches
	Unprotected  bool     // nothing is protected below Root and Write: the user was asked
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

// Options are what a Kernel may be told. The zero value will do.
type Options struct {
	Without []string // layers not to use, as State names them
	Reexec  bool     // the embedded helper is not used
	Helper  []byte   // is used in place of the embedded one
	Temp    []string // directories for temporary files, the first that can be written to; none means the system's
	Cache   string   // is used, and made, where none of Temp can be
}

// ErrUnavailable is why a command is not confined: nothing on this system can.
var ErrUnavailable = errors.New("nothing on this system confines commands")

// A State is what a Sandbox does on this system.
type State struct {
	Name         string  // such as "kernel", "docker"; "none" if nothing confines
	Step         string  // how much of it, in a few words, such as "namespaces, Landlock, seccomp"
	Files        bool    // writes elsewhere are prevented
	Network      bool    // the network is out of reach of a command whose Profile has none
	RunsReadOnly bool    // a command with RunReadOnly in its Profile is read-only
	Loopback     bool    // commands with Loopback in their Profiles share a loopback interface
	Masks        bool    // a command can't run what its Profile masks, but for links
	Layers       []Layer // in the order in which they are put on
}

// A Layer is a part of a Sandbox that the kernel enforces.
type Layer struct {
	Name string `json:"name"` // such as "Landlock"
	On   bool   `json:"on"`
	Why  string `json:"why"` // its description, or why it is off
}

// Image reports whether commands see the programs of a container's image.
func (s State) Image() bool { return s.Name == ByDocker || s.Name == ByPodman || s.Name == ByRunsc }

// Confined reports whether s holds both a command's writes and its network.
func (s State) Confined() bool { return s.Files && s.Network }
