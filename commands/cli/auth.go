package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"gemline/engine/auth"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/provider"
)

// selectedType is the key of the setting that chooses the sign-in method.
const selectedType = "security.auth.selectedType"

// authCommand is gemline auth.
type authCommand struct {
	Status   authStatus   `cmd:"" default:"withargs" help:"Say which credentials the next request would use. Nothing is sent." slash:"status"`
	Use      authUse      `cmd:"" help:"Choose how you sign in, in your settings." slash:"use"`
	SetKey   authSetKey   `cmd:"" name:"set-key" aliases:"signin,login" help:"Store an API key, read from standard input or typed unseen." slash:"signin,login,set-key"`
	UnsetKey authUnsetKey `cmd:"" name:"unset-key" aliases:"remove-key" help:"Forget the stored key."`
	Signout  authSignout  `cmd:"" aliases:"logout" help:"Forget the stored key and the chosen log-in." slash:"signout,logout"`
}

type authStatus struct {
	Provider string `arg:"" optional:"" help:"Of which provider, as openai; that of the model if left out."`
}

// An authRecord is the output of gemline auth status.
type authRecord struct {
	Method      auth.Method `json:"method"`
	From        string      `json:"from,omitempty"`      // the setting or variable that decided
	FromPath    string      `json:"from_path,omitempty"` // the file of the setting
	Credential  string      `json:"credential,omitempty"`
	Kind        string      `json:"credential_type,omitempty"` // the type in a credentials file of Google
	Bearer      bool        `json:"bearer,omitempty"`
	Project     string      `json:"project,omitempty"`
	ProjectFrom string      `json:"project_from,omitempty"`
	Location    string      `json:"location,omitempty"`
	Quota       string      `json:"quota_project,omitempty"`
	BaseURL     string      `json:"base_url,omitempty"`
	BaseFrom    string      `json:"base_url_from,omitempty"`
	Headers     []string    `json:"headers,omitempty"` // names of HTTP headers
	Usable      bool        `json:"usable"`
	Note        string      `json:"note,omitempty"` // about the chosen sign-in method
	Problem     string      `json:"problem,omitempty"`
	Hint        string      `json:"hint,omitempty"`

	Provider string          `json:"provider,omitempty"`  // the provider of the model, if it is not Google
	Others   []keyedProvider `json:"providers,omitempty"` // providers with a key
}

// A keyedProvider is a provider with a key.
type keyedProvider struct {
	Name string `json:"name"`
	From string `json:"credential"` // the place of the key
}

// keyed returns the providers with a known key. It asks only the keyring, not a server.
func keyed(ctx context.Context, here *Folder, all model.Providers) (found []keyedProvider) {
	from := make([]string, len(all))
	var looked sync.WaitGroup
	for i, p := range all {
		if p.KeyVariable == "" || p.Protocol == model.Gemini {
			continue
		}
		if from[i] = p.KeyVariable; here.getenv(p.KeyVariable) == "" {
			looked.Go(func() { _, from[i], _ = here.keysFor(p.Name).Key(ctx) }) // auth status reports the error
		}
	}
	looked.Wait()
	for i, p := range all {
		if from[i] != "" {
			found = append(found, keyedProvider{p.Name, from[i]})
		}
	}
	return found
}

// otherProvider returns the provider of the model for the next request, "" for Google.
func (here *Folder) otherProvider(c auth.Credentials) string {
	current, names, err := here.model(c)
	if err != nil { // config validate prints the error
		return ""
	}
	name, _ := catalog.Provider(names.Chat(current, false).Model)
	if name == model.Gemini || name == "vertex" {
		return ""
	}
	return name
}

