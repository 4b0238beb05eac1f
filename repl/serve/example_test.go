package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"gemline/repl/serve"
)

// A program reads where the server is and the token from its output, and is answered by that.
func ExampleHTTP() {
	ctx, stop := context.WithCancelCause(context.Background())
	client := make(printed, 1)
	ended := make(chan error)
	go func() {
		ended <- serve.HTTP(ctx, client, 0, "/hello", func(_ context.Context, g *serve.Group, at serve.Address) (http.Handler, error) {
			return serve.RequireToken(at.Token, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })), nil
		})
	}()
	var at serve.Address
	fmt.Println(json.Unmarshal(<-client, &at))
	for _, token := range []string{"", at.Token} {
		for _, origin := range []string{"", "https://evil.example"} {
			req, _ := http.NewRequest("GET", at.URL, nil)
			req.Header = http.Header{"Authorization": {"Bearer " + token}, "Origin": {origin}}
			res, err := http.DefaultClient.Do(req)
			fmt.Println(res.Status, err)
			res.Body.Close()
		}
	}
	stop(errors.New("enough"))
	fmt.Println(<-ended)
	// Output:
	// <nil>
	// 401 Unauthorized <nil>
	// 403 Forbidden <nil>
	// 204 No Content <nil>
	// 403 Forbidden <nil>
	// enough
}

type printed chan []byte

func (p printed) Write(b []byte) (int, error) {
	p <- bytes.Clone(b)
	return len(b), nil
}
