package custom

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// A Dir is a directory of commands, with subdirectories.
type Dir struct {
	Path  string
	Owner string // "user", "workspace", or the name of an extension

	// Extension says that the Owner is an extension. Within says that links out of Path are not
	// followed, since somebody else may have made them.
	Extension, Within bool

	// Markdown says that the files are Markdown rather than TOML.
	Markdown bool
}

// A Command is a custom command, read from a file.
type Command struct {
	Name        string   // such as "git:commit"
	Others      []string // aliases
	Description string
	Arguments   string // its arguments, such as "[FILE]"; may be empty
	Only        Only   // the tools that may be called for it; nil allows all
	File        string
	Dir         Dir

	prompt string
	pieces []piece // of prompt
}

// Blank reports whether the prompt in the file is empty, before anything is filled in.
func (c *Command) Blank() bool { return strings.TrimSpace(c.prompt) == "" }

const (
	maxCommands    = 1000    // in one directory
	maxDepth       = 10      // of directories
	maxFile        = 1 << 20 // bytes
	maxDescription = 100     // characters
	maxSegment     = 50      // characters of a directory's or a file's name in that of a command
)

// read reads the files of dirs.
func read(dirs []Dir) *loader {
	l := &loader{lost: map[string]string{}}
	for _, dir := range dirs {
		l.dir, l.files = dir, 0
		l.walk(dir.Path, nil, map[string]bool{})
	}
	return l
}

// named gives commands their names. If two commands have the same name, the command of the later
// Dir gets it; no command gets a name for which taken returns true. Every command can be called by
// its owner's name, a dot and its own name; a command that does not get its name has only that one.
func named(commands []Command, notes []string, taken func(string) bool) ([]Command, []string) {
	plain := map[string]*Command{}
	for i := range commands {
		plain[commands[i].Name] = &commands[i] // the last command wins
	}
	used := map[string]bool{}
	free := func(name string) string {
		for n := 0; ; n++ {
			full := name
			if n > 0 {
				full = fmt.Sprint(name, n)
			}
			if !used[full] && !taken(full) && plain[full] == nil {
				used[full] = true
				return full
			}
		}
	}
	for i := range commands {
		c := &commands[i]
		name := c.Name
		c.Others = []string{free(c.Dir.Owner + "." + name)}
		if c.Dir.Extension {
			c.Others = append(c.Others, free(c.Dir.Owner+":"+name))
		}
		switch winner := plain[name]; {
		case taken(name):
			notes = append(notes, fmt.Sprintf("%s command /%s is /%s here, since there is a built-in command of that name",
				c.whose(), name, c.Others[0]))
		case winner != c:
			notes = append(notes, fmt.Sprintf("%s command /%s is /%s here, since %s has one of that name",
				c.whose(), name, c.Others[0], winner.Dir.owner()))
		default:
			continue
		}
		c.Name, c.Others = c.Others[0], c.Others[1:]
	}
	slices.SortStableFunc(commands, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	return commands, notes
}

// whose returns the owner, as the first words of a sentence.
func (c *Command) whose() string {
	if c.Dir.Extension {
		return "Extension " + c.Dir.Owner + "'s"
	}
	return strings.ToUpper(c.Dir.Owner[:1]) + c.Dir.Owner[1:]
}

// own reports whether the commands are the user's own.
func (d Dir) own() bool { return d.Owner == "user" && !d.Extension }

func (d Dir) owner() string {
	switch {
	case d.Extension:
		return "the extension " + d.Owner
	case d.Owner == "workspace":
		return "the project"
	}
	return "the " + d.Owner
}

// A loader reads the commands of one directory after the other.
type loader struct {
	dir    Dir
	files  int // of dir
	found  []Command
	faults []string          // faults of files that are used in part
	notes  []string          // parts of files without a meaning
	lost   map[string]string // by name, why the command's file is not used
}

// noteOf is the first words of a notice about a file.
const noteOf = "the command "

func (l *loader) note(path, format string, args ...any) {
	what := text.PrintableLine(path) + " is not used: " + fmt.Sprintf(format, args...)
	l.faults = append(l.faults, noteOf+what)
	if below, err := filepath.Rel(l.dir.Path, strings.TrimSuffix(path, filepath.Ext(path))); err == nil {
		l.lost[commandName(strings.Split(below, string(filepath.Separator)))] = what
	}
}

// commandName returns the name of the command at a path below its folder.
func commandName(path []string) string {
	return strings.Join(lists.Map(path, segment), ":")
}

// unknown notes the unknown keys of a file, in one line.
func (l *loader) unknown(c *Command, keys []string) {
	if len(keys) == 0 {
		return
	}
	what := "the key " + keys[0] + " means"
	if last := len(keys) - 1; last > 0 {
		what = "the keys " + strings.Join(keys[:last], ", ") + " and " + keys[last] + " mean"
	}
	l.notes = append(l.notes, "the command "+text.PrintableLine(c.File)+": "+text.PrintableLine(what)+" nothing here")
}

// walk reads the files in dir, whose path below the loader's directory is segments. Way holds the
// parent directories, to stop at a cycle of links.
func (l *loader) walk(dir string, segments []string, way map[string]bool) {
	real := disk.ResolveLinks(dir)
	if way[real] || len(segments) > maxDepth {
		return
	}
	way[real] = true
	defer delete(way, real)
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		l.faults = append(l.faults, fmt.Sprintf("the commands in %s are not used: %v",
			text.PrintableLine(dir), disk.Cause(err)))
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if l.files++; l.files > maxCommands {
			if l.files == maxCommands+1 {
				l.faults = append(l.faults, fmt.Sprintf("%s holds more than %s files; the others are no commands",
					text.PrintableLine(l.dir.Path), text.Number(maxCommands)))
			}
			return
		}
		stem, is := strings.CutSuffix(e.Name(), l.extension())
		info, err := os.Stat(path)
		switch link := e.Type()&fs.ModeSymlink != 0; {
		case err != nil && is:
			l.note(path, "%v", disk.Cause(err))
		case err != nil:
		case link && l.dir.Within && (is || info.IsDir()) && !disk.Inside(disk.ResolveLinks(l.dir.Path), disk.ResolveLinks(path)):
			l.note(path, "it is a link that leads out of the folder")
		case info.IsDir():
			l.walk(path, append(slices.Clone(segments), e.Name()), way)
		case is:
			l.read(path, append(slices.Clone(segments), stem))
		case l.misnamed(e.Name()):
			name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())) + l.extension()
			if _, is := slices.BinarySearchFunc(entries, name, func(o fs.DirEntry, name string) int { return strings.Compare(o.Name(), name) }); !is {
				l.note(path, "its name must be %s", text.PrintableLine(name))
			}
		}
	}
}

