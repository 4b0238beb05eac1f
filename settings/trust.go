package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/tailscale/hujson"
)

// A State is how far a folder is trusted. The zero State is not at all.
type State int

// The states of a folder.
const (
	Unknown    State = iota // nobody has decided; nothing of it is used
	Distrusted              // the user decided against it; nothing of it is used
	Unneeded                // it brings nothing, or only words for the model
	Trusted                 // what it brings is used
)

// Trust is what was found out about the working directory.
type Trust struct {
	State  State
	Folder string // its real path
	Brings []Item // what it would bring; not looked for if it is trusted
}

// An Item is something that a folder brings.
type Item struct {
	Name   string // such as ".env"
	Detail string // what is in it, in a few words; may be empty

	// Words says that it is text for the model, which sets nothing and
	// starts nothing by itself.
	Words bool
}

// An UntrustedError is a run without anybody to ask, in a folder that is not
// trusted.
type UntrustedError struct{ Trust Trust }

// Error names the folder and what it would bring.
func (e *UntrustedError) Error() string {
	var names []string
	for _, item := range e.Trust.Brings {
		names = append(names, item.Name)
	}
	return fmt.Sprintf("%s is not trusted, and would bring %s", e.Trust.Folder, some(names))
}

// Hint says how to go on.
func (e *UntrustedError) Hint() string {
	return "--skip-trust or GEMINI_CLI_TRUST_WORKSPACE=true uses it for one run; a session asks"
}

// A Rule is what the user decided about a folder and all below it.
type Rule string

// The rules, as the file has them. TrustParent is about the folder above.
const (
	TrustFolder Rule = "TRUST_FOLDER"
	TrustParent Rule = "TRUST_PARENT"
	DoNotTrust  Rule = "DO_NOT_TRUST"
)

// Trust decides about the working directory: by the environment, the flag
// --skip-trust, the settings s of everything but the folder, and the user's
// list of folders, in this order. A list that can't be read is a [FileError].
func (p Paths) Trust(s *Settings, skip bool, lookup func(string) (string, bool), names []string) (Trust, error) {
	t := Trust{Folder: realPath(p.Cwd)}
	workspace, _ := lookup("GEMINI_CLI_TRUST_WORKSPACE")
	restricted, _ := lookup("GEMINI_RESTRICTED_MODE")
	switch {
	case restricted == "true", workspace == "false":
		t.State = Distrusted
	case workspace == "true", skip, !s.FolderTrust:
		t.State = Trusted
		return t, nil
	default:
		rules, err := readRules(p.trustFile(lookup))
		if err != nil {
			return t, err
		}
		if t.State = judge(rules, t.Folder); t.State == Trusted {
			return t, nil
		}
	}
	t.Brings = p.survey(names)
	if t.State == Unknown && !slices.ContainsFunc(t.Brings, func(i Item) bool { return !i.Words }) {
		t.State = Unneeded
	}
	return t, nil
}

// Refuse returns the error of a run that has nobody to ask, nil if the folder
// brings nothing that would be missed.
func (t Trust) Refuse() error {
	if t.State >= Unneeded || len(t.Brings) == 0 {
		return nil
	}
	return &UntrustedError{t}
}

// trustFile returns the path of the list of folders.
func (p Paths) trustFile(lookup func(string) (string, bool)) string {
	if path, _ := lookup("GEMINI_CLI_TRUSTED_FOLDERS_PATH"); path != "" {
		return path
	}
	return p.User("trustedFolders.json")
}

// readRules reads the list of folders. One that anybody may write, or that
// says something that is no rule, is refused as a whole.
func readRules(path string) (map[string]Rule, error) {
	tree, err := readObject(path)
	if err != nil || tree == nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
		return nil, &FileError{Path: path, Message: "anybody may write this file, so it decides nothing; chmod 600 mends it"}
	}
	rules := map[string]Rule{}
	for folder, v := range tree {
		word, _ := v.(string)
		rule := Rule(word)
		if rule != TrustFolder && rule != TrustParent && rule != DoNotTrust {
			return nil, &FileError{Path: path, Message: fmt.Sprintf("%.200q must be %s, %s or %s, not %s", folder, TrustFolder, TrustParent, DoNotTrust, describe(v))}
		}
		rules[folder] = rule
	}
	return rules, nil
}

// judge returns what the rules say about a folder, given by its real path. The
// rule about the longest path counts, and of two about the same the strict one.
func judge(rules map[string]Rule, folder string) State {
	state, longest := Unknown, -1
	for path, rule := range rules {
		if !filepath.IsAbs(path) {
			continue
		}
		if rule == TrustParent {
			path = filepath.Dir(path)
		}
		path = realPath(filepath.Clean(path))
		if !within(path, folder) || len(path) < longest {
			continue
		}
		if rule == DoNotTrust {
			state = Distrusted
		} else if len(path) > longest {
			state = Trusted
		}
		longest = len(path)
	}
	return state
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	if runtime.GOOS == "windows" {
		dir, path = strings.ToLower(dir), strings.ToLower(path)
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Remember writes what the user decided about a folder, given by its real
// path, into the list of folders, and keeps everything else in it.
func (p Paths) Remember(ctx context.Context, lookup func(string) (string, bool), folder string, rule Rule) error {
	path := p.trustFile(lookup)
	if path == "" {
		return errors.New("no home directory: the decision holds for this session only")
	}
	if !utf8.ValidString(folder) {
		return errors.New("the folder's name is not UTF-8: the decision holds for this session only")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockPoll); !ok {
		return fmt.Errorf("%s is held by another program: %w", path, err)
	}
	defer lock.Close()
	if _, err := readRules(path); err != nil {
		return err
	}
	b, err := readFile(path)
	if err != nil {
		return err
	}
	if b, err = withRule(b, folder, rule); err != nil {
		return err
	}
	return replaceFile(path, b)
}

// withRule adds a rule to the text of a list of folders.
func withRule(b []byte, folder string, rule Rule) ([]byte, error) {
	text := strings.TrimPrefix(string(b), "\ufeff")
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(folder)
	patch, err := json.Marshal([]map[string]string{{"op": "add", "path": pointer, "value": string(rule)}})
	if err != nil {
		return nil, err
	}
	if err := v.Patch(patch); err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "{}" {
		v.Format()
	}
	return v.Pack(), nil
}

// replaceFile writes a file that only the user may read, as a whole.
func replaceFile(path string, b []byte) error {
	path = realPath(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".gemline-*.json") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // of no effect once it is renamed
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// some returns the first few of names, and how many there are besides.
func some(names []string) string {
	const most = 20
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
