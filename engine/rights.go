package engine

import "strings"

// Rights are what confinement keeps from what a call runs, unless it is given
// by the user or a rule. The zero Rights are none.
type Rights struct {
	Network     bool
	Read, Write []string // absolute paths, of directories with all they hold
	Protected   bool     // what is protected in the workspace can be written to
}

// None reports whether r holds nothing.
func (r Rights) None() bool { return !r.Network && !r.Files() }

// Files reports whether r holds anything about files.
func (r Rights) Files() bool { return r.Protected || len(r.Read) > 0 || len(r.Write) > 0 }

// String returns the rights in words, such as "the network, writing to /opt/x".
func (r Rights) String() string {
	var parts []string
	if r.Network {
		parts = append(parts, "the network")
	}
	for _, p := range r.Read {
		parts = append(parts, "reading "+p)
	}
	for _, p := range r.Write {
		parts = append(parts, "writing to "+p)
	}
	if r.Protected {
		parts = append(parts, "writing to all that is protected in the workspace (.git, .gemini)")
	}
	return strings.Join(parts, ", ")
}
