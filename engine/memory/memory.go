// Package memory finds and reads the context files (such as GEMINI.md), which instruct the model
// for a user or a project. A first caller makes a [Memory] with [New].
//
// # Three places in the conversation
//
// The user's file for all projects and the private notes about this project go into the system
// instruction. Files of extensions and of the project go into the message that opens a
// conversation. A file of a subdirectory is added once, to the answer to the first call that
// accesses the subdirectory.
//
// # A file is confined to its project
//
// A project's file, and every file that it imports, must lie below the directory with a boundary
// marker such as .git; an extension's files must lie below the extension's directory. Links are
// resolved before this check, and not followed afterwards. The author of a file may not be its
// reader.
//
// # Faults are warnings
//
// A missing or empty context file is skipped. A file that can't be read, is too long or leads
// outside causes a warning. All files together have a limit, imports included. No context file
// ends a session.
package memory

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// notesName is the name of the file of private notes about a project.
const notesName = "MEMORY.md"

// DefaultName is the name of context files that is always used.
const DefaultName = "GEMINI.md"

// Limits of reading, unless the Config says otherwise.
const (
	defaultLimit = 256 << 10 // bytes of one file
	defaultTotal = 1 << 20   // bytes of all files and their imports
	maxFiles     = 100       // context files
	maxImports   = 1000      // attempts to import
	maxWarnings  = 20
)

// Config says where context files are.
type Config struct {
	User  string   // the directory of the user's files, ~/.gemini; may be empty
	Names []string // names that precede [DefaultName]

	// Ledger, if not nil, records which files are being written.
	Ledger *disk.Ledger

	// Private is the directory of the project's private notes; may be empty.
	Private string

	// Extensions returns the context files of the user's extensions, and warnings about them. It
	// is called whenever files are read, and may be nil.
	Extensions func() (files []Extra, warnings []string)

	// Roots returns the real paths of the workspace's directories, none if they are not trusted.
	// It is called whenever files are read, and may be nil.
	Roots func() []string

	// OwnedByOther says why a file must not be used, "" if it may be: directories above the Roots
	// may belong to another user. It may be nil.
	OwnedByOther func(path string) string

	// Undecided reports that the user was not asked to trust the Roots, since they contain no
	// context file. Then files in subdirectories are not used either. It may be nil.
	Undecided func() bool

	// Markers are the names that end the search from a root through its parents. Nil means .git;
	// an empty list means that parents are not searched.
	Markers []string

	// Flat has imported files follow the importing file, each once, instead of replacing the
	// imports.
	Flat bool

	// Withheld, if not nil, reports whether imports must not read files and directories called
	// name. Imports never read files that may contain secrets.
	Withheld func(name string) bool

	// Charsets decodes context files.
	Charsets charset.Decoder

	// Warn gets a message for each file that was not read. It is called by Contents,
	// Reload and Add, and may be nil.
	Warn func(string)

	Limit int // bytes read of one file; 0 means 256 KiB
	Total int // bytes of everything; 0 means 1 MiB
}

// An Extra is a context file for every workspace. The file and its imports are below the
// directory Within.
type Extra struct{ Path, Within string }

// A Tier is the scope of a context file.
type Tier string

// The tiers, by their names for the user.
const (
	Global     Tier = "Global"
	Private    Tier = "Private Project Memory"
	Extension  Tier = "Extension"
	Project    Tier = "Project"
	Discovered Tier = "Newly Discovered" // added to the answer to a call
)

// A File is a context file that is in use.
type File struct {
	Path string // absolute
	Tier Tier
	Text string // with imports, trimmed, never empty
}

// Contents is the content of the context files.
type Contents struct {
	Global    string // the user's files, framed
	Private   string // the private notes, bare
	Extension string // the extensions' files, framed
	Project   string // the project's files, framed
	Files     []File // in the order of the text
}

// A Memory is the context files of a session. It is safe for concurrent use.
type Memory struct {
	cfg Config

	mu          sync.Mutex
	read        bool
	files       []File
	loadedFiles []os.FileInfo // the files in use, imported ones included
	warned      []string      // the reported warnings

	projects map[string]*disk.Dir // open directories, by real path
}

