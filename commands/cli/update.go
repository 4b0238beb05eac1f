package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gemline/engine"
)

// updateCommand is gemline update. It contacts nothing and changes nothing.
type updateCommand struct{}

// An origin says how the program was installed, and which command updates it.
type origin struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	By      string `json:"installed_by"`
	Command string `json:"update_command"`
	Note    string `json:"update_note,omitempty"` // the directory or tool for the command
}

// Run prints how the program was installed.
func (*updateCommand) Run(out *Output, build Build) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mark, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "..", "share", "gemline", "installed-by"))
	o := build.origin(path, strings.TrimSpace(string(mark)))
	how := o.Command
	if o.Note != "" {
		how += ", " + o.Note
	}
	return out.show(o, "gemline "+o.Version+", "+o.Path, "installed by: "+o.By, "to update: "+how,
		"nothing was contacted: whether there is a newer version, the project's page says")
}

// origin returns the origin of the program at a path: by a mark of the installer beside the
// program, or by the clone of the repository around it.
func (b Build) origin(path, mark string) origin {
	o := origin{Version: b.Version, Path: path}
	const rebuild = "git pull && make build"
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	mark, prefix, _ := strings.Cut(mark, " ")
	switch {
	case mark == "deb":
		o.By, o.Command = "a Debian package", "sudo apt install ./gemline_*_"+runtime.GOARCH+".deb"
	case mark == "rpm":
		o.By, o.Command = "an RPM package", "sudo rpm -U ./gemline-*."+machine+".rpm"
	case mark == "apk":
		o.By, o.Command = "an Alpine package", "doas apk add --allow-untrusted ./gemline_*_"+machine+".apk"
	case mark == "brew":
		o.By, o.Command = "Homebrew", "brew upgrade gemline"
	case mark == "image":
		o.By, o.Command = "a container image", "podman load -i gemline-*-linux-"+runtime.GOARCH+".oci.tar"
	case mark == "make":
		o.By, o.Command, o.Note = "make install", rebuild+" && sudo make install "+quoted(prefix), "in the clone"
	case isClone(filepath.Dir(path)):
		o.By, o.Command, o.Note = "a build in the clone", rebuild, "in "+filepath.Dir(path)
	case !b.linked:
		o.By, o.Command, o.Note = "go install or go build", "git pull && "+gobin(filepath.Dir(path))+"go install .", "in the clone"
	case runtime.GOOS == "windows":
		o.By, o.Command, o.Note = "hand", `copy gemline.exe "`+path+`"`, "with the program of a newer archive"
	default:
		o.By, o.Command, o.Note = "hand", "install -m 755 gemline "+quoted(path), "with the program of a newer archive"
	}
	return o
}

// quoted returns a text as a word of a shell.
func quoted(text string) string { return engine.Quote([]engine.Word{{Text: text, Known: true}}) }

// gobin returns the assignment of the variable that makes go install write to dir.
func gobin(dir string) string {
	home, _ := os.UserHomeDir()
	if dir == filepath.Join(home, "go", "bin") || runtime.GOOS == "windows" {
		return ""
	}
	return "GOBIN=" + quoted(dir) + " "
}

// isClone reports whether a directory is the top of a clone of gemline's repository.
func isClone(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git")) // in a worktree it is a file
	module, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(module), "module gemline\n")
}
