package auth

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gemline/engine/text"
)

// A Method is a way to authenticate requests, by its name in the settings.
type Method string

// The methods.
const (
	APIKey  Method = "gemini-api-key"              // the Gemini API with a key
	Vertex  Method = "vertex-ai"                   // Vertex AI with a Google account or an express key
	Gateway Method = "gateway"                     // another server, with its own key and headers
	Compute Method = "compute-default-credentials" // Code Assist with a Google account, perhaps the machine's
	Google  Method = "oauth-personal"              // the log-in of another program, which gemline must not use
)

// Methods returns the methods that can be chosen, in the order to offer them.
func Methods() []Method { return []Method{APIKey, Vertex, Gateway, Compute} }

// ParseMethod returns the method of the given name. The name may be an older one.
func ParseMethod(name string) (Method, bool) {
	if name == "cloud-shell" {
		return Compute, true
	}
	m := Method(name)
	return m, slices.Contains([]Method{APIKey, Vertex, Gateway, Compute, Google}, m)
}

// An Error says why no request can be made.
type Error struct {
	Message string // names the fault, on one line
	Advice  string // how to mend the error, on one line; may be empty
	Config  bool   // a value makes no sense; else a credential is missing
	Err     error  // the cause, may be nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns the Advice.
func (e *Error) Hint() string { return e.Advice }

// Config is what a choice depends on.
type Config struct {
	Selected, Enforced string // security.auth.selectedType and enforcedType
	SelectedAt         string // the file and line of selectedType, if known
	External           bool   // security.auth.useExternal

	// KeyStored reports whether a key may be stored; nil is no.
	KeyStored func() bool

	// Key is a key that takes precedence over variables.
	Key Setting

	// Getenv returns a variable of the environment or else of the .env file.
	Getenv func(string) string

	// DotEnv is what Getenv has from the .env file.
	DotEnv map[string]string

	// GOOS is the operating system, which decides where gcloud keeps its
	// files.
	GOOS string

	// Request and Shared are billing.vertexAi.requestType and
	// sharedRequestType.
	Request, Shared string
}

// A Setting is a value and its origin, a variable or flag. Both are empty if there is no value.
type Setting struct{ Value, From string }

// Credentials say how requests are authenticated.
type Credentials struct {
	Method Method

	// From is the setting or the variable that decided, empty if none did.
	From string

	// Instead is a message if the requested log-in is not available here: it names this log-in
	// and its replacement.
	Instead string

	// Key is the key. With Stored, it is the key in the user's store, which must be there.
	Key    Setting
	Stored bool

	Bearer bool        // the key travels as a bearer token
	Header http.Header // further fields of every request

	// Account is where to find the Google account that pays, nil if a key
	// does.
	Account *Account

	Project, Location Setting
	Quota             string // the project for the quota, if different

	BaseURL    Setting // the address of the API, if not the usual address
	APIVersion Setting // the first element of its paths, if not the usual version
	External   bool    // something outside the program adds credentials
}

// Choose returns the credentials for requests, by the settings or else by the environment. The
// error, if any, is an [Error]; the Credentials beside it are incomplete.
func Choose(cfg Config) (Credentials, error) {
	c := Credentials{External: cfg.External}
	get := func(name string) string { return strings.TrimSpace(cfg.Getenv(name)) }
	var err error
	if c.Header, err = ParseHeader(get("GEMINI_CLI_CUSTOM_HEADERS")); err != nil {
		return c, err
	}
	c.Bearer = get("GEMINI_API_KEY_AUTH_MECHANISM") == "bearer"
	if err := c.decide(cfg, get); err != nil {
		return c, err
	}
	c.APIVersion = named("GOOGLE_GENAI_API_VERSION", get)
	switch c.Method {
	case Vertex:
		err = c.vertex(cfg, get)
	case Gateway:
		err = c.gateway(cfg, get)
	case APIKey:
		c.key(cfg, get)
	case Google:
		err = &Error{Message: cmp.Or(cfg.SelectedAt, c.From) + noGoogle, Advice: hintInstead}
	case Compute:
		err = c.assist(cfg, get)
	}
	if err == nil {
		err = c.check()
	}
	return c, err
}

// noGoogle says why the log-in of another program is not used. The name of the setting or
// variable precedes it.
const noGoogle = " asks for the log-in with Google, which belongs to another program, whose terms do not let gemline use it"

// fallBack chooses by the environment, or takes a stored key, if the selected log-in is not
// available.
func (c *Credentials) fallBack(cfg Config, get func(string) string, why string) bool {
	method, from := c.requestedMethod(cfg, get)
	if method == Google {
		method, from = c.requestedMethod(cfg, func(name string) string {
			if name == "GOOGLE_GENAI_USE_GCA" {
				return ""
			}
			return get(name)
		})
	}
	used := from
	if method == "" && cfg.KeyStored != nil && cfg.KeyStored() {
		method, used = APIKey, "the stored key"
	}
	if method == "" || method == Google || method == c.Method {
		return false
	}
	c.Method, c.From, c.Instead = method, from, why+"; "+used+" is used"
	return true
}

// Advice about missing credentials.
const (
	hintInstead = "use a key (GEMINI_API_KEY, or gemline auth set-key), Vertex AI (GOOGLE_GENAI_USE_ENTERPRISE=true), or Code Assist with an account of your own (GEMINI_CLI_USE_COMPUTE_ADC=true); gemline auth use TYPE keeps the choice"
	hintNothing = "export GEMINI_API_KEY=..., or store a key with gemline auth set-key, in a session with /auth signin; keys are made at https://aistudio.google.com/apikey; Vertex AI wants GOOGLE_GENAI_USE_ENTERPRISE=true"
	hintProject = "export GOOGLE_CLOUD_PROJECT=... and GOOGLE_CLOUD_LOCATION=..., or GOOGLE_API_KEY=... with an express key"
)

// selectedType is the setting that chooses.
const selectedType = "security.auth.selectedType"

// lacks says why the selected method is not available at all, "" if any part of it is set up.
func (c *Credentials) lacks(cfg Config, get func(string) string) string {
	set := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return get(name) != "" })
	}
	switch {
	case c.From != selectedType || c.External || cfg.Key.Value != "":
	case c.Method == Vertex && !set("GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID", "GOOGLE_CLOUD_LOCATION"):
		return " asks for Vertex AI, for which neither a project nor GOOGLE_API_KEY is set"
	case c.Method == Compute && !tokenGiven(get) && account(cfg, get).absent():
		return " asks for Code Assist with a Google account, and there are no Google credentials here"
	}
	return ""
}

