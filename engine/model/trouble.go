package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// failure reads the body of an error, in which the server may say again what it
// was sent.
func (g *Genai) failure(status int, header http.Header, body []byte) failure {
	return parseFailure(status, header, []byte(g.redact.Known(string(body))))
}

// failed makes the error of a request that the server did not answer.
func (g *Genai) failed(f failure, x *exchange) *Error {
	e := f.classify(x.model)
	if e.Kind == Auth && g.opts.Account != nil {
		e.Message = strings.Replace(e.Message, "the API key was refused", "the credentials were refused", 1)
		if e.Hint == hintKey || e.Hint == hintAccess {
			e.Hint = hintAccount
		}
	}
	e.Message, e.Hint = g.redact.Text(e.Message), g.redact.Text(g.advice(e.Hint))
	return e
}

// advice returns hint with the name of the variable that counts for g.
func (g *Genai) advice(hint string) string {
	variable, _ := g.opts.address()
	return strings.ReplaceAll(hint, "GOOGLE_GEMINI_BASE_URL", variable)
}

// faulty makes the error of an answer that turned into one.
func (g *Genai) faulty(x *exchange, fault []byte) *Error {
	f := failure{http: x.resp.StatusCode, code: http.StatusInternalServerError}
	f.read([]byte(g.redact.Known(string(fault))))
	e := g.failed(f, x)
	e.Answering = true
	return e
}

// garbled makes the error of an answer that can't be read.
func (g *Genai) garbled(err error, data []byte) *Error {
	beginning := g.redact.Text(string(data[:min(len(data), logged)])) // of which no half of a secret is shown
	beginning = beginning[:min(len(beginning), 100)]
	return &Error{Kind: Invalid, Code: "INVALID_JSON", Answering: true, Err: err,
		Message: g.redact.Text(fmt.Sprintf("the server's answer makes no sense: %s in %q", strange(err), oneLine(beginning)))}
}

// strange says what the decoder stumbled over, less the names of our types.
func strange(err error) string {
	te := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &te) {
		return err.Error()
	}
	_, field, _ := strings.Cut("."+te.Field, ".plain.")
	if field == "" {
		return "unexpected " + te.Value
	}
	return "unexpected " + te.Value + " at " + field
}

// lost makes the error of a request or an answer that got lost on the way. If
// ctx is over, that was the cause.
func (g *Genai) lost(ctx context.Context, x *exchange, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // less the address
	}
	e := &Error{Kind: Unavailable, Err: err, Hint: hintNetwork, Answering: x.resp != nil}
	if x.resp != nil {
		e.HTTP = x.resp.StatusCode
	}
	e.Message = oneLine(g.redact.Text(g.story(e, x, g.base.Host, err)))
	e.Hint = g.advice(e.Hint)
	return e
}

// story says what happened to a request to host, and notes in e what follows
// from it.
func (g *Genai) story(e *Error, x *exchange, host string, err error) string {
	var (
		dns    *net.DNSError
		op     *net.OpError
		cert   *tls.CertificateVerificationError
		ca     x509.UnknownAuthorityError
		record tls.RecordHeaderError
	)
	switch {
	case context.Cause(x.ctx) == ErrIdle:
		e.Err, e.Code, e.Hint = ErrIdle, "IDLE_TIMEOUT", hintServer
		return fmt.Sprintf("%s has sent nothing for %s", host, brief(x.idle))
	case errors.Is(err, errTooLarge):
		e.Kind, e.Final, e.Hint = Invalid, true, ""
		return err.Error()
	case x.resp == nil && tooMany(err):
		e.Final, e.Hint = true, hintFiles
		return fmt.Sprintf("no connection to %s: too many files are open", host)
	case errors.As(err, &ca):
		e.Final, e.Hint = true, hintCA
		return fmt.Sprintf("%s has a certificate that no trusted authority has signed: %v%s", host, err, x.via.doubts())
	case errors.As(err, &cert):
		e.Final, e.Hint = true, hintCA
		return fmt.Sprintf("%s has a bad certificate: %v%s", host, cert.Err, x.via.doubts())
	case errors.As(err, &record):
		return fmt.Sprintf("%s does not speak TLS: %s", host, record.Msg)
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return fmt.Sprintf("there is no server named %s", dns.Name)
		}
		return fmt.Sprintf("the name %s can't be looked up: %s", dns.Name, dns.Err)
	case x.resp != nil && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)):
		e.Hint = ""
		return fmt.Sprintf("the answer of %s broke off", host)
	case x.resp != nil:
		e.Hint = ""
		return fmt.Sprintf("the answer of %s broke off: %v", host, innermost(err))
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Sprintf("no connection to the proxy: %v", innermost(op.Err))
	case strings.Contains(err.Error(), "Proxy Authentication Required"):
		f := failure{http: http.StatusProxyAuthRequired, code: http.StatusProxyAuthRequired}
		c := f.classify(x.model)
		e.Kind, e.Final, e.HTTP, e.Hint = c.Kind, c.Final, c.HTTP, c.Hint
		return c.Message
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("%s closed the connection without an answer", host)
	}
	return fmt.Sprintf("no answer from %s: %v", host, innermost(err))
}

// tooMany reports whether err comes of having no more files to open, which
// waiting does not change. The resolver keeps to itself that it could not read
// its files, and tells by words of what else went wrong.
func tooMany(err error) bool {
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
	}
	if strings.Contains(dns.Err, syscall.EMFILE.Error()) {
		return true
	}
	f, err := os.Open(os.DevNull)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// doubts says which certificates could not be read.
func (o *opened) doubts() string {
	if o.roots == nil {
		return ""
	}
	err := o.roots.fill()
	if err == nil {
		return ""
	}
	return fmt.Sprintf(" (not read: %v)", err)
}

// innermost returns what a network error says without the addresses that the
// layers around it repeat.
func innermost(err error) error {
	var sys *os.SyscallError
	var op *net.OpError
	switch {
	case errors.As(err, &sys):
		return sys.Err
	case errors.As(err, &op):
		return op.Err
	}
	return err
}
