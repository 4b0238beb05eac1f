// Package memory finds the context files (GEMINI.md and the like) that tell the model what holds
// for a user or for a project. A first caller makes a [Memory] with [New].
//
// # Three moments
//
// The user's file for all projects and the private notes about this project go into the system
// instruction. Files of extensions and of the project go into the message that opens a
// conversation. A file of a directory further down comes once, with the answer to the first call
// that touches the directory. A Memory keeps the three apart.
//
// # A file stays where it is
//
// A project's file, and whatever a file imports, lies below the directory that
// holds a boundary marker such as .git, an extension's below its own; links are
// followed before that is checked, and none afterwards. Who wrote a file may
// not be who reads it.
//
// # Never in the way
//
// A context file that is missing or empty is passed over. A file that can't be read, is too long
// or leads elsewhere is a warning. All files together have a limit, imports included. No context
// file ends a session.
package memory

import (
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// notesName is the name of the file of private notes about a project.
const notesName = "MEMORY.md"

// DefaultName is the name of a context file that is always looked for.
const DefaultName = "GEMINI.md"

// Limits of reading, unless the Config says otherwise.
const (
	defaultLimit = 256 << 10 // bytes of one file
	defaultTotal = 1 << 20   // bytes of all files and their imports
	maxFiles     = 100       // context files
	maxImports   = 1000      // attempts to import
	maxWarnings  = 20
)

// Config says where to look.
type Config struct {
	User  string   // the directory of the user's files, ~/.gemini; may be empty
	Names []string // looked for in front of [DefaultName]

	// Ledger, if not nil, notes which files are being written.
	Ledger *disk.Ledger

	// Private is the directory of the project's private notes; may be empty.
	Private string

	// Extensions returns the context files of the user's extensions, and what
	// is wrong with those. It is asked whenever files are read, and may be
	// nil.
	Extensions func() (files []Extra, warnings []string)

	// Roots returns the real paths of the directories that are worked in,
	// none if they are not trusted. It is asked whenever files are read,
	// and may be nil.
	Roots func() []string

	// OwnedByOther says why a file is none of the user's business, "" if it is: what
	// lies above the Roots may be another user's. It may be nil.
	OwnedByOther func(path string) string

	// Undecided reports that nobody was asked about the Roots, since they hold
	// no context file themselves. Then those further down are not used
	// either. It may be nil.
	Undecided func() bool

	// Markers are the names whose presence ends the way up from a root to
	// its parents. Nil means .git; an empty list means that parents are not
	// looked at.
	Markers []string

	// Flat has imported files follow the importing file, each once, instead of replacing the
	// imports.
	Flat bool

	// Withheld, if not nil, reports whether imports never read files and directories called
	// name. Imports never read files that may hold secrets either.
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

// A Tier is how far a context file reaches.
type Tier string

// The tiers, as they are named to the user.
const (
	Global     Tier = "Global"
	Private    Tier = "Private Project Memory"
	Extension  Tier = "Extension"
	Project    Tier = "Project"
	Discovered Tier = "Newly Discovered" // came with the answer to a call
)

// A File is a context file that is in use.
type File struct {
	Path string // absolute
	Tier Tier
	Text string // imports put in, trimmed, never empty
}

// Contents is what the context files say.
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
	warned      []string      // warnings; each is told once

	projects map[string]*disk.Dir // opened once, by their real paths
}

// New returns the Memory of a session. It reads nothing yet.
func New(cfg Config) *Memory { return &Memory{cfg: cfg} }

// Names returns the names that are looked for.
func (m *Memory) Names() []string {
	names, _ := m.cfg.names()
	return names
}

// Notes returns the path of the private notes about the project, which need
// not exist; it is empty where they are not read.
func (m *Memory) Notes() string {
	if m.cfg.Private == "" || len(m.cfg.roots()) == 0 {
		return ""
	}
	return filepath.Join(m.cfg.Private, notesName)
}

// Contents returns what the context files say, reading them the first time.
func (m *Memory) Contents() Contents { return m.contents(false) }

// Reload reads everything again and forgets what [Memory.Discover] found.
func (m *Memory) Reload() Contents { return m.contents(true) }

func (m *Memory) contents(again bool) Contents {
	m.mu.Lock()
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

// load reads all files, unless that is done. It returns the warnings.
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
	m.read, m.files, m.loadedFiles = true, l.files, l.seen
	return m.tell(l.allWarnings())
}

// project returns the open directory at top, which holds a project, nil if it
// can't be opened.
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

// tell returns the warnings that were not told yet.
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

// Trusts reports whether the context files of the directory dir are used: it is
// in a directory that is worked in and trusted.
func (m *Memory) Trusts(dir string) bool {
	_, real := place(dir)
	return innermost(m.cfg.roots(), real) != ""
}

// Discover returns the framed text of the context files for path, of its
// directory and those above, that are not in use yet; from now on they are. It
// is empty if there are none, and if there is nothing at path or it is in no root.
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
	l.touched = real // its text is known to whoever touched it
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
