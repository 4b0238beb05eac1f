package memory

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/engine/text"
)

// A loader reads context files within limits.
type loader struct {
	names     []string
	markers   []string
	cfg       Config
	limit     int    // bytes of one file
	remaining int    // remaining bytes
	imports   int    // remaining attempts
	touched   string // a file to skip
	files     []File
	seen      []os.FileInfo
	sources   map[string]*source // by real path, since a file is read once
	projects  []*disk.Dir        // the directories of projects' files
	warnings  []string
	dropped   int // warnings above the limit
	spent     bool
}

// A source is a file after reading.
type source struct {
	info os.FileInfo
	text string
	err  error
}

func (m *Memory) loader() *loader {
	cfg := m.cfg
	l := &loader{cfg: cfg, limit: cmp.Or(max(cfg.Limit, 0), defaultLimit),
		remaining: cmp.Or(max(cfg.Total, 0), defaultTotal),
		imports:   maxImports, sources: map[string]*source{}}
	var bad []string
	l.names, bad = cfg.names()
	for _, n := range bad {
		l.warn("context file name %q is passed over: not a plain relative name", n)
	}
	l.markers, bad = cfg.markers()
	for _, n := range bad {
		l.warn("boundary marker %q is passed over: not a plain relative name", n)
	}
	for _, root := range cfg.roots() {
		if d := m.project(boundaryAt(ceiling(root, l.markers)).real); d != nil {
			l.projects = append(l.projects, d)
		}
	}
	return l
}

// user loads the user's own files. Their links may lead anywhere.
func (l *loader) user() {
	if l.cfg.User == "" {
		return
	}
	for _, name := range l.names {
		l.takeFrom(l.cfg.User, name, Global)
	}
}

// private loads the user's private notes about the project.
func (l *loader) private() {
	if l.cfg.Private == "" {
		return
	}
	for _, name := range []string{notesName, DefaultName} {
		if l.takeFrom(l.cfg.Private, name, Private) {
			return
		}
	}
}

// extensions loads the files of the user's extensions.
func (l *loader) extensions() {
	if l.cfg.Extensions == nil {
		return
	}
	files, warnings := l.cfg.Extensions()
	for _, w := range warnings {
		l.warn("%s", w)
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b Extra) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		l.take(f.Path, boundaryAt(f.Within), Extension)
	}
}

// project loads the files of directories, outer directories first.
func (l *loader) project(dirs []string, tier Tier) {
	names := slices.Clone(l.names)
	slices.Sort(names)
	for _, dir := range outer(dirs) {
		if sameDirectory(dir, l.cfg.User) {
			continue
		}
		for _, name := range names {
			l.takeFrom(dir, name, tier)
		}
	}
}

// takeFrom loads the context file of a directory, if there is one. It reports whether the file is
// in use.
func (l *loader) takeFrom(dir, name string, tier Tier) bool {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); missing(err) { // the usual case
		return false
	}
	return l.take(path, boundaryAt(ceiling(dir, l.markers)), tier)
}

// take loads the context file at path, which must stay within b unless it is the user's own. It
// reports whether the file is in use.
func (l *loader) take(path string, b boundary, tier Tier) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if !missing(err) {
			l.warn("%s is not read: %s", path, why(err))
		}
		return false
	}
	if tier == Project || tier == Discovered {
		// A link may have replaced the directory since it was checked.
		if project, _ := l.projectOf(b.real); project == nil {
			l.warn("%s is not read: it leads out of the project", path)
			return false
		}
		if l.cfg.OwnedByOther != nil && innermost(l.cfg.roots(), real) == "" {
			if why := l.cfg.OwnedByOther(real); why != "" {
				l.warn("%s is not read: %s", path, why)
				return false
			}
		}
	}
	if tier != Global && tier != Private {
		within := cmp.Or(innermost(l.cfg.roots(), real), b.real)
		switch {
		case !disk.Inside(b.real, real):
			l.warn("%s is not read: it leads out of %s", path, b.named)
			return false
		case secret.Path(filepath.Base(path)), l.allowed(within, real) != nil:
			l.warn("%s is not read: it may hold secrets", path)
			return false
		}
	}
	if real == l.touched {
		return false
	}
	s := l.source(real)
	switch {
	case errors.Is(s.err, disk.ErrDirectory) || missing(s.err):
		return false
	case s.err != nil:
		l.warn("%s is not read: %s", path, why(s.err))
		return false
	case l.knows(s.info) || strings.TrimSpace(s.text) == "":
		return false
	case len(l.files) == maxFiles:
		l.exceeded("%s is not read: there are more than %d context files", path, maxFiles)
		return false
	}
	content := s.text
	if len(content) > l.remaining {
		content = strings.TrimSpace(string(text.Whole([]byte(content[:l.remaining]))))
		l.exceeded("%s is cut: the context files have more than their limit in all", path)
	}
	if content == "" {
		return false
	}
	l.remaining -= len(content)
	l.seen = append(l.seen, s.info)
	from := importer{dir: filepath.Dir(path), within: b, chain: []string{real}}
	if l.cfg.Flat {
		content = l.followed(path, content, from)
	} else {
		content = l.expand(content, from)
	}
	l.files = append(l.files, File{Path: path, Tier: tier, Text: strings.TrimSpace(content)})
	return true
}