// providerStatus returns the credential for requests to a provider, and the error that a request
// would get.
func providerStatus(ctx context.Context, here *Folder, name string, all model.Providers) (authRecord, error) {
	p, err := all.Named(name)
	if err != nil {
		return authRecord{}, err
	}
	st := authRecord{Provider: name, BaseURL: (&auth.Credentials{BaseURL: auth.Setting{Value: p.BaseURL}}).Address(), Credential: "none is wanted",
		Headers: slices.Sorted(maps.Keys(p.Headers)), Others: keyed(ctx, here, all)}
	o := p.Options(model.Options{}, here.getenv)
	if p.KeyVariable != "" {
		st.Credential = ""
		if i := slices.IndexFunc(st.Others, func(k keyedProvider) bool { return k.Name == name }); i >= 0 {
			st.Credential, o.APIKey = st.Others[i].From, cmp.Or(o.APIKey, "stored")
		} else if !o.Keyless {
			_, _, err = here.keysFor(name).Key(ctx)
			err = cmp.Or[error](err, &auth.Error{Message: "no API key of " + name, Advice: p.Vendor().Advice})
		}
	}
	if err == nil {
		g, oerr := provider.Open(p, o)
		if err = oerr; err == nil {
			g.Close()
		}
	}
	return st, err
}

// tell prints the credential for requests, and returns err, the error that a request would get.
func (st *authRecord) tell(out *Output, err error) error {
	if st.Usable = err == nil; err != nil {
		st.Problem, st.Hint = err.Error(), Hint(err)
	}
	return cmp.Or(out.show(st, st.lines()...), err)
}

// Run prints the credential for the next request, and fails if that request can't work.
func (a *authStatus) Run(ctx context.Context, out *Output, here *Folder) error {
	c, err := here.choose(out)
	others, oerr := here.providers()
	if oerr != nil {
		return oerr
	}
	name := cmp.Or(a.Provider, here.otherProvider(c))
	if name != "" && name != model.Gemini && name != "vertex" {
		st, serr := providerStatus(ctx, here, name, others)
		if st.Provider == "" {
			return serr
		}
		return st.tell(out, serr)
	}
	st := authRecord{Method: c.Method, From: c.From, Credential: c.Key.From, Bearer: c.Bearer,
		Project: c.Project.Value, ProjectFrom: c.Project.From, Location: c.Location.Value,
		Quota: c.Quota, BaseURL: c.Address(), BaseFrom: c.BaseURL.From, Headers: c.HeaderNames(), Note: c.Instead,
		Others: keyed(ctx, here, others)}
	if s, serr := here.settings(); serr == nil {
		for _, said := range s.Values(c.From) { // the strongest file is the last
			st.FromPath = said.File
		}
	}
	if err == nil {
		err = cmp.Or(st.find(ctx, here, c), model.CheckAddress(model.Options{Google: model.Google{Vertex: c.Method == auth.Vertex,
			CodeAssist: c.Method == auth.Compute, Location: c.Location.Value}, BaseURL: c.BaseURL.Value}))
	}
	return st.tell(out, err)
}

// find looks for the credential of c as a request would, but asks no server.
func (st *authRecord) find(ctx context.Context, here *Folder, c auth.Credentials) error {
	switch {
	case c.Stored:
		_, from, err := here.keys().Find(ctx, c)
		st.Credential = from
		return err
	case c.Account != nil:
		data, from, err := c.Account.Read()
		if from == "" {
			return st.machine(c)
		}
		st.Credential = "file " + from
		if err != nil {
			return err
		}
		var file struct{ Type string }
		if json.Unmarshal(data, &file) != nil || file.Type == "" {
			return &auth.Error{Message: from + " holds no credentials",
				Advice: "make the file with gcloud auth application-default login"}
		}
		st.Kind = file.Type
	}
	return nil
}

func (st *authRecord) machine(c auth.Credentials) error {
	if !c.Account.OnGoogleMachine() {
		e := &auth.Error{Message: "no Google credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has left none, and this is not a Google Cloud machine",
			Advice: "gcloud auth application-default login makes some"}
		if c.Method == auth.Vertex {
			e.Advice += "; or export GOOGLE_API_KEY=... with an express key"
		}
		return e
	}
	st.Credential = strings.TrimSpace("metadata server " + c.Account.Host)
	return nil
}

