package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A Server is a server of the settings: a program to start, or an address.
type Server struct {
	Name        string
	Description string
	Extension   string // the extension that contains it, "" for none

	// Command is the program, with its arguments, which is started in Dir. Env are
	// additional variables; $NAME in a value refers to gemline's environment.
	Command []string
	Dir     string
	Env     map[string]string

	// URL is the address of a remote server. Kind is its transport: "http", "sse", or "" to
	// find out.
	URL    string
	Kind   string
	Header map[string]string

	Timeout          time.Duration // of a request; 0 is ten minutes
	Include, Exclude []string      // the only tools to use, if not nil, and tools to leave out

	// Rights is called at each start of the server. If free is false, the server is confined
	// like the model's commands. An error forbids the start. Nil confines it.
	Rights func() (free bool, err error)

	DisabledReason string // why it is disabled, "" if it is enabled
}

// defaultTimeout is how long a request may take.
const defaultTimeout = 10 * time.Minute

// origin returns the address or the program of a server, for hooks.
func origin(s Server) map[string]any {
	if len(s.Command) == 0 {
		return map[string]any{"url": s.URL}
	}
	return map[string]any{"command": s.Command[0], "args": s.Command[1:], "cwd": s.Dir}
}

// identity distinguishes a server from servers of the same name with other settings.
func (s Server) identity() string { return hashed(s.Name, s.Command, s.Dir, s.Env, s.URL, s.Kind) }

// subject identifies the server for an "always": its name and its program or address, even
// if another server's name looks the same in the names of tools.
func (s Server) subject() string { return hashed(s.Name, s.Command, s.Dir, s.URL) }

// hashed returns a name with a hash of the parts.
func hashed(name string, parts ...any) string {
	b, _ := json.Marshal(parts)
	sum := sha256.Sum256(b)
	return name + " " + hex.EncodeToString(sum[:8])
}

// includesTool reports whether a tool of the server is used.
func (s Server) includesTool(tool string) bool {
	is := func(entry string) bool { return namesTool(entry, s.Name, tool) }
	return !slices.ContainsFunc(s.Exclude, is) && (s.Include == nil || slices.ContainsFunc(s.Include, is))
}

// namesTool reports whether an entry of the lists names a tool, by the server's or the
// model's name.
func namesTool(entry, server, tool string) bool {
	return entry == tool || entry == declaredName(server, tool) || strings.HasPrefix(entry, tool+"(")
}

// unknownTools returns the entries of the lists that name no tool of the server.
func unknownTools(s Server, tools []string) []string {
	return slices.DeleteFunc(slices.Concat(s.Include, s.Exclude), func(entry string) bool {
		return slices.ContainsFunc(tools, func(tool string) bool { return namesTool(entry, s.Name, tool) })
	})
}

// A State is the state of a connection to a server.
type State string

// The states.
const (
	Waiting    State = "waiting" // not needed yet
	Connecting State = "connecting"
	Connected  State = "connected"
	Failed     State = "failed" // without automatic retries
	Off        State = "off"
)

// A Status is the status of a server and its offerings.
type Status struct {
	Server
	State        State
	Err          error // the last error
	Warnings     []string
	Transport    string // stdio, http or sse
	Title        string // the server's own name and version
	Instructions string
	Tools        []ToolInfo
	Prompts      []Prompt
	Resources    []Resource
	Templates    []Resource // with variables in braces in their addresses
}

// A ToolInfo is a server's description of a tool.
type ToolInfo struct {
	Name         string          `json:"name"`     // the server's
	DeclaredName string          `json:"declared"` // the model's name for it
	Description  string          `json:"description,omitempty"`
	Schema       json.RawMessage `json:"schema,omitempty"`
	Annotations  map[string]any  `json:"-"`
}
