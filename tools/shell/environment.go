package shell

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine/charset"
	"gemline/engine/redact"
	"gemline/engine/text"
)

// Settings say how commands run.
type Settings struct {
	// Environ is the environment that gemline was started with, without a project's
	// additions. [Environment] filters it for commands.
	Environ []string

	Inactivity time.Duration // timeout without output; 0 means none
	Timeout    time.Duration // timeout of a command; 0 means none
	KillGrace  time.Duration // time between the end signal and the kill after a timeout; 0 is a moment

	// PTY gives commands a terminal to write to, Columns by Rows, 80 by 30
	// if 0. They still can't read from it.
	PTY           bool
	Columns, Rows int

	// Confine, if not nil, confines a command before its start. release is called after the
	// command was started or failed to start. An error prevents the start.
	Confine func(*exec.Cmd) (release func(), err error)

	// IsHelperProcess, if not nil, reports whether a process belongs to the sandbox instead
	// of the command, and ends after the command's processes.
	IsHelperProcess func(pid int) bool

	// Charsets decodes the output of commands.
	Charsets charset.Decoder

	Pager string // the value of PAGER, "cat" if empty
	NotCI bool   // do not set CI

	// Variables that look like secrets are withheld, unless Reveal is set or they are
	// Allowed; Blocked variables are always withheld.
	Reveal           bool
	Allowed, Blocked []string
}

// Environment returns the environment of commands: base without gemline's credentials,
// without other secrets as configured by s, and without variables that change the meaning of
// judged command lines. It adds variables that prevent prompts and pagers. The user's
// identity for git remains.
func Environment(base []string, s Settings) []string {
	fixed := s.fixed(base)
	kept, _ := s.withhold(base)
	env := make([]string, 0, len(kept)+len(fixed))
	for _, kv := range kept {
		if name := variable(kv); !has(fixed, name) && !slices.Contains(forcing, name) {
			env = append(env, kv)
		}
	}
	return append(env, fixed...)
}

// Inherited returns the environment of a command that the user runs: base without gemline's
// credentials and the variables that s withholds.
func Inherited(base []string, s Settings) []string {
	kept, _ := s.withhold(base)
	return kept
}

// Withheld returns the names of the variables in base that look like secrets and are kept
// from commands, in order. gemline's credentials, which are always withheld, are not
// included.
func Withheld(base []string, s Settings) []string {
	_, names := s.withhold(base)
	return names
}

// UserEnvironment returns the environment of the user's programs, such as an editor: base
// without gemline's credentials.
func UserEnvironment(base []string) []string {
	return slices.DeleteFunc(slices.Clone(base),
		func(kv string) bool { return slices.Contains(credentials, variable(kv)) })
}

// IsCredential reports whether name is the variable of a credential of gemline's own. No
// started program gets these.
func IsCredential(name string) bool { return slices.Contains(credentials, strings.ToUpper(name)) }

// Secrets returns the values in base that look like secrets, by the names of their
// variables: gemline's own credentials, and the values that s withholds from commands.
// Paths and common words do not count.
func Secrets(base []string, s Settings) map[string]string {
	found := map[string]string{}
	for _, kv := range base {
		name := variable(kv)
		_, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "", filepath.IsAbs(value):
		case slices.Contains(credentials, name), redact.Value(value) && s.secret(name, value):
			found[name] = value
		case s.secret(kv[:len(name)], value) && !slices.Contains(telling, name) && IsUnusual(value):
			found[name] = value
		}
	}
	return found
}

// IsUnusual reports whether a text is unlikely to contain the value by chance.
func IsUnusual(v string) bool {
	const few, many = 8, 16 // bytes
	digit, letter := strings.ContainsAny(v, "0123456789"), strings.ContainsFunc(v,
		func(r rune) bool { return r|0x20 >= 'a' })
	return len(v) >= many && !strings.Contains(v, " ") || len(v) >= few && digit && letter
}

