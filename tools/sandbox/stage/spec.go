package stage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ProgramName is what the program is called when it is a stage, as its zeroth
// argument. The first one is [Outer] or another stage's name, the second one
// the number of the file that holds the Spec; the command's follow.
const ProgramName = "gemline-sandbox"

// What a stage is called. A holder is no stage: see [HolderAttr].
const (
	Outer  = "outer"
	Holder = "holder"
	inner  = "inner"
)

// A Spec holds a command and its confinement. All paths are absolute
// and without links.
type Spec struct {
	Path  string // of the program; empty if layers are only tried
	Extra int    // how many files above standard error the command gets

	Root         string
	Write        []string
	ReadOnly     []string
	Anchored     []string // directories that stay in their places
	Kept         []string // stay as they are if a link or nothing is there
	Hidden       []string
	Masked       []string // files; the last element of one may be a link, which is covered itself
	Cache        string   // a directory in one of Write
	Below        string   // a directory that is seen through Cache, where that can be
	Hooks        string   // a directory with hooks that may stay; none of Root and Write holds it
	Temp         string   // a directory that the command sees as the temporary one
	Network      bool
	Joined       bool // two files follow the Spec's: namespaces of users and of networks, to run in
	Unprotected  bool
	RunReadOnly  bool     // nothing is written but to temporary directories that are the command's alone
	Veiled       []string // directories in which the command sees only what the Spec names
	EndLeftovers bool     // nothing outlives the command

	Layers []string // what to put on, of the names below
}

// Layers, in the order in which they are put on.
const (
	UserNamespace = "user namespace"
	Namespaces    = "namespaces" // of mounts, processes and System V IPC
	Proc          = "private /proc"
	NetNamespace  = "network namespace"
	Capabilities  = "capabilities"
	Landlock      = "Landlock"
	Seccomp       = "seccomp"
)

// has reports whether s puts on a layer.
func (s *Spec) has(layer string) bool { return slices.Contains(s.Layers, layer) }

// Encode returns s as text in which no path can pass for anything else.
func (s *Spec) Encode() []byte {
	var b strings.Builder
	add := func(key string, values ...string) {
		for _, v := range values {
			fmt.Fprintf(&b, "%s\x00%s\x00", key, v)
		}
	}
	add("path", s.Path)
	add("extra", strconv.Itoa(s.Extra))
	add("root", s.Root)
	add("write", s.Write...)
	add("readonly", s.ReadOnly...)
	add("anchored", s.Anchored...)
	add("kept", s.Kept...)
	add("hidden", s.Hidden...)
	add("masked", s.Masked...)
	add("cache", s.Cache)
	add("below", s.Below)
	add("hooks", s.Hooks)
	add("temp", s.Temp)
	add("network", strconv.FormatBool(s.Network))
	add("joined", strconv.FormatBool(s.Joined))
	add("unprotected", strconv.FormatBool(s.Unprotected))
	add("look", strconv.FormatBool(s.RunReadOnly))
	add("veiled", s.Veiled...)
	add("end leftovers", strconv.FormatBool(s.EndLeftovers))
	add("layer", s.Layers...)
	add("end", "")
	return []byte(b.String())
}

// decode reads what Encode wrote.
func decode(b []byte) (*Spec, error) {
	fields := strings.Split(string(b), "\x00")
	s, whole := &Spec{}, false
	for i := 0; i+1 < len(fields) && !whole; i += 2 {
		v := fields[i+1]
		switch fields[i] {
		case "path":
			s.Path = v
		case "extra":
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > 1<<10 {
				return nil, fmt.Errorf("%q further files", v)
			}
			s.Extra = n
		case "root":
			s.Root = v
		case "write":
			s.Write = append(s.Write, v)
		case "readonly":
			s.ReadOnly = append(s.ReadOnly, v)
		case "anchored":
			s.Anchored = append(s.Anchored, v)
		case "kept":
			s.Kept = append(s.Kept, v)
		case "hidden":
			s.Hidden = append(s.Hidden, v)
		case "masked":
			s.Masked = append(s.Masked, v)
		case "cache":
			s.Cache = v
		case "below":
			s.Below = v
		case "hooks":
			s.Hooks = v
		case "temp":
			s.Temp = v
		case "network":
			s.Network = v == "true"
		case "joined":
			s.Joined = v == "true"
		case "unprotected":
			s.Unprotected = v == "true"
		case "look":
			s.RunReadOnly = v == "true"
		case "veiled":
			s.Veiled = append(s.Veiled, v)
		case "end leftovers":
			s.EndLeftovers = v == "true"
		case "layer":
			s.Layers = append(s.Layers, v)
		case "end":
			whole = true
		default:
			return nil, fmt.Errorf("what is %q?", fields[i])
		}
	}
	if !whole {
		return nil, fmt.Errorf("it is cut short")
	}
	return s, nil
}