// misnamed reports whether a file may be meant as a command but has a wrong extension: the right
// extension in capitals, or .md, as other programs have it. Markdown files with a name in
// capitals, such as README.md, and those of an extension are not meant as commands.
func (l *loader) misnamed(name string) bool {
	end := filepath.Ext(name)
	stem := strings.TrimSuffix(name, end)
	return strings.EqualFold(end, l.extension()) ||
		strings.EqualFold(end, ".md") && !l.dir.Extension && stem != strings.ToUpper(stem)
}

func (l *loader) extension() string {
	if l.dir.Markdown {
		return ".md"
	}
	return ".toml"
}

// read reads the command at path.
func (l *loader) read(path string, segments []string) {
	b, err := disk.Read(path, maxFile)
	if err == nil && !utf8.Valid(b) {
		err = fmt.Errorf("it is not UTF-8")
	}
	if err != nil {
		l.note(path, "%v", disk.Cause(err))
		return
	}
	c := Command{Name: commandName(segments), File: path, Dir: l.dir}
	if l.dir.Markdown {
		l.markdown(&c, string(b))
	} else if err := l.toml(&c, string(b)); err != nil {
		l.note(path, "%v", err)
		return
	}
	c.Description = describe(cmp.Or(c.Description, "Custom command from "+filepath.Base(path)))
	if l.dir.Extension {
		c.Description = "[" + l.dir.Owner + "] " + c.Description
	}
	if c.pieces, err = split(c.prompt, l.dir.Markdown); err != nil {
		l.note(path, "%v", err)
		return
	}
	l.found = append(l.found, c)
}

func (l *loader) toml(c *Command, source string) error {
	var file struct{ Prompt, Description any }
	meta, err := toml.Decode(source, &file)
	if pe := (toml.ParseError{}); errors.As(err, &pe) {
		return fmt.Errorf("line %d: %s", pe.Position.Line, pe.Message)
	}
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		value any
		to    *string
	}{{"prompt", file.Prompt, &c.prompt}, {"description", file.Description, &c.Description}} {
		var is bool
		if *f.to, is = f.value.(string); !is && f.value != nil {
			return fmt.Errorf("its %s is not a text in quotes", f.name)
		}
	}
	if file.Prompt == nil {
		return fmt.Errorf("it has no prompt")
	}
	l.unknown(c, lists.Map(meta.Undecoded(), toml.Key.String))
	return nil
}

// segment returns the name of a directory or a file as a part of a command's name.
func segment(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("_.-", r) {
			return r
		}
		return '_'
	}, s)
	if len(s) > maxSegment {
		s = s[:maxSegment-3] + "..."
	}
	return s
}

// describe returns a description on one line, without invisible characters.
func describe(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	return text.OneLine(s, maxDescription)
}