// IsDistinct reports whether the value is no word or number that a text may contain by
// chance.
func IsDistinct(v string) bool {
	const few, many = 6, 12 // bytes
	letters := strings.Trim(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz") == ""
	digits := strings.Trim(v, "0123456789") == ""
	return !isPath(v) && !digits && (len(v) >= few && !letters || len(v) >= many)
}

// misleading reports whether a variable of that name changes what a shell executes. A shell
// reads functions and a startup file from variables, which can redefine any command.
func misleading(name string) bool {
	return strings.HasPrefix(name, "BASH_FUNC_") || slices.Contains(startup, name)
}

// startup are the variables that change how a shell interprets a command line.
var startup = []string{
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "POSIXLY_CORRECT",
	"PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "EXECIGNORE", "IFS",
}

// forcing names variables that contradict NO_COLOR and TERM.
var forcing = []string{"FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM"}

// fixed returns the variables that every command gets.
func (s Settings) fixed(base []string) []string {
	pager := cmp.Or(s.Pager, "cat")
	env := []string{
		"GEMINI_CLI=1",
		"TERM=dumb",
		"NO_COLOR=1",
		"PAGER=" + pager,
		"GIT_PAGER=" + pager,
		"GIT_EDITOR=true",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		"SSH_ASKPASS_REQUIRE=never",
		"GCM_INTERACTIVE=never",
		"GH_PROMPT_DISABLED=1",
		"DEBIAN_FRONTEND=noninteractive",
		"DISPLAY=",
		"DBUS_SESSION_BUS_ADDRESS=",
	}
	if !has(base, "GIT_SSH_COMMAND") && !has(base, "GIT_SSH") { // the user's command may select a key
		env = append(env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes")
	}
	if !s.NotCI && !has(base, "CI") {
		env = append(env, "CI=1")
	}
	return env
}

// withhold splits base into variables that commands may see and the names of variables that they
// may not.
func (s Settings) withhold(base []string) (kept, withheld []string) {
	for _, kv := range base {
		name := variable(kv)
		_, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "", slices.Contains(credentials, name), misleading(name), strings.IndexByte(kv, 0) >= 0:
		case s.secret(kv[:len(name)], value):
			withheld = append(withheld, name)
		default:
			kept = append(kept, kv)
		}
	}
	return kept, withheld
}

// credentials are the variables of gemline's own credentials. Commands never get them.
var credentials = []string{
	"GEMINI_API_KEY",
	"GOOGLE_API_KEY",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"GOOGLE_CLOUD_ACCESS_TOKEN",
	"GEMINI_CLI_CUSTOM_HEADERS",
	"GATEWAY_API_KEY",
	"AI_GATEWAY_API_KEY",
	"GEMINI_CLI_IDE_AUTH_TOKEN",
}

// HarmlessVariables returns the variables of an environment whose values are known to be harmless
// to show.
func HarmlessVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name := variable(kv)
		return !slices.Contains(harmless, name) && !strings.HasPrefix(name, "LC_") &&
			!strings.HasPrefix(name, "GIT_CONFIG_")
	})
}

// harmless variables have names like secrets, or are needed by most programs.
var harmless = []string{
	"PATH", "HOME", "LANG", "SHELL", "TMPDIR", "TEMP", "TMP", "USER", "LOGNAME", "PWD", "OLDPWD", "TERM", "TZ",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SSH_AUTH_SOCK", "KEYTIMEOUT",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "USERNAME", "COMPUTERNAME",
	"HOSTNAME", "DBUS_SESSION_BUS_ADDRESS", "INVOCATION_ID", "JOURNAL_STREAM", "SESSION_MANAGER", "LS_COLORS", "TERMCAP",
	"PS1", "PS2", "XDG_SESSION_ID", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "WINDOWID", "TMUX", "STY",
}

// telling variables reveal the place or the owner of secrets.
var telling = []string{
	"CLIENT_ID", "DB_URI", "CONNECTION_STRING", "AWS_DEFAULT_REGION", "AZURE_CLIENT_ID", "AZURE_TENANT_ID",
	"SLACK_WEBHOOK_URL", "TWILIO_ACCOUNT_SID", "DATABASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_ACCOUNT",
	"FIREBASE_PROJECT_ID",
}

// secretWords are words of a name whose value is a secret.
var secretWords = set("TOKEN TOKENS SECRET SECRETS KEY KEYS APIKEY APIKEYS AUTH OAUTH AUTHORIZATION BEARER CREDENTIAL CREDENTIALS CRED CREDS " +
	"PRIVATE COOKIE COOKIES TOK PAT JWT DSN WEBHOOK WEBHOOKS SALT PEPPER MNEMONIC OTP TOTP HMAC SAS CONNECTIONSTRING CONNECTIONSTRINGS HTPASSWD " +
	"CERT CERTS CERTIFICATE CERTIFICATES")

// passwords are the words of a name whose value is a secret even if it is a number.
var passwords = set("PASSWORD PASSWORDS PASSWD PASS PWD PW PASSPHRASE PASSCODE PIN")

// secretEnds matches the ends of compound words, such as BINDPW.
var secretEnds = text.Pattern(`(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|TOK|JWT|WEBHOOK|PWD|PW|[^YMTI]PASS|` +
	`(?:API|ACCESS|SECRET|PRIVATE|MASTER|AUTH|SSH|GPG|SIGNING|ENCRYPTION|DEPLOY|STORAGE|ACCOUNT|LICENSE)KEY)$`)