// ErrNoKey returns the error of credentials whose stored key is missing.
func (c Credentials) ErrNoKey() error {
	message := "no API key: neither GEMINI_API_KEY nor GOOGLE_API_KEY is set, and none is stored"
	hint := hintNothing
	switch {
	case c.From != "":
		message = fmt.Sprintf("no API key: %s says %s, but GEMINI_API_KEY is not set, and no key is stored", c.From, c.Method)
	case c.BaseURL.Value != "":
		hint = "for a server that wants no key: gemline auth use gateway; else export GEMINI_API_KEY=... or store a key with gemline auth set-key"
	}
	return &Error{Message: message, Advice: hint}
}

// decide finds the method.
func (c *Credentials) decide(cfg Config, get func(string) string) error {
	enforced, known := ParseMethod(cfg.Enforced)
	if cfg.Enforced != "" && !known {
		return unknown("security.auth.enforcedType", cfg.Enforced)
	}
	if cfg.Selected != "" {
		if c.Method, known = ParseMethod(cfg.Selected); !known {
			err := unknown(cmp.Or(cfg.SelectedAt, selectedType), cfg.Selected)
			if cfg.Enforced == "" && c.fallBack(cfg, get, err.Error()) {
				return nil
			}
			return err
		}
		c.From = selectedType
	} else if c.Method, c.From = c.requestedMethod(cfg, get); c.Method == "" {
		if c.Method = APIKey; enforced != "" && cfg.Enforced != "" {
			c.Method, c.From = enforced, "security.auth.enforcedType"
		}
	}
	why := c.lacks(cfg, get)
	if c.Method == Google {
		why = noGoogle
	}
	if why != "" && cfg.Enforced == "" {
		c.fallBack(cfg, get, cmp.Or(cfg.SelectedAt, c.From)+why)
	}
	if cfg.Enforced == "" || c.Method == enforced || cfg.External {
		return nil
	}
	from, advice := cmp.Or(c.From, "the environment"), fmt.Sprintf("gemline auth use %s, or ask the administrator who set it", enforced)
	if enforced == Google {
		advice = "that log-in belongs to another program; take security.auth.enforcedType out, or ask the administrator who set it"
	}
	return &Error{Message: fmt.Sprintf("security.auth.enforcedType allows only %s, and %s says %s",
		enforced, from, c.Method),
		Advice: advice}
}

func unknown(key, value string) error {
	return &Error{Message: fmt.Sprintf("%s says %q, which is not a way to sign in", key, value),
		Advice: "there are gemini-api-key, vertex-ai, gateway, compute-default-credentials and oauth-personal"}
}