// lines returns st as text.
func (st *authRecord) lines() (lines []string) {
	project, whose := st.Project, st.ProjectFrom
	switch {
	case st.Method != auth.Compute:
		whose = "" // no other project is possible
	case project == "":
		project = "the one that Code Assist has for the account"
	}
	for _, l := range []struct{ name, value, note string }{
		{"provider", st.Provider, ""},
		{"type", string(st.Method), cmp.Or(st.From, "nothing is chosen")},
		{"chosen in", st.FromPath, ""},
		{"note", st.Note, ""},
		{"credential", st.Credential, st.Kind},
		{"project", project, whose},
		{"location", st.Location, ""},
		{"quota project", st.Quota, ""},
		{"address", st.BaseURL, st.BaseFrom},
		{"headers", strings.Join(st.Headers, ", "), ""},
		{"usable", map[bool]string{true: "yes", false: "no"}[st.Usable], ""},
	} {
		if l.value == "" {
			continue
		}
		text := l.name + ": " + l.value
		if l.note != "" {
			text += " (" + l.note + ")"
		}
		lines = append(lines, text)
	}
	return append(lines, lists.Map(st.Others, func(k keyedProvider) string { return "key of " + k.Name + ": " + k.From })...)
}

type authUse struct {
	Type string `arg:"" complete:"method" help:"gemini-api-key, vertex-ai, gateway or compute-default-credentials."`
}

// Run stores the sign-in method in the user's settings, if the method is supported.
func (u *authUse) Run(ctx context.Context, out *Output, here *Folder, ask *Asker) error {
	m, known := auth.ParseMethod(u.Type)
	if !known {
		return misused("%q is not a way to sign in; there are gemini-api-key, vertex-ai, gateway and compute-default-credentials", u.Type)
	}
	if !slices.Contains(auth.Methods(), m) { // the error of Choose names the alternative
		_, err := auth.Choose(auth.Config{Selected: string(m), Getenv: func(string) string { return "" }})
		return err
	}
	set := configSet{Key: selectedType, Value: []string{string(m)}}
	if err := set.Run(ctx, out, here, ask, here.userFile()); err != nil {
		return err
	}
	now, err := here.choose(out)
	var wrong *auth.Error
	switch {
	case errors.As(err, &wrong):
		out.Notify(strings.TrimSuffix(wrong.Message+"; "+wrong.Advice, "; "))
	case err != nil:
		return err
	case now.Instead != "":
		out.Notify(now.Instead)
	case now.Method != m && now.From != selectedType: // otherwise the printed change says it
		out.Notify(fmt.Sprintf("%s says %s, and beats it", now.From, now.Method))
	}
	return nil
}

// A keyOf names the provider of a key.
type keyOf struct {
	Provider string `arg:"" optional:"" help:"Whose key it is, as openai; Google's if left out."`
}

type authSetKey struct {
	keyOf
	File bool `help:"Store it in a file, also where there is a keyring."`
}

type authUnsetKey struct{ keyOf }

// Run reads a key and stores it.
func (a *authSetKey) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, keys *keyStore) error {
	key, err := ask.readKey(ctx)
	if err != nil {
		return err
	}
	where, err := keys.store.Save(ctx, key, a.File)
	if err != nil {
		return err
	}
	err = out.show(map[string]string{"stored": where}, "the key is stored in the "+where)
	if variable := keys.provider.KeyVariable; variable != "" {
		if here.getenv(variable) != "" {
			out.Notify(variable + " is set and comes first")
		}
		return err
	}
	if c, cerr := here.choose(out); cerr == nil || c.Method != "" {
		switch {
		case c.Method != auth.APIKey:
			out.Notify(fmt.Sprintf("%s says %s, so the key is not used; gemline auth use gemini-api-key changes that", c.From, c.Method))
		case c.Key.From != "":
			out.Notify(c.Key.From + " is set and comes first")
		}
	}
	return err
}

// A keyStore holds the key of a provider. An empty provider is Google.
type keyStore struct {
	store    *auth.Store
	provider model.Provider
}

