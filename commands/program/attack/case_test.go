//go:build unix

package attack

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A line is a case as it stands in a file, before the places in it that are
// written {{LIKE THIS}} have been filled in.
type line struct {
	ID, Group string
	raw       string
}

// lines reads a file of cases.
func lines(t *testing.T, name string) []line {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []line
	for raw := range strings.Lines(string(b)) {
		if strings.TrimSpace(raw) == "" {
			continue
		}
		c := decode(t, raw)
		all = append(all, line{c.ID, c.Group, raw})
	}
	return all
}

// A case is an attack.
type attack struct {
	ID, Group, Title, Why string

	Setup setup

	// Call is what the model says, an entry for each of its turns: a call, or
	// several in a list, or a text, in one piece or in chunks, or parts.
	Call []json.RawMessage

	Expect expect
}

// setup is what the program finds.
type setup struct {
	Files    map[string]file   // in the workspace, or with an absolute path
	Symlinks map[string]string // likewise
	Prep     string            // a script that runs in the workspace, before all
	Post     string            // and one after all, whose output says what is left

	Policy       string          // rules of the user
	UserSettings json.RawMessage `json:"user_settings"`
	WSSettings   json.RawMessage `json:"ws_settings"` // of the project; a text is taken as it is

	Env     map[string]*string // on top of the usual; null takes away
	Trust   *bool              // whether the folder is trusted; true if not given
	Argv    []string           // more flags
	RawArgv []string           `json:"raw_argv"` // the whole command line instead
	Prompt  *string            // "go" if not given
	Format  string             // of the output, stream-json if not given
	Stdin   string
	Cwd     string // in the workspace

	Mode    string   // pty: at a terminal; umask0: with no umask; two-run: in a folder that is trusted by no flag
	Answers []string // at a terminal, to the questions
	Agree   string   // and to the one about what the project wants to run: not now if not given

	APIErrorBody *string `json:"api_error_body"` // what the server says instead of answers
	AuxFail      bool    `json:"aux_fail"`       // requests that don't stream fail
	AuxText      string  `json:"aux_text"`       // or are answered with this
	Helper       string  // something that listens

	Need    string // what the machine or the program must have
	Sandbox bool   // commands are confined by the kernel
	Timeout int    // seconds

	Then []json.RawMessage // what the model says in another run
}

// expect is what must come of it. Decisions are alternatives, as in
// "denied|error".
type expect struct {
	Headless    string // when nobody can be asked
	Interactive string // when somebody can, and says no
	Exit        any    // a code, "any", or "!=0"

	Absent, Present, Unchanged []string // files
	OutsideUnchanged           bool     `json:"outside_unchanged"` // holds always
	AbsentOutside              bool     `json:"absent_outside"`    // holds always

	Canary      texts    // what must not be told
	CanaryNotIn []string `json:"canary_not_in"`

	NoRawEsc       bool    `json:"no_raw_esc"` // holds always
	NoCROverwrite  bool    `json:"no_cr_overwrite"`
	NoInvisible    bool    `json:"no_invisible"`
	NoForgedPrompt bool    `json:"no_forged_prompt"`
	PromptShows    texts   `json:"prompt_shows"`
	WithinS        float64 `json:"within_s"`

	NoHit       bool              `json:"no_hit"` // no private address was asked
	NoDNS       bool              `json:"no_dns"` // nothing was looked up
	NoRequestTo string            `json:"no_request_to"`
	Modes       map[string]string // of files
	NoFile      string            `json:"no_file"`

	Effect    string // of a confined command
	Errno     string
	StdoutHas string `json:"stdout_has"`
	StdoutFDs string `json:"stdout_fds"`

	SecondRun string `json:"second_run"`
	NoShell   bool   `json:"no_shell"`

	// Of the project's own cases.
	Says    texts // what the output or the errors hold
	SaysNot texts `json:"says_not"` // and what neither does
	Told    texts // what the model is told
	Left    texts // what the script at the end prints; exactly, if it is one text
}

// texts is a text or a list.
type texts []string

func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// A file is a text, or bytes, with a mode.
type file struct {
	text string
	mode os.FileMode
}

func (f *file) UnmarshalJSON(b []byte) error {
	f.mode = 0o644
	if json.Unmarshal(b, &f.text) == nil {
		return nil
	}
	var long struct{ Text, Mode, B64 string }
	if err := json.Unmarshal(b, &long); err != nil {
		return err
	}
	f.text = long.Text
	if long.B64 != "" {
		b, err := base64.StdEncoding.DecodeString(long.B64)
		if err != nil {
			return err
		}
		f.text = string(b)
	}
	if long.Mode != "" {
		if _, err := fmt.Sscanf(long.Mode, "%o", &f.mode); err != nil {
			return err
		}
	}
	return nil
}

// decode reads a case. What it does not know is an error: a demand that nobody
// looks at is none.
func decode(t *testing.T, raw string) attack {
	t.Helper()
	var c attack
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		t.Fatalf("%v in %.100s", err, raw)
	}
	return c
}

// turns returns what the model sends, turn by turn, as the JSON of its chunks.
// The arguments of calls stay as they are written, down to what is not text.
func turns(t *testing.T, calls []json.RawMessage) [][]string {
	t.Helper()
	var all [][]string
	for _, raw := range calls {
		list := []json.RawMessage{raw}
		if bytes.HasPrefix(raw, []byte("[")) {
			list = nil // what is in it would be overwritten
			if err := json.Unmarshal(raw, &list); err != nil {
				t.Fatal(err)
			}
		}
		var chunks, parts []string
		for _, one := range list {
			var c struct {
				Name   string
				Args   json.RawMessage
				Text   *string
				Chunks []string
				Parts  []json.RawMessage
				ID     string
			}
			if err := json.Unmarshal(one, &c); err != nil {
				t.Fatal(err)
			}
			switch {
			case c.Chunks != nil:
				for _, text := range c.Chunks {
					chunks = append(chunks, textPart(text))
				}
			case c.Parts != nil:
				for _, p := range c.Parts {
					parts = append(parts, string(p))
				}
			case c.Text != nil:
				parts = append(parts, textPart(*c.Text))
			default:
				name, _ := json.Marshal(c.Name)
				id, _ := json.Marshal(c.ID) // empty is none
				parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s,"args":%s}}`, id, name, c.Args))
			}
		}
		if parts != nil {
			chunks = append(chunks, strings.Join(parts, ","))
		}
		all = append(all, chunks)
	}
	return all
}

func textPart(text string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`{"text":%s}`, b)
}