// New returns the Memory of a session. It reads nothing yet.
func New(cfg Config) *Memory { return &Memory{cfg: cfg} }

// Names returns the names of context files.
func (m *Memory) Names() []string {
	names, _ := m.cfg.names()
	return names
}

// Notes returns the path of the private notes about the project, which need not exist. It is
// empty if they are not used.
func (m *Memory) Notes() string {
	if m.cfg.Private == "" || len(m.cfg.roots()) == 0 {
		return ""
	}
	return filepath.Join(m.cfg.Private, notesName)
}

// Contents returns the content of the context files, and reads them the first time.
func (m *Memory) Contents() Contents { return m.contents(false, false) }

// Update reads all files again but those that [Memory.Discover] found, which the model still has.
func (m *Memory) Update() Contents { return m.contents(true, false) }

// Reload reads all files again and drops the files that [Memory.Discover] found.
func (m *Memory) Reload() Contents { return m.contents(true, true) }

func (m *Memory) contents(again, drop bool) Contents {
	m.mu.Lock()
	if drop {
		m.files, m.loadedFiles = nil, nil
	}
	if again {
		m.read, m.warned = false, nil
	}
	warnings := m.load()
	c := contents(m.files)
	m.mu.Unlock()
	m.warn(warnings)
	return c
}

func (m *Memory) warn(warnings []string) {
	if m.cfg.Warn == nil {
		return
	}
	text.Each(warnings, m.cfg.Warn)
}

// load reads all files, once. It returns the warnings.
func (m *Memory) load() []string {
	if m.read {
		return nil
	}
	l := m.loader()
	roots := m.cfg.roots()
	l.user()
	if len(roots) > 0 {
		l.private()
	}
	l.extensions()
	var dirs []string
	for _, root := range roots {
		dirs = append(dirs, Upward(root, l.markers)...)
	}
	l.project(dirs, Project)
	found := lists.Filter(m.files, func(f File) bool { return f.Tier == Discovered })
	m.read, m.files, m.loadedFiles = true, append(l.files, found...), append(l.seen, m.loadedFiles...)
	return m.tell(l.allWarnings())
}

// project returns the open directory of the project at top, nil if it can't be opened.
func (m *Memory) project(top string) *disk.Dir {
	if d := m.projects[top]; d != nil && !d.Gone() {
		return d
	}
	d, err := disk.OpenDir(top)
	if err != nil {
		return nil
	}
	if m.projects == nil {
		m.projects = map[string]*disk.Dir{}
	}
	m.projects[top] = d
	return d
}

// tell returns the unreported warnings.
func (m *Memory) tell(warnings []string) []string {
	warnings = slices.DeleteFunc(warnings, func(w string) bool { return slices.Contains(m.warned, w) })
	m.warned = append(m.warned, warnings...)
	return warnings
}

func (c Config) roots() []string {
	if c.Roots == nil {
		return nil
	}
	return c.Roots()
}

// Trusts reports whether the context files of the directory dir are used: it is in a trusted
// directory of the workspace.
func (m *Memory) Trusts(dir string) bool {
	_, real := place(dir)
	return innermost(m.cfg.roots(), real) != ""
}

// Discover returns the framed text of the unused context files in the directory of path and its
// parents, and marks them as used. The text is empty if there are none, if path does not exist,
// or if it is in no root.
func (m *Memory) Discover(path string) (text string, warnings []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	real, dir := place(path)
	root := innermost(m.cfg.roots(), dir)
	if root == "" {
		return "", nil
	}
	warnings = m.load()
	l := m.loader()
	l.seen = slices.Clip(m.loadedFiles)
	l.remaining = l.limit
	l.touched = real // the accessing call returns its text
	l.project(upward(dir, ceiling(root, l.markers)), Discovered)
	if m.cfg.Undecided != nil && m.cfg.Undecided() {
		for _, f := range l.files {
			l.warn("%s is not used: nobody has decided about this folder; gemline trust add trusts it", f.Path)
		}
		return "", append(warnings, m.tell(l.allWarnings())...)
	}
	m.files = append(m.files, l.files...)
	m.loadedFiles = l.seen
	return framed(l.files, Discovered), append(warnings, m.tell(l.allWarnings())...)
}
