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

	"gemline/engine/text"
)

// explain returns the [Error] of a failed x, from the details that the failed step returns: a
// [failure], a [malformed] or a network error. If the caller's context has ended, that is the
// cause.
func (c *Client) explain(x *exchange, err error) error {
	var (
		known  *Error
		said   *failure
		broken *malformed
		e      *Error
	)
	switch {
	case err == nil, err == errLeft:
		return err
	case x.caller.Err() != nil:
		return x.caller.Err()
	case errors.As(err, &known):
		if hint := Elsewhere(x.model); known.Kind == Auth && hint != "" && !c.dialect.path {
			e = new(*known)
			e.Advice = hint
			return e
		}
		return known
	case errors.As(err, &said):
		e = said.classify(x.model)
		c.dialect.advise(e)
		if hint := Elsewhere(x.model); e.Kind == NotFound && hint != "" && !c.dialect.path {
			e.Advice = hint
		}
		if (c.dialect.path || said.page != "") && isUnknownPath(e) {
			e.Kind, e.Final, e.Advice = Config, true, "check "+c.dialect.address+"; some servers say so of a model that they do not have, too"
			e.Message = "there is nothing at " + text.PublicAddress(x.url) + ": " + strings.TrimPrefix(e.Message, "model "+x.model+": ")
		}
	case errors.As(err, &broken):
		beginning := c.redact.Text(string(broken.data[:min(len(broken.data),
			4<<10)])) // redacted before the cut, which may split a secret
		e = &Error{Kind: Invalid, Code: "INVALID_JSON", Answering: x.resp != nil, Err: err,
			Message: fmt.Sprintf("the server's answer makes no sense: %v in %q", broken,
				oneLine(beginning[:min(len(beginning), 100)]))}
	default:
		e = c.networkError(x, c.base.Host, err)
	}
	e.Message = c.redact.Text(e.Message)
	e.Advice = c.redact.Text(strings.ReplaceAll(e.Advice, "GOOGLE_GEMINI_BASE_URL", c.dialect.address))
	return e
}

// failure parses the body of an error, in which the server may repeat secrets of the request.
func (c *Client) failure(resp *http.Response, body []byte) *failure {
	return parseFailure(resp.StatusCode, resp.Header, []byte(c.redact.RedactKnown(string(body))))
}

// fault parses an error in the middle of an answer.
func (c *Client) fault(resp *http.Response, said []byte) *failure {
	f := &failure{http: resp.StatusCode, code: http.StatusInternalServerError, answering: true}
	f.read([]byte(c.redact.RedactKnown(string(said))))
	return f
}

// A malformed is the error of an answer that can't be parsed.
type malformed struct {
	err  error
	data []byte
}

// Error returns the decoder's error, without names of Go types.
func (b *malformed) Error() string {
	te := (*json.UnmarshalTypeError)(nil)
	if !errors.As(b.err, &te) {
		return b.err.Error()
	}
	_, field, _ := strings.Cut("."+te.Field, ".wireResponse.")
	if field == "" {
		return "unexpected " + te.Value
	}
	return "unexpected " + te.Value + " at " + field
}

// networkError returns the Error for a network error of a request to host.
func (c *Client) networkError(x *exchange, host string, err error) *Error {
	var (
		outer  *url.Error
		dns    *net.DNSError
		op     *net.OpError
		cert   *tls.CertificateVerificationError
		ca     x509.UnknownAuthorityError
		record tls.RecordHeaderError
	)
	if errors.As(err, &outer) {
		err = outer.Err // without the address
	}
	e := &Error{Kind: Unavailable, Err: err, Advice: hintNetwork}
	if x.resp != nil {
		e.HTTP, e.Answering = x.resp.StatusCode, true
	}
	say := func(format string, args ...any) { e.Message = oneLine(fmt.Sprintf(format, args...)) }
	switch {
	case context.Cause(x.ctx) == ErrIdle:
		e.Err, e.Code, e.Advice = ErrIdle, "IDLE_TIMEOUT", hintServer
		say("%s has sent nothing for %s", host, brief(x.idle))
	case errors.Is(err, errTooLarge):
		e.Kind, e.Final, e.Advice = Invalid, true, ""
		say("%v", err)
	case x.resp == nil && tooMany(err):
		e.Final, e.Advice = true, hintFiles
		say("no connection to %s: too many files are open", host)
	case errors.As(err, &ca):
		e.Final, e.Advice = true, hintCA
		say("%s has a certificate that no trusted authority has signed: %v%s", host, err, c.roots.doubts())
	case errors.As(err, &cert):
		e.Final, e.Advice = true, hintCA
		say("%s has a bad certificate: %v%s", host, cert.Err, c.roots.doubts())
	case errors.As(err, &record):
		say("%s does not speak TLS: %s", host, record.Msg)
	case errors.As(err, &dns) && dns.IsNotFound:
		say("there is no server named %s", dns.Name)
	case errors.As(err, &dns):
		say("the name %s can't be looked up: %s", dns.Name, dns.Err)
	case x.resp != nil && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)):
		e.Advice = ""
		say("the answer of %s broke off", host)
	case x.resp != nil:
		e.Advice = ""
		say("the answer of %s broke off: %v", host, innermost(err))
	case errors.As(err, &op) && op.Op == "proxyconnect":
		say("no connection to the proxy: %v", innermost(op.Err))
	case strings.Contains(err.Error(), "Proxy Authentication Required"):
		f := failure{http: http.StatusProxyAuthRequired, code: http.StatusProxyAuthRequired}
		e = f.classify(x.model)
		e.Err = err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		say("%s closed the connection without an answer", host)
	default:
		if errors.Is(err, syscall.ECONNREFUSED) && text.Loopback(c.base.Hostname()) {
			e.Advice = "start it" + c.dialect.start + ", or set GOOGLE_GEMINI_BASE_URL to where it runs"
			say("no answer from %s: %v, no server runs there", host, innermost(err))
			break
		}
		say("no answer from %s: %v", host, innermost(err))
	}
	if op != nil && op.Op == "proxyconnect" {
		errors.As(op.Err, &op)
	}
	if op != nil && errors.Is(err, syscall.ECONNREFUSED) {
		if to, ok := op.Addr.(*net.TCPAddr); ok && to.IP.IsLoopback() {
			e.Code = CodeNobody
		}
	}
	return e
}

// tooMany reports whether the limit of open files caused err, so that a retry does not help. The
// resolver hides that it could not read its files; only the text of its error shows it.
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

// innermost returns the cause of a network error, without addresses that the outer errors repeat.
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
