package cli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"gemline/engine/lists"
)

// serve shows the file at a local address that nobody can guess, until the context ends. Each
// request makes the page again.
func (c *inspectCommand) serve(ctx context.Context, out *Output, name string) error {
	if _, err := readActivity(name); err != nil {
		return err
	}
	if *c.Port < 0 || *c.Port > math.MaxUint16 {
		return misused("--port must be a number from 0 to 65535")
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(*c.Port)))
	if err != nil {
		if se := (*os.SyscallError)(nil); errors.As(err, &se) {
			err = se.Err
		}
		return fmt.Errorf("port %d can't be used: %w; --port 0 takes one that is free", *c.Port, err)
	}
	path := "/" + rand.Text() + "/"
	s := &http.Server{Handler: page(l.Addr().String(), path, name), ReadHeaderTimeout: 10 * time.Second}
	if err := out.line("http://%s%s", l.Addr(), path); err != nil {
		l.Close()
		return err
	}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// page returns the handler that serves the file at path. It accepts only this server's host, so
// that a foreign page with a rebound host name can't read the file.
func page(host, path, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		here := subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte(path)) == 1
		if r.Host != host || r.Method != http.MethodGet || !here {
			http.NotFound(w, r)
			return
		}
		all, err := readActivity(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; "+
				"base-uri 'none'; form-action 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		activityPage().Execute(w, struct {
			Name   string
			Events []activity
		}{name, all})
	})
}

// Details returns the fields of an event, by name.
func (a activity) Details() [][2]string {
	return lists.Map(slices.Sorted(maps.Keys(a.Said)), func(key string) [2]string { return [2]string{key, word(a.Said[key])} })
}

func activityPage() *template.Template {
	return template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{{.Name}}</title>
<style>
body { font: 15px/1.4 sans-serif; margin: 2em; max-width: 70em }
summary { cursor: pointer } summary span { display: inline-block; min-width: 6em; color: #666 }
td { vertical-align: top; padding: 0 1em 0 0 } pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
</style>
<h1>{{.Name}}</h1>
<p>{{len .Events}} events. Load the page again for those that come.</p>
{{range .Events}}<details><summary><span>{{.Clock}}</span> <span>{{.Kind}}</span> {{.Text}}</summary>
<table>{{range .Details}}<tr><td>{{index . 0}}<td><pre>{{index . 1}}</pre>{{end}}</table></details>
{{end}}</html>
`))
}
