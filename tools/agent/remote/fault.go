package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"gemline/engine/text"
)

// A fault is an error that a server reports.
type fault struct {
	Code    int
	Message string
	status  int // the HTTP status, 0 if there was none
}

const taskNotFound = -32001

// FromServer reports whether an error of [Client.Ask] repeats words of the server.
func FromServer(err error) bool { return errors.As(err, new(*fault)) }

// Error quotes the server's message.
func (f *fault) Error() string {
	said := text.OneLine(f.Message, longestSaid)
	switch {
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		said = fmt.Sprintf("the server refuses the credentials (HTTP %d): %s", f.status, said)
	case f.status != 0:
		said = fmt.Sprintf("the server answered HTTP %d %s: %s", f.status, http.StatusText(f.status), said)
	case said == "":
		said = fmt.Sprintf("the server reports error %d", f.Code)
	}
	return strings.TrimSuffix(said, ": ")
}

// faultIn reads the error that a server reports.
func faultIn(b []byte) *fault {
	var outer struct {
		fault
		Error json.RawMessage
	}
	if json.Unmarshal(b, &outer) != nil {
		return &fault{Message: string(b)}
	}
	f := outer.fault
	if json.Unmarshal(outer.Error, &f) != nil {
		var words string
		json.Unmarshal(outer.Error, &words)
		f.Message = cmp.Or(f.Message, words)
	}
	return &f
}

// failure returns the error for an unsuccessful response.
func failure(resp *http.Response) error {
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		return fmt.Errorf("it redirects to %s, and messages do not follow redirects", text.OneLine(to, longestSaid))
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	f := faultIn(b)
	f.status = resp.StatusCode
	return f
}
