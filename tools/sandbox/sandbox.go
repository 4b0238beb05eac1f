package sandbox

import (
	"errors"
	"os/exec"
)

// A Profile says what a confined command may do. All paths are absolute.
type Profile struct {
	Root         string   // the workspace: it is written to, but for what is protected there
	Write        []string // further files and directories that are written to
	ReadOnly     []string // of these and what Root protects, files and directories that are not
	Anchored     []string // directories that are written to, but can't be put away or get another name
	Hidden       []string // files and directories that can't be read
	Masked       []string // files that can't be run, nor read; what is a link there is masked itself, and not what it leads to
	Cache        string   // a directory in one of Write
	Below        string   // a directory whose files are found in Cache, too, where that can be; they are not changed there
	Hooks        string   // a directory of the user's, whose hooks new repositories may have
	Network      bool     // the network of this machine can be reached
	Loopback     bool     // servers of other commands with this can be reached, on addresses of this machine that nothing else reaches
	Unprotected  bool     // nothing is protected below Root and Write: the user was asked
	Look         bool     // nothing is written but temporary files of its own, and there is no network; what does not come with the system is seen only where Root, Write and ReadOnly say so
	EndLeftovers bool     // what the command leaves running ends with it: nobody is there who could end it later
}

// A Sandbox confines commands. It is safe for concurrent use.
type Sandbox interface {
	// Confine changes cmd, which is complete but not started, into one that
	// runs the same confined by p, with the same streams, directory,
	// environment, further files and process attributes. The exit status is
	// that of the command. Release is called once after cmd was started or
	// could not be.
	Confine(cmd *exec.Cmd, p Profile) (release func(), err error)

	// State says what is in force. It is found out at the first call, in
	// milliseconds.
	State() State
}

// Options are what a Kernel may be told. The zero value will do.
type Options struct {
	Without []string // layers not to use, as State names them
	Reexec  bool     // the embedded helper is not used
	Helper  []byte   // is used in place of the embedded one
	Temp    []string // directories for temporary files, the first that can be written to; none means the system's
	Cache   string   // is used, and made, where none of Temp can be
	Found   string   // a file for [Kernel.Last], below a directory that commands can't write to; "" is none
}

// ErrUnavailable is why a command is not confined: nothing on this system can.
var ErrUnavailable = errors.New("nothing on this system confines commands")

// A State is what a Sandbox does on this system.
type State struct {
	Name     string  // such as "kernel", "docker"; "none" if nothing confines
	Step     string  // how much of it, in a few words, such as "namespaces, Landlock, seccomp"
	Files    bool    // writes elsewhere are prevented
	Network  bool    // the network is out of reach of a command whose Profile has none
	Looks    bool    // a command whose Profile says so is held to looking
	Loopback bool    // commands whose Profiles say so share a loopback interface
	Masks    bool    // a command can't run what its Profile masks, but for links
	Layers   []Layer // in the order in which they are put on
}

// A Layer is one of the means of a Sandbox.
type Layer struct {
	Name string // such as "Landlock"
	On   bool
	Why  string // what it is, or why it is not on
}

// Image reports whether commands see the programs of a container's image.
func (s State) Image() bool { return s.Name == ByDocker || s.Name == ByPodman || s.Name == ByRunsc }

// Confined reports whether s holds both a command's writes and its network.
func (s State) Confined() bool { return s.Files && s.Network }
