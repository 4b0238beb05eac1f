// Package skill reads skills: folders with instructions for special tasks, which the model
// reads when one fits.
//
// # Instructions are read when needed
//
// Only the name and the description of an inactive skill are used. [Skill.Read] reads the
// file each time, so that the model gets the instructions that the question shows.
//
// # A bad skill does not affect others
//
// An unusable skill is skipped with one note. The others work.
package skill

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// FileName is the file in a skill's folder that describes the skill.
const FileName = "SKILL.md"

const (
	maxFile        = 1 << 20 // bytes
	maxDescription = 1024    // characters
	maxName        = 100
	maxSkills      = 1000 // directories of one folder that are read
)

// A Source is the owner of a skill.
type Source string

// The sources, the weakest first.
const (
	BuiltIn   Source = "built-in"
	Extension Source = "extension"
	User      Source = "user"
	Workspace Source = "workspace"
)

// A Dir is the folder of a skill, or a folder of skill folders.
type Dir struct {
	Path   string
	Source Source
	From   string // the name of the extension

	// Within says that links out of Path are not followed, as others may have made them.
	Within bool

	// Fill replaces variables by values; nil leaves the texts as they are.
	Fill func(string) string
}

// A Skill is a usable skill.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      Source `json:"source"`
	From        string `json:"extension,omitempty"`
	File        string `json:"location,omitempty"` // its SKILL.md; "" for a built-in skill
	Disabled    bool   `json:"disabled"`

	fill func(string) string
	note string // a fault that leaves it usable
}

// Folder returns the folder of the skill, "" if it has none.
func (s Skill) Folder() string {
	if s.File == "" {
		return ""
	}
	return filepath.Dir(s.File)
}

//go:embed builtin
var builtin embed.FS

// Read returns the instructions of the skill as they are now.
func (s Skill) Read() (string, error) {
	var b []byte
	var err error
	if s.File == "" {
		b, err = builtin.ReadFile("builtin/" + s.Name + "/" + FileName)
	} else {
		b, err = disk.Read(s.File, maxFile)
	}
	if err != nil {
		return "", err
	}
	h, err := parse(strings.ToValidUTF8(string(b), "\ufffd"))
	if err == nil && s.fill != nil {
		h.body = s.fill(h.body)
	}
	return strings.TrimSpace(h.body), err
}

// load returns the skills of dirs by name, and notes about unusable skills. If two skills
// have one name, the skill in the later Dir wins.
func load(dirs []Dir) (list []Skill, notes []string) {
	own, _ := fs.ReadDir(builtin, "builtin")
	for _, e := range own {
		s := Skill{Name: e.Name(), Source: BuiltIn}
		b, _ := builtin.ReadFile("builtin/" + s.Name + "/" + FileName)
		h, _ := parse(string(b))
		s.Description = h.description
		list = append(list, s)
	}
	for _, d := range dirs {
		found, wrong := d.Skills()
		notes = append(notes, wrong...)
		for _, s := range found {
			if i := slices.IndexFunc(list, func(o Skill) bool { return strings.EqualFold(o.Name, s.Name) }); i >= 0 {
				if list[i].Source != BuiltIn {
					notes = append(notes, fmt.Sprintf("the skill %s in %s is not used: the one in %s has its name",
						text.PrintableLine(s.Name), text.PrintableLine(list[i].File), text.PrintableLine(s.File)))
				}
				list = slices.Delete(list, i, i+1)
			}
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return list, notes
}

// Skills returns the skills of one folder, and notes about unusable skills.
func (d Dir) Skills() (list []Skill, notes []string) {
	if !filepath.IsAbs(d.Path) {
		return nil, nil
	}
	entries, err := os.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []string{fmt.Sprintf("the skills in %s are not used: %v", text.PrintableLine(d.Path), disk.Cause(err))}
	}
	files := []string{filepath.Join(d.Path, FileName)}
	for _, e := range entries[:min(len(entries), maxSkills)] {
		files = append(files, filepath.Join(d.Path, e.Name(), FileName))
	}
	if len(entries) > maxSkills {
		notes = append(notes, fmt.Sprintf("%s holds more than %d folders; the others are no skills",
			text.PrintableLine(d.Path), maxSkills))
	}
	bad := func(path, why string) {
		notes = append(notes, fmt.Sprintf("the skill in %s is not used: %s", text.PrintableLine(path), why))
	}
	_, itself := os.Stat(files[0])
	for _, path := range files {
		if _, err := os.Stat(path); err != nil {
			dir := filepath.Dir(path)
			if wrong := misnamed(dir); wrong != "" {
				bad(wrong, "its file must be called "+FileName)
			} else if itself != nil && loose(dir) && !strings.EqualFold(filepath.Base(dir), FileName) {
				bad(dir, "a skill is a folder with a file "+FileName)
			}
			continue // a folder of something else
		}
		s, err := d.read(path)
		if err != nil {
			bad(path, err.Error())
			continue
		}
		if s.note != "" {
			notes = append(notes, fmt.Sprintf("the skill in %s: %s", text.PrintableLine(path), s.note))
		}
		list = append(list, s)
	}
	return list, notes
}

// misnamed returns the file in dir whose name is likely meant as FileName, "" if there is none.
func misnamed(dir string) string {
	for _, name := range []string{"skill.md", "Skill.md", "SKILL.MD"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// loose reports whether path is a Markdown file that may be meant as a skill. Names in
// capitals, such as README.md, describe the folder.
func loose(path string) bool {
	stem, is := strings.CutSuffix(filepath.Base(path), ".md")
	info, err := os.Stat(path)
	return is && stem != strings.ToUpper(stem) && err == nil && info.Mode().IsRegular()
}

// read reads the skill in a file.
func (d Dir) read(path string) (s Skill, err error) {
	if d.Within && !disk.Inside(disk.ResolveLinks(d.Path), disk.ResolveLinks(path)) {
		return s, errors.New("it is a link that leads out of the folder")
	}
	b, err := disk.Read(path, maxFile)
	if err != nil {
		return s, disk.Cause(err)
	}
	h, err := parse(strings.ToValidUTF8(string(b), "\ufffd"))
	if err != nil {
		return s, err
	}
	if d.Fill != nil {
		h.description = d.Fill(h.description)
	}
	s = Skill{Name: h.name, Description: text.OneLine(h.description, maxDescription),
		Source: d.Source, From: d.From, File: path, fill: d.Fill}
	if dir := filepath.Dir(path); s.Name == "" && dir != d.Path {
		s.Name = fileName(filepath.Base(dir)) // as other programs do
		if h.nameless {
			s.note = "its name is no text; it has that of its folder"
		}
	}
	switch {
	case s.Name == "":
		return s, errors.New("its front matter has no name")
	case s.Description == "":
		return s, errors.New("its front matter has no description")
	case text.OneLine(s.Name, maxName) != s.Name || text.PrintableLine(s.Name) != s.Name:
		return s, fmt.Errorf("the name %.60q is not a short line of text", s.Name)
	case s.Name == "." || !filepath.IsLocal(s.Name): // it is installed in a folder of its name
		return s, fmt.Errorf("the name %.60q is no name of a folder", s.Name)
	}
	return s, nil
}
