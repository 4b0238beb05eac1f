package model

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/parallel"
	"gemline/engine/text"
)

// Tiers with a special treatment.
const (
	freeTier   = "free-tier"
	legacyTier = "legacy-tier"
)

// The first and the longest delay between requests whether an account is set up. The delay
// doubles each time.
const (
	firstPoll = 250 * time.Millisecond
	lastPoll  = 5 * time.Second
)

// A membership is Code Assist's information about an account.
type membership struct {
	Current *tier            `json:"currentTier"`
	Allowed []tier           `json:"allowedTiers"`
	Barred  []ineligibleTier `json:"ineligibleTiers"`
	Project string           `json:"cloudaicompanionProject"`
}

// A tier is a kind of membership.
type tier struct {
	ID        string
	Name      string
	IsDefault bool
	Bring     bool                        `json:"userDefinedCloudaicompanionProject"` // the user brings the project
	Privacy   struct{ NoticeText string } `json:"privacyNotice"`
}

// An ineligibleTier is the reason why an account can't have a tier.
type ineligibleTier struct {
	Code     string `json:"reasonCode"`
	Reason   string `json:"reasonMessage"`
	URL      string `json:"validationUrl"`
	LinkText string `json:"validationUrlLinkText"`
}

// An operation is the work of setting an account up.
type operation struct {
	Name  string
	Done  bool
	Error *struct {
		Code    int
		Message string
	}
	Response struct {
		Project struct{ ID string } `json:"cloudaicompanionProject"`
	}
}

// A codeAssist finds and stores the project for Code Assist.
type codeAssist struct {
	wanted  string // the project that the user names
	client  *Client
	url     func(rest string) *url.URL
	project chan string // holds the project, "" if unknown; the channel is empty during the search
}

