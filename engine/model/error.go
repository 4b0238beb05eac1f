package model

import (
	"fmt"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// Kind is the class of an [Error].
type Kind int

// The classes of errors.
const (
	Unknown     Kind = iota
	Config           // the address, a certificate or a proxy setting is unusable
	Auth             // the credentials are missing, wrong or not enough
	Quota            // a limit is exceeded; see RetryAfter and Final
	Unavailable      // the server can't be reached or can't answer now
	NotFound         // there is no such model
	BadRequest       // the request itself was refused
	Overflow         // the conversation is too long for the model
	Refused          // the model's server refuses to answer
	Invalid          // the answer is unusable
)

// String returns the kind in one word, as records show it.
func (k Kind) String() string {
	names := [...]string{"unknown", "config", "auth", "quota", "unavailable", "not_found",
		"bad_request", "overflow", "refused", "invalid_stream"}
	if k < 0 || int(k) >= len(names) {
		return names[Unknown]
	}
	return names[k]
}

// CodeCapacity is the code of a model whose capacity is exhausted for all users.
const CodeCapacity = "MODEL_CAPACITY_EXHAUSTED"

// CodeNoCredit is the code of a request for which no credit is left.
const CodeNoCredit = "NO_CREDIT"

// CodeNobody is the code of a request to an address of this machine where no program listens.
const CodeNobody = "NOBODY_LISTENS"

// An Error is the error of a request without an answer.
type Error struct {
	Kind Kind

	// HTTP is the status the server answered with, 0 if it did not.
	HTTP int

	// Code is the server's own name for the error, such as
	// "RESOURCE_EXHAUSTED", or the name of a defect of the answer, such as
	// "NO_FINISH_REASON".
	Code string

	// Message says what happened and why, on one line.
	Message string

	// Advice says how to mend the error, on one line; may be empty.
	Advice string

	// RetryAfter is how long to wait before the next request. Hinted says that the server
	// gave the time, which may be 0.
	RetryAfter time.Duration
	Hinted     bool

	// Final says that a retry does not help.
	Final bool

	// Answering says that the server had begun to answer.
	Answering bool

	// Err is the cause, may be nil.
	Err error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is [engine.ErrTooLong] and e means it.
func (e *Error) Is(target error) bool { return target == engine.ErrTooLong && e.Kind == Overflow }

// Hint says what to do about it, on one line; may be empty.
func (e *Error) Hint() string {
	switch {
	case e.Advice != "":
		return e.Advice
	case e.Kind == BadRequest:
		return hintRequest
	case e.Kind == Invalid, e.Kind == Unavailable && e.Answering:
		return hintAgain
	}
	return ""
}

// Advice for each failure.
const (
	hintKey       = "check GEMINI_API_KEY; keys are made at https://aistudio.google.com/apikey"
	hintAccount   = "log in with gcloud auth application-default login, or check GOOGLE_APPLICATION_CREDENTIALS and the account's permissions in the project"
	hintToken     = "a token lasts an hour: export GOOGLE_CLOUD_ACCESS_TOKEN=$(gcloud auth print-access-token), and check the account's permissions"
	hintAccess    = "the key may lack access to this model or project: see https://aistudio.google.com/apikey"
	hintModel     = "choose another model with -m or /model"
	hintDaily     = "wait for the quota to be renewed, choose another model with -m or /model, or use another key"
	hintCredit    = "see https://ai.studio/projects for credit and caps, then ask again; or use another key"
	hintShorter   = "pay in, or have answers be shorter, by maxOutputTokens in the generateContentConfig of modelConfigs; or choose another model with -m or /model"
	hintOutput    = "set maxOutputTokens in the generateContentConfig of modelConfigs to what the model can write"
	hintLocation  = "see https://ai.google.dev/gemini-api/docs/available-regions, or use Vertex AI"
	hintNoQuota   = "choose another model with -m or /model, or turn on billing for the key's project at https://aistudio.google.com/apikey"
	hintSignature = "begin a new conversation (/clear in a session)"
	hintWait      = "wait a little, or choose another model with -m or /model"
	hintServer    = "the fault is the server's: try again later, or choose another model with -m or /model"
	hintFiles     = "allow more with ulimit -n 1024; a batch needs fewer with less --jobs"
	hintNetwork   = "check the network, HTTPS_PROXY and GOOGLE_GEMINI_BASE_URL"
	hintCA        = "if a proxy stands between, name its certificate in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS"
	hintWebPage   = "a proxy or a log-in page may stand between: check HTTPS_PROXY and GOOGLE_GEMINI_BASE_URL"
	hintThinking  = `if the model can't think, put "NAME": {"features": {"thinking": false}} into modelConfigs.modelDefinitions`
	hintRequest   = "say it in other words, or begin a new conversation (/clear in a session)"
	hintAgain     = "ask again, or choose another model with -m or /model"
	hintRephrase  = "say it in other words"
	hintTooLong   = engine.HintTooLong
)

// oneLine puts s on one line and cuts it to a readable length.
func oneLine(s string) string { return text.OneLine(s, 600) }

// brief formats d for people.
func brief(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// later returns the advice of a server that says how long to wait.
func later(d time.Duration) string {
	return "try again in " + brief(d) + ", or choose another model with -m or /model"
}