// requestedMethod returns the method that the environment or a given key requests, and the
// variable or setting that requests it.
func (c *Credentials) requestedMethod(cfg Config, get func(string) string) (Method, string) {
	vertex, vertexFrom := asksVertex(get)
	keyed := cfg.Key.Value != "" || get("GEMINI_API_KEY") != "" || get("GOOGLE_API_KEY") != ""
	for _, v := range []struct {
		on     bool
		method Method
		from   string
	}{
		{tokenGiven(get), Compute, accessToken},
		{on(get("GOOGLE_GENAI_USE_GCA")), Google, "GOOGLE_GENAI_USE_GCA"},
		{vertex, Vertex, vertexFrom},
		{get("GOOGLE_GEMINI_BASE_URL") != "" && !keyed && len(c.Header) > 0, Gateway, "GOOGLE_GEMINI_BASE_URL"},
		{cfg.Key.Value != "", APIKey, cfg.Key.From},
		{get("GEMINI_API_KEY") != "", APIKey, "GEMINI_API_KEY"},
		{get("GOOGLE_API_KEY") != "", APIKey, "GOOGLE_API_KEY"},
		{on(get("CLOUD_SHELL")), Compute, "CLOUD_SHELL"},
		{on(get("GEMINI_CLI_USE_COMPUTE_ADC")), Compute, "GEMINI_CLI_USE_COMPUTE_ADC"},
	} {
		if v.on {
			return v.method, v.from
		}
	}
	return "", ""
}

// accessToken is the variable with the token of an account, which counts together with
// GOOGLE_GENAI_USE_GCA.
const accessToken = "GOOGLE_CLOUD_ACCESS_TOKEN"

// tokenGiven reports whether the environment has a token for Code Assist.
func tokenGiven(get func(string) string) bool {
	return on(get("GOOGLE_GENAI_USE_GCA")) && get(accessToken) != ""
}

// asksVertex reports whether a variable requests Vertex AI, and which variable decides: the newer
// name takes precedence.
func asksVertex(get func(string) string) (asks bool, from string) {
	for _, from = range []string{"GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI"} {
		if value := get(from); value != "" {
			return on(value), from
		}
	}
	return false, from
}

func on(value string) bool { return strings.EqualFold(value, "true") || value == "1" }

// key finds the key of the Gemini API. A key in GOOGLE_API_KEY is for Vertex AI if a setting or
// variable selects Vertex AI.
func (c *Credentials) key(cfg Config, get func(string) string) {
	c.BaseURL = named("GOOGLE_GEMINI_BASE_URL", get)
	c.given(cfg, get)
	c.Stored = c.Key.Value == "" && !c.External
}

// gateway finds the credentials for another server.
func (c *Credentials) gateway(cfg Config, get func(string) string) error {
	if c.BaseURL = named("GOOGLE_GEMINI_BASE_URL", get); c.BaseURL.Value == "" && !c.External {
		return &Error{Message: "the gateway has no address: GOOGLE_GEMINI_BASE_URL is not set",
			Advice: "export GOOGLE_GEMINI_BASE_URL=https://..., or choose another way with gemline auth use TYPE"}
	}
	c.given(cfg, get)
	return nil
}

// given finds the key that was given, if any.
func (c *Credentials) given(cfg Config, get func(string) string) {
	if c.Key = cfg.Key; c.Key.Value != "" {
		return
	}
	c.Key = named("GEMINI_API_KEY", get)
	if vertex, _ := asksVertex(get); c.Key.Value == "" && !vertex {
		c.Key = named("GOOGLE_API_KEY", get)
	}
}

// vertex finds the credentials for Vertex AI: an express key, or a project, a location and an
// account.
func (c *Credentials) vertex(cfg Config, get func(string) string) error {
	c.BaseURL = named("GOOGLE_VERTEX_BASE_URL", get)
	for name, value := range map[string]string{
		"X-Vertex-Ai-Llm-Request-Type": cfg.Request, "X-Vertex-Ai-Llm-Shared-Request-Type": cfg.Shared} {
		if value != "" && c.Header.Get(name) == "" {
			c.Header.Set(name, value)
		}
	}
	if c.Key = cfg.Key; c.Key.Value == "" {
		c.Key = named("GOOGLE_API_KEY", get)
	}
	if c.Key.Value != "" {
		return nil
	}
	for _, name := range []string{"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT_ID"} {
		if c.Project.Value == "" {
			c.Project = named(name, get)
		}
	}
	c.Location = named("GOOGLE_CLOUD_LOCATION", get)
	c.Quota = get("GOOGLE_CLOUD_QUOTA_PROJECT")
	if !c.External {
		c.Account = account(cfg, get)
	}
	advice := hintProject
	switch {
	case get("GEMINI_API_KEY") == "":
	case c.From == selectedType:
		advice += "; or gemline auth use gemini-api-key, and GEMINI_API_KEY is used"
	default:
		advice += "; or unset " + c.From + ", and GEMINI_API_KEY is used"
	}
	var missing []string
	if c.Project.Value == "" {
		missing = append(missing, "GOOGLE_CLOUD_PROJECT")
	}
	if c.Location.Value == "" {
		missing = append(missing, "GOOGLE_CLOUD_LOCATION")
	}
	switch {
	case len(missing) == 2 && !c.External:
		return &Error{Message: "Vertex AI is chosen, but neither a project and a location nor a key is: GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION and GOOGLE_API_KEY are not set", Advice: advice}
	case len(missing) > 0 && !c.External:
		return &Error{Message: "Vertex AI is chosen, but " + missing[0] + " is not set", Advice: advice}
	}
	return nil
}

