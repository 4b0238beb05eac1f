package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"gemline/tools/mcp/oauth"
	"gemline/tools/mcp/oauth/oauthlab"
)

// The user logs in once, in a browser that ends at an address of this machine; requests
// have the token from then on.
func Example() {
	lab := oauthlab.New() // a server, and the one to log in at
	defer lab.Close()
	dir, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	unset := func(string) string { return "" }
	transport := &http.Transport{DisableKeepAlives: true}
	c, err := oauth.NewClient(
		oauth.Config{Transport: transport, Store: oauth.NewStore(dir, unset), Getenv: unset},
		oauth.Server{Name: "notes", URL: lab.URL()})
	if err != nil {
		panic(err)
	}
	browser := &http.Client{Transport: transport}
	ask := func(ctx context.Context, q oauth.Question) (string, error) {
		page, err := browser.Get(q.URL)
		if err != nil {
			return "", err
		}
		page.Body.Close()
		<-ctx.Done() // nothing has to be pasted
		return "", ctx.Err()
	}
	requests := http.Client{Transport: c}
	_, err = requests.Get(lab.URL())
	fmt.Println(errors.Is(err, oauth.ErrLogin))
	fmt.Println(c.Login(context.Background(), ask))
	resp, err := requests.Get(lab.URL())
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Printf("%s %v\n", text, err)
	// Output:
	// true
	// <nil>
	// welcome <nil>
}