// ProvideStore returns the store of the provider's key.
func (k keyOf) ProvideStore(here *Folder) (*keyStore, error) {
	if k.Provider == "" || k.Provider == model.Gemini {
		return &keyStore{store: here.keys()}, nil
	}
	all, err := here.providers()
	if err != nil {
		return nil, err
	}
	p, err := named(all, k.Provider)
	if err == nil && p.KeyVariable == "" {
		err = misused("%s wants no key", k.Provider)
	}
	return &keyStore{here.keysFor(k.Provider), p}, err
}

// named returns a provider by its name. The error hides the name, which may be a key that was typed
// in its place.
func named(all model.Providers, name string) (model.Provider, error) {
	p, err := all.Named(name)
	var wrong *model.Error
	if errors.As(err, &wrong) && !slices.ContainsFunc(all, func(p model.Provider) bool { return p.Name == name }) {
		err = misused("what follows is the name of a provider, and the key is read from standard input; %s", wrong.Advice)
	}
	return p, err
}

// keysFor returns the key store of a provider other than Google.
func (here *Folder) keysFor(name string) *auth.Store {
	return auth.NewProviderStore(here.Paths.User(), here.getenv, name)
}

// providers returns all providers.
func (here *Folder) providers() (model.Providers, error) {
	s, err := here.settings()
	if err != nil {
		return nil, err
	}
	custom, _ := s.Merged["providers"].(map[string]any)
	return model.NewProviders(custom, here.getenv), nil
}

// readKey reads a key from the terminal without echo, or from the first line of standard input.
func (ask *Asker) readKey(ctx context.Context) (string, error) {
	if ask.Secret != nil {
		key, err := ask.Secret(ctx, "Enter the API key, a password that is not shown: ")
		if err == io.EOF {
			err = errors.New("no key was given, and nothing is changed")
		}
		return strings.TrimSpace(key), err
	}
	if ask.In == nil {
		return "", misused("a key typed here would be seen: run gemline auth set-key outside of the session")
	}
	const most = 64 << 10
	line, err := bufio.NewReader(io.LimitReader(ask.In, most)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("standard input: %w", err)
	}
	if line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); line == "" {
		return "", &auth.Error{Message: "no key on standard input",
			Advice: "gemline auth set-key < FILE, or run it at a terminal and type the key"}
	}
	return line, nil
}

// Run deletes the key.
func (*authUnsetKey) Run(ctx context.Context, out *Output, here *Folder, keys *keyStore) error {
	from, said, err := keys.forget(ctx, here, out)
	if err != nil {
		return err
	}
	return out.show(map[string][]string{"removed": from}, said)
}

// forget deletes the key, and returns its places and a message.
func (keys *keyStore) forget(ctx context.Context, here *Folder, out *Output) (from []string, said string, err error) {
	if from, err = keys.store.Remove(ctx); err != nil {
		return nil, "", err
	}
	variables := []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}
	if keys.provider.Name != "" {
		variables = []string{keys.provider.KeyVariable}
	}
	for _, name := range variables {
		if here.getenv(name) != "" {
			out.Notify(name + " is still set")
		}
	}
	if len(from) == 0 {
		return []string{}, "no key is stored", nil
	}
	return from, "the key is gone from the " + strings.Join(from, " and the "), nil
}

type authSignout struct{}

// Run deletes the key and the chosen sign-in method.
func (*authSignout) Run(ctx context.Context, out *Output, here *Folder) error {
	from, said, err := (&keyStore{store: here.keys()}).forget(ctx, here, out)
	if err != nil {
		return err
	}
	c, err := here.userFile().UnsetKey(ctx, selectedType)
	if err != nil {
		return err
	}
	longer := "no longer"
	if c.Unchanged {
		longer = "not"
	}
	return out.show(map[string]any{"removed": from, "path": c.Path, "changed": !c.Unchanged}, said,
		fmt.Sprintf("%s is %s set in %s", selectedType, longer, c.Path))
}
