package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Credential is the log-in to one server, in the Gemini CLI's format. ClientSecret, Basic
// and Resource are our additions; the Gemini CLI keeps them.
type Credential struct {
	ServerName   string `json:"serverName"`
	Token        Token  `json:"token"`
	ClientID     string `json:"clientId,omitempty"`
	ClientSecret string `json:"clientSecret,omitempty"`
	Basic        bool   `json:"clientSecretBasic,omitempty"`
	TokenURL     string `json:"tokenUrl,omitempty"`
	ServerURL    string `json:"mcpServerUrl,omitempty"`
	Resource     string `json:"resource,omitempty"`
	UpdatedAt    int64  `json:"updatedAt"` // in milliseconds
}

// A Token is the token for requests.
type Token struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken,omitempty"`
	ExpiresAt    int64  `json:"expiresAt,omitempty"` // in milliseconds; 0 if unknown
	TokenType    string `json:"tokenType"`
	Scope        string `json:"scope,omitempty"`
}

// ends reports whether the token is known to expire within the given time.
func (t Token) ends(in time.Duration) bool {
	return t.ExpiresAt != 0 && time.Now().Add(in).UnixMilli() >= t.ExpiresAt
}

// FileName is the name of the file of tokens in the user's directory.
const FileName = "mcp-oauth-tokens.json"

const (
	service = "gemini-cli-oauth" // in the keyring
	maxFile = 4 << 20
)

// A Store stores log-ins in the Gemini CLI's place: in a file that only the user can read,
// or, if GEMINI_FORCE_ENCRYPTED_FILE_STORAGE is set, in the keyring or an encrypted file.
type Store struct {
	dir   string
	vault *auth.Vault // nil for the file
}

// NewStore returns the Store in dir, the user's directory. It opens no file.
func NewStore(dir string, getenv func(string) string) *Store {
	s := &Store{dir: dir}
	if getenv("GEMINI_FORCE_ENCRYPTED_FILE_STORAGE") == "true" {
		v := auth.NewVault(dir, getenv)
		s.vault = &v
	}
	return s
}

// String returns the place of the store.
func (s *Store) String() string {
	if s.vault != nil {
		return s.vault.String()
	}
	return "file " + s.path()
}

func (s *Store) path() string { return filepath.Join(s.dir, FileName) }

// Load returns the log-in to a server, nil if there is none.
func (s *Store) Load(ctx context.Context, server string) (*Credential, error) {
	if s.dir == "" {
		return nil, nil
	}
	if s.vault != nil {
		value, _, err := s.vault.Get(ctx, service, server,
			func(value string) bool { return decode([]byte(value)) != nil })
		return decode([]byte(value)), s.wrong("read", err)
	}
	all, err := s.read()
	if i := slices.IndexFunc(all, isFor(server)); i >= 0 {
		return decode(all[i]), err
	}
	return nil, err
}

// isFor returns a function that reports whether a stored log-in is for a server.
func isFor(server string) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		c := decode(raw)
		return c != nil && c.ServerName == server
	}
}

// decode returns nil if raw is no log-in.
func decode(raw []byte) *Credential {
	var c Credential
	if json.Unmarshal(raw, &c) != nil || c.Token.AccessToken == "" {
		return nil
	}
	return &c
}

// Save stores a log-in, and replaces an older one for the server.
func (s *Store) Save(ctx context.Context, c Credential) error {
	raw, _ := text.JSON(c, "")
	if s.vault != nil {
		_, err := s.vault.Set(ctx, service, c.ServerName, string(raw), false)
		return s.wrong("kept", err)
	}
	_, err := s.change(ctx, c.ServerName, raw)
	return err
}

// Delete forgets a log-in, and reports whether it was there.
func (s *Store) Delete(ctx context.Context, server string) (had bool, err error) {
	if s.vault != nil {
		from, err := s.vault.Delete(ctx, service, server)
		return len(from) > 0, s.wrong("removed", err)
	}
	if _, err := os.Stat(s.path()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return s.change(ctx, server, nil)
}

// read returns the log-ins of the file as raw JSON.
func (s *Store) read() (all []json.RawMessage, err error) {
	b, err := disk.Read(s.path(), maxFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(b)) == "" {
		return []json.RawMessage{}, nil
	}
	if err == nil && json.Unmarshal(b, &all) != nil {
		err = errors.New("it holds no list of log-ins")
	}
	return all, s.wrong("read", err)
}

// change replaces a server's log-in in the file by raw, or deletes it if raw is nil.
func (s *Store) change(ctx context.Context, server string, raw json.RawMessage) (had bool, err error) {
	if s.dir == "" {
		return false, &auth.Error{Message: "there is no home directory to keep the log-in in",
			Advice: "set HOME or GEMINI_CLI_HOME"}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	unlock, err := disk.Lock(ctx, s.path())
	if err != nil {
		return false, s.wrong("kept", err)
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return false, err
	}
	kept := slices.DeleteFunc(slices.Clone(all), isFor(server))
	had = len(kept) < len(all)
	if raw != nil {
		kept = append(kept, raw)
	}
	b, _ := text.JSON(kept, "  ")
	disk.Restrict(s.path())
	return had, s.wrong("kept", disk.Replace(s.path(), b, 0o600))
}

// wrong returns the error for a failed read, write or removal.
func (s *Store) wrong(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if inner := (*auth.Error)(nil); errors.As(err, &inner) && inner.Err != nil {
		err = inner.Err
	}
	return &auth.Error{Message: fmt.Sprintf("log-ins to MCP servers can't be %s in the %s: %v",
		what, s, disk.Cause(err)),
		Advice: "mend it or move it away, then log in again with gemline mcp auth", Err: err}
}

// lock prevents other gemlines from refreshing the token of a server.
func (s *Store) lock(ctx context.Context, server string) (unlock func(), err error) {
	if s.dir == "" {
		return func() {}, nil
	}
	sum := sha256.Sum256([]byte(server))
	dir := filepath.Join(s.dir, "gemline", "mcp-refresh",
		hex.EncodeToString(sum[:8])) // of its own, since directories are locked
	unlock, err = disk.Lock(ctx, filepath.Join(dir, "lock"))
	return unlock, s.wrong("kept", err)
}
