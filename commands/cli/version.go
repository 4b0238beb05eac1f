package cli

import (
	"encoding/json"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// SchemaVersion is the version of all JSON documents of the sub-commands. It grows when a field
// changes or goes, but not for a new field.
const SchemaVersion = 1

// A Build identifies the program. Unknown fields are empty.
type Build struct {
	Version       string `json:"version"`
	Commit        string `json:"commit"`
	Modified      bool   `json:"modified"` // built from a changed tree
	Date          string `json:"date"`     // of the commit, RFC 3339
	Go            string `json:"go"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
	SchemaVersion int    `json:"schema_version"`

	linked bool // the build set the version, as make does and go install does not
}

// ReadBuild returns the facts of the build. The commit and its date are the parameters, unless Go
// has recorded them.
func ReadBuild(version, commit, date string) Build {
	b := Build{Version: version, Commit: commit, Date: date, Go: runtime.Version(),
		OS: runtime.GOOS, Arch: runtime.GOARCH, SchemaVersion: SchemaVersion, linked: version != "dev"}
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return b
	}
	if v := info.Main.Version; !b.linked && strings.HasPrefix(v, "v") { // of go install in a clone
		b.Version = v[1:]
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Print writes b as gemline --version does: the version, or one document.
func (b Build) Print(w io.Writer, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(w, b.Version+"\n")
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(b)
}