// about are last words of names whose values describe a secret but do not contain it.
var about = set("URL URI ENDPOINT HOST DOMAIN PORT TYPE NAME PATH FILE DIR DIRECTORY HOME SOCK LENGTH SIZE BITS COUNT LIMIT TTL EXPIRY EXPIRES " +
	"EXPIRATION TIMEOUT METHOD METHODS MODE PROVIDER PROVIDERS ISSUER AUDIENCE ALGORITHM ALG HELPER STORE ENABLED DISABLED REGION VERSION FORMAT " +
	"MIN MAX USER USERNAME REQUIRED ROTATION PREFIX HEADER SCOPE SCOPES REALM POLICY STRATEGY LAYOUT REPEAT MAP SERVER SERVERS")

// sums are words of names whose values are checksums or identifiers.
var sums = set("COMMIT SHA SHA1 SHA256 SHA512 MD5 REVISION REV DIGEST CHECKSUM HASH SUM REF ETAG FINGERPRINT OID TREE HEAD BASE VERSION " +
	"SOURCEVERSION BUILD INTEGRITY TRACE TRACEPARENT SPAN CORRELATION REQUEST INVOCATION ID UUID GUID MACHINE BOOT CHANGE SLUG DRV NARHASH ACTUALCOMMIT")

func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// nameWords matches a word of a name: between marks, or in camel case.
var nameWords = text.Pattern(`[A-Z]+[0-9]*[a-z0-9]*|[a-z0-9]+`)

// named classifies a variable by the words of its name: whether its value is a secret, a
// password (secret even as a number), or may be a checksum.
func named(name string) (secret, password, sum bool) {
	if strings.ToLower(name) == name {
		name = strings.ToUpper(name)
	}
	words := nameWords().FindAllString(name, -1)
	for i, w := range words {
		w = strings.ToUpper(w)
		last := i == len(words)-1
		sum = sum || sums[w]
		secret = secret || secretWords[w] || secretEnds().MatchString(w) || i > 0 && secretWords[strings.ToUpper(words[i-1])+w]
		password = password || passwords[w]
		if last && about[w] && !strings.Contains(strings.ToUpper(name), "WEBHOOK") {
			return false, false, sum
		}
	}
	return secret || password, password, sum
}

// harmlessValues are no secrets, under whatever name.
var harmlessValues = set("TRUE FALSE YES NO ON OFF NONE NULL NIL ENABLED DISABLED AUTO ALWAYS NEVER REQUIRED OPTIONAL PROMPT")

// secret reports whether a variable is withheld.
func (s Settings) secret(name, value string) bool {
	is := func(n string) bool { return strings.EqualFold(n, name) }
	upper := strings.ToUpper(name)
	switch {
	case slices.ContainsFunc(s.Blocked, is):
		return true
	case s.Reveal, slices.ContainsFunc(s.Allowed, is):
		return false
	case strings.HasPrefix(upper, "GEMINI_CLI_"):
		return false
	case redact.Value(value):
		return true
	case strings.HasPrefix(upper, "GIT_CONFIG_"), slices.Contains(harmless, upper):
		return false
	case slices.Contains(telling, upper):
		return true
	}
	return IsSecret(name, value)
}

// IsSecret reports whether a value is a secret by the words of its name, or by its looks.
func IsSecret(name, value string) bool {
	secret, password, sum := named(name)
	number := strings.Trim(value, "0123456789") == ""
	switch {
	case value == "", harmlessValues[strings.ToUpper(value)], number && !password && strings.HasSuffix(strings.ToUpper(name), "S"):
		return false
	case secret:
		return !isPath(value)
	}
	return looksSecret(value, sum)
}

// isPath reports whether a value is an absolute path, and not a secret that begins with a slash.
func isPath(value string) bool {
	return filepath.IsAbs(value) && len(redact.RandomRuns(value)) == 0
}

// assigned matches a secret within a value, such as a connection string.
var assigned = text.Pattern(`(?i)(password|passwd|pwd|secret|accountkey|accesskey|sharedaccesskey|apikey|token|sig|signature)=[^;&\s]`)

// looksSecret reports whether a value looks like a secret, under any name: it holds a
// password, or a run of letters and digits that is no word and, if sum, no checksum. Paths
// are no secrets.
func looksSecret(value string, sum bool) bool {
	if filepath.IsAbs(strings.TrimPrefix(value, "file://")) {
		return false
	}
	return assigned().MatchString(value) || slices.ContainsFunc(redact.RandomRuns(value), func(run string) bool {
		return !sum || !isSum(run)
	})
}

// isSum reports whether s has only hexadecimal digits, as checksums and ids have.
func isSum(s string) bool { return strings.Trim(strings.ToLower(s), "0123456789abcdef") == "" }

// variable returns the name that kv sets, in upper case, as Windows ignores case.
func variable(kv string) string {
	if kv == "" {
		return ""
	}
	i := strings.IndexByte(kv[1:], '=') // Windows has names that begin with =
	if i < 0 {
		return ""
	}
	return strings.ToUpper(kv[:i+1])
}

// has reports whether env sets name to something.
func has(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { return variable(kv) == name })
}