func (l *loader) knows(info os.FileInfo) bool {
	return slices.ContainsFunc(l.seen, func(other os.FileInfo) bool { return os.SameFile(info, other) })
}

// know marks a file as in use.
func (l *loader) know(info os.FileInfo) {
	if !l.knows(info) {
		l.seen = append(l.seen, info)
	}
}

// source returns the file at a resolved path.
func (l *loader) source(real string) *source {
	s := l.sources[real]
	if s == nil {
		s = &source{}
		s.info, s.text, s.err = l.open(real)
		l.sources[real] = s
	}
	return s
}

// open reads the regular file at real. A project's file is opened from the project's directory,
// and links that are created meanwhile are not followed.
func (l *loader) open(real string) (os.FileInfo, string, error) {
	dir, rel := l.projectOf(real)
	if dir == nil {
		d, err := disk.OpenDir(filepath.Dir(real))
		if err != nil {
			return nil, "", err
		}
		defer d.Close()
		dir, rel = d, filepath.Base(real)
	}
	f, info, err := dir.File(rel)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	text, err := l.read(f, real)
	return info, text, err
}

// projectOf returns the innermost project that contains the file at real, and the file's path
// inside it.
func (l *loader) projectOf(real string) (project *disk.Dir, rel string) {
	for _, d := range l.projects {
		if r, err := filepath.Rel(d.Path(), real); err == nil && filepath.IsLocal(r) &&
			(project == nil || len(d.Path()) > len(project.Path())) {
			project, rel = d, r
		}
	}
	return project, rel
}

// read returns the text of f, up to the limit.
func (l *loader) read(f io.Reader, path string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(f, int64(l.limit)+1))
	if err != nil {
		return "", err
	}
	if len(b) > l.limit {
		b = text.Whole(b[:l.limit])
		l.warn("%s is too long: only its first %d bytes are used", path, len(b))
	}
	content, format, err := l.cfg.Charsets.Decode(b)
	switch {
	case err != nil: // no text contains NUL, and some servers refuse it
		content = strings.ReplaceAll(strings.ToValidUTF8(string(b), "\ufffd"), "\x00", "\ufffd")
		l.warn("%s is not UTF-8 text: what could not be read shows as %c", path, utf8.RuneError)
	case format.Raw || format.Lossy:
		content = charset.Readable(content)
		l.warn("%s is not UTF-8 text: what could not be read shows as %c", path, utf8.RuneError)
	case format.Guessed:
		l.warn("%s is not UTF-8 text: it was read as %s, which is a guess", path, format.Charset)
	}
	return strings.TrimSpace(strings.TrimPrefix(content, "\ufeff")), nil
}

// missing reports whether err says that the file does not exist.
func missing(err error) bool {
	return err != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR))
}

// why returns the text of err, without the path.
func why(err error) string {
	if errors.Is(err, disk.ErrIrregular) || errors.Is(err, disk.ErrKernel) {
		return "it is not an ordinary file"
	}
	return strings.TrimPrefix(disk.Cause(err).Error(), "EvalSymlinks: ")
}

func (l *loader) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(l.warnings, text):
	case len(l.warnings) == maxWarnings:
		l.dropped++
	default:
		l.warnings = append(l.warnings, text)
	}
}

// exceeded warns that a limit is reached, once.
func (l *loader) exceeded(format string, args ...any) {
	if !l.spent {
		l.spent = true
		l.warn(format, args...)
	}
}

// allWarnings returns the warnings.
func (l *loader) allWarnings() []string {
	if l.dropped > 0 {
		return append(l.warnings, fmt.Sprintf("%d more warnings about context files", l.dropped))
	}
	return l.warnings
}
