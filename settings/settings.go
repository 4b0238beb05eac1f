package settings

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Settings are the values of the settings files that the program goes by. The
// zero value is of no use: see [Default].
//
// A field's tags are its key, its default, the words it may hold, how the
// values of several files combine (the last one wins if nothing is said), and
// what the reference page says about it.
type Settings struct {
	Model        string `key:"model.name" help:"The model or alias. Before it come -m and GEMINI_MODEL."`
	MaxTurns     int    `key:"model.maxSessionTurns" default:"-1" help:"How many requests a session may make; 0 or less is no limit. --max-turns beats it."`
	ApprovalMode string `key:"general.defaultApprovalMode" default:"default" enum:"default,auto_edit,plan" help:"What runs unasked when a session begins. Running everything takes a flag."`
	MaxAttempts  int    `key:"general.maxAttempts" default:"10" help:"How often a request is made that gets no answer, 10 at most. --max-attempts beats it."`
	Format       string `key:"output.format" default:"text" enum:"text,json" help:"How one answer is printed. -o and --json beat it."`
	ScreenReader bool   `key:"ui.accessibility.screenReader" help:"Plain mode. Flags and ACCESSIBLE beat it."`

	FileNames     []string `key:"context.fileName" lone:"yes" help:"More names of context files; one name or a list."`
	Markers       []string `key:"context.memoryBoundaryMarkers" default:".git" help:"What a directory holds above which no context files are looked for; an empty list: none of a parent."`
	ImportFormat  string   `key:"context.importFormat" default:"tree" enum:"tree,flat" help:"Where imported files stand in the text: in the place of the import, or each once behind the file."`
	IncludeDirs   []string `key:"context.includeDirectories" merge:"concat" help:"More directories to work in, before those of --include-directories."`
	Tree          bool     `key:"context.includeDirectoryTree" default:"true" help:"List the workspace in the opening message."`
	RespectGit    bool     `key:"context.fileFiltering.respectGitIgnore" default:"true" help:"Pass over what .gitignore names."`
	RespectGemini bool     `key:"context.fileFiltering.respectGeminiIgnore" default:"true" help:"Pass over what .geminiignore names."`
	IgnoreFiles   []string `key:"context.fileFiltering.customIgnoreFilePaths" merge:"union" help:"More ignore files, the strongest first."`
	FileSearch    bool     `key:"context.fileFiltering.enableRecursiveFileSearch" default:"true" help:"Look for an @path that is not there in the names of all files."`

	Extensions         bool     `key:"experimental.extensionManagement" default:"true" help:"Use the installed extensions."`
	DisabledExtensions []string `key:"extensions.disabled" merge:"union" help:"Names of extensions that are not used."`

	Pager      string `key:"tools.shell.pager" default:"cat" help:"PAGER and GIT_PAGER of commands."`
	Inactivity int    `key:"tools.shell.inactivityTimeout" default:"300" help:"After how many seconds without output a command is stopped; 0 is never."`
	Terminal   bool   `key:"tools.shell.enableInteractiveShell" default:"true" help:"Give commands a terminal to write to, in a session."`
	Threshold  int    `key:"tools.truncateToolOutputThreshold" default:"40000" help:"How many characters of a command's output the model reads; 0 or less is all."`
	Ripgrep    bool   `key:"tools.useRipgrep" default:"true" help:"Search with rg where it is installed."`

	Redact      bool     `key:"security.environmentVariableRedaction.enabled" default:"true" help:"Keep variables that look like secrets from commands."`
	AllowedVars []string `key:"security.environmentVariableRedaction.allowed" help:"Variables that commands get, whatever they look like."`
	BlockedVars []string `key:"security.environmentVariableRedaction.blocked" help:"Variables that commands never get."`
	NoYolo      bool     `key:"security.disableYoloMode" help:"Refuse -y and --approval-mode yolo, with exit code 52."`
	FolderTrust bool     `key:"security.folderTrust.enabled" default:"true" help:"Ask before a folder's own settings, .env and context files are used. A project can't set it."`

	AuthType     string `key:"security.auth.selectedType" help:"How requests are paid for: gemini-api-key, vertex-ai, gateway or compute-default-credentials. If nothing is said, the environment decides."`
	EnforcedAuth string `key:"security.auth.enforcedType" help:"The only such way that is allowed; any other ends with exit code 41."`
	ExternalAuth bool   `key:"security.auth.useExternal" help:"Whoever stands between gemline and the API adds the credentials; none are looked for."`
	VertexShare  string `key:"billing.vertexAi.requestType" enum:"dedicated,shared" help:"What X-Vertex-AI-LLM-Request-Type says to Vertex AI."`
	VertexUrge   string `key:"billing.vertexAi.sharedRequestType" enum:"priority,flex" help:"What X-Vertex-AI-LLM-Shared-Request-Type says to Vertex AI."`

	IgnoreLocalEnv bool     `key:"advanced.ignoreLocalEnv" help:"Read a plain .env from the home directory only; one in a .gemini still counts."`
	ExcludedVars   []string `key:"advanced.excludedEnvVars" default:"DEBUG,DEBUG_MODE" merge:"union" help:"Variables that are not taken from a plain .env."`
}

