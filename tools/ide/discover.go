package ide

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// An Environment is the context of the search for a companion.
type Environment struct {
	Lookup func(name string) (string, bool) // a variable of the environment
	Temp   string                           // the directory of temporary files
	Cwd    string                           // the working directory
}

// A companion is a discovered companion of an editor.
type companion struct {
	editor  string // its name
	port    int
	token   string
	program []string // started and connected to if there is no port
	folders []string // the open folders
}

const (
	longestFile  = 64 << 10 // bytes of a companion's file
	longestName  = 60       // characters of an editor's name
	mostFiles    = 1000     // that are looked at
	mostAttempts = 4        // connection attempts, one after the other
)

// infoFile matches the name of a companion's file: the editor's process id, and the port,
// which older companions omit.
var infoFile = text.Pattern(`^gemini-ide-server-(\d{1,9})(?:-(\d{1,5}))?\.json$`)

func (p Environment) get(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// editor returns the name of the editor that the terminal belongs to, "" if it belongs to
// none that may have a companion.
func (p Environment) editor() string {
	get := p.get
	program := get("TERM_PROGRAM")
	jetbrains := strings.Contains(strings.ToLower(get("TERMINAL_EMULATOR")), "jetbrains")
	zed := get("ZED_SESSION_ID") != "" || program == "Zed"
	xcode := get("XCODE_VERSION_ACTUAL") != ""
	known := get("GEMINI_CLI_IDE_SERVER_PORT") != "" ||
		get("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND") != "" || get("GEMINI_CLI_IDE_PID") != ""
	if program != "vscode" && program != "sublime" && !zed && !xcode && !jetbrains && !known {
		return ""
	}
	for _, e := range []struct {
		name string
		is   bool
	}{
		{"Antigravity", get("ANTIGRAVITY_CLI_ALIAS") != ""},
		{"Devin", get("__COG_BASHRC_SOURCED") != ""},
		{"Replit", get("REPLIT_USER") != ""},
		{"Cursor", get("CURSOR_TRACE_ID") != ""},
		{"GitHub Codespaces", get("CODESPACES") != ""},
		{"Cloud Shell", get("EDITOR_IN_CLOUD_SHELL") != "" || get("CLOUD_SHELL") != ""},
		{"Trae", get("TERM_PRODUCT") == "Trae"},
		{"Firebase Studio", get("MONOSPACE_ENV") != ""},
		{"Positron", get("POSITRON") == "1"},
		{"Sublime Text", program == "sublime"},
		{"Zed", zed},
		{"Xcode", xcode},
		{"the JetBrains IDE", jetbrains},
		{"VS Code", program == "vscode"},
	} {
		if e.is {
			return e.name
		}
	}
	return "the editor"
}

// find returns the companions that may be connected to, the likeliest first. If there is
// none, the error says why.
func (p Environment) find() ([]companion, error) {
	editor := p.editor()
	if editor == "" {
		return nil, errors.New("this terminal belongs to no editor with a companion")
	}
	found, said := p.files(editor)
	named, err := p.fromVariables(editor)
	if err != nil {
		said = append(said, err)
	}
	for _, c := range named {
		if !slices.ContainsFunc(found, func(o companion) bool { return o.port == c.port }) {
			found = append(found, c)
		}
	}
	if len(found) == 0 && len(said) == 0 {
		return nil, fmt.Errorf("no companion of %s was found", editor)
	}
	fit := slices.DeleteFunc(slices.Clone(found), func(c companion) bool { return c.folderLength(p.Cwd) == 0 })
	if len(fit) > 0 {
		return fit[:min(len(fit), mostAttempts)], nil
	}
	for _, c := range found {
		said = append(said, c.folderMismatch(p.Cwd))
	}
	return nil, said[len(said)-1]
}

// folderLength returns the length of the path of the folder that contains cwd, 0 if there is
// none.
func (c companion) folderLength(cwd string) (longest int) {
	for _, f := range c.folders {
		if real := disk.ResolveLinks(f); disk.Inside(real, disk.ResolveLinks(cwd)) {
			longest = max(longest, len(real))
		}
	}
	return longest
}

// folderMismatch returns the error for a companion with other folders.
func (c companion) folderMismatch(cwd string) error {
	if len(c.folders) == 0 {
		return fmt.Errorf("%s has no folder open; open %s there", c.editor, cwd)
	}
	return fmt.Errorf("%s has %s open, and gemline works in %s", c.editor, strings.Join(c.folders, ", "), cwd)
}

// fromVariables returns the companions that the environment names: a companion at a port, and a
// program to start.
func (p Environment) fromVariables(editor string) (named []companion, err error) {
	folders := split(p.get("GEMINI_CLI_IDE_WORKSPACE_PATH"))
	if said := p.get("GEMINI_CLI_IDE_SERVER_PORT"); said != "" {
		port, err := strconv.Atoi(said)
		if err != nil || port < 1 || port > 65535 {
			return nil, fmt.Errorf("GEMINI_CLI_IDE_SERVER_PORT is no port: %.20q", said)
		}
		named = append(named, companion{editor: editor, port: port,
			token: p.get("GEMINI_CLI_IDE_AUTH_TOKEN"), folders: folders})
	}
	if program := p.get("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND"); program != "" {
		var args []string
		if said := p.get("GEMINI_CLI_IDE_SERVER_STDIO_ARGS"); said != "" && json.Unmarshal([]byte(said), &args) != nil {
			return named, fmt.Errorf("GEMINI_CLI_IDE_SERVER_STDIO_ARGS is no JSON list of strings: %.100q", said)
		}
		named = append(named, companion{editor: editor, program: append([]string{program}, args...), folders: folders})
	}
	return named, nil
}

// split returns the folders in a list of paths.
func split(list string) (folders []string) {
	for _, f := range filepath.SplitList(list) {
		if filepath.IsAbs(f) {
			folders = append(folders, filepath.Clean(f))
		}
	}
	return folders
}

// processes returns the ids of the processes whose companions belong to this terminal, the
// nearest first.
func (p Environment) processes() []int {
	if pid, err := strconv.Atoi(p.get("GEMINI_CLI_IDE_PID")); err == nil {
		return []int{pid}
	}
	return ancestors()
}

// files returns the companions from valid files, and the faults of other files.
func (p Environment) files(editor string) (found []companion, said []error) {
	dir := filepath.Join(p.Temp, "gemini", "ide")
	for _, d := range []string{filepath.Dir(dir), dir} {
		switch info, err := os.Lstat(d); {
		case err != nil:
			return nil, nil
		case !info.IsDir() || !disk.OwnedByUser(info) || writableByOthers(info):
			return nil, []error{fmt.Errorf("%s is not used: it is no directory that you alone can write to", d)}
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostFiles) // on an error, the names read so far
	slices.Sort(names)
	preferred := p.get("GEMINI_CLI_IDE_SERVER_PORT")
	for _, pid := range p.processes() {
		for _, name := range names {
			m := infoFile().FindStringSubmatch(name)
			if m == nil || m[1] != strconv.Itoa(pid) {
				continue
			}
			c, err := readInfo(filepath.Join(dir, name), editor, m[2])
			if err != nil {
				said = append(said, fmt.Errorf("%s is not used: %w", name, err))
				continue
			}
			found = append(found, c)
		}
		if len(found) > 0 {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b companion) int {
		first := func(c companion) int {
			if strconv.Itoa(c.port) == preferred {
				return 0
			}
			return 1
		}
		return cmp.Or(first(a)-first(b), b.folderLength(p.Cwd)-a.folderLength(p.Cwd))
	})
	return found, said
}

// readInfo reads the file of a companion. Its port must match the file's name.
func readInfo(path, editor, port string) (c companion, err error) {
	named, err := os.Lstat(path)
	if err != nil {
		return c, disk.Cause(err)
	}
	f, err := disk.Open(path)
	if err != nil {
		return c, disk.Cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, disk.Cause(err)
	}
	switch {
	case !os.SameFile(named, info): // a link is not the same file
		return c, errors.New("it is a link")
	case !disk.OwnedByUser(info):
		return c, errors.New("it belongs to another user")
	case writableByOthers(info):
		return c, errors.New("others may write it")
	}
	b, err := disk.ReadOpen(f, longestFile)
	if err != nil {
		return c, disk.Cause(err)
	}
	var said struct {
		Port          int
		WorkspacePath string
		AuthToken     string
		Stdio         struct{ Command string }
		IDEInfo       struct{ Name, DisplayName string }
	}
	if err := json.Unmarshal(b, &said); err != nil {
		return c, errors.New("it is not what a companion writes")
	}
	switch {
	case said.Port == 0 && said.Stdio.Command != "": // programs named in files are never started
		return c, errors.New("it names a program to start, which only the environment can")
	case said.Port < 1 || said.Port > 65535:
		return c, errors.New("it names no port")
	case port != "" && port != strconv.Itoa(said.Port):
		return c, fmt.Errorf("it names the port %d, and its own name another one", said.Port)
	}
	name := text.OneLine(cmp.Or(said.IDEInfo.DisplayName, said.IDEInfo.Name), longestName)
	return companion{editor: cmp.Or(name, editor), port: said.Port, token: said.AuthToken,
		folders: split(said.WorkspacePath)}, nil
}

// inContainer reports whether gemline may run in a container and the editor outside.
func (p Environment) inContainer() bool {
	if p.get("SSH_CONNECTION") != "" || p.get("VSCODE_REMOTE_CONTAINERS_SESSION") != "" ||
		p.get("REMOTE_CONTAINERS") != "" {
		return false
	}
	return slices.ContainsFunc([]string{"/.dockerenv", "/run/.containerenv"}, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// writableByOthers reports whether users other than the owner may write a file, if the
// system shows it.
func writableByOthers(info fs.FileInfo) bool {
	return filepath.Separator == '/' && info.Mode().Perm()&0o022 != 0
}