// use sets the project of x. One request finds it; the others wait, and can be cancelled.
func (a *codeAssist) use(x *exchange) error {
	select {
	case p := <-a.project:
		defer func() { a.project <- p }()
		if p == "" {
			found, err := a.findProject(x)
			if err != nil {
				return err
			}
			p = found
		}
		x.project = p
		return nil
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
}

// findProject returns the project of the account. It sets up an account that is new to Code
// Assist.
func (a *codeAssist) findProject(x *exchange) (string, error) {
	var m membership
	err := a.service(x, http.MethodPost, ":loadCodeAssist", application(a.wanted, ""), &m)
	var f *failure
	switch {
	case errors.As(err, &f) && f.reason(perimeter):
		m.Current = &tier{} // VPC Service Controls hide the tier; such an account is a member
	case err != nil:
		return "", err
	}
	project := m.Project
	if m.Current == nil {
		if project, err = a.join(x, m); err != nil {
			return "", err
		}
	}
	if project = cmp.Or(project, a.wanted); project == "" {
		return "", m.noProject()
	}
	return project, nil
}

// application returns the body of a request about an account: with a tier to set up the account,
// with "" to load its membership. Project may be "".
func application(project, tier string) map[string]any {
	about := map[string]string{"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}
	a := map[string]any{"metadata": about}
	if tier != "" {
		a["tierId"] = tier
	}
	if project != "" && tier != freeTier { // which has a project of its own
		about["duetProject"] = project
		a["cloudaicompanionProject"] = project
	}
	return a
}

// join sets up an account, waits for completion, and returns its project.
func (a *codeAssist) join(x *exchange, m membership) (string, error) {
	if err := m.unverified(); err != nil {
		return "", err
	}
	chosen := tier{ID: legacyTier, Bring: true}
	for _, t := range m.Allowed {
		if t.IsDefault {
			chosen = t
			break
		}
	}
	if chosen.Bring && a.wanted == "" {
		return "", m.noProject()
	}
	x.say("Code Assist sets this account up, as " + cmp.Or(oneLine(chosen.Name), chosen.ID))
	if text := oneLine(chosen.Privacy.NoticeText); text != "" {
		x.say("Code Assist says about privacy: " + text)
	}
	var op operation
	if err := a.service(x, http.MethodPost, ":onboardUser", application(a.wanted, chosen.ID), &op); err != nil {
		return "", err
	}
	if err := a.await(x, &op); err != nil {
		return "", err
	}
	if op.Error == nil {
		return op.Response.Project.ID, nil
	}
	f := &failure{http: http.StatusOK, code: http.StatusForbidden, message: oneLine(op.Error.Message)}
	switch op.Error.Code { // of gRPC
	case 8:
		f.code = http.StatusTooManyRequests
	case 4, 13, 14:
		f.code = http.StatusServiceUnavailable
	}
	err := a.client.explain(x, f)
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Message = "Code Assist can't set the account up: " + e.Message
	}
	return "", err
}

// await polls op until it is done. An operation without a name is not in progress.
func (a *codeAssist) await(x *exchange, op *operation) error {
	name, end := op.Name, time.Now().Add(x.idle)
	for wait := firstPoll; !op.Done && name != ""; wait = min(2*wait, lastPoll) {
		switch {
		case !modelName(name):
			return &Error{Kind: Invalid, Final: true,
				Message: "Code Assist names the set-up of the account in a way that can't be asked for"}
		case time.Now().After(end):
			return &Error{Kind: Unavailable, Final: true,
				Message: "Code Assist has not set the account up within " + brief(x.idle),
				Advice:  "it may still be at it: try again later"}
		}
		if err := parallel.Sleep(x.ctx, wait); err != nil {
			return err
		}
		*op = operation{}
		if err := a.service(x, http.MethodGet, "/"+name, nil, op); err != nil {
			return err
		}
	}
	return nil
}

// unverified returns the error of an account that must be verified before it can be set up.
func (m membership) unverified() error {
	for _, b := range m.Barred {
		if b.Code == unverified && strings.HasPrefix(b.URL, "https://") {
			return &Error{Kind: Auth, Final: true, Code: unverified,
				Message: "Google wants this account to be verified: " + cmp.Or(oneLine(b.Reason), "no reason is given"),
				Advice:  cmp.Or(oneLine(b.LinkText), "verify it, then ask again") + ": " + oneLine(b.URL)}
		}
	}
	return nil
}

// noProject returns the error of an account that has no project to work for.
func (m membership) noProject() error {
	e := &Error{Kind: Auth, Final: true, Message: "Code Assist has no project for this account, and GOOGLE_CLOUD_PROJECT is not set",
		Advice: "export GOOGLE_CLOUD_PROJECT=... with a project in which Gemini for Google Cloud is switched on"}
	var reasons []string
	for _, b := range m.Barred {
		if text := cmp.Or(oneLine(b.Reason), oneLine(b.Code)); text != "" {
			reasons = append(reasons, text)
		}
		e.Code = cmp.Or(e.Code, b.Code)
	}
	if len(reasons) > 0 {
		e.Message = oneLine("this account can't have Code Assist without a project of its own: " +
			strings.Join(reasons, "; "))
		e.Advice += "; or use a key (GEMINI_API_KEY)"
	}
	return e
}

// Reasons of the service that decide what happens.
const (
	unverified = "VALIDATION_REQUIRED"
	perimeter  = "SECURITY_POLICY_VIOLATED"
)

// service makes a request to Code Assist outside of conversations.
func (a *codeAssist) service(x *exchange, method, path string, question, answer any) error {
	var body []byte
	if question != nil {
		var err error
		if body, err = text.JSON(question, ""); err != nil {
			return err
		}
	}
	resp, err := a.client.do(x, method, a.url(path), buffers{body})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.guard.Reset(x.idle)
	defer x.guard.Stop()
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return err
	}
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return &Error{Kind: Config, HTTP: resp.StatusCode, Final: true,
			Message: fmt.Sprintf("%s knows no %s (404)", a.client.base.Host, strings.TrimLeft(path, ":/")),
			Advice:  "check CODE_ASSIST_ENDPOINT and CODE_ASSIST_API_VERSION"}
	case resp.StatusCode/100 != 2:
		return a.client.failure(resp, text)
	}
	return a.client.parse(resp, bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))), answer)
}

// enveloped returns the body of x in Code Assist's envelope.
func enveloped(x *exchange) (buffers, error) {
	model := strings.TrimPrefix(x.model, "models/")
	if strings.HasSuffix(x.url.Path, ":countTokens") {
		name, err := text.JSON("models/"+model, "")
		rest := slices.Clone(x.body)
		rest[0] = rest[0][len("{"):]
		return slices.Concat(buffers{[]byte(`{"request":{"model":`), name, []byte(",")}, rest, buffers{[]byte("}")}), err
	}
	outer, err := text.JSON(map[string]string{"model": model, "project": x.project, "user_prompt_id": rand.Text()}, "")
	if err != nil {
		return nil, err
	}
	return slices.Concat(buffers{outer[:len(outer)-1], []byte(`,"request":`)}, x.body, buffers{[]byte("}")}), nil
}

// unwrapped returns the content of Code Assist's envelope, and its id. It returns a chunk without
// an envelope unchanged.
func unwrapped(b []byte) (inner []byte, id string) {
	var outer struct {
		Response json.RawMessage
		TraceID  string
	}
	if json.Unmarshal(b, &outer) != nil || len(outer.Response) == 0 || outer.Response[0] != '{' {
		return b, ""
	}
	return outer.Response, outer.TraceID
}

// say sends a notice to the user, if the request has Notify.
func (x *exchange) say(text string) {
	if x.notify != nil {
		x.notify(engine.Notice{Text: text})
	}
}