// Default returns the settings of a user who has none.
func Default() *Settings {
	s := &Settings{}
	for _, f := range fields() {
		if f.Default == "" {
			continue
		}
		if err := f.set(s, f.fallback()); err != nil {
			panic(err) // a mistake in the tags
		}
	}
	return s
}

// A Key is one setting that the program goes by, for the reference page.
type Key struct {
	Name, Type, Default, Help string

	enum, merge string
	lone        bool
	index       int
}

// Keys returns the settings that the program goes by, in the order of the
// struct.
func Keys() []Key { return fields() }

func fields() []Key {
	t := reflect.TypeFor[Settings]()
	keys := make([]Key, t.NumField())
	for i := range keys {
		tag := t.Field(i).Tag
		k := Key{Name: tag.Get("key"), Default: tag.Get("default"), Help: tag.Get("help"),
			enum: tag.Get("enum"), merge: tag.Get("merge"), lone: tag.Get("lone") != "", index: i}
		switch t.Field(i).Type.Kind() {
		case reflect.String:
			k.Type = "string"
			if k.enum != "" {
				k.Type = strings.ReplaceAll(k.enum, ",", " or ")
			}
		case reflect.Int:
			k.Type = "whole number"
		case reflect.Bool:
			k.Type, k.Default = "true or false", cmp.Or(k.Default, "false")
		case reflect.Slice:
			k.Type = "list of strings"
		}
		keys[i] = k
	}
	return keys
}

// fallback returns the default as a value of a settings file.
func (k Key) fallback() any {
	if k.Type != "list of strings" {
		return k.Default
	}
	var list []any
	for word := range strings.SplitSeq(k.Default, ",") {
		list = append(list, word)
	}
	return list
}

// set gives the key a value of a settings file, or says what is wrong with it.
func (k Key) set(s *Settings, v any) error {
	field := reflect.ValueOf(s).Elem().Field(k.index)
	switch field.Kind() {
	case reflect.String:
		text, ok := v.(string)
		if !ok || k.enum != "" && !slices.Contains(strings.Split(k.enum, ","), text) {
			return k.mismatch(v)
		}
		field.SetString(text)
	case reflect.Bool:
		on, err := strconv.ParseBool(fmt.Sprint(v))
		if word := fmt.Sprint(v); err != nil || word != "true" && word != "false" {
			return k.mismatch(v)
		}
		field.SetBool(on)
	case reflect.Int:
		n, ok := whole(v)
		if !ok {
			return k.mismatch(v)
		}
		field.SetInt(n)
	case reflect.Slice:
		list, ok := texts(v)
		if word, is := v.(string); is && k.lone {
			list, ok = []string{word}, true
		}
		if !ok {
			return k.mismatch(v)
		}
		field.Set(reflect.ValueOf(k.combine(field.Interface().([]string), list)))
	}
	return nil
}

// combine returns the value of a list that several files name.
func (k Key) combine(lower, higher []string) []string {
	if k.merge == "" {
		return higher
	}
	var out []string
	for _, item := range append(append(out, lower...), higher...) {
		if k.merge == "concat" || !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func (k Key) mismatch(v any) error {
	want := k.Type
	if k.lone {
		want = "string or a " + want
	}
	article := "a "
	if k.enum != "" || strings.HasPrefix(want, "true") {
		article = ""
	}
	return fmt.Errorf("%s must be %s%s, not %s", k.Name, article, want, describe(v))
}

// describe names a value of a settings file in a few words.
func describe(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.40q", x)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprint(v)
}

// whole returns the whole number that v is or spells.
func whole(v any) (int64, bool) {
	f, ok := v.(float64)
	if text, is := v.(string); is {
		var err error
		f, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
		ok = err == nil
	}
	const most = 1 << 31
	if !ok || f != f || f >= most || f <= -most || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// texts returns the strings of a list of strings.
func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}