// cloudShell is the project for all users of Cloud Shell.
const cloudShell = "cloudshell-gca"

// assist finds the credentials for Code Assist: an account, and a project if the account has
// none. In Cloud Shell, GOOGLE_CLOUD_PROJECT is gcloud's current project, which need not have
// Code Assist.
func (c *Credentials) assist(cfg Config, get func(string) string) error {
	c.BaseURL = named("CODE_ASSIST_ENDPOINT", get)
	c.APIVersion = named("CODE_ASSIST_API_VERSION", get)
	c.Quota = get("GOOGLE_CLOUD_QUOTA_PROJECT")
	if cfg.Key.Value != "" {
		return &Error{Config: true, Message: fmt.Sprintf("%s gives a key, but %s says %s, which has none", cfg.Key.From, c.From, c.Method),
			Advice: "leave out " + cfg.Key.From + ", or choose another way with gemline auth use gemini-api-key"}
	}
	switch {
	case tokenGiven(get):
		c.Key = named(accessToken, get)
		c.Bearer = true
	case !c.External:
		c.Account = account(cfg, get)
	}
	shell := on(get("CLOUD_SHELL"))
	if _, own := cfg.DotEnv["GOOGLE_CLOUD_PROJECT"]; own || !shell {
		c.Project = named("GOOGLE_CLOUD_PROJECT", get)
	}
	if c.Project.Value == "" {
		c.Project = named("GOOGLE_CLOUD_PROJECT_ID", get)
	}
	if c.Project.Value == "" && shell {
		c.Project = Setting{cloudShell, "CLOUD_SHELL"}
	}
	if c.Project.Value != "" && strings.Trim(c.Project.Value, "0123456789") == "" {
		return &Error{Config: true, Message: fmt.Sprintf("%s is %s, a number; Code Assist wants the project's id", c.Project.From, c.Project.Value), Advice: "gcloud projects list shows the ids"}
	}
	return nil
}

// named returns the value of a variable, with its name if there is one.
func named(name string, get func(string) string) Setting {
	if value := get(name); value != "" {
		return Setting{value, name}
	}
	return Setting{}
}

// check returns the error that the first request would meet.
func (c *Credentials) check() error {
	if c.Key.Value != "" && checkKey(c.Key.Value) != nil {
		return &Error{Message: fmt.Sprintf("the key in %s holds characters that no key has",
			c.Key.From), Advice: "copy it once more: https://aistudio.google.com/apikey"}
	}
	for _, part := range []struct {
		said    Setting
		allowed string
	}{
		{c.Project, ":.-_"}, {c.Location, "-"}, {Setting{c.Quota, "GOOGLE_CLOUD_QUOTA_PROJECT"}, ":.-_"}, {c.APIVersion, ":.-_/"},
	} {
		if !plain(part.said.Value, part.allowed) {
			return &Error{Config: true, Message: fmt.Sprintf("%s is %q, which is not such a name",
				part.said.From, part.said.Value), Advice: "names are letters, digits and " + part.allowed}
		}
	}
	return nil
}

// plain reports whether s needs no escaping in an address.
func plain(s, more string) bool {
	for i := range len(s) {
		b := s[i]
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') && strings.IndexByte(more, b) < 0 {
			return false
		}
	}
	return !strings.Contains(s, "..")
}

// checkKey returns the reason why s can't be a key.
func checkKey(s string) error {
	switch {
	case s == "":
		return &Error{Message: "the key is empty"}
	case len(s) > 4096:
		return &Error{Message: fmt.Sprintf("%d characters are too many for a key", len(s))}
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return &Error{Message: "the key holds characters that no key has",
			Advice: "a key is one word of letters, digits, - and _"}
	}
	return nil
}

// Address returns the address of the API in a form to show; empty for the usual address.
func (c Credentials) Address() string {
	if c.BaseURL.Value == "" {
		return ""
	}
	u, err := url.Parse(c.BaseURL.Value)
	if err != nil { // it may hold a password
		return "(no URL)"
	}
	return text.PublicAddress(u)
}

// HeaderNames returns the names of the further header fields, in order.
func (c Credentials) HeaderNames() []string {
	return slices.Sorted(maps.Keys(c.Header))
}
