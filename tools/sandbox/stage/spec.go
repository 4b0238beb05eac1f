package stage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ProgramName is argument 0 of a stage. Argument 1 is [Outer] or another stage's name,
// argument 2 the descriptor of the Spec; the command's arguments follow.
const ProgramName = "gemline-sandbox"

// Names of stages. A holder is no stage: see [HolderAttr].
const (
	Outer  = "outer"
	Holder = "holder"
	inner  = "inner"
)

// A Spec holds a command and its confinement. All paths are absolute
// and without links.
type Spec struct {
	Path  string // of the program; empty for a trial of the layers
	Extra int    // how many descriptors above standard error the command gets

	Root         string
	Write        []string
	ReadOnly     []string
	Anchored     []string // directories that can't be renamed
	Kept         []string // paths that stay unchanged if they are links or missing
	Removed      []string // paths that the command removes or moves, with the repositories in them
	Hidden       []string
	Masked       []string // files; the last element of a path may be a link, which is masked itself
	Cache        string   // a directory in one of Write
	Below        string   // the lower layer of Cache, if overlays work
	Hooks        string   // a directory of allowed hooks, outside of Root and Write
	Temp         string   // the temporary directory of the command
	Network      bool
	Joined       bool // two descriptors follow the Spec's: the user and network namespaces to join
	Unprotected  bool
	RunReadOnly  bool     // only the command's private temporary directories are writable
	Veiled       []string // directories in which only the Spec's paths are visible
	EndLeftovers bool     // no process outlives the command

	Layers []string // layers to apply, of the names below
}

// Layers, in the order of their application.
const (
	UserNamespace = "user namespace"
	Namespaces    = "namespaces" // of mounts, processes and System V IPC
	Proc          = "private /proc"
	NetNamespace  = "network namespace"
	Capabilities  = "capabilities"
	Landlock      = "Landlock"
	Seccomp       = "seccomp"
)

// has reports whether s applies a layer.
func (s *Spec) has(layer string) bool { return slices.Contains(s.Layers, layer) }

// Encode returns s as an unambiguous text, whatever its paths contain.
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
	add("removed", s.Removed...)
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

// decode reverses Encode.
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
		case "removed":
			s.Removed = append(s.Removed, v)
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
