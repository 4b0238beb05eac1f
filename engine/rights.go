package engine

import (
	"slices"
	"strings"
)

// Rights are accesses that confinement denies to the programs of a call, unless the user or a
// rule grants them. The zero Rights are none.
type Rights struct {
	Network     bool
	Read, Write []string // absolute paths, of directories with all they hold
	Protected   bool     // the workspace's protected files can be written to
	Removed     []string // paths that an approved command removes or moves, with the repositories in them

	// Files are the paths in Read and Write of present or future files; all other paths are
	// directories. Missing are the paths that do not exist yet.
	Files, Missing []string
}

// Empty reports whether r holds nothing.
func (r Rights) Empty() bool { return !r.Network && !r.HasPaths() }

// HasPaths reports whether r grants access to files or directories.
func (r Rights) HasPaths() bool { return r.Protected || len(r.Read) > 0 || len(r.Write) > 0 }

// String returns the rights in words, such as "the network, writing to the file
// /opt/x".
func (r Rights) String() string {
	return r.words("the network", func(path string) string { return "reading " + r.place(path) }, "writing to ")
}

// Describe says what a command with the rights may do, such as "use the network, write to the file
// /opt/x". The function read words the right to read path, where place is the path with its
// kind.
func (r Rights) Describe(read func(place, path string) string) string {
	return r.words("use the network", func(path string) string { return read(r.place(path), path) }, "write to ")
}

func (r Rights) words(network string, read func(path string) string, write string) string {
	var parts []string
	if r.Network {
		parts = append(parts, network)
	}
	for _, p := range r.Read {
		parts = append(parts, read(p))
	}
	for _, p := range r.Write {
		parts = append(parts, write+r.place(p))
	}
	if r.Protected {
		parts = append(parts, write+"all that is protected in the workspace (.git, .gemini)")
	}
	if n := len(parts); n > 1 {
		parts = append(parts[:n-2], parts[n-2]+" and "+parts[n-1])
	}
	return strings.Join(parts, ", ")
}

// place returns a path of r with its kind, such as "the file /opt/x".
func (r Rights) place(path string) string {
	switch {
	case slices.Contains(r.Files, path):
		return "the file " + path
	case slices.Contains(r.Missing, path):
		return path + ", which is not there"
	}
	return "the directory " + path + " and everything below it"
}
