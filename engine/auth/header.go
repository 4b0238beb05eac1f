package auth

import (
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// ParseHeader reads header fields written as "Name: value, Name2: value2". A
// comma begins another field only where a name and a colon follow, so that
// values may hold commas.
func ParseHeader(s string) (http.Header, error) {
	h := http.Header{}
	var fields []string
	for _, piece := range strings.Split(s, ",") {
		name, _, ok := strings.Cut(piece, ":")
		if len(fields) == 0 || ok && httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) {
			fields = append(fields, piece)
		} else {
			fields[len(fields)-1] += "," + piece
		}
	}
	for _, field := range fields {
		if strings.TrimSpace(field) == "" {
			continue
		}
		name, value, ok := strings.Cut(field, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || !httpguts.ValidHeaderFieldName(name):
			return nil, &Error{Config: true, Message: "GEMINI_CLI_CUSTOM_HEADERS holds a header field without a name",
				Advice: "it is written NAME: VALUE, NAME: VALUE"}
		case !httpguts.ValidHeaderFieldValue(value):
			return nil, &Error{Config: true, Message: fmt.Sprintf("the value of the header field %s holds a control character", name)}
		}
		h.Set(name, value)
	}
	return h, nil
}
